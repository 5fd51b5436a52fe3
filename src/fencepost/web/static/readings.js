// The best readings of a layer side by side, and what the others have that the first has not.

import { isGivenUp, parseWords } from "./api.js";
import { asked } from "./constraints.js";
import { Drawing, onlyIn, rowKey, scrollTo } from "./drawing.js";
import { button, make, percent } from "./elements.js";

const COUNTS = [2, 3, 4, 5];
const USUAL = 3;
const SAME = 1e-4; // log-probabilities that are no further apart differ by rounding only

let made = 0;

/** The panel below a drawing that shows other readings of it. */
export class Readings {
  constructor({ layer, words, onClose }) {
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
        make("label", { for: name, textContent: "The best readings, side by side:" }),
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
    const options = { tasks: [this.layer], n_best: wanted, draw: true, ...asked(constraints) };
    try {
      const sentence = await parseWords(this.words, options, this.asking);
      this.#show(sentence.readings ?? [sentence], wanted);
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
      const holder = make("div", {
        className: "drawing",
        role: "group",
        "aria-label": `Reading ${index + 1}`,
      });
      const card = make(
        "div",
        { className: "reading" },
        make("h4", {}, `Reading ${index + 1} `, this.#chance(reading, index ? first : null)),
        this.#isShown(reading)
          ? make("p", { className: "badge", textContent: "the one shown above" })
          : null,
        holder,
        differences(reading),
      );
      this.list.append(card);
      const drawing = new Drawing(holder, reading.svg[this.layer], { words: this.words });
      drawing.mark(onlyIn(reading[this.layer], first[this.layer]).map(rowKey), "differs");
    });
    scrollTogether([...this.list.querySelectorAll(".drawing")]);
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

/** Scroll drawings as one, so that the same words can be compared, and first to a difference. */
function scrollTogether(holders) {
  for (const holder of holders) {
    holder.addEventListener("scroll", () => {
      for (const other of holders) other.scrollLeft = holder.scrollLeft;
    });
  }
  const differing = holders.map((holder) => holder.querySelector(".differs")).find(Boolean);
  if (differing) scrollTo(differing.closest(".drawing"), differing);
}

/** What the server says of a reading, line by line. */
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
