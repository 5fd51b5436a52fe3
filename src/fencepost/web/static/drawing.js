// A drawing made to be explored: its spans and fence posts can be pointed at, reached by keyboard
// and chosen. It is a tree (SVG) or boxes around words (HTML).

import { draw, make, percent, quoted } from "./elements.js";
import { hideTooltip, showTooltip } from "./tooltip.js";

const MIRRORED = { ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" };
const ROOM = 5; // around the label of a span, in units of the drawing

/** A drawing in its place: an element of `tree.js` or of `boxes.js`. */
export class Drawing {
  constructor(holder, element, { words, onSpan = null, onBoundary = null }) {
    this.holder = holder;
    this.element = element;
    this.isTree = element instanceof SVGElement;
    this.words = words;
    this.onSpan = onSpan;
    this.onBoundary = onBoundary;
    this.isPlaying = false;
    this.line = null;
    const sheet = make("div", {}, element); // its listeners go with it
    holder.replaceChildren(sheet);
    // What is inside can be reached, so it is no longer one picture.
    if (this.isTree) element.setAttribute("role", "none");
    element.removeAttribute("aria-label");
    this.spans = this.#findSpans();
    this.boundaries = [...element.querySelectorAll(".boundary")];
    this.wordGroups = [...element.querySelectorAll(".word")];
    this.#prepareSpans();
    if (this.onBoundary) this.#prepareBoundaries();
    this.#listen();
  }

  /** Where a boundary is, in units of the drawing. */
  x(boundary) {
    return Number(this.boundaries[boundary].dataset.x);
  }

  /** Where a span begins and ends, from left to right in any script. */
  sides({ start, end }) {
    return [this.x(start), this.x(end)].sort((a, b) => a - b);
  }

  /** Whether the sentence is read from right to left. */
  get isMirrored() {
    if (!this.isTree) return this.element.dir === "rtl";
    return this.boundaries.length > 1 && this.x(1) < this.x(0);
  }

  /** Show which words are between two boundaries; null: none are shown. */
  light(span, name = "lit") {
    for (const word of this.wordGroups) {
      const isIn = span !== null && span.start < word.dataset.end && word.dataset.word < span.end;
      word.classList.toggle(name, isIn);
    }
    if (!this.isTree || !this.boundaries.length) return;
    this.element.querySelector(`.band.${name}`)?.remove();
    if (span === null) return;
    const { top, bottom } = this.#wordLine();
    const [left, right] = this.sides(span);
    this.element.prepend(
      draw("rect", {
        class: `band ${name}`,
        x: left + 1,
        y: top - 3,
        width: right - left - 2,
        height: bottom - top + 6,
        rx: 4,
      }),
    );
  }

  /** Mark spans, for a moment or for good. */
  mark(keys, name, { milliseconds = 0 } = {}) {
    const left = new Map();
    for (const key of keys) left.set(key, (left.get(key) ?? 0) + 1);
    for (const span of this.spans) {
      const key = keyOf(span);
      if (!left.get(key)) continue;
      left.set(key, left.get(key) - 1);
      span.element.classList.add(name);
      if (milliseconds) setTimeout(() => span.element.classList.remove(name), milliseconds);
    }
  }

  /** Mark the matches of a search: phrases, or words with their tags. */
  find(nodes) {
    const marked = [...this.spans.map(({ element }) => element), ...this.wordGroups];
    for (const element of marked) element.classList.remove("found");
    const phrases = nodes.filter(({ kind }) => kind === "phrase");
    this.mark(
      phrases.map(({ left, right, label }) => keyOf({ start: left, end: right, label })),
      "found",
    );
    for (const { kind, left } of nodes)
      if (kind !== "phrase") this.wordGroups[left].classList.add("found");
  }

  /** Show which boundaries are chosen. */
  choose(chosen) {
    if (!this.onBoundary) return;
    this.boundaries.forEach((element, index) => {
      element.setAttribute("aria-pressed", chosen.includes(index));
    });
    const between = chosen.length === 2 ? { start: chosen[0], end: chosen[1] } : null;
    this.light(between, "chosen");
  }

  /** Put the focus on a boundary, so that the keyboard goes on from there. */
  focus(boundary) {
    for (const element of this.boundaries) element.tabIndex = -1;
    this.boundaries[boundary].tabIndex = 0;
    this.boundaries[boundary].focus({ preventScroll: true });
  }

  /** Put the focus on a span, if it is still there. */
  focusSpan(span) {
    const found = this.spans.find((one) => keyOf(one) === keyOf(span));
    if (!found) return this.focus(span.start);
    for (const { handle } of this.spans) handle.tabIndex = -1;
    found.handle.tabIndex = 0;
    return found.handle.focus({ preventScroll: true });
  }

  /** Put the focus on a span, and scroll until it is seen. */
  showSpan(span) {
    this.focusSpan(span);
    document.activeElement.scrollIntoView({ block: "nearest", inline: "center" });
  }

  /** Scroll to the root of a tree. */
  showRoot() {
    if (this.isTree) scrollTo(this.holder, this.spans[0].element);
  }

  /** Hand the keys to a player, or take them back. */
  play(isPlaying) {
    this.isPlaying = isPlaying;
    this.#leave();
    for (const group of [this.spans.map((span) => span.handle), this.boundaries]) {
      group.forEach((element, index) => {
        element.tabIndex = isPlaying || index ? -1 : 0;
      });
    }
    // What scrolls has to be reached all the same.
    if (isPlaying) this.holder.tabIndex = 0;
    else this.holder.removeAttribute("tabindex");
  }

  #findSpans() {
    const spans = [...this.element.querySelectorAll(".span")].map((element, order) => ({
      element,
      handle: this.isTree ? element : element.querySelector(":scope > .label"),
      order,
      start: Number(element.dataset.start),
      end: Number(element.dataset.end),
      label: element.dataset.label,
      probability: element.dataset.probability ? Number(element.dataset.probability) : null,
      holder: null,
    }));
    spans.sort((a, b) => a.start - b.start || b.end - a.end || a.order - b.order);
    const above = [];
    for (const span of spans) {
      while (above.length && above.at(-1).end <= span.start) above.pop();
      span.holder = above.at(-1) ?? null;
      above.push(span);
    }
    return spans;
  }

  #prepareSpans() {
    if (this.isTree) this.#ringLabels();
    this.spans.forEach(({ handle, start, end, label, probability }, index) => {
      handle.tabIndex = index ? -1 : 0;
      handle.setAttribute("role", this.onSpan ? "button" : "img");
      const chance = probability === null ? "" : `, probability ${percent(probability)}`;
      handle.setAttribute("aria-label", `${label}, ${quoted(this.words, start, end)}${chance}`);
    });
  }

  /** Give labels room to be pointed at. */
  #ringLabels() {
    const boxes = this.spans.map(({ element }) => element.querySelector("text").getBBox());
    this.spans.forEach(({ element }, index) => {
      const { x, y, width, height } = boxes[index];
      element.prepend(
        draw("rect", {
          class: "ring hit",
          x: x - ROOM,
          y: y - ROOM / 2,
          width: width + 2 * ROOM,
          height: height + ROOM,
          rx: 4,
        }),
      );
    });
  }

  #prepareBoundaries() {
    if (this.isTree) this.#ringPosts();
    this.boundaries.forEach((element, index) => {
      element.tabIndex = index ? -1 : 0;
      element.setAttribute("role", "button");
      element.setAttribute("aria-pressed", "false");
      element.setAttribute("aria-label", boundaryName(this.words, index));
    });
  }

  /** Give posts as much room to be pointed at as their neighbours leave. */
  #ringPosts() {
    const boxes = this.boundaries.map((element) => element.getBBox());
    this.boundaries.forEach((element, index) => {
      const near = [index - 1, index + 1]
        .filter((other) => other in this.boundaries)
        .map((other) => Math.abs(this.x(other) - this.x(index)));
      const width = Math.min(44, ...near);
      const { y, height } = boxes[index];
      element.prepend(
        draw("rect", {
          class: "ring hit",
          x: this.x(index) - width / 2,
          y: y - 2,
          width,
          height: height + 6,
          rx: 4,
        }),
      );
    });
  }

  /** Between which heights the words stand. */
  #wordLine() {
    if (!this.line) {
      const boxes = this.wordGroups.map((word) => word.getBBox());
      const top = boxes.reduce((least, box) => Math.min(least, box.y), Infinity);
      const bottom = boxes.reduce((most, box) => Math.max(most, box.y + box.height), 0);
      this.line = { top, bottom };
    }
    return this.line;
  }

  #listen() {
    const does = {
      pointerover: (event) => this.#meet(this.#spanAt(event.target)),
      pointerleave: () => this.#leave(),
      focusin: (event) => this.#meet(this.#spanAt(event.target)),
      focusout: () => this.#leave(),
      click: (event) => this.#activate(event.target),
      keydown: (event) => this.#press(event),
    };
    for (const [name, listener] of Object.entries(does))
      this.element.parentElement.addEventListener(name, listener);
    this.holder.onscroll = hideTooltip;
  }

  #spanAt(target) {
    const element = target.closest(".boundary") ? null : target.closest(".span");
    return this.spans.find((span) => span.element === element) ?? null;
  }

  #meet(span) {
    this.#leave();
    if (span === null) return;
    span.element.classList.add("met");
    this.light(span);
    const beside = this.isTree ? span.element.querySelector(".ring") : span.handle;
    showTooltip(beside, span, this.words);
  }

  #leave() {
    for (const { element } of this.spans) element.classList.remove("met");
    this.light(null);
    hideTooltip();
  }

  #activate(target) {
    if (this.isPlaying) return;
    const span = this.#spanAt(target);
    if (span?.handle.contains(target)) this.onSpan?.(span);
    const boundary = this.boundaries.indexOf(target.closest(".boundary"));
    if (boundary >= 0) this.onBoundary?.(boundary);
  }

  #press(event) {
    if (this.isPlaying || event.ctrlKey || event.metaKey || event.altKey) return;
    const span = this.#spanAt(event.target);
    const key = this.isMirrored ? (MIRRORED[event.key] ?? event.key) : event.key;
    const next = span ? this.#nextSpan(span, key) : this.#nextBoundary(event.target, key);
    if (next) {
      event.preventDefault();
      this.#rove(event.target.closest("[role]"), next);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#activate(event.target);
    } else if (event.key === "Escape") {
      this.#leave();
    }
  }

  #nextSpan(span, key) {
    const beside = this.spans.filter((other) => other.holder === span.holder);
    const at = beside.indexOf(span);
    const found = {
      ArrowUp: span.holder,
      ArrowDown: this.spans.find((other) => other.holder === span),
      ArrowLeft: beside[at - 1],
      ArrowRight: beside[at + 1],
      Home: this.spans[0],
      End: this.spans.at(-1),
    }[key];
    return found?.handle;
  }

  #nextBoundary(target, key) {
    const at = this.boundaries.indexOf(target.closest(".boundary"));
    if (at < 0) return undefined;
    const last = this.boundaries.length - 1;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[key];
    return this.boundaries[to];
  }

  #rove(from, to) {
    from.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
    to.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

