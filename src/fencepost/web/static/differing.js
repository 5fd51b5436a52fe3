// Where two readings of a sentence differ: the smallest parts of it that hold every difference.

import { onlyIn, rowKey } from "./drawing.js";

const BESIDE = 3; // words shown beside entities that differ

/**
 * The parts of trees that differ: each is a span of both with all that differs inside.
 *
 * @param {import("./provider.js").Row[]} some of one reading.
 * @param {import("./provider.js").Row[]} others of the other.
 * @returns {{start: number, end: number}[]} from left to right.
 */
export function differingTrees(some, others) {
  const shared = common(some, others);
  const differing = [...onlyIn(some, others), ...onlyIn(others, some)];
  const parts = differing.map(([start, end]) => {
    const around = shared.filter(([first, last]) => first <= start && end <= last);
    const [first, last] = around.at(-1) ?? [0, some[0][1]]; // the last is the smallest
    return { start: first, end: last };
  });
  return merged(parts);
}

/** The parts of the words that hold entities which differ, with some words around. */
export function differingWords(some, others, length) {
  const all = [...some, ...others];
  const parts = [...onlyIn(some, others), ...onlyIn(others, some)].map(([start, end]) => {
    let part = { start: Math.max(0, start - BESIDE), end: Math.min(length, end + BESIDE) };
    const cut = () => all.find(([first, last]) => crosses(part, first, last));
    for (let row = cut(); row; row = cut()) {
      part = { start: Math.min(part.start, row[0]), end: Math.max(part.end, row[1]) };
    }
    return part;
  });
  return merged(parts);
}

/** The spans of a part, and those among them that need not be shown in full: both have them. */
export function within(rows, others, { start, end }) {
  const inside = rows.filter(([first, last]) => start <= first && last <= end);
  const other = others.filter(([first, last]) => start <= first && last <= end);
  const differing = [...onlyIn(inside, other), ...onlyIn(other, inside)];
  const folded = common(inside, other).filter(
    ([first, last]) =>
      last - first > 1 &&
      last - first < end - start &&
      !differing.some(([one, two]) => first <= one && two <= last),
  );
  return { rows: inside, folded: new Set(folded) };
}

function crosses({ start, end }, first, last) {
  return first < end && start < last && (first < start || last > end);
}

function common(some, others) {
  const keys = new Set(others.map(rowKey));
  return some.filter((row) => keys.has(rowKey(row)));
}

/** Parts in order, those that touch as one. */
function merged(parts) {
  const found = [];
  for (const part of parts.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = found.at(-1);
    if (last && part.start < last.end) last.end = Math.max(last.end, part.end);
    else found.push({ ...part });
  }
  return found;
}
