// Playing a parse: the cursor goes along the fence, and each step completes a span.

import { button, draw, make, percent, quoted, wantsStillness } from "./elements.js";

const PACE = 1500; // milliseconds a step
const SPEEDS = [0.5, 1, 2, 4];
const HEIGHT = 52; // of a bar that stands for certainty, in units of the drawing
const ROOM = 88; // below the fence, for the cursor and the bars
const HALF = 24; // of the width of a percentage above a bar

let made = 0;

/** A step in words. */
export function stepInWords(step, total, words) {
  const chance = step.candidates.find(([boundary]) => boundary === step.boundary)?.[1] ?? 1;
  const span = quoted(words, step.start, step.end);
  const what = step.label === null ? `∅, a filler, over ${span}` : `${step.label} over ${span}`;
  const other = step.runner_up
    ? `, or ${step.runner_up[0] ?? "∅"} ${percent(step.runner_up[1])}`
    : "";
  return (
    `Step ${step.number} of ${total}: from ${step.cursor} the pointer goes to ${step.boundary} ` +
    `(${percent(chance)}): ${what}, label ${percent(step.label_probability)}${other}.`
  );
}

/** The panel below a drawing that plays the steps in it. */
export class Player {
  constructor({ drawing, steps, words, onClose }) {
    this.drawing = drawing;
    this.steps = steps;
    this.words = words;
    this.at = 0; // how many steps are done
    this.timer = null;
    this.stage = drawing.isTree ? new TreeStage(drawing) : new TextStage(drawing);
    drawing.play(true);
    this.#build(onClose);
    this.go(0);
  }

  get isOn() {
    return this.timer !== null;
  }

  /** Play on from here, or from the start if this is the end. */
  start() {
    if (this.at === this.steps.length) this.go(0);
    this.line.setAttribute("aria-live", "off"); // not read out faster than anyone could listen
    this.#wait();
    this.#showButton();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    this.line.setAttribute("aria-live", "polite");
    this.#showButton();
  }

  /** Show how it stands after some of the steps. */
  go(number) {
    this.at = Math.max(0, Math.min(number, this.steps.length));
    const step = this.steps[this.at - 1] ?? null;
    this.stage.show(this.steps, this.at);
    this.scrubber.value = this.at;
    this.line.textContent = step
      ? stepInWords(step, this.steps.length, this.words)
      : `Before the first of ${this.steps.length} steps: the cursor stands at boundary 0.`;
    this.scrubber.setAttribute("aria-valuetext", `step ${this.at} of ${this.steps.length}`);
  }

  /** Leave exactly the parse. */
  close() {
    this.pause();
    this.stage.close();
    this.drawing.play(false);
    this.element.remove();
  }

  /** Keys that play, wherever the focus is in this layer. */
  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, summary"))
      return;
    const isButton = event.target.matches("button");
    const does = {
      " ": isButton ? null : () => this.#toggle(),
      ArrowLeft: () => this.#step(this.at - 1),
      ArrowRight: () => this.#step(this.at + 1),
      Home: () => this.#step(0),
      End: () => this.#step(this.steps.length),
    }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  }

  #build(onClose) {
    made += 1;
    const [speed, place] = [`speed-${made}`, `place-${made}`];
    this.toggle = button("Play", () => this.#toggle(), { className: "main toggle" });
    this.speed = make(
      "select",
      { id: speed },
      ...SPEEDS.map((one) =>
        make("option", { value: one, textContent: `${one}×`, selected: one === 1 }),
      ),
    );
    this.scrubber = make("input", {
      type: "range",
      id: place,
      min: 0,
      max: this.steps.length,
      step: 1,
    });
    this.scrubber.oninput = () => this.#step(Number(this.scrubber.value));
    this.line = make("p", { className: "step", "aria-live": "polite" });
    const last = this.steps.length;
    this.element = make(
      "div",
      { className: "panel player", role: "group", "aria-label": "Player" },
      this.line,
      make(
        "div",
        { className: "controls" },
        button("To start", () => this.#step(0)),
        button("Back", () => this.#step(this.at - 1)),
        this.toggle,
        button("Forward", () => this.#step(this.at + 1)),
        button("To end", () => this.#step(last)),
        make(
          "div",
          { className: "pair" },
          make("label", { for: speed, textContent: "Speed" }),
          this.speed,
        ),
        button("Close", onClose, { className: "quiet end" }),
      ),
      make("label", { for: place, className: "unseen", textContent: "Step" }),
      this.scrubber,
    );
  }

  #toggle() {
    if (this.isOn) this.pause();
    else this.start();
  }

  #step(number) {
    this.pause();
    this.go(number);
  }

  #wait() {
    this.timer = setTimeout(
      () => {
        this.go(this.at + 1);
        if (this.at < this.steps.length) this.#wait();
        else this.pause();
      },
      PACE / Number(this.speed.value),
    );
  }

  #showButton() {
    this.toggle.textContent = this.isOn ? "Pause" : "Play";
  }
}

