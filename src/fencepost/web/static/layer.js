// One layer of a sentence, its tree or its entities: the drawing and all that can be done with it.

import { isGivenUp, parseWords } from "./api.js";
import { areEqual, asked, chips, Chooser, inWords } from "./constraints.js";
import { Drawing, onlyIn, rowKey } from "./drawing.js";
import { button, count, make, percent, quoted, wantsStillness } from "./elements.js";
import { Player } from "./play.js";
import { Readings } from "./readings.js";

const NAMES = { tree: "Tree", entities: "Entities" };
const MOMENT = 3000; // milliseconds for which changes are marked

/**
 * The view of a layer.
 *
 * @param labels those of each layer: {"tree": ["NP", …], …}
 * @param onAsk gets a layer and a constraint, which may be for another layer.
 */
export class LayerView {
  constructor({ layer, sentence, number, labels, onAsk }) {
    this.layer = layer;
    this.number = number;
    this.words = sentence.words;
    this.constraints = [];
    this.asking = null;
    this.panel = null; // readings or a player, while one is open
    const own = [layer, labels[layer] ?? []];
    const others = Object.entries(labels).filter(([name]) => name !== layer && name in NAMES);
    this.chooser = new Chooser({
      words: this.words,
      labels: [own, ...others],
      onAsk,
      onChange: (chosen) => this.drawing?.choose(chosen),
      onCancel: (boundary) => this.drawing.focus(boundary),
    });
    this.#build();
    this.#take(sentence);
  }

  /** Draw it, once it can be seen: boxes are measured. */
  mount() {
    if (this.drawing) return;
    this.drawing = new Drawing(this.holder, this.svg, {
      words: this.words,
      onSpan: (span) => this.#choosing(() => this.chooser.take(span)),
      onBoundary: (boundary) => this.#choosing(() => this.chooser.choose(boundary)),
    });
  }

  /** Obey one more constraint. */
  require(constraint) {
    if (this.constraints.some((one) => areEqual(one, constraint))) return;
    this.#obey([...this.constraints, constraint]);
  }

  #build() {
    const name = `${this.layer}-${this.number}`;
    this.chance = make("span", { className: "chance" });
    this.readings = button("Readings", () => this.#toggleReadings(), { "aria-expanded": "false" });
    this.play = button("Play the parse", () => this.#togglePlayer(), { "aria-expanded": "false" });
    this.chips = make("div");
    this.note = make("div", { className: "note", role: "status" });
    this.holder = make("div", {
      className: "drawing",
      role: "group",
      "aria-label": `Drawing: ${NAMES[this.layer]}`,
    });
    this.text = make("pre", { tabIndex: 0, dir: "auto" });
    this.copy = button("Copy", () => this.#copy(), { className: "quiet" });
    this.element = make(
      "section",
      { className: `layer ${this.layer}`, "aria-labelledby": name },
      make(
        "div",
        { className: "head" },
        make("h3", { id: name, textContent: NAMES[this.layer] }),
        this.chance,
        make(
          "div",
          { className: "tools" },
          this.readings,
          this.play,
          button("Download SVG", () => this.#download()),
        ),
      ),
      this.chips,
      this.holder,
      this.chooser.element,
      this.note,
      make(
        "details",
        { className: "text" },
        make("summary", { textContent: this.layer === "tree" ? "Brackets" : "As text" }),
        make("div", {}, this.text, this.copy),
      ),
    );
    this.element.onkeydown = (event) => {
      if (this.panel instanceof Player) this.panel.press(event);
      if (event.key === "Escape" && this.chooser.chosen.length) this.chooser.close();
    };
  }

  /** Keep what the server found for this layer, and show it. */
  #take(sentence) {
    this.svg = sentence.svg[this.layer];
    this.rows = sentence[this.layer];
    const logProb = sentence.log_probs?.[this.layer];
    this.chance.textContent =
      logProb === undefined ? "" : `probability ${percent(Math.exp(logProb))}`;
    this.text.textContent =
      sentence.brackets && this.layer === "tree" ? sentence.brackets : this.#asLines();
    if (!this.drawing) return;
    this.drawing = null;
    this.mount();
    this.drawing.choose(this.chooser.chosen);
  }

  #asLines() {
    const lines = this.rows.map(([start, end, label, probability]) => {
      const chance = probability === undefined ? "" : `\t${probability.toFixed(3)}`;
      return `${label}\t${start}\t${end}\t${this.words.slice(start, end).join(" ")}${chance}`;
    });
    return lines.join("\n") || "There are none.";
  }

  #choosing(choose) {
    if (this.panel instanceof Player) return;
    choose();
  }

