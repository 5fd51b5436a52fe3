// The whole text to be read: its paragraphs, with boxes around the entities of all sentences.

import { boxes } from "./boxes.js";
import { leastSure } from "./certainty.js";
import { copyBar } from "./copying.js";
import { button, make, percent, quoted } from "./elements.js";
import { isUnsure } from "./looks.js";

/**
 * The reading view of a document.
 *
 * @param {import("./provider.js").Document} document
 * @param {object} more
 * @param {string[]} more.between the text before each sentence.
 * @param {(index: number) => void} more.onSentence gets the sentence whose number is pressed.
 * @param {Object<string, () => string | null>} more.copies what can be copied.
 */
export function wholeText({ sentences }, { between, onSentence, copies }) {
  const paragraphs = [];
  sentences.forEach((sentence, index) => {
    const isNew = !index || /\n[^\S\n]*\n/.test(between[index]);
    if (isNew) paragraphs.push(make("div", { className: "paragraph" }));
    const element = boxes({ ...sentence, rows: sentence.entities ?? [] });
    element.prepend(number(sentence, index, onSentence), "\u2060"); // they stay together
    const isLine = !isNew && between[index].includes("\n");
    paragraphs.at(-1).append(isLine ? make("br") : " ", element);
  });
  return make(
    "section",
    { className: "whole", "aria-labelledby": "whole" },
    make("h2", { id: "whole", textContent: "The whole text" }),
    copyBar(copies),
    make("div", { className: "paragraphs" }, ...paragraphs),
  );
}

/** The number of a sentence, which leads to its card, and tells if the model is in doubt. */
function number({ words, tree = [], entities = [] }, index, onSentence) {
  const doubts = [...leastSure(tree), ...leastSure(entities)];
  const [doubt] = doubts.sort((one, other) => one.probability - other.probability);
  const { joined, start, end, probability = null } = doubt ?? {};
  const unsure = isUnsure(probability)
    ? `least sure of ${joined} ${quoted(words, start, end)}, ${percent(probability)}`
    : "";
  return button(index + 1, () => onSentence(index), {
    className: unsure ? "ref unsure" : "ref",
    title: unsure,
    "aria-label": `Sentence ${index + 1}${unsure && `, ${unsure}`}`,
  });
}
