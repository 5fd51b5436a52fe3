// Log-probabilities of the steps that are allowed; what `fencepost.decoding.rules` does.

import { FILLER } from "./configuration.js";

/** @typedef {import("./configuration.js").Configuration} Configuration */
/** @typedef {Float32Array | number[]} Logits */

/** Log-probabilities over some places. @param {Logits} logits @param {number[]} places */
function logSoftmax(logits, places) {
  let largest = -Infinity;
  for (const place of places) largest = Math.max(largest, logits[place]);
  let sum = 0;
  for (const place of places) sum += Math.exp(logits[place] - largest);
  const whole = largest + Math.log(sum);
  return places.map((place) => logits[place] - whole);
}

/** log(1 + exp(x)). @param {number} x */
const softplus = (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

/** The place of the largest number, the first of several. @param {Logits} numbers */
export function argmax(numbers) {
  let best = 0;
  for (let place = 1; place < numbers.length; place += 1)
    if (numbers[place] > numbers[best]) best = place;
  return best;
}

/**
 * Log-probabilities of candidates that are asked one after the other: on the left from the nearest
 * to the farthest, then on the right likewise; the last one takes the rest.
 *
 * @param {number[]} candidates in order
 * @param {Logits} logits of all boundaries
 * @param {number} cursor
 */
function nearestFirst(candidates, logits, cursor) {
  const left = candidates.findLastIndex((boundary) => boundary < cursor) + 1;
  const found = new Array(candidates.length);
  let passed = 0;
  const order = [...candidates.keys()];
  for (const [rank, index] of [...order.slice(0, left).reverse(), ...order.slice(left)].entries()) {
    const logit = logits[candidates[index]];
    const no = softplus(logit);
    found[index] = passed + (rank === order.length - 1 ? 0 : logit - no);
    passed -= no;
  }
  return /** @type {number[]} */ (found);
}

/** The rules of a layer. */
export class Rules {
  /**
   * @param {{openRoot: boolean, bare: number | null, nearestFirst: boolean, temperature: number}}
   *   settings openRoot: whether the whole sentence may be a filler. bare: the label of a whole
   *   sentence that has none.
   */
  constructor({ openRoot, bare, nearestFirst, temperature }) {
    this.openRoot = openRoot;
    this.bare = bare;
    this.nearestFirst = nearestFirst;
    this.temperature = temperature;
  }

  /**
   * The candidates, their log-probabilities, and the place of the one that greedy search takes.
   *
   * @param {Configuration} where
   * @param {Logits} logits of all boundaries, divided by the temperature
   */
  points(where, logits) {
    const candidates = where.candidates();
    const logProbs = this.nearestFirst
      ? nearestFirst(candidates, logits, where.cursor)
      : logSoftmax(logits, candidates);
    const best = this.nearestFirst
      ? this.#firstYes(candidates, logits, where.cursor)
      : argmax(logProbs);
    return { candidates, logProbs, best };
  }

  /**
   * The first candidate whose answer is yes; without any, the most probable one, whatever the
   * temperature.
   *
   * @param {number[]} candidates
   * @param {Logits} logits
   * @param {number} cursor
   */
  #firstYes(candidates, logits, cursor) {
    const isYes = (/** @type {number} */ boundary) => logits[boundary] > 0;
    const left = candidates.findLastIndex((boundary) => boundary < cursor && isYes(boundary));
    if (left >= 0) return left;
    const right = candidates.findIndex((boundary) => boundary > cursor && isYes(boundary));
    if (right >= 0) return right;
    const plain = Array.from(logits, (logit) => logit * this.temperature);
    return argmax(nearestFirst(candidates, plain, cursor));
  }

  /**
   * Log-probabilities of all labels of the span made by pointing to a boundary.
   *
   * @param {Configuration} where
   * @param {number} boundary
   * @param {Logits} logits of all labels
   */
  labels(where, boundary, logits) {
    const found = new Array(logits.length).fill(-Infinity);
    if (logits.length === 1) return [0]; // a head that has learned no label
    const mayBeFiller = where.mayBeFiller(boundary, this.openRoot);
    const mayBeBare = where.isWhole(boundary);
    const allowed = [];
    for (let label = 0; label < logits.length; label += 1) {
      if (label === FILLER && !mayBeFiller) continue;
      if (label === this.bare && !mayBeBare) continue;
      allowed.push(label);
    }
    for (const [index, logProb] of logSoftmax(logits, allowed).entries())
      found[allowed[index]] = logProb;
    return /** @type {number[]} */ (found);
  }
}
