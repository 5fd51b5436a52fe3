// Small things that all views need: elements, and how numbers and words are told.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element with properties, attributes and children.
 *
 * Names of properties are those of the DOM (className, hidden, onclick); what has a hyphen, or is
 * "role", is an attribute.
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** An element of a drawing. */
export function draw(tag, attributes = {}, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}

/** A button that does something. */
export function button(text, onclick, properties = {}) {
  return make("button", { type: "button", textContent: text, onclick, ...properties });
}

/** A probability as people read it: "92 %", with a digit more near the ends. */
export function percent(probability) {
  const hundred = probability * 100;
  if (hundred >= 99.95) return "100\u00a0%";
  if (hundred < 0.05) return "<\u00a00.1\u00a0%";
  const digits = hundred < 1 || hundred > 99 ? 1 : 0;
  return `${hundred.toFixed(digits)}\u00a0%`;
}

/** The words between two boundaries in quotation marks; of many, the first and the last. */
export function quoted(words, start, end, most = 12) {
  const some = words.slice(start, end);
  const half = Math.floor(most / 2);
  const isLong = some.length > most;
  const shown = isLong ? [...some.slice(0, half), "…", ...some.slice(1 - half)] : some;
  return `“${shown.join(" ")}”`;
}

/** Words in a row: "a, b and c". */
export function inRow(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** How often, with its noun: "1 span", "2 spans". */
export function count(number, noun, nouns = `${noun}s`) {
  return `${number} ${number === 1 ? noun : nouns}`;
}

/** Whether the reader wants nothing to move. */
export function wantsStillness() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
