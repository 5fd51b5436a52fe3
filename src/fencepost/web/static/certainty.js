// How sure the model is: of the spans of which it is least sure.

import { make, percent, quoted } from "./elements.js";
import { shownLabel } from "./looks.js";

const SURE = 90; // in %, as it is shown; spans below are told and marked
const MOST = 3; // that are told

/**
 * The spans that the model is least sure of, the least sure first.
 *
 * @param {import("./provider.js").Row[]} rows
 * @returns {{start: number, end: number, label: string, joined: string, probability: number}[]}
 *   spans over the same words are one, since one step made them: with the label of the outermost,
 *   and with the labels of all.
 */
export function leastSure(rows) {
  const steps = new Map();
  for (const [start, end, label, probability] of rows) {
    if (probability === undefined) continue;
    const key = `${start} ${end}`;
    const known = steps.get(key);
    if (known) known.joined += `+${label}`;
    else steps.set(key, { start, end, label, joined: label, probability });
  }
  const doubts = [...steps.values()].filter(({ probability }) => Math.round(100 * probability) < SURE);
  return doubts.sort((a, b) => a.probability - b.probability).slice(0, MOST);
}

/** How sure the model is of a layer, in words; `onSpan` gets a doubtful span that is pressed. */
export function certainty({ rows, words, onSpan }) {
  const known = rows.filter(([, , , probability]) => probability !== undefined);
  if (!known.length) return make("p", { className: "certainty", hidden: true });
  const doubts = leastSure(rows);
  if (!doubts.length) {
    const least = Math.min(...known.map(([, , , probability]) => probability));
    const told = known.length > 1 ? "Sure of every span: at least" : "Sure of it:";
    return make("p", { className: "certainty", textContent: `${told} ${percent(least)}.` });
  }
  return make(
    "p",
    { className: "certainty", role: "group", "aria-label": "Least sure" },
    make("span", { textContent: "Least sure of" }),
    ...doubts.map((span) =>
      make(
        "button",
        { type: "button", className: "doubt", dir: "auto", onclick: () => onSpan(span) },
        make("b", { textContent: shownLabel(span.joined) }),
        " ",
        make("bdi", { textContent: quoted(words, span.start, span.end, 7) }),
        ` ${percent(span.probability)}`,
      ),
    ),
  );
}
