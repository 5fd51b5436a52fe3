// The card of a sentence, with its layers.

import { make } from "./elements.js";
import { LayerView } from "./layer.js";

const LAYERS = ["tree", "entities"];

/** The card of a sentence; `mount` draws it, and `stop` closes what plays in it. */
export function sentenceCard(sentence, { number, text, labels, limits }) {
  const views = new Map();
  const onAsk = (layer, constraint) => views.get(layer).require(constraint);
  const known = Object.fromEntries(
    LAYERS.filter((name) => sentence.svg[name]).map((name) => [name, labels[name] ?? []]),
  );
  for (const layer of Object.keys(known)) {
    views.set(layer, new LayerView({ layer, sentence, number, labels: known, limits, onAsk }));
  }
  const element = make(
    "article",
    { className: "sentence", "aria-label": `Sentence ${number}` },
    make(
      "h2",
      {},
      make("span", { className: "number", textContent: number, "aria-hidden": "true" }),
      make("span", { className: "said", dir: "auto", textContent: text }),
    ),
    ...[...views.values()].map((view) => view.element),
  );
  const mount = () => views.forEach((view) => view.mount());
  const stop = () => views.forEach((view) => view.stop());
  return { element, mount, stop };
}

/** The text of each sentence: as it was written if that is known, else its words. */
export function textsOf(document) {
  // Offsets count characters, and JavaScript counts otherwise beyond the basic plane.
  const characters = document.text === null ? null : [...document.text];
  return document.sentences.map(({ words, offsets }) => {
    if (!characters || !offsets?.length) return words.join(" ");
    return characters.slice(offsets[0][0], offsets.at(-1)[1]).join("");
  });
}
