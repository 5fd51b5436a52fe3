// One layer of a sentence, its tree or its entities: the drawing and all that can be done with it.

import { boxes, boxesSvg } from "./boxes.js";
import { certainty, leastSure } from "./certainty.js";
import { areEqual, areSame, asked, chips, Chooser, contradiction, inWords } from "./constraints.js";
import { Drawing, keyOf, onlyIn, rowKey } from "./drawing.js";
import { button, count, draw, inRow, make, quoted, wantsStillness } from "./elements.js";
import { Player } from "./play.js";
import { isGivenUp } from "./provider.js";
import { Readings } from "./readings.js";
import { treeSvg } from "./tree.js";
import { Zoom } from "./zoom.js";

const NAMES = { tree: "Tree", entities: "Entities" };
const MOMENT = 3000; // milliseconds for which changes are marked

/**
 * The view of a layer.
 *
 * @param labels those of each layer: {"tree": ["NP", …], …}
 * @param closeWords a sentence of more words can only be looked at.
 * @param onAsk gets a layer and a constraint, which may be for another layer.
 */
export class LayerView {
  constructor({ layer, sentence, number, labels, closeWords, onAsk, provider }) {
    this.provider = provider;
    this.layer = layer;
    this.number = number;
    this.sentence = sentence;
    this.words = sentence.words;
    this.most = closeWords;
    this.constraints = [];
    this.obeyed = []; // by the parse that is shown
    this.asking = null;
    this.panel = null; // readings or a player, while one is open
    this.matches = []; // of a search
    const own = [layer, labels[layer] ?? []];
    const others = Object.entries(labels).filter(([name]) => name !== layer && name in NAMES);
    this.chooser = new Chooser({
      words: this.words,
      labels: [own, ...others],
      onAsk,
      onChange: (chosen) => this.drawing?.choose(chosen),
      onCancel: (boundary, span) =>
        span ? this.drawing.focusSpan(span) : this.drawing.focus(boundary),
    });
    this.#build();
    this.#take(sentence);
  }

  /** Draw it, once it can be seen: boxes are measured. */
  mount() {
    if (this.drawing) return;
    this.#draw();
    this.drawing.showRoot();
  }

  /** What the parse that is shown obeys. */
  get query() {
    return { ...asked(this.obeyed), names: this.#showsNames };
  }

  /** Whether there are no answers to questions about a sentence of this length. */
  get isLong() {
    return this.words.length > this.most;
  }

  /** Mark the matches of a search. */
  markMatches(nodes) {
    this.matches = nodes;
    this.drawing?.find(nodes);
  }

  /** Go to a match. */
  showMatch({ kind, left: start, right: end, label }) {
    this.element.scrollIntoView({ block: "nearest" });
    if (kind === "phrase" && label) this.drawing.showSpan({ start, end, label });
  }

  /** Close what plays. */
  stop() {
    if (this.panel instanceof Player) this.#close();
  }

  /** Obey one more constraint. */
  require(constraint) {
    if (this.constraints.some((one) => areEqual(one, constraint))) return;
    this.#obey([...this.constraints, constraint]);
  }

  #draw() {
    const choices = {
      onSpan: (span) => this.#choosing(() => this.chooser.take(span)),
      onBoundary: (boundary) => this.#choosing(() => this.chooser.choose(boundary)),
    };
    const { holder, rows, words, zoom } = this;
    const element = zoom ? this.#tree() : boxes({ ...this.sentence, rows, posts: !this.isLong });
    const canAsk = this.provider.can.constraints && !this.isLong;
    this.drawing = new Drawing(holder, element, { words, ...(canAsk ? choices : {}) });
    zoom?.take(element);
    this.drawing.mark(leastSure(rows).map(keyOf), "doubtful");
    this.drawing.find(this.matches);
  }

