// A tree as a drawing: the words along the bottom, every label centred over its children.

import { draw, quoted } from "./elements.js";
import {
  direction,
  FONTS,
  isUnsure,
  kindOf,
  readsRightToLeft,
  shownLabel,
  visible,
} from "./looks.js";

const [WORD, TAG, LABEL, NUMBER] = [15, 11, 13, 10]; // sizes of letters, in pixels
const MARGIN = 18;
const FLAT = 3; // how much wider than high an edge may be and still go aslant
// How words stand: upright ones are easy to read; turned ones need less room.
const UPRIGHT = { gap: 16, least: 0, tall: 46, low: 28, room: 1200, isTurned: false };
const TURNED = { gap: 7, least: 17, tall: 36, low: 26, room: 800, isTurned: true };
const SAVES = 0.85; // words are turned only if that saves at least the rest of the width

/**
 * The drawing of a tree.
 *
 * @param {object} tree
 * @param {string[]} tree.words of the sentence.
 * @param {string[]} [tree.tags]
 * @param {import("./provider.js").Row[]} tree.rows its spans; the first holds all others.
 * @param {Set<import("./provider.js").Row>} [tree.folded] spans that are drawn as a triangle.
 * @param {boolean} [tree.posts] whether boundaries are marked and numbered.
 * @param {number} [tree.room] pixels; in a wider drawing words are turned, so that more fit.
 */
export function treeSvg({ words, tags, rows, folded = new Set(), posts = true, room = Infinity }) {
  const spans = spansOf(rows, folded);
  const columns = columnsOf(spans, words, tags);
  const isMirrored = readsRightToLeft(words);
  const upright = layOut(spans, columns, UPRIGHT);
  let layout = upright;
  if (upright.width + 2 * MARGIN > room) {
    const turned = layOut(spans, columns, TURNED);
    if (turned.width < SAVES * upright.width) layout = turned;
  }
  return new Picture({ spans, columns, layout, isMirrored, posts }).svg(words);
}

/** The spans that are drawn: all but those inside of folded ones. */
function spansOf(rows, folded) {
  const spans = [];
  let hiddenTo = -1; // where the folded span ends whose inside this is
  for (const row of rows) {
    const [start, end, label, probability = null] = row;
    if (end <= hiddenTo) continue;
    const isFolded = folded.has(row);
    if (isFolded) hiddenTo = end;
    spans.push({ start, end, label, probability, isFolded, text: shownLabel(label) });
  }
  return spans;
}

/** What stands along the bottom: words, and folded spans with their first and last words. */
function columnsOf(spans, words, tags) {
  const [{ start: first, end: last }] = spans;
  const ends = new Map(spans.filter((span) => span.isFolded).map((span) => [span.start, span.end]));
  const columns = [];
  for (let start = first; start < last; start = columns.at(-1).end) {
    const end = ends.get(start) ?? start + 1;
    const some = words.slice(start, end).map(visible);
    const text = some.length > 3 ? `${some[0]} … ${some.at(-1)}` : some.join(" ");
    const isFolded = ends.has(start);
    columns.push({ start, end, isFolded, text, tag: isFolded ? "" : visible(tags?.[start] ?? "") });
  }
  return columns;
}

/**
 * Where everything stands.
 *
 * Every item has a stretch of its own from left to right, into which nothing reaches but what
 * stands below it. So no two labels touch, and an edge can go straight down to any child.
 */
function layOut(spans, columns, style) {
  const { gap, isTurned } = style;
  const children = childrenOf(spans, columns);
  const most = width(String(columns.at(-1).end), NUMBER) + 3 - gap; // boundaries have numbers
  const sizes = spans.map(({ text }) => width(text, LABEL, true));
  for (const { text, tag, isFolded } of columns) {
    const across = isTurned && !isFolded ? style.least : width(text, WORD);
    sizes.push(Math.max(across, isTurned ? 0 : width(tag, TAG), most));
  }
  const lefts = sizes.map((size) => size / 2); // how far the stretch of an item reaches
  const rights = [...lefts];
  const rows = sizes.map(() => 0); // a span stands one above the highest of its children
  const shifts = sizes.map(() => 0); // from the centre of the parent
  for (let index = children.length - 1; index >= 0; index -= 1) {
    const below = children[index];
    let place = 0;
    below.forEach((child, at) => {
      if (at) place += rights[below[at - 1]] + gap + lefts[child];
      shifts[child] = place;
    });
    const centre = place / 2;
    lefts[index] = Math.max(lefts[index], centre + lefts[below[0]]);
    rights[index] = Math.max(rights[index], place - centre + rights[below.at(-1)]);
    rows[index] = 1 + Math.max(...below.map((child) => rows[child]));
    for (const child of below) shifts[child] -= centre;
  }
  const centres = sizes.map(() => lefts[0]);
  children.forEach((below, index) => {
    for (const child of below) centres[child] = centres[index] + shifts[child];
  });
  return { style, children, rows, centres, sizes, width: lefts[0] + rights[0] };
}

