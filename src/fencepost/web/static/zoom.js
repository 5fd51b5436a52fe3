// Drawings that are wider than their place: fitted to it at first, to be enlarged and moved.

import { button, make } from "./elements.js";

const STEP = 1.35; // how much larger or smaller with each press
const MOST = 3;
const LEGIBLE = 0.45; // smaller than this, letters are only strokes
const FIRST = 0.6; // the size then

/** The size of a drawing in its place; `element` has the buttons. */
export class Zoom {
  constructor(holder) {
    this.holder = holder;
    this.scale = null; // null: as large as fits
    this.natural = 0;
    this.shown = make("output", { className: "size" });
    this.element = make(
      "div",
      { className: "zoom", role: "group", "aria-label": "Zoom", hidden: true },
      button("−", () => this.by(1 / STEP), { "aria-label": "Smaller" }),
      this.shown,
      button("+", () => this.by(STEP), { "aria-label": "Larger" }),
      button("Fit", () => this.to(null)),
    );
    this.touches = new Map(); // fingers on the drawing
    this.#listen();
  }

  /** The drawing is another one; the size stays as it was chosen. */
  take(svg) {
    const isFirst = !this.natural;
    this.natural = svg.viewBox.baseVal.width;
    svg.style.setProperty("--natural", `${this.natural}px`);
    this.to(isFirst && this.fitting < LEGIBLE ? FIRST : this.scale);
  }

  /** The size at which all of the drawing is seen. */
  get fitting() {
    return Math.min(1, (this.holder.clientWidth - 8) / this.natural);
  }

  by(factor, place) {
    this.to((this.scale ?? this.fitting) * factor, place);
  }

  /**
   * Show it at a size; what is at a place of the window, or in the middle, stays there.
   *
   * @param {number | null} scale null: as large as fits.
   */
  to(scale, { x, y } = this.#middle()) {
    const { holder, fitting } = this;
    const before = this.scale ?? fitting;
    const box = holder.getBoundingClientRect();
    const [across, down] = [x - box.left, y - box.top];
    const [left, top] = [holder.scrollLeft + across, holder.scrollTop + down];
    this.scale = scale === null || scale <= fitting ? null : Math.min(scale, MOST);
    holder.classList.toggle("zoomed", this.scale !== null);
    holder.style.setProperty("--zoom", this.scale ?? 1);
    this.element.hidden = fitting === 1 && this.scale === null;
    this.shown.textContent = `${Math.round(100 * (this.scale ?? fitting))}\u00a0%`;
    const factor = (this.scale ?? fitting) / before;
    holder.scrollLeft = left * factor - across;
    holder.scrollTop = top * factor - down;
  }

  #middle() {
    const { left, top, width, height } = this.holder.getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  }

  #listen() {
    const { holder } = this;
    const does = {
      keydown: (event) => this.#press(event),
      wheel: (event) => this.#turn(event),
      pointerdown: (event) => this.#touch(event),
      pointermove: (event) => this.#move(event),
      pointerup: (event) => this.#release(event),
      pointercancel: (event) => this.#release(event),
    };
    for (const [name, listener] of Object.entries(does)) {
      holder.addEventListener(name, listener, name === "wheel" ? { passive: false } : {});
    }
    new ResizeObserver(() => {
      if (this.natural && holder.clientWidth) this.to(this.scale);
    }).observe(holder);
  }

  #press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const does = {
      "+": () => this.by(STEP),
      "=": () => this.by(STEP),
      "-": () => this.by(1 / STEP),
      0: () => this.to(null),
    }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  }

  /** The wheel, with the key that zooms pages; touchpads send the same for two fingers. */
  #turn(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.by(Math.exp(-event.deltaY / 300), { x: event.clientX, y: event.clientY });
  }

  #touch(event) {
    if (event.pointerType === "touch") this.touches.set(event.pointerId, event);
    const isFree = !event.target.closest(".span, .boundary") && event.button === 0;
    if (event.pointerType !== "mouse" || !isFree || this.scale === null) return;
    this.dragged = event;
    this.holder.setPointerCapture(event.pointerId);
    this.holder.classList.add("dragged");
  }

  #move(event) {
    const { holder, touches } = this;
    if (this.dragged) {
      holder.scrollLeft -= event.clientX - this.dragged.clientX;
      holder.scrollTop -= event.clientY - this.dragged.clientY;
      this.dragged = event;
    } else if (touches.has(event.pointerId)) {
      const [before] = spread(touches);
      touches.set(event.pointerId, event);
      const [after, place] = spread(touches);
      if (before && after) this.by(after / before, place);
    }
  }

  #release(event) {
    this.touches.delete(event.pointerId);
    this.dragged = null;
    this.holder.classList.remove("dragged");
  }
}

/** How far two fingers are apart, and the place between them; nothing if there are not two. */
function spread(touches) {
  if (touches.size !== 2) return [0, null];
  const [one, other] = touches.values();
  return [
    Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY),
    { x: (one.clientX + other.clientX) / 2, y: (one.clientY + other.clientY) / 2 },
  ];
}
