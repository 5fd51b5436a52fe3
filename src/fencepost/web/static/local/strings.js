// Questions about strings, answered as Python answers them.

const BLANK = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/gv;
const BLANKS_BEFORE = new RegExp(`^[${BLANK}]+`, "v");
const BLANKS_BEHIND = new RegExp(`[${BLANK}]+$`, "v");
const BLANKS = new RegExp(`[${BLANK}]+`, "v");

/** @param {string} text */
export const withoutBlanksBefore = (text) => text.replace(BLANKS_BEFORE, "");

/** @param {string} text */
export const withoutBlanksBehind = (text) => text.replace(BLANKS_BEHIND, "");

/** The first word of a text that has one. @param {string} text */
export const firstWord = (text) => withoutBlanksBefore(text).split(BLANKS, 1)[0];

/** How many characters (code points) a text has. @param {string} text */
export function size(text) {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** The first character. @param {string} text */
export const first = (text) => String.fromCodePoint(/** @type {number} */ (text.codePointAt(0)));

/** The last character. @param {string} text */
export const last = (text) => /** @type {string} */ ([...text.slice(-2)].at(-1));

/** Whether a character is a letter or a number. @param {string} char */
export const isAlphanumeric = (char) => /^[\p{L}\p{N}]$/v.test(char);

/** Whether all characters are decimal digits. @param {string} text */
export const isDecimal = (text) => /^\p{Nd}+$/v.test(text);

/** Whether there are letters with case, and all of them are small. @param {string} text */
export const isLower = (text) =>
  /\p{Lowercase}/v.test(text) && !/[\p{Uppercase}\p{Lt}]/v.test(text);

/** Whether there are letters with case, and all of them are capitals. @param {string} text */
export const isUpper = (text) =>
  /\p{Uppercase}/v.test(text) && !/[\p{Lowercase}\p{Lt}]/v.test(text);

/** Whether capitals start the runs of letters, and stand nowhere else. @param {string} text */
export function isTitle(text) {
  let inside = false;
  let found = false;
  for (const char of text) {
    const isCapital = /[\p{Uppercase}\p{Lt}]/v.test(char);
    const isSmall = !isCapital && /\p{Lowercase}/v.test(char);
    if (isCapital ? inside : isSmall && !inside) return false;
    inside = isCapital || isSmall;
    found ||= inside;
  }
  return found;
}

/** The lines of a text, each with its end. @param {string} text */
export function lines(text) {
  const found = [];
  let start = 0;
  for (const { index, 0: end } of text.matchAll(LINE_END)) {
    found.push(text.slice(start, index + end.length));
    start = index + end.length;
  }
  if (start < text.length) found.push(text.slice(start));
  return found;
}