/** Scroll until a span stands in the middle of its drawing. */
function scrollTo(holder, element) {
  const [around, ring] = [holder, element.querySelector(".ring")].map((one) =>
    one.getBoundingClientRect(),
  );
  holder.scrollLeft += ring.left + ring.width / 2 - around.left - around.width / 2;
}

/** What tells a span from others. */
export function keyOf({ start, end, label }) {
  return `${start} ${end} ${label}`;
}

/** What some rows of spans have and others have not, each as often as it is there more. */
export function onlyIn(rows, others) {
  const left = new Map();
  for (const key of others.map(rowKey)) left.set(key, (left.get(key) ?? 0) + 1);
  return rows.filter((row) => {
    const key = rowKey(row);
    const times = left.get(key) ?? 0;
    left.set(key, times - 1);
    return times <= 0;
  });
}

/** The key of a span as the server gives it. */
export function rowKey([start, end, label]) {
  return keyOf({ start, end, label });
}

/** What a boundary is called: "boundary 2, between cat and sat". */
export function boundaryName(words, boundary) {
  if (boundary === 0) return `boundary 0, before ${words[0]}`;
  if (boundary === words.length) return `boundary ${boundary}, behind ${words.at(-1)}`;
  return `boundary ${boundary}, between ${words[boundary - 1]} and ${words[boundary]}`;
}
