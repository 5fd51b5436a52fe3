// Greedy search over a head's graphs takes the steps that Python takes, for any settings.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as ort from "onnxruntime-web/wasm";
import { GraphStepper, open, PARTS } from "../../../src/fencepost/web/static/local/network.js";
import { Rules } from "../../../src/fencepost/web/static/local/rules.js";
import { greedy } from "../../../src/fencepost/web/static/local/walk.js";
import { cases } from "./cases.mjs";

ort.env.wasm.numThreads = 1;
ort.env.logLevel = "error";

for (const { name, folder, rules, batches } of cases.heads) {
  test(name, async () => {
    const read = (file) => new Uint8Array(readFileSync(`${folder}/${file}`));
    const weights = read("weights.safetensors");
    const sessions = {};
    for (const part of PARTS) sessions[part] = await open(ort, read(`tree-${part}.onnx`), weights);
    const stepper = new GraphStepper(ort, sessions, rules.temperature);
    for (const { boundaries, lengths, expected } of batches) {
      const taken = await greedy(stepper, Float32Array.from(boundaries), lengths, new Rules(rules), {
        keep: true,
      });
      for (const [row, steps] of expected.entries()) {
        assert.deepEqual(
          taken[row].map(({ boundary, label }) => [boundary, label]),
          steps.map(({ boundary, label }) => [boundary, label]),
        );
        for (const [number, { logProb, candidates }] of steps.entries()) {
          near(taken[row][number].logProb, logProb);
          assert.deepEqual(taken[row][number].candidates, candidates.map(([place]) => place));
          taken[row][number].points.forEach((one, index) => near(Math.exp(one), candidates[index][1]));
        }
      }
    }
  });
}

function near(found, expected) {
  assert.ok(Math.abs(found - expected) < 1e-4, `${found} is not ${expected}`);
}
