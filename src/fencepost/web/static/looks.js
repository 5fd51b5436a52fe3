// How words and labels look, as in the drawings of the package: colours, directions, signs.

export const FONTS =
  "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', Arial, " +
  "'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', 'Hiragino Sans', sans-serif";

const NO_LABEL = "·";
const UNSURE = 0.5; // less probable spans have dashes
const SEED = "16268"; // as in the package, so that labels have the same colours
const COLOURS = 8;
const NOT_XML = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]/gu;
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

const kinds = new Map();

/** Which of the colours a label has: by its name, without functions such as -SBJ. */
export function kindOf(label) {
  const name = label.split("-", 1)[0] || label;
  if (!kinds.has(name)) {
    const [first] = sha256(new TextEncoder().encode(SEED + name));
    kinds.set(name, (first >>> 24) % COLOURS);
  }
  return kinds.get(name);
}

/** What is shown of a word or label: blanks of any kind as one blank, no control characters. */
export function visible(text) {
  return text
    .split(/[\t\n\r\f\v \x85\u2028\u2029]+/)
    .filter(Boolean)
    .join(" ")
    .replace(NOT_XML, "\ufffd");
}

/** The label of a span as it is drawn. */
export function shownLabel(label) {
  return visible(label ?? "") || NO_LABEL;
}

/** Whether the parser thought it less likely than not. */
export function isUnsure(probability) {
  return probability !== null && probability < UNSURE;
}

/** Whether most letters of a sentence are written from right to left. */
export function readsRightToLeft(words) {
  return words.reduce((sum, word) => sum + leaning(word), 0) < 0;
}

/** How a word is written, "rtl" or "ltr"; one without letters as the sentence around it. */
export function direction(word, isMirrored) {
  const leans = leaning(word);
  return leans < 0 || (isMirrored && leans === 0) ? "rtl" : "ltr";
}

/** The letters written from left to right, less those from right to left. */
function leaning(word) {
  let sum = 0;
  for (const letter of word.match(/\p{L}/gu) ?? []) sum += RIGHT_TO_LEFT.test(letter) ? -1 : 1;
  return sum;
}

/** The digest of bytes, as eight words (FIPS 180-4). Browsers have it only as a promise. */
function sha256(bytes) {
  const length = ((bytes.length + 72) >> 6) << 4;
  const message = new Uint32Array(length);
  [...bytes, 0x80].forEach((byte, index) => {
    message[index >> 2] |= byte << (24 - 8 * (index % 4));
  });
  message[length - 1] = bytes.length * 8;
  const digest = roots(8, 1 / 2);
  const constants = roots(64, 1 / 3);
  const turn = (word, by) => (word >>> by) | (word << (32 - by));
  for (let block = 0; block < length; block += 16) {
    const words = [...message.subarray(block, block + 16)];
    let [a, b, c, d, e, f, g, h] = digest;
    for (let round = 0; round < 64; round += 1) {
      if (round > 15) {
        const [early, late] = [words[round - 15], words[round - 2]];
        const first = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
        const second = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
        words[round] = (words[round - 16] + first + words[round - 7] + second) | 0;
      }
      const choice = (e & f) ^ (~e & g);
      const high = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const one = (h + high + choice + constants[round] + words[round]) | 0;
      const most = (a & b) ^ (a & c) ^ (b & c);
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + most) | 0;
      [a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
    }
    [a, b, c, d, e, f, g, h].forEach((word, index) => {
      digest[index] = (digest[index] + word) | 0;
    });
  }
  return digest;
}

/** The first 32 bits behind the point of the roots of the first primes. */
function roots(many, power) {
  const found = [];
  for (let number = 2; found.length < many; number += 1) {
    let isPrime = true;
    for (let by = 2; by * by <= number; by += 1) isPrime &&= number % by !== 0;
    if (isPrime) found.push(((number ** power % 1) * 2 ** 32) | 0);
  }
  return found;
}
