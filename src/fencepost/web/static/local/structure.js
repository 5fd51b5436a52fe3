// From steps to spans as the server gives them: trees, entities, and steps to play.

/** @typedef {import("./walk.js").Taken} Taken */
/** @typedef {import("../provider.js").Row} Row */
/** @typedef {import("../provider.js").Step} Step */

/**
 * The labels of a head, by number; number 0 is the filler's.
 *
 * @typedef {Object} HeadLabels
 * @property {(string | null)[]} names joined
 * @property {string[][]} parts the labels that each stands for, outermost first
 */

/**
 * The labelled spans of a derivation from left to right, the holder before what it holds.
 *
 * @param {Taken[]} steps
 * @param {HeadLabels} labels
 * @returns {Row[]}
 */
export function spansOf(steps, labels) {
  const spans = steps.map(({ cursor, boundary, label, logProb }) => ({
    start: Math.min(cursor, boundary),
    end: Math.max(cursor, boundary),
    label,
    probability: Math.exp(logProb),
  }));
  spans.sort((one, other) => one.start - other.start || other.end - one.end);
  return spans.flatMap(({ start, end, label, probability }) =>
    labels.parts[label].map((part) => /** @type {Row} */ ([start, end, part, probability])),
  );
}

/**
 * The rows of a tree, with the wrapper of the model around it.
 *
 * @param {Taken[]} steps
 * @param {HeadLabels} labels
 * @param {{n: number, wrapper: string | null}} sentence
 * @returns {Row[]}
 */
export function treeOf(steps, labels, { n, wrapper }) {
  const rows = spansOf(steps, labels);
  const whole = steps.find(
    ({ cursor, boundary, label }) => Math.abs(cursor - boundary) === n && labels.names[label] !== null,
  );
  const isBare = !whole || labels.parts[whole.label].length === 0;
  const name = wrapper ?? (n > 1 && isBare ? "" : null);
  if (name === null) return rows;
  return [whole ? [0, n, name, Math.exp(whole.logProb)] : [0, n, name], ...rows];
}

/**
 * Steps as they are played.
 *
 * @param {Taken[]} steps
 * @param {HeadLabels} labels
 * @returns {Step[]}
 */
export function shownSteps(steps, labels) {
  return steps.map((step, index) => ({
    number: index + 1,
    cursor: step.cursor,
    boundary: step.boundary,
    candidates: step.candidates.map((boundary, place) => [
      boundary,
      Number(Math.exp(step.points[place]).toPrecision(6)),
    ]),
    start: Math.min(step.cursor, step.boundary),
    end: Math.max(step.cursor, step.boundary),
    label: labels.names[step.label],
    probability: Math.exp(step.logProb),
    label_probability: Math.exp(step.labels[step.label]),
    runner_up: runnerUp(step, labels),
  }));
}

/** The best other label; null if no other is allowed. @param {Taken} step @param {HeadLabels} labels */
function runnerUp({ label, labels: logProbs }, labels) {
  let best = -1;
  for (const [other, logProb] of logProbs.entries())
    if (other !== label && logProb > -Infinity && !(logProb <= logProbs[best])) best = other;
  return best < 0
    ? null
    : /** @type {[string | null, number]} */ ([labels.names[best], Math.exp(logProbs[best])]);
}
