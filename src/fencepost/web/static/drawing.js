// A drawing of the server, made to be explored: its spans and fence posts can be pointed at,
// reached by keyboard and chosen.

import { draw, make, percent, quoted } from "./elements.js";
import { hideTooltip, showTooltip } from "./tooltip.js";

const MIRRORED = { ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" };
const ROOM = 5; // around the label of a span, in units of the drawing

/**
 * Put a drawing into its place.
 *
 * The server escapes what it writes, and the policy of the page lets no script in it run.
 */
export class Drawing {
  constructor(holder, markup, { words, onSpan = null, onBoundary = null }) {
    this.holder = holder;
    this.words = words;
    this.onSpan = onSpan;
    this.onBoundary = onBoundary;
    this.isPlaying = false;
    this.line = null;
    const sheet = make("div", { innerHTML: markup }); // its listeners go with it
    holder.replaceChildren(sheet);
    this.svg = sheet.querySelector("svg");
    // What is inside can be reached, so it is no longer one picture.
    this.svg.setAttribute("role", "none");
    this.svg.removeAttribute("aria-label");
    this.svg.style.setProperty("--natural", `${this.svg.viewBox.baseVal.width}px`);
    this.spans = this.#findSpans();
    this.boundaries = [...this.svg.querySelectorAll(".boundary")];
    this.wordGroups = [...this.svg.querySelectorAll(".word")];
    this.#prepareSpans();
    this.#prepareBoundaries();
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
    return this.boundaries.length > 1 && this.x(1) < this.x(0);
  }

  /** Show which words are between two boundaries; null: none are shown. */
  light(span, name = "lit") {
    this.wordGroups.forEach((word, index) => {
      word.classList.toggle(name, span !== null && span.start <= index && index < span.end);
    });
    this.svg.querySelector(`.band.${name}`)?.remove();
    if (span === null || !this.boundaries.length) return;
    const { top, bottom } = this.#wordLine();
    const [left, right] = this.sides(span);
    this.svg.prepend(
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

  /** Show which boundaries are chosen. */
  choose(chosen) {
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
    for (const { element } of this.spans) element.tabIndex = -1;
    found.element.tabIndex = 0;
    return found.element.focus({ preventScroll: true });
  }

  /** Scroll to the root, if there is one. */
  showRoot() {
    const [first] = this.spans;
    if (first?.end - first?.start === this.words.length) scrollTo(this.holder, first.element);
  }

  /** Hand the keys to a player, or take them back. */
  play(isPlaying) {
    this.isPlaying = isPlaying;
    this.#leave();
    for (const group of [this.spans.map((span) => span.element), this.boundaries]) {
      group.forEach((element, index) => {
        element.tabIndex = isPlaying || index ? -1 : 0;
      });
    }
    // What scrolls has to be reached all the same.
    if (isPlaying) this.holder.tabIndex = 0;
    else this.holder.removeAttribute("tabindex");
  }

  #findSpans() {
    const spans = [...this.svg.querySelectorAll(".span")].map((element, order) => ({
      element,
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
    const isTree = this.svg.classList.contains("fencepost-tree");
    const boxes = this.spans.map(({ element }) =>
      ((isTree && element.querySelector("text")) || element).getBBox(),
    );
    this.spans.forEach((span, index) => {
      const { element, start, end, label, probability } = span;
      element.querySelector("title")?.remove(); // shown beside the tooltip otherwise
      const box = boxes[index];
      const room = isTree ? ROOM : 0;
      const ring = draw("rect", {
        class: isTree ? "ring hit" : "ring",
        x: box.x - room,
        y: box.y - room / 2,
        width: box.width + 2 * room,
        height: box.height + room,
        rx: 4,
      });
      element.prepend(ring);
      element.tabIndex = index ? -1 : 0;
      element.setAttribute("role", this.onSpan ? "button" : "img");
      const chance = probability === null ? "" : `, probability ${percent(probability)}`;
      element.setAttribute("aria-label", `${label}, ${quoted(this.words, start, end)}${chance}`);
    });
  }

  #prepareBoundaries() {
    if (!this.onBoundary) return;
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
      element.tabIndex = index ? -1 : 0;
      element.setAttribute("role", "button");
      element.setAttribute("aria-pressed", "false");
      element.setAttribute("aria-label", boundaryName(this.words, index));
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
      this.svg.parentElement.addEventListener(name, listener);
    this.holder.onscroll = hideTooltip;
  }

  #spanAt(target) {
    const element = target.closest(".span");
    return this.spans.find((span) => span.element === element) ?? null;
  }

  #meet(span) {
    this.#leave();
    if (span === null) return;
    span.element.classList.add("met");
    this.light(span);
    showTooltip(span.element.querySelector(".ring"), span, this.words);
  }

  #leave() {
    for (const { element } of this.spans) element.classList.remove("met");
    this.light(null);
    hideTooltip();
  }

  #activate(target) {
    if (this.isPlaying) return;
    const span = this.#spanAt(target);
    if (span) this.onSpan?.(span);
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
    return found?.element;
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
export function scrollTo(holder, element) {
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
