// Parses beside the page, so that the page stays responsive.

// @ts-expect-error `fencepost export-web` puts it there.
import * as ort from "../../runtime/ort.wasm.bundle.min.mjs";
import { Files } from "./files.js";
import { Parser } from "./parser.js";

const BASE = new URL("../../", import.meta.url).href;
const WASM = "runtime/ort-wasm-simd-threaded.wasm";
const [MODEL, TABLES, WEIGHTS] = [
  "model/model.json",
  "model/tables.json",
  "model/weights.safetensors",
];
const MOST_THREADS = 4;
const MOMENT = 50; // milliseconds after which messages are looked at

/** @typedef {{what: string, share: number | null}} Progress */

/** Tells that a call was given up. */
class GivenUp extends Error {
  name = "AbortError";
}

/** @type {Promise<Parser> | null} */
let parser = null;
/** @type {Promise<unknown>} */
let last = Promise.resolve();
/** @type {Set<number>} */
const givenUp = new Set();

self.onmessage = ({ data: { id, call, given, abort } }) => {
  if (abort) {
    givenUp.add(abort);
    return;
  }
  last = last.then(() => answer(id, call, given));
};

/**
 * Answer a call, after those before it.
 *
 * @param {number} id
 * @param {"parseText" | "parseWords"} call
 * @param {any[]} given
 */
async function answer(id, call, given) {
  let looked = performance.now();
  const pause = async () => {
    if (performance.now() - looked > MOMENT) {
      await messages();
      looked = performance.now();
    }
    if (givenUp.has(id)) throw new GivenUp();
  };
  const onProgress = (/** @type {Progress} */ progress) => self.postMessage({ id, progress });
  try {
    await messages();
    await pause();
    const opened = await open(onProgress);
    await pause();
    const onShare = (/** @type {number} */ share) => onProgress({ what: "Parsing", share });
    const [first, ...more] = given;
    const how = { onShare, pause };
    const found =
      call === "parseText"
        ? await opened.parseText(first, how)
        : await opened.parseWords(first, more[0], { ...how, ...more[1] });
    self.postMessage({ id, found });
  } catch (error) {
    const { name, message } = /** @type {Error} */ (error);
    self.postMessage({ id, error: { name, message } });
  } finally {
    givenUp.delete(id);
  }
}

/** Let messages come in. */
function messages() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = resolve;
    port2.postMessage(null);
  });
}

/** The parser, opened once. @param {(progress: Progress) => void} onProgress */
function open(onProgress) {
  parser ??= load(onProgress);
  parser.catch(() => {
    parser = null; // the next call tries again
  });
  return parser;
}

/** @param {(progress: Progress) => void} onProgress */
async function load(onProgress) {
  onProgress({ what: "Loading the model", share: 0 });
  const files = await Files.at(BASE);
  const model = await files.json(MODEL);
  const names = model.graphs.map((/** @type {string} */ name) => `model/${name}`);
  const total = files.size([WASM, TABLES, WEIGHTS, ...names]);
  const what = `Loading the model, ${Math.ceil(total / 1e6)}\u00a0MB`;
  let done = 0;
  const onBytes = (/** @type {number} */ bytes) => {
    done += bytes;
    onProgress({ what, share: done / total });
  };
  const [wasm, tables, weights, ...graphs] = await Promise.all(
    [WASM, TABLES, WEIGHTS, ...names].map((name) => files.bytes(name, onBytes)),
  );
  onProgress({ what: "Opening the model", share: null });
  ort.env.logLevel = "error";
  ort.env.wasm.wasmBinary = wasm.buffer;
  // Threads share memory, which only a page may have that is isolated from others.
  ort.env.wasm.numThreads = self.crossOriginIsolated
    ? Math.min(MOST_THREADS, navigator.hardwareConcurrency)
    : 1;
  return Parser.open(ort, {
    model,
    tables: JSON.parse(new TextDecoder().decode(tables)),
    weights,
    graphs: Object.fromEntries(
      model.graphs.map((/** @type {string} */ name, /** @type {number} */ index) => [
        name,
        graphs[index],
      ]),
    ),
  });
}
