// Patterns find on the page what they find in Python.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PatternError, patternOf } from "../../src/fencepost/web/static/patterns.js";
import { cases } from "./local/cases.mjs";

const HERE_NOT = /does not work here/;

/** The matches of a pattern; null if it is none, undefined if only Python has such patterns. */
function found({ sentence, layer, pattern }) {
  try {
    return patternOf(pattern)(sentence, layer).map(
      ({ kind, label, left, right, probability }) =>
        [kind, label, left, right, probability],
    );
  } catch (error) {
    assert.ok(error instanceof PatternError, `${pattern}: ${error.stack}`);
    return HERE_NOT.test(error.message) ? undefined : null;
  }
}

test("matches are those of Python, and so are refusals", () => {
  let same = 0;
  for (const one of cases.cases) {
    const matches = found(one);
    if (matches === undefined) continue;
    same += 1;
    assert.deepEqual(matches, one.expected, `${one.pattern} in ${JSON.stringify(one.sentence)}`);
  }
  assert.ok(same > cases.cases.length / 5, `${same} of ${cases.cases.length}`);
});

test("refusals say where a pattern is wrong", () => {
  for (const [pattern, place, told] of [
    ["NP <", 4, /a label.* was expected, not the end/],
    ["NP < (VP", 8, /\) was expected/],
    ["NP{p}", 3, /p<0.5/],
    ["/(/", 0, /no regular expression/],
    ["NP=x", 2, HERE_NOT],
    ["NP <# NN", 3, HERE_NOT],
    ["a".repeat(2001), 0, /2000/],
    ["(".repeat(31) + "a", 31, /30 brackets/],
  ])
    assert.throws(() => patternOf(pattern), (error) => {
      assert.match(error.message, told);
      return error.place === place;
    }, pattern);
  assert.throws(() => patternOf("__{is x}")({ words: ["a"], tree: [[0, 1, "S"]] }, "tree"), /no entities/);
});