  /** Ask for a parse that obeys; the one that is shown stays until there is another. */
  async #obey(constraints) {
    this.constraints = constraints;
    this.chips.replaceChildren(
      chips(constraints, this.words, {
        onRemove: (gone) => this.#obey(this.constraints.filter((one) => one !== gone)),
      }),
    );
    const before = this.rows;
    const sentence = await this.#asked({});
    if (!sentence) return;
    if (this.panel instanceof Player) this.#close();
    this.#take(sentence);
    if (document.activeElement === document.body)
      this.drawing.focus(constraints.at(-1)?.start ?? 0);
    const added = onlyIn(this.rows, before);
    this.drawing.mark(added.map(rowKey), "changed", { milliseconds: MOMENT });
    this.#tell(changes(added, onlyIn(before, this.rows), this.words));
    if (this.panel instanceof Readings) this.panel.ask(this.constraints, this.rows);
  }

  /** What the server finds under the constraints; null if it refuses, which is told. */
  async #asked(more) {
    this.asking?.abort();
    this.asking = new AbortController();
    this.element.ariaBusy = "true";
    this.#tell("");
    try {
      const options = { tasks: [this.layer], draw: true, ...asked(this.constraints), ...more };
      return await parseWords(this.words, options, this.asking);
    } catch (error) {
      if (!isGivenUp(error)) this.#refuse(error, { isObeying: !more.steps });
      return null;
    } finally {
      this.element.ariaBusy = "false";
    }
  }

  #tell(...parts) {
    this.note.className = "note";
    this.note.replaceChildren(...parts);
  }

  #refuse(refusal, { isObeying }) {
    const last = this.constraints.at(-1);
    const parts = [make("p", { textContent: refusal.message })];
    if (isObeying && last && refusal.status === 422) {
      const text = `Remove the last constraint: ${inWords(last, this.words)}`;
      parts.push(button(text, () => this.#obey(this.constraints.slice(0, -1))));
      this.chips.querySelector(".chip:last-child").classList.add("unmet");
    }
    this.#tell(...parts);
    this.note.className = "note refusal";
  }

  #open(panel, opener) {
    this.#close();
    this.panel = panel;
    this.opener = opener;
    this.chooser.close();
    opener.setAttribute("aria-expanded", "true");
    this.note.before(panel.element);
  }

  #close() {
    this.panel?.close();
    this.opener?.setAttribute("aria-expanded", "false");
    if (this.panel && document.activeElement === document.body) this.opener.focus();
    this.panel = null;
  }

  #toggleReadings() {
    if (this.panel instanceof Readings) return this.#close();
    const panel = new Readings({
      layer: this.layer,
      words: this.words,
      onClose: () => this.#close(),
    });
    this.#open(panel, this.readings);
    return panel.ask(this.constraints, this.rows);
  }

  async #togglePlayer() {
    if (this.panel instanceof Player) return this.#close();
    const sentence = await this.#asked({ steps: true });
    if (!sentence) return undefined;
    this.#close();
    this.#take(sentence);
    const steps = sentence.steps[this.layer];
    const { drawing, words } = this;
    const panel = new Player({ drawing, steps, words, onClose: () => this.#close() });
    this.#open(panel, this.play);
    panel.toggle.focus();
    return wantsStillness() ? undefined : panel.start();
  }

  async #copy() {
    try {
      await navigator.clipboard.writeText(this.text.textContent);
      this.#tell("Copied.");
    } catch {
      getSelection().selectAllChildren(this.text);
      this.#tell("Selected; copy it with Ctrl or ⌘ + C.");
    }
  }

  /** The drawing as a file that brings its colours with it. */
  async #download() {
    const style = await (await fetch("static/drawing.css")).text();
    const svg = this.svg.replace(
      /^(\s*<svg[^>]*>)/,
      (opening) => `${opening}<style>${style}</style>`,
    );
    const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    make("a", { href: address, download: `${this.layer}-${this.number}.svg` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }
}

/** What a constraint has changed, in words. */
function changes(added, gone, words) {
  if (!added.length && !gone.length) return "Nothing changes.";
  const told = (rows) =>
    rows.length > 3
      ? count(rows.length, "span")
      : rows.map(([start, end, label]) => `${label} ${quoted(words, start, end)}`).join(", ");
  return [added.length ? `New: ${told(added)}.` : "", gone.length ? `Gone: ${told(gone)}.` : ""]
    .join(" ")
    .trim();
}