  #tree() {
    return treeSvg({ ...this.sentence, rows: this.rows, room: this.holder.clientWidth });
  }

  #build() {
    const name = `${this.layer}-${this.number}`;
    this.certainty = make("div");
    this.readings = button("Readings", () => this.#toggleReadings(), { "aria-expanded": "false" });
    this.play = button("Play the parse", () => this.#togglePlayer(), { "aria-expanded": "false" });
    const { can } = this.provider;
    this.names = button("Names only", () => this.#toggleNames(), { "aria-pressed": "false" });
    this.names.hidden = !(can.names && this.layer === "entities" && this.sentence.tags);
    this.readings.hidden = !can.readings;
    this.play.hidden = !can.steps;
    const closeWork = this.#closeWork();
    const reason = `${closeWork} for up to ${count(this.most, "word")}.`;
    if (this.isLong) {
      for (const one of [this.readings, this.play])
        Object.assign(one, { disabled: true, title: reason });
    }
    this.chips = make("div");
    this.note = make("div", { className: "note", role: "status" });
    this.holder = make("div", {
      className: "drawing",
      role: "group",
      "aria-label": `Drawing: ${NAMES[this.layer]}`,
    });
    this.zoom = this.layer === "tree" ? new Zoom(this.holder) : null;
    this.element = make(
      "div", // a landmark would need a name of its own in each card
      { className: `layer ${this.layer}`, role: "group", "aria-labelledby": name },
      make(
        "div",
        { className: "head" },
        make("h3", { id: name, textContent: NAMES[this.layer] }),
        make(
          "div",
          { className: "tools" },
          this.zoom?.element ?? null,
          this.names,
          this.readings,
          this.play,
          button("Download SVG", () => this.#download()),
        ),
      ),
      this.isLong && closeWork ? make("p", { className: "hint", textContent: reason }) : null,
      this.certainty,
      this.chips,
      this.holder,
      this.chooser.element,
      this.note,
    );
    // A screen reader presses buttons of what has not come near yet.
    this.element.addEventListener("click", () => this.mount(), { capture: true });
    this.element.onkeydown = (event) => {
      if (this.panel instanceof Player) this.#pressWhilePlaying(event);
      else if (event.key === "Escape" && this.chooser.chosen.length) this.chooser.close();
    };
  }

  /** What there is beside the parse, as the beginning of a sentence; empty if there is nothing. */
  #closeWork() {
    const { readings, constraints, steps } = this.provider.can;
    const names = [readings && "readings", constraints && "constraints", steps && "playing"];
    const text = inRow(names.filter(Boolean));
    return text && `${text[0].toUpperCase()}${text.slice(1)} ${text === "playing" ? "is" : "are"}`;
  }

  #pressWhilePlaying(event) {
    if (event.key !== "Escape") return this.panel.press(event);
    this.#close();
    return this.opener.focus();
  }

  /** Keep what was found for this layer, and show it. */
  #take(sentence) {
    this.obeyed = this.constraints;
    this.all = sentence;
    this.#show(sentence, { names: false });
  }

  /** Show what was found, or the names in it. */
  #show(sentence, { names }) {
    this.names.setAttribute("aria-pressed", String(names));
    this.rows = sentence[this.layer];
    this.logProb = sentence.log_probs?.[this.layer];
    const { rows, words } = this;
    const onSpan = (span) => this.drawing.showSpan(span);
    this.certainty.replaceChildren(certainty({ rows, words, onSpan }));
    if (!this.drawing) return;
    this.#draw();
    this.drawing.choose(this.chooser.chosen);
  }

  #choosing(choose) {
    if (this.panel instanceof Player) return;
    choose();
  }

  /** Ask for a parse that obeys; the one that is shown stays until there is another. */
  async #obey(constraints) {
    this.constraints = constraints;
    this.#showChips();
    if (areSame(constraints, this.obeyed)) return this.#stay();
    const before = this.all[this.layer];
    const sentence = await this.#asked("parseWords", () => this.#obey(this.constraints));
    if (!sentence) return undefined;
    this.stop();
    this.#take(sentence);
    this.#keepFocus();
    const added = onlyIn(this.rows, before);
    this.drawing.mark(added.map(rowKey), "changed", { milliseconds: MOMENT });
    this.#tell(changes(added, onlyIn(before, this.rows), this.words));
    return this.#askReadings();
  }

  /** Go on with the parse that is shown: it obeys already. */
  #stay() {
    this.asking?.abort();
    this.#tell("");
    this.#keepFocus();
    this.#askReadings();
  }

  /** Give the keyboard a place to go on, if the button that was pressed is gone. */
  #keepFocus() {
    if (document.activeElement !== document.body) return;
    this.drawing.focus(this.constraints.at(-1)?.start ?? 0);
  }

  /** Ask for readings that obey what the parse that is shown obeys. */
  #askReadings() {
    const { rows, logProb } = this;
    if (this.panel instanceof Readings) this.panel.ask(this.obeyed, { rows, logProb });
  }

  #showChips(unmet = []) {
    const onRemove = (gone) => this.#obey(this.constraints.filter((one) => one !== gone));
    this.chips.replaceChildren(chips(this.constraints, this.words, { unmet, onRemove }));
  }

  /**
   * What is found under the constraints; null if that is refused, which is told.
   *
   * @param call of the provider: parseWords, names or steps.
   * @param again asks once more, if the reader wants to.
   */
  async #asked(call, again) {
    this.asking?.abort();
    this.asking = new AbortController();
    this.element.ariaBusy = "true";
    this.#tell("");
    try {
      const query = { layer: this.layer, ...asked(this.constraints) };
      return await this.provider[call](this.words, query, this.asking);
    } catch (error) {
      if (!isGivenUp(error)) this.#refuse(error, again);
      return null;
    } finally {
      this.element.ariaBusy = "false";
    }
  }

  #tell(...parts) {
    this.note.className = "note";
    this.note.replaceChildren(...parts);
  }

  /** Tell why there is no other parse, and offer what can be done. */
  #refuse(refusal, again) {
    const unmet = this.constraints.filter((one) => !this.obeyed.includes(one));
    const why = contradiction(this.constraints, this.words, refusal.said) ?? refusal.message;
    const parts = [make("p", { textContent: why })];
    if (refusal.status !== 422) parts.push(button("Try again", again));
    if (unmet.length) {
      const last = unmet.at(-1);
      const text = `Remove the last constraint: ${inWords(last, this.words)}`;
      parts.push(button(text, () => this.#obey(this.constraints.filter((one) => one !== last))));
    }
    this.#showChips(unmet);
    this.#warn(...parts);
    if (document.activeElement === document.body) this.note.querySelector("button")?.focus();
  }

  #warn(...parts) {
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

  /** Whether names alone are shown; what asks for another parse shows all entities again. */
  get #showsNames() {
    return this.names.ariaPressed === "true";
  }

  async #toggleNames() {
    if (this.#showsNames) return this.#show(this.all, { names: false });
    this.#close();
    const sentence = await this.#asked("names", () => this.#toggleNames());
    if (!sentence) return undefined;
    this.#show(sentence, { names: true });
    return this.#tell(this.rows.length ? "" : "There are no names among them.");
  }

  #toggleReadings() {
    if (this.panel instanceof Readings) return this.#close();
    if (this.#showsNames) this.#show(this.all, { names: false });
    const panel = new Readings({
      layer: this.layer,
      words: this.words,
      provider: this.provider,
      onClose: () => this.#close(),
    });
    this.#open(panel, this.readings);
    return this.#askReadings();
  }

  async #togglePlayer() {
    if (this.panel instanceof Player) return this.#close();
    const sentence = await this.#asked("steps", () => this.#togglePlayer());
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

  /** The drawing as a file that brings its colours with it. */
  async #download() {
    const { href } = document.querySelector("link[href$='drawing.css']");
    const response = await fetch(href).catch(() => null);
    const style = response?.ok ? await response.text().catch(() => null) : null;
    if (style === null)
      return this.#warn("The drawing cannot be downloaded: its colours cannot be read.");
    const svg = this.zoom ? this.#tree() : boxesSvg(this.drawing.element);
    svg.prepend(draw("style", {}, style));
    const file = new XMLSerializer().serializeToString(svg);
    const address = URL.createObjectURL(new Blob([file], { type: "image/svg+xml" }));
    make("a", { href: address, download: `${this.layer}-${this.number}.svg` }).click();
    return setTimeout(() => URL.revokeObjectURL(address), 1000);
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