/** What a player draws in a tree: the cursor, bars over candidates, which spans are complete. */
class TreeStage {
  constructor(drawing) {
    this.drawing = drawing;
    const { element: svg, boundaries } = drawing;
    const box = svg.viewBox.baseVal;
    this.before = { viewBox: svg.getAttribute("viewBox"), height: svg.getAttribute("height") };
    this.floor = box.y + box.height + ROOM - 8;
    svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height + ROOM}`);
    svg.setAttribute("height", Number(this.before.height) + ROOM);
    const top = this.floor - ROOM + 8;
    this.overlay = draw("g", { class: "stage", "aria-hidden": "true" });
    this.cursor = draw("path", { class: "cursor", d: `M0 ${top} l7 11 h-14 z` });
    this.pointing = draw("path", { class: "pointing" });
    this.bars = boundaries.map((_, boundary) => this.#bar(boundary));
    this.filler = draw("text", { class: "filler", "text-anchor": "middle" }, "∅");
    this.overlay.append(
      ...this.bars.map((bar) => bar.group),
      this.pointing,
      this.cursor,
      this.filler,
    );
    svg.append(this.overlay);
  }

  /** Show the parse after some steps, and what the last of them chose from. */
  show(steps, at) {
    const { drawing } = this;
    const step = steps[at - 1] ?? null;
    showCompleted(drawing, steps, at);
    this.#showBars(step);
    drawing.light(step, "pointed");
    this.#showFiller(step);
    this.#point(step);
    const cursor = step?.cursor ?? 0;
    this.cursor.style.transform = `translateX(${drawing.x(cursor)}px)`;
    this.#follow(step ?? { start: 0, end: 0 });
  }

  /** An arrow from the cursor to the boundary it points to. */
  #point(step) {
    if (step === null) return this.pointing.setAttribute("d", "");
    const y = this.floor - ROOM + 16;
    const [from, to] = [this.drawing.x(step.cursor), this.drawing.x(step.boundary)];
    return this.pointing.setAttribute("d", `M${from} ${y}H${to}v-9m-4 5 4 -5 4 5`);
  }

  close() {
    leave(this.drawing);
    this.overlay.remove();
    for (const [name, value] of Object.entries(this.before)) {
      this.drawing.element.setAttribute(name, value);
    }
  }

  #bar(boundary) {
    const x = this.drawing.x(boundary);
    const rect = draw("rect", { x: x - 8, y: this.floor - HEIGHT, width: 16, height: HEIGHT });
    const middle = Math.max(HALF, Math.min(x, this.drawing.element.viewBox.baseVal.width - HALF));
    const text = draw("text", { x: middle, "text-anchor": "middle" });
    const group = draw("g", { class: "bar", "data-boundary": boundary });
    group.append(rect, text);
    return { group, rect, text };
  }

  #showBars(step) {
    const chances = new Map(step?.candidates ?? []);
    this.bars.forEach(({ group, rect, text }, boundary) => {
      const chance = chances.get(boundary);
      const isCandidate = chance !== undefined;
      group.classList.toggle("candidate", isCandidate);
      group.classList.toggle("taken", step?.boundary === boundary);
      const share = isCandidate ? Math.max(chance, 0.02) : 0;
      rect.style.transform = `scaleY(${share})`;
      text.textContent = isCandidate && chance >= 0.03 ? percent(chance) : "";
      text.setAttribute("y", this.floor - share * HEIGHT - 4);
    });
  }

  #showFiller(step) {
    const isFiller = step !== null && step.label === null;
    this.filler.style.display = isFiller ? "" : "none";
    if (!isFiller) return;
    const { drawing } = this;
    const band = drawing.element.querySelector(".band.pointed");
    this.filler.setAttribute("x", (drawing.x(step.start) + drawing.x(step.end)) / 2);
    this.filler.setAttribute("y", Number(band.getAttribute("y")) - 4);
  }

  /** Keep what is pointed at in view, inside its own scroll area. */
  #follow(span) {
    const { holder, element: svg } = this.drawing;
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const [first, last] = this.drawing.sides(span);
    const [left, right] = [first * scale - 24, last * scale + 24];
    const behavior = wantsStillness() ? "instant" : "smooth";
    if (left < holder.scrollLeft || right - left > holder.clientWidth)
      holder.scrollTo({ left, behavior });
    else if (right > holder.scrollLeft + holder.clientWidth) {
      holder.scrollTo({ left: right - holder.clientWidth, behavior });
    }
  }
}

/** The same in boxes around words: each boundary has its bar in the line of the text. */
class TextStage {
  constructor(drawing) {
    this.drawing = drawing;
    drawing.element.classList.add("stage");
    this.bars = drawing.boundaries.map((element, boundary) => {
      const bar = make("span", { className: "bar", "data-boundary": boundary });
      bar.append(make("span", { className: "share" }));
      element.append(bar);
      return bar;
    });
    this.filler = make("span", { className: "filler", textContent: "∅", "aria-hidden": "true" });
  }

  /** Show the parse after some steps, and what the last of them chose from. */
  show(steps, at) {
    const { drawing } = this;
    const step = steps[at - 1] ?? null;
    showCompleted(drawing, steps, at);
    drawing.light(step, "pointed");
    const chances = new Map(step?.candidates ?? []);
    this.bars.forEach((bar, boundary) => {
      const chance = chances.get(boundary);
      bar.classList.toggle("candidate", chance !== undefined);
      bar.classList.toggle("taken", step?.boundary === boundary);
      bar.title = chance === undefined ? "" : percent(chance);
      bar.firstChild.style.transform = `scaleY(${Math.max(chance ?? 0, 0.02)})`;
      drawing.boundaries[boundary].classList.toggle("cursor", boundary === (step?.cursor ?? 0));
    });
    this.filler.remove();
    if (step !== null && step.label === null) drawing.boundaries[step.end].append(this.filler);
    drawing.boundaries[step?.boundary ?? 0].scrollIntoView({ block: "nearest" });
  }

  close() {
    leave(this.drawing);
    this.filler.remove();
    for (const bar of this.bars) bar.remove();
    for (const element of this.drawing.boundaries) element.classList.remove("cursor");
    this.drawing.element.classList.remove("stage");
  }
}

/** Show the spans that are complete after some steps, and which is new. */
function showCompleted(drawing, steps, at) {
  const done = new Map(steps.slice(0, at).map((one) => [`${one.start} ${one.end}`, one]));
  for (const { element, start, end } of drawing.spans) {
    const own = done.get(`${start} ${end}`);
    element.classList.toggle("waiting", own === undefined);
    element.classList.toggle("completed", own !== undefined && own === steps[at - 1]);
  }
}

/** Show all spans again. */
function leave(drawing) {
  for (const { element } of drawing.spans) element.classList.remove("waiting", "completed");
  drawing.light(null, "pointed");
}
