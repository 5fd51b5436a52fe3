// A parser from an exported page, without a browser.

import { readFileSync } from "node:fs";
import * as ort from "onnxruntime-web/wasm";
import { Parser } from "../../../src/fencepost/web/static/local/parser.js";

ort.env.wasm.numThreads = 1;
ort.env.logLevel = "error";

/** The parser of the page in a folder. */
export function opened(folder) {
  const bytes = (file) => new Uint8Array(readFileSync(`${folder}/model/${file}`));
  const json = (file) => JSON.parse(new TextDecoder().decode(bytes(file)));
  const model = json("model.json");
  return Parser.open(ort, {
    model,
    tables: json("tables.json"),
    weights: bytes("weights.safetensors"),
    graphs: Object.fromEntries(model.graphs.map((file) => [file, bytes(file)])),
  });
}