/** For each span, the items directly below it: spans by their place, columns after all of them. */
function childrenOf(spans, columns) {
  const children = spans.map(() => []);
  const holders = [];
  let coming = 0;
  columns.forEach((column, index) => {
    while (holders.length && spans[holders.at(-1)].end <= column.start) holders.pop();
    while (coming < spans.length && spans[coming].start === column.start) {
      children[holders.at(-1)]?.push(coming);
      holders.push(coming);
      coming += 1;
    }
    children[holders.at(-1)].push(spans.length + index);
  });
  return children;
}

/** The parts of a drawing, each where the layout has it. */
class Picture {
  constructor({ spans, columns, layout, isMirrored, posts }) {
    this.posts = posts;
    this.spans = spans;
    this.columns = columns;
    this.isMirrored = isMirrored;
    this.layout = layout;
    this.isTurned = layout.style.isTurned;
    const { centres, rows, style } = layout;
    this.width = layout.width + 2 * MARGIN;
    this.centres = centres.map((x) => MARGIN + (isMirrored ? layout.width - x : x));
    this.levels = Math.max(...rows);
    this.row = Math.min(style.tall, Math.max(style.low, style.room / this.levels));
    this.top = MARGIN + LABEL / 2;
    this.tags = this.top + this.levels * this.row; // the middle of the tags
    const longest = (texts, size) => Math.max(...texts.map((text) => width(text, size)), 0);
    const plain = columns.filter(({ isFolded }) => !isFolded);
    const hasTags = columns.some(({ tag }) => tag);
    if (this.isTurned) {
      this.floor = this.tags + (hasTags ? longest(plain.map(({ tag }) => tag), TAG) + 6 : 0);
      this.bottom = this.floor + Math.max(WORD, longest(plain.map(({ text }) => text), WORD));
    } else {
      this.floor = this.tags + (hasTags ? 19 : 0); // the middle of the words
      this.bottom = this.floor + WORD / 2 + 4;
    }
  }

