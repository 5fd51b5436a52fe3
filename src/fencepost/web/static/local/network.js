// The network: its graphs in onnxruntime, and the tensors that go from one to the next.

import { windowsOf } from "./pieces.js";

/** @typedef {import("./configuration.js").Rows} Rows */
/** @typedef {any} Ort the module of onnxruntime-web */
/** @typedef {any} Tensor */

export const PARTS = ["start", "point", "label"];

/**
 * A graph and its session.
 *
 * @param {Ort} ort
 * @param {Uint8Array} graph
 * @param {Uint8Array} weights
 */
export function open(ort, graph, weights) {
  return ort.InferenceSession.create(graph, {
    executionProviders: ["wasm"],
    externalData: [{ path: "weights.safetensors", data: weights }],
    // What is kept for one length of sentence is of no use to the next.
    enableCpuMemArena: false,
    enableMemPattern: false,
  });
}

/** Reads sentences: pieces to states of words, to boundaries and tags. */
export class Encoder {
  /**
   * @param {Ort} ort
   * @param {{encoder: any, words: any, lstm?: any}} sessions
   * @param {import("./pieces.js").Speller} speller
   * @param {import("./pieces.js").PieceSettings} pieces
   */
  constructor(ort, sessions, speller, pieces) {
    this.ort = ort;
    this.sessions = sessions;
    this.speller = speller;
    this.pieces = pieces;
  }

  /**
   * The vectors of the boundaries of a sentence, (n + 1, width), and the scores of its tags.
   *
   * @param {string[]} words
   * @returns {Promise<{boundaries: Float32Array, tags: Float32Array | null}>}
   */
  async read(words) {
    const count = words.length + 2;
    let width = 0;
    let states = new Float32Array(0);
    for (const window of windowsOf(words, this.speller, this.pieces)) {
      const { vectors } = await this.#run(this.sessions.encoder, {
        pieces: this.#longs(window.pieces),
        mask: this.#longs(window.pieces.map(() => 1)),
        cases: this.#longs(window.cases),
      });
      width = vectors.dims[2];
      if (!states.length) states = new Float32Array(count * width);
      for (const { place, word, share } of window.picked)
        for (let column = 0; column < width; column += 1)
          states[word * width + column] += share * vectors.data[place * width + column];
      vectors.dispose();
    }
    let tensor = this.#floats(states, [1, count, width]);
    if (this.sessions.lstm) {
      const sizes = new this.ort.Tensor("int32", Int32Array.of(count), [1]);
      ({ states: tensor } = await this.#run(this.sessions.lstm, { vectors: tensor, sizes }));
    }
    const { boundaries, tags } = await this.#run(this.sessions.words, { states: tensor });
    return { boundaries: boundaries.data, tags: tags?.data ?? null };
  }

  /** @param {any} session @param {Record<string, Tensor>} feeds */
  #run(session, feeds) {
    const names = session.inputNames;
    return session.run(
      Object.fromEntries(names.map((/** @type {string} */ name) => [name, feeds[name]])),
    );
  }

  /** @param {number[]} numbers */
  #longs(numbers) {
    return new this.ort.Tensor("int64", BigInt64Array.from(numbers, BigInt), [1, numbers.length]);
  }

  /** @param {Float32Array} data @param {number[]} shape */
  #floats(data, shape) {
    return new this.ort.Tensor("float32", data, shape);
  }
}

/** Scores the steps of a layer; keeps tensors by name, and knows no settings of the head. */
export class GraphStepper {
  /**
   * @param {Ort} ort
   * @param {Record<string, any>} sessions by the names of `PARTS`
   * @param {number} temperature by which logits are divided
   */
  constructor(ort, sessions, temperature) {
    this.ort = ort;
    this.sessions = sessions;
    /** @type {Record<string, Tensor>} */
    this.tensors = {};
    this.temperature = new ort.Tensor("float32", Float32Array.of(temperature), [1]);
  }

  /** @param {Float32Array} boundaries @param {Rows} rows */
  async start(boundaries, rows) {
    const count = rows.each.length;
    const shape = [count, rows.width, boundaries.length / (count * rows.width)];
    const tensor = new this.ort.Tensor("float32", boundaries, shape);
    this.tensors = { temperature: this.temperature };
    await this.#run("start", { boundaries: tensor });
  }

  /** @param {Rows} rows @returns {Promise<Float32Array>} */
  async pointLogits(rows) {
    await this.#run("point", this.#numbers(rows));
    const { next_state: state, ...others } = this.tensors;
    this.tensors = state ? { ...others, state } : others;
    return this.tensors.point_logits.data;
  }

  /** @param {Rows} rows @returns {Promise<Float32Array>} */
  async labelLogits(rows) {
    await this.#run("label", this.#numbers(rows));
    return this.tensors.label_logits.data;
  }

  /** Configurations as tensors. @param {Rows} rows */
  #numbers(rows) {
    const count = rows.each.length;
    /** @param {Int32Array} data @param {number[]} shape */
    const tensor = (data, shape) => new this.ort.Tensor("int32", data, shape);
    return {
      cursor: tensor(rows.cursor, [count]),
      newest: tensor(rows.newest, [count]),
      label: tensor(rows.label, [count]),
      boundary: tensor(rows.boundary, [count]),
      stack_labels: tensor(rows.stack_labels, [count, rows.width]),
      merged: tensor(rows.merged, [count, rows.width]),
    };
  }

  /** @param {string} part @param {Record<string, Tensor>} more */
  async #run(part, more) {
    const session = this.sessions[part];
    const known = { ...this.tensors, ...more };
    const feeds = Object.fromEntries(
      session.inputNames.map((/** @type {string} */ name) => [name, known[name]]),
    );
    Object.assign(this.tensors, await session.run(feeds));
  }
}
