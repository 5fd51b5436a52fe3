// Sentences, words and pieces are those that Python finds.

import assert from "node:assert/strict";
import { test } from "node:test";
import { caseOf, Speller, windowsOf } from "../../../src/fencepost/web/static/local/pieces.js";
import { SentenceSplitter } from "../../../src/fencepost/web/static/local/sentences.js";
import { wordSplitter } from "../../../src/fencepost/web/static/local/words.js";
import { cases } from "./cases.mjs";

const { tables, texts, words, windows, settings } = cases;

test("texts have the same words and sentences", () => {
  const split = wordSplitter(tables.splitter);
  const splitter = new SentenceSplitter(tables.splitter);
  for (const [text, expected] of texts) {
    const found = splitter
      .split(text, split(text))
      .map((own) => own.map(([start, end]) => text.slice(start, end)));
    assert.deepEqual(found, expected, JSON.stringify(text));
  }
});

test("words have the same pieces and capitals", () => {
  const speller = new Speller(tables.tokenizer, settings.nothing);
  for (const [word, pieces, kind] of words) {
    assert.deepEqual(speller.pieces(word), pieces, JSON.stringify(word));
    if (kind !== null) assert.equal(caseOf(word), kind, JSON.stringify(word));
  }
});

test("long sentences have the same windows", () => {
  const speller = new Speller(tables.tokenizer, settings.nothing);
  for (const { sentence, which, window, expected } of windows) {
    const found = windowsOf(sentence, speller, { ...settings, which, window });
    assert.deepEqual(found.map(({ pieces }) => pieces), expected.pieces);
    assert.deepEqual(found.map(({ cases: kinds }) => kinds), expected.cases);
    const picked = found.flatMap(({ picked: own }, index) =>
      own.map(({ place, word, share }) => [index, place, word, Math.fround(share)]),
    );
    picked.sort((one, other) => one[2] - other[2] || one[0] - other[0] || one[1] - other[1]);
    assert.deepEqual(picked, expected.picked);
  }
});