  svg(words) {
    const height = this.bottom + (this.posts ? 36 : 10);
    const [across, down] = [this.width, height].map((size) => size.toFixed(1));
    const { start, end } = this.spans[0];
    const svg = draw("svg", {
      class: `fencepost fencepost-tree${this.isTurned ? " turned" : ""}`,
      role: "img",
      "aria-label": `Tree: ${quoted(words, start, end)}`,
      viewBox: `0 0 ${across} ${down}`,
      width: across,
      height: down,
      "font-family": FONTS,
      "text-anchor": "middle",
    });
    svg.append(
      ...this.spans.map((_, index) => this.#span(index)),
      ...this.columns.map((_, index) => this.#word(index)),
      ...(this.posts ? this.#posts() : []),
    );
    return svg;
  }

  /** How far down the label of a span stands. */
  #middle(item) {
    return this.top + (this.levels - this.layout.rows[item]) * this.row;
  }

  /** The group of a span: its edges down to its children, and its label. */
  #span(index) {
    const { start, end, label, probability, isFolded, text } = this.spans[index];
    const group = draw("g", {
      class: "span",
      "data-start": start,
      "data-end": end,
      "data-label": visible(label ?? ""),
    });
    if (probability !== null) group.dataset.probability = probability;
    const edge = draw("path", {
      class: "edge",
      fill: "none",
      d: isFolded ? this.#triangle(index) : this.#edges(index),
    });
    if (isUnsure(probability)) edge.setAttribute("stroke-dasharray", "4 3");
    const name = draw(
      "text",
      {
        class: `label kind-${kindOf(label ?? "")}`,
        "font-size": LABEL,
        "font-weight": 600,
        x: round(this.centres[index]),
        y: round(this.#middle(index) + 0.36 * LABEL),
      },
      text,
    );
    group.append(edge, name);
    return group;
  }

  /**
   * The path from below a label to above each of its children.
   *
   * Between the label and the next row it goes aslant or, if that would be too flat to follow,
   * along a bar; from there straight down, where nothing stands but what is below that child.
   */
  #edges(index) {
    const x = this.centres[index];
    const y = this.#middle(index) + LABEL / 2 + 3;
    const gap = this.row - LABEL - 6;
    const children = this.layout.children[index];
    const places = children.map((child) => this.centres[child]);
    const ends = children.map((child) => this.#above(child));
    if (Math.max(...places.map((place) => Math.abs(place - x))) <= FLAT * gap) {
      return places
        .map((place, at) => path`M${x} ${y}L${place} ${Math.min(ends[at], y + gap)}V${ends[at]}`)
        .join("");
    }
    const [bar, turn] = [y + gap / 3, gap / 3];
    const parts = [path`M${x} ${y}V${bar}`];
    places.forEach((place, at) => {
      if (at === 0 || at === places.length - 1) {
        const before = place > x ? place - turn : place + turn; // round the corner
        parts.push(path`M${x} ${bar}H${before}Q${place} ${bar} ${place} ${bar + turn}`);
      } else parts.push(path`M${place} ${bar}`);
      parts.push(path`V${ends[at]}`);
    });
    return parts.join("");
  }

  /** The path around what is not shown of a folded span. */
  #triangle(index) {
    const [child] = this.layout.children[index];
    const half = this.layout.sizes[child] / 2;
    const [x, y] = [this.centres[child], this.#above(child)];
    return path`M${x} ${this.#middle(index) + LABEL / 2 + 3}L${x - half} ${y}H${x + half}Z`;
  }

  /** Where an edge ends that comes down to an item. */
  #above(item) {
    if (this.layout.rows[item]) return this.#middle(item) - LABEL / 2 - 3;
    const { tag } = this.columns[item - this.spans.length];
    if (this.isTurned) return (tag ? this.tags : this.floor) - 5;
    return tag ? this.tags - TAG / 2 - 3 : this.floor - WORD / 2 - 3;
  }

  /** The group of a word: its tag and itself. */
  #word(index) {
    const { start, end, text, tag, isFolded } = this.columns[index];
    const x = this.centres[this.spans.length + index];
    const group = draw("g", { class: "word", "data-word": start, "data-end": end });
    const turns = this.isTurned && !isFolded;
    const put = (className, size, y, shown) => {
      const place = turns
        ? { transform: `translate(${round(x - 0.36 * size)} ${round(y)}) rotate(90)` }
        : { x: round(x), y: round(y + 0.36 * size) };
      const anchor = turns ? { "text-anchor": "start" } : {};
      const attributes = { class: className, "font-size": size, ...place, ...anchor };
      group.append(draw("text", attributes, shown));
    };
    if (tag) put("tag muted", TAG, this.tags, tag);
    put("ink", WORD, this.isTurned && isFolded ? this.floor + WORD / 2 : this.floor, text);
    if (direction(text, this.isMirrored) === "rtl" && !turns) {
      group.lastChild.setAttribute("direction", "rtl");
    }
    return group;
  }

  /** A mark for each boundary, half-way between the columns around it, and its number. */
  #posts() {
    const sign = this.isMirrored ? -1 : 1;
    const { sizes, style } = this.layout;
    const sides = this.columns.map((_, index) => {
      const item = this.spans.length + index;
      const half = (sign * sizes[item]) / 2;
      return [this.centres[item] - half, this.centres[item] + half];
    });
    const out = (sign * style.gap) / 2;
    const places = [sides[0][0] - out];
    sides.slice(1).forEach(([begin], index) => places.push((sides[index][1] + begin) / 2));
    places.push(sides.at(-1)[1] + out);
    const numbers = [...this.columns.map(({ start }) => start), this.columns.at(-1).end];
    return places.map((x, index) => this.#post(numbers[index], round(x)));
  }

  #post(boundary, x) {
    const y = this.bottom + 1;
    const group = draw("g", { class: "boundary", "data-boundary": boundary, "data-x": x });
    group.append(
      draw("path", { class: "edge", fill: "none", d: path`M${x} ${y}v9` }),
      draw("text", { class: "number muted", "font-size": NUMBER, x, y: round(y + 20) }, boundary),
    );
    return group;
  }
}

function round(value) {
  return Math.round(value * 10) / 10;
}

/** A path with numbers no longer than they need be. */
function path(parts, ...values) {
  return String.raw({ raw: parts }, ...values.map(round));
}

let ruler = null;

/** How wide a text is, in pixels. */
function width(text, size, isBold = false) {
  ruler ??= document.createElement("canvas").getContext("2d");
  ruler.font = `${isBold ? 600 : 400} ${size}px ${FONTS}`;
  return ruler.measureText(text).width;
}
