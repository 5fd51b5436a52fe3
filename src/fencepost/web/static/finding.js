// Searching the parses: a pattern in; matches out, each of which leads to its place.

import { button, count, make, percent, quoted } from "./elements.js";
import { shownLabel } from "./looks.js";
import { PatternError, patternOf } from "./patterns.js";

const MOST = 50; // matches that are listed
const EXAMPLES = ["NP", "VP << PP", "NP{has person}", "__{p<0.5}"];
const NAMES = { tree: "trees", entities: "entities" };

/** The search of the page. */
export class Finding {
  constructor() {
    this.cards = [];
    this.pattern = make("input", {
      id: "pattern",
      autocomplete: "off",
      spellcheck: false,
      "aria-describedby": "pattern-hint",
    });
    this.layers = make("select", { "aria-label": "In" });
    this.told = make("p", { className: "note", role: "status" });
    this.list = make("ul", { className: "matches" });
    const form = make(
      "form",
      { role: "search", "aria-label": "Search the parses" },
      make("label", { for: "pattern", textContent: "A label, a word or a pattern" }),
      make(
        "div",
        { className: "line" },
        this.pattern,
        this.layers,
        make("button", { type: "submit", textContent: "Search" }),
      ),
      make(
        "p",
        { id: "pattern-hint", className: "hint" },
        "Patterns are the plainer ones of fencepost search: ",
        ...EXAMPLES.flatMap((text) => [make("code", { textContent: text }), " "]),
      ),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.search();
    });
    this.element = make(
      "details",
      { className: "finding", hidden: true },
      make("summary", { textContent: "Search the parses" }),
      form,
      this.told,
      this.list,
    );
  }

  /** Search other sentences from now on. */
  take(cards) {
    this.cards = cards;
    const [first] = cards;
    const chosen = this.layers.value;
    const layers = Object.keys(NAMES).filter((layer) => first?.sentence()[layer]);
    this.layers.replaceChildren(
      ...layers.map((layer) => make("option", { value: layer, textContent: NAMES[layer] })),
    );
    if (layers.includes(chosen)) this.layers.value = chosen;
    this.layers.hidden = layers.length < 2;
    this.element.hidden = !layers.length;
    this.search();
  }

  /** Show the matches of the pattern in the field. */
  search() {
    const layer = this.layers.value;
    const text = this.pattern.value.trim();
    for (const card of this.cards) card.mark([]);
    this.list.replaceChildren();
    this.#tell("");
    if (!text) return;
    try {
      const find = patternOf(text);
      const found = this.cards.map((card) => find(card.sentence(), layer));
      this.#show(found, layer);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      this.#tell(`Character ${error.place + 1}: ${error.message}`, "note refusal");
    }
  }

  #show(found, layer) {
    const matches = found.flatMap((nodes, index) => nodes.map((node) => ({ node, index })));
    found.forEach((nodes, index) => this.cards[index].mark(nodes, layer));
    const where = found.filter((nodes) => nodes.length).length;
    const listed = matches.length > MOST ? ` The first ${MOST} are listed.` : "";
    this.#tell(
      matches.length
        ? `${count(matches.length, "match", "matches")} in ${count(where, "sentence")}.${listed}`
        : "No match.",
    );
    this.list.replaceChildren(
      ...matches.slice(0, MOST).map(({ node, index }) => this.#match(node, index, layer)),
    );
  }

  #match(node, index, layer) {
    const { words } = this.cards[index].sentence();
    const { left, right, probability } = node;
    const isWord = node.kind === "word";
    const lead = button("", () => this.cards[index].show(node, layer), { className: "quiet" });
    lead.append(
      make("span", { className: "number", textContent: index + 1 }),
      ...(isWord ? [] : [make("b", { textContent: shownLabel(node.label) })]),
      make("span", { className: "words", dir: "auto", textContent: quoted(words, left, right) }),
      ...(probability === null ? [] : [make("span", { textContent: percent(probability) })]),
    );
    return make("li", {}, lead);
  }

  #tell(text, className = "note") {
    this.told.className = className;
    this.told.textContent = text;
  }
}
