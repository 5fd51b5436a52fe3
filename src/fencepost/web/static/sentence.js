// The card of a sentence, with its layers.

import { BRACKETS, brackets, copyBar, LINK, linkTo, PYTHON, python } from "./copying.js";
import { make } from "./elements.js";
import { LayerView } from "./layer.js";

const LAYERS = ["tree", "entities"];

/**
 * The card of a sentence: `mount` draws it, `stop` closes what plays in it, `sentence` is what it
 * shows now, `mark` marks the matches of a search, `show` goes to one.
 */
export function sentenceCard(sentence, { number, text, provider, model }) {
  const views = new Map();
  const onAsk = (layer, constraint) => views.get(layer).require(constraint);
  const known = Object.fromEntries(
    LAYERS.filter((name) => sentence[name]).map((name) => [name, model.labels[name] ?? []]),
  );
  for (const layer of Object.keys(known)) {
    const view = { layer, sentence, number, labels: known, onAsk, provider };
    views.set(layer, new LayerView({ ...view, closeWords: model.closeWords }));
  }
  const queries = () => Object.fromEntries([...views].map(([layer, view]) => [layer, view.query]));
  const shown = () => ({
    ...sentence,
    ...Object.fromEntries([...views].map(([layer, view]) => [layer, view.rows])),
  });
  const copies = {
    ...(views.has("tree") ? { [BRACKETS]: () => brackets(shown()) } : {}),
    [PYTHON]: () => python(model.name, sentence.words, queries(), provider.search),
    [LINK]: () => linkTo(text),
  };
  const element = make(
    "article",
    { className: "sentence", "aria-label": `Sentence ${number}`, tabIndex: -1 },
    make(
      "h2",
      {},
      make("span", { className: "number", textContent: number, "aria-hidden": "true" }),
      make("span", { className: "said", dir: "auto", textContent: text }),
    ),
    copyBar(copies),
    ...[...views.values()].map((view) => view.element),
  );
  const mount = () => views.forEach((view) => view.mount());
  const stop = () => views.forEach((view) => view.stop());
  const mark = (nodes, layer) =>
    views.forEach((view, name) => view.markMatches(name === layer ? nodes : []));
  const show = (node, layer) => {
    mount();
    element.focus({ preventScroll: true });
    views.get(layer).showMatch(node);
  };
  return { element, mount, stop, mark, show, sentence: shown };
}

/** The text of each sentence, and what stands before it: as written if known, else its words. */
export function textsOf(document) {
  // Offsets count characters, and JavaScript counts otherwise beyond the basic plane.
  const characters = [...document.text];
  let last = 0;
  return document.sentences.map(({ words, offsets }) => {
    if (!offsets?.length) return { text: words.join(" "), before: " " };
    const [start, end] = [offsets[0][0], offsets.at(-1)[1]];
    const before = characters.slice(last, start).join("");
    last = end;
    return { text: characters.slice(start, end).join(""), before };
  });
}
