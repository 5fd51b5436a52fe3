// An exported model gives the documents and steps that Python gives with the same weights.

import assert from "node:assert/strict";
import { test } from "node:test";
import { TooLong } from "../../../src/fencepost/web/static/local/parser.js";
import { cases } from "./cases.mjs";
import { opened } from "./opened.mjs";

for (const { name, folder, documents, steps } of cases.models) {
  test(name, async () => {
    const parser = await opened(folder);
    const shares = [];
    for (const expected of documents) {
      const found = await parser.parseText(expected.text, { onShare: (one) => shares.push(one) });
      same(found, expected);
    }
    assert.deepEqual([...new Set(shares)].at(-1), 1);
    for (const { words, layer, expected } of steps) {
      const { steps: found } = await parser.parseWords(words, layer, { steps: true });
      same(found[layer], expected);
    }
    await assert.rejects(parser.parseWords(Array(2001).fill("a"), "tree"), TooLong);
    const stop = new Error("stop");
    const pause = () => Promise.reject(stop);
    await assert.rejects(parser.parseText("The cat sat.", { pause }), stop);
  });
}

/** Data is the same, but for the last digits of probabilities. */
function same(found, expected, place = "") {
  if (typeof expected === "number" && typeof found === "number") {
    const most = Number.isInteger(expected) ? 0 : 1e-3 * Math.max(1, Math.abs(expected));
    assert.ok(Math.abs(found - expected) <= most, `${place}: ${found} is not ${expected}`);
  } else if (expected !== null && typeof expected === "object") {
    assert.deepEqual(Object.keys(found).sort(), Object.keys(expected).sort(), place);
    for (const key of Object.keys(expected)) same(found[key], expected[key], `${place}.${key}`);
  } else assert.equal(found, expected, place);
}
