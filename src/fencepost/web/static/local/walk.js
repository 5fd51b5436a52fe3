// Greedy search: the best boundary and then its best label, step by step, for several sentences at
// a time.

import { Rows } from "./configuration.js";
import { argmax } from "./rules.js";

/**
 * A step that was taken, and what it was chosen from.
 *
 * @typedef {Object} Taken
 * @property {number} cursor
 * @property {number} boundary
 * @property {number} label
 * @property {number} logProb of boundary and label
 * @property {number[]} candidates
 * @property {number[]} points log-probabilities of the candidates
 * @property {number[]} labels log-probabilities of the labels
 */

/**
 * Scores steps; see `fencepost.runtime.step_graphs`.
 *
 * @typedef {Object} Stepper
 * @property {(boundaries: Float32Array, rows: Rows) => Promise<void>} start
 * @property {(rows: Rows) => Promise<Float32Array>} pointLogits (rows, boundaries)
 * @property {(rows: Rows) => Promise<Float32Array>} labelLogits at `rows.boundary`: (rows, labels)
 */

/**
 * The steps of greedy search in some sentences.
 *
 * @param {Stepper} stepper
 * @param {Float32Array} boundaries (sentences, longest + 1, width)
 * @param {number[]} lengths in words
 * @param {import("./rules.js").Rules} rules
 * @param {{pause?: () => Promise<void>, keep?: boolean}} how pause is called between steps; keep:
 *   whether all choices are kept, and not only those that were taken.
 * @returns {Promise<Taken[][]>} of each sentence
 */
export async function greedy(stepper, boundaries, lengths, rules, { pause, keep = false } = {}) {
  const rows = new Rows(lengths);
  /** @type {Taken[][]} */
  const taken = lengths.map(() => []);
  const most = 2 * Math.max(...lengths) - 1;
  await stepper.start(boundaries, rows);
  for (let step = 0; step < most; step += 1) {
    const going = [...rows.each.keys()].filter((row) => !rows.each[row].isFinal);
    if (!going.length) break;
    const pointLogits = await stepper.pointLogits(rows);
    const chosen = new Map();
    for (const row of going) {
      const logits = pointLogits.subarray(row * rows.width, (row + 1) * rows.width);
      const points = rules.points(rows.each[row], logits);
      chosen.set(row, points);
      rows.boundary[row] = points.candidates[points.best];
    }
    const labelLogits = await stepper.labelLogits(rows);
    const count = labelLogits.length / lengths.length;
    for (const row of going) {
      const { candidates, logProbs, best } = chosen.get(row);
      const boundary = rows.boundary[row];
      const logits = labelLogits.subarray(row * count, (row + 1) * count);
      const labels = rules.labels(rows.each[row], boundary, logits);
      const label = argmax(labels);
      const logProb = logProbs[best] + labels[label];
      if (Number.isNaN(logProb)) throw new Error("the network's scores are no numbers");
      taken[row].push({
        cursor: rows.each[row].cursor,
        boundary,
        label,
        logProb,
        candidates: keep ? candidates : [],
        points: keep ? logProbs : [],
        labels: keep ? labels : [],
      });
      rows.point(row, boundary, label);
    }
    await pause?.();
  }
  return taken;
}
