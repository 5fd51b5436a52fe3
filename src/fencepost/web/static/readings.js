// The best readings of a layer: where each of the others differs from the first.

import { boxes } from "./boxes.js";
import { asked } from "./constraints.js";
import { differingTrees, differingWords, within } from "./differing.js";
import { Drawing, onlyIn, rowKey } from "./drawing.js";
import { button, make, percent } from "./elements.js";
import { isGivenUp } from "./provider.js";
import { treeSvg } from "./tree.js";

const COUNTS = [2, 3, 4, 5];
const USUAL = 3;
const CROWDED = 1.3; // drawings that would shrink by more stand below each other
const SAME = 1e-4; // log-probabilities that are no further apart differ by rounding only

let made = 0;

/** The panel below a drawing that shows other readings of it. */
export class Readings {
  constructor({ layer, words, provider, onClose }) {
    this.provider = provider;
    this.layer = layer;
    this.words = words;
    this.asking = null;
    made += 1;
    const name = `readings-${made}`;
    this.count = make(
      "select",
      { id: name, onchange: () => this.ask() },
      ...COUNTS.map((number) =>
        make("option", { textContent: number, selected: number === USUAL }),
      ),
    );
    this.note = make("p", { className: "note", role: "status" });
    this.list = make("div", { className: "readings" });
    this.element = make(
      "div",
      { className: "panel", role: "group", "aria-label": "Readings" },
      make(
        "div",
        { className: "controls" },
        make("label", { for: name, textContent: "The best readings:" }),
        this.count,
        button("Close", onClose, { className: "quiet end" }),
      ),
      this.note,
      this.list,
    );
  }

  /**
   * Ask for the readings that obey the constraints, and show them.
   *
   * @param shown the parse above: its rows and its log-probability.
   */
  async ask(constraints = this.constraints, shown = this.shown) {
    this.constraints = constraints;
    this.shown = shown;
    this.asking?.abort();
    this.asking = new AbortController();
    this.note.className = "note";
    this.note.textContent = "Looking for readings …";
    const wanted = Number(this.count.value);
    const query = { layer: this.layer, ...asked(constraints) };
    try {
      this.#show(await this.provider.readings(this.words, wanted, query, this.asking), wanted);
    } catch (error) {
      if (isGivenUp(error)) return;
      this.note.className = "note refusal";
      this.note.textContent = error.message;
    }
  }

  /** Give up what is still asked. */
  close() {
    this.asking?.abort();
    this.element.remove();
  }

  #show(readings, wanted) {
    const [first] = readings;
    const notes = [
      readings.length < wanted ? `Only ${readings.length} found.` : "",
      this.#comparison(readings),
    ];
    this.note.textContent = notes.join(" ").trim();
    this.list.replaceChildren();
    readings.forEach((reading, index) => {
      const parts = make("div", { className: "parts" });
      this.list.append(
        make(
          "div",
          { className: "reading" },
          make("h4", {}, `Reading ${index + 1} `, this.#chance(reading, index ? first : null)),
          this.#isShown(reading)
            ? make("p", { className: "badge", textContent: "the one shown above" })
            : null,
          index ? differences(reading) : null,
          parts,
        ),
      );
      const above = { ...first, [this.layer]: this.shown.rows };
      if (index) this.#compare(parts, reading, first, "Reading 1");
      else if (!this.#isShown(reading)) this.#compare(parts, reading, above, "Above");
    });
  }

  /** Draw what differs, in this reading and in another. */
  #compare(place, reading, other, name) {
    const [rows, others] = [reading[this.layer], other[this.layer]];
    const isTree = this.layer === "tree";
    const parts = isTree
      ? differingTrees(rows, others)
      : differingWords(rows, others, this.words.length);
    for (const part of parts) {
      const [here, there] = ["Here", name].map((text) => {
        const holder = make("div", { className: "drawing", role: "group", "aria-label": text });
        const figure = make("figure", {}, make("figcaption", { textContent: text }), holder);
        return { holder, figure };
      });
      const sides = make("div", { className: "sides" }, here.figure, there.figure);
      place.append(sides);
      const draw = () => {
        this.#drawPart(here.holder, reading, part, others);
        this.#drawPart(there.holder, other, part, rows);
      };
      draw();
      const isWide = [...sides.querySelectorAll("svg")].some(
        (svg) => svg.viewBox.baseVal.width > CROWDED * svg.clientWidth,
      );
      if (isWide) {
        sides.classList.add("stacked");
        draw();
      }
    }
  }

  /** Draw a part of a reading, with those spans marked that another has not. */
  #drawPart(holder, reading, part, others) {
    const { words, layer } = this;
    const { rows, folded } = within(reading[layer], others, part);
    const element =
      layer === "tree"
        ? treeSvg({ ...reading, words, rows, folded, posts: false, room: holder.clientWidth })
        : boxes({ ...reading, words, rows, ...part });
    const isCut = layer !== "tree";
    if (isCut && part.start > 0) element.prepend("… ");
    if (isCut && part.end < words.length) element.append(" …");
    const drawing = new Drawing(holder, element, { words });
    if (element instanceof SVGElement) fit(element);
    drawing.mark(onlyIn(rows, others).map(rowKey), "differs");
  }

  /** How the readings compare with the parse above, if that is not the first of them. */
  #comparison(readings) {
    const at = readings.findIndex((reading) => this.#isShown(reading));
    const isBetter = this.#logProb(readings[0]) - this.shown.logProb > SAME;
    if (at === 0 || (at > 0 && !isBetter)) return "";
    const better = "Looking wider found a better reading than the one above";
    if (at > 0) return `${better}.`;
    return isBetter
      ? `${better}, which is not among these.`
      : "The one above is not among these, though it is no less probable.";
  }

  #logProb(reading) {
    return reading.log_probs?.[this.layer];
  }

  /** How probable a reading is, and beside the first how much less. */
  #chance(reading, first) {
    const logProb = this.#logProb(reading);
    const parts = logProb === undefined ? [] : [percent(Math.exp(logProb))];
    if (parts.length && first) parts.push(besideFirst(this.#logProb(first) - logProb));
    return make("span", { className: "chance", textContent: parts.join(", ") });
  }

  #isShown(reading) {
    const rows = reading[this.layer];
    return !onlyIn(rows, this.shown.rows).length && !onlyIn(this.shown.rows, rows).length;
  }
}

/** How much less probable a reading is, by the difference of log-probabilities. */
function besideFirst(lead) {
  const times = Math.exp(lead);
  if (times < 1.5) return "about as probable as the first";
  if (times > 1e6) return "far less probable than the first";
  return `1/${Math.round(times).toLocaleString("en")} as probable as the first`;
}

/** As wide as its place allows, and no wider than it is. */
function fit(svg) {
  svg.style.setProperty("--natural", `${svg.viewBox.baseVal.width}px`);
}

/** How a reading differs from the first, line by line. */
function differences(reading) {
  const text = reading.differences ?? "";
  const lines = text.split("\n").filter(Boolean);
  if (!lines.length)
    return make("p", { className: "hint", textContent: "The others are compared with this one." });
  return make(
    "ul",
    { className: "differences" },
    ...lines.map((line) => make("li", { textContent: line })),
  );
}
