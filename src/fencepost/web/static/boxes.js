// Entities as text: boxes in boxes around words, in lines that wrap.

import { draw, make } from "./elements.js";
import {
  direction,
  FONTS,
  isUnsure,
  kindOf,
  readsRightToLeft,
  shownLabel,
  visible,
} from "./looks.js";

/**
 * The words of a sentence with boxes around its entities.
 *
 * @param {object} sentence
 * @param {string[]} sentence.words
 * @param {[number, number][]} [sentence.offsets] say where a blank stands between words.
 * @param {import("./provider.js").Row[]} sentence.rows the entities, holders first.
 * @param {number} [sentence.start] the first word, if it is a part of the sentence.
 * @param {number} [sentence.end] behind the last word.
 * @param {boolean} [sentence.posts] whether boundaries are marked and numbered.
 */
export function boxes({ words, offsets, rows, start = 0, end = words.length, posts = false }) {
  const isMirrored = readsRightToLeft(words);
  const inside = heights(rows);
  const element = make("p", { className: "fencepost boxes", dir: isMirrored ? "rtl" : "ltr" });
  element.style.setProperty("--levels", Math.max(-1, ...inside) + 1);
  const holders = [{ element, end: Infinity }];
  const add = (...parts) => holders.at(-1).element.append(...parts);
  let coming = 0;
  for (let index = start; index < end; index += 1) {
    if (posts) add(post(index));
    if (index > start && (!offsets || offsets[index - 1][1] < offsets[index][0])) {
      add(posts ? "\u200b" : " "); // where a line may be broken
    }
    while (coming < rows.length && rows[coming][0] === index) {
      const box = boxOf(rows[coming], inside[coming]);
      add(box);
      holders.push({ element: box, end: rows[coming][1], label: rows[coming][2] });
      coming += 1;
    }
    const way = direction(words[index], isMirrored);
    const word = make("bdi", { className: "word", dir: way, textContent: visible(words[index]) });
    word.dataset.word = index;
    word.dataset.end = index + 1;
    add(word);
    while (holders.at(-1).end === index + 1) {
      const { element: box, label } = holders.pop();
      box.append(make("b", { className: "label", textContent: shownLabel(label) }));
    }
  }
  if (posts) element.append(post(end));
  return element;
}

/** The same as a picture of its own: every line of every box, and every word, where it is now. */
export function boxesSvg(element) {
  const around = element.getBoundingClientRect();
  const margin = 12;
  const svg = draw("svg", {
    class: "fencepost fencepost-entities",
    role: "img",
    "aria-label": "Entities",
    viewBox: `0 0 ${Math.ceil(around.width + 2 * margin)} ${Math.ceil(around.height + 2 * margin)}`,
    width: Math.ceil(around.width + 2 * margin),
    height: Math.ceil(around.height + 2 * margin),
    "font-family": FONTS,
    "text-anchor": "middle",
  });
  const put = (tag, rect, attributes, text) => {
    const [x, y] = [rect.left - around.left + margin, rect.top - around.top + margin];
    const place =
      tag === "rect"
        ? { x, y, width: rect.width, height: rect.height, rx: 4 }
        : { x: x + rect.width / 2, y: y + rect.height / 2 + 0.36 * attributes["font-size"] };
    for (const name in place) place[name] = Math.round(place[name] * 10) / 10;
    svg.append(draw(tag, { ...place, ...attributes }, text));
  };
  for (const box of element.querySelectorAll(".span")) {
    const kind = [...box.classList].find((name) => name.startsWith("kind-"));
    const dashes = box.classList.contains("unsure") ? { "stroke-dasharray": "4 3" } : {};
    for (const rect of box.getClientRects()) {
      put("rect", rect, { class: `fill ${kind}` });
      put("rect", rect, { class: `border ${kind}`, fill: "none", ...dashes });
    }
    const label = box.querySelector(":scope > .label");
    const size = parseFloat(getComputedStyle(label).fontSize);
    const name = { class: `label ${kind}`, "font-size": size, "font-weight": 600 };
    put("text", label.getBoundingClientRect(), name, label.textContent);
  }
  for (const word of element.querySelectorAll(".word")) {
    const size = parseFloat(getComputedStyle(word).fontSize);
    const turned = word.dir === "rtl" ? { direction: "rtl" } : {};
    const name = { class: "ink", "font-size": size, ...turned };
    put("text", word.getBoundingClientRect(), name, word.textContent);
  }
  return svg;
}

/** How many boxes each span holds, one in the other. */
function heights(rows) {
  const found = rows.map(() => 0);
  const holders = [];
  const close = () => {
    const inner = holders.pop();
    const outer = holders.at(-1);
    if (outer !== undefined) found[outer] = Math.max(found[outer], found[inner] + 1);
  };
  rows.forEach(([start], index) => {
    while (holders.length && rows[holders.at(-1)][1] <= start) close();
    holders.push(index);
  });
  while (holders.length) close();
  return found;
}

function boxOf([start, end, label, probability = null], inside) {
  const unsure = isUnsure(probability) ? " unsure" : "";
  const box = make("span", { className: `span kind-${kindOf(label ?? "")}${unsure}` });
  Object.assign(box.dataset, { start, end, label: visible(label ?? "") });
  if (probability !== null) box.dataset.probability = probability;
  box.style.setProperty("--inside", inside);
  return box;
}

/** The mark of a boundary: a short line, and its number below. */
function post(boundary) {
  const element = make("span", { className: "boundary" });
  element.dataset.boundary = boundary;
  element.append(make("span", { className: "number", textContent: boundary }));
  return element;
}
