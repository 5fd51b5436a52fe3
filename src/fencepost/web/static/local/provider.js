// The browser itself as a provider: a worker parses, and texts stay here.

import { Refusal } from "../provider.js";

const BASE = new URL("../../", import.meta.url).href;
const CLOSE_WORDS = 500; // of a sentence that is played

/** @typedef {import("../provider.js").Watch} Watch */

/** Calls to a worker, which is started with the first one. */
class Calls {
  constructor() {
    /** @type {Worker | null} */
    this.worker = null;
    /** @type {Map<number, {resolve: (found: any) => void, reject: (error: Error) => void,
     *   onProgress?: Watch["onProgress"]}>} */
    this.waiting = new Map();
    this.count = 0;
  }

  /**
   * @param {string} call
   * @param {any[]} given
   * @param {Watch} [watch]
   * @returns {Promise<any>}
   */
  ask(call, given, { signal, onProgress } = {}) {
    signal?.throwIfAborted();
    const id = (this.count += 1);
    const worker = this.#started();
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, onProgress });
      signal?.addEventListener("abort", () => {
        if (!this.waiting.delete(id)) return;
        worker.postMessage({ abort: id });
        reject(signal.reason);
      });
      worker.postMessage({ id, call, given });
    });
  }

  #started() {
    if (this.worker) return this.worker;
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data: { id, progress, found, error } }) => {
      const one = this.waiting.get(id);
      if (progress) return one?.onProgress?.(progress);
      this.waiting.delete(id);
      if (error) return one?.reject(refusal(error));
      return one?.resolve(found);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.#end(`The parser of this page has stopped: ${event.message ?? "it cannot be loaded"}.`);
    };
    this.worker = worker;
    return worker;
  }

  /** Start anew with the next call. @param {string} message */
  #end(message) {
    this.worker?.terminate();
    this.worker = null;
    for (const { reject } of this.waiting.values()) reject(new Refusal(message));
    this.waiting.clear();
  }
}

/** @param {{name: string, message: string}} error */
function refusal({ name, message }) {
  if (name === "AbortError") return new DOMException(message, name);
  const isTold = /[.]$/.test(message); // ours are whole sentences
  return new Refusal(isTold ? message : `This browser cannot parse it: ${message}.`);
}

const calls = new Calls();

/** @type {import("../provider.js").Provider} */
export const browser = {
  can: { readings: false, constraints: false, steps: true, names: false, token: false },
  search: ["beams=1"],
  privacy: "Texts stay in this browser: they are parsed here, and go nowhere.",

  async describe({ signal } = {}) {
    const response = await fetch(`${BASE}model/model.json`, { signal }).catch(() => null);
    if (!response?.ok) throw new Refusal("The model of this page cannot be loaded.");
    const { name, tasks, heads } = await response.json();
    const labels = Object.fromEntries(
      Object.entries(heads).map(([layer, { parts }]) => [layer, [...new Set(parts.flat())]]),
    );
    return { name, tasks, labels, closeWords: CLOSE_WORDS };
  },

  parseText(text, watch) {
    return calls.ask("parseText", [text], watch);
  },

  parseWords(words, { layer }, watch) {
    return calls.ask("parseWords", [words, layer], watch);
  },

  steps(words, { layer }, watch) {
    return calls.ask("parseWords", [words, layer, { steps: true }], watch);
  },
};
