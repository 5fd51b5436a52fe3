// Text or words in, parses out: what the server answers, found here.

import { argmax, Rules } from "./rules.js";
import { Encoder, GraphStepper, open, PARTS } from "./network.js";
import { Speller } from "./pieces.js";
import { SentenceSplitter } from "./sentences.js";
import { size } from "./strings.js";
import { shownSteps, spansOf, treeOf } from "./structure.js";
import { greedy } from "./walk.js";
import { wordSplitter } from "./words.js";

const MOST_ROWS = 16; // sentences that are decoded together
const MOST_BOUNDARIES = 600; // of all of them
const LAYERS = /** @type {const} */ (["tree", "entities"]);

/** @typedef {import("../provider.js").Sentence} Sentence */
/** @typedef {typeof LAYERS[number]} Layer */

/**
 * A model as `fencepost export-web` writes it.
 *
 * @typedef {Object} ModelSettings
 * @property {string} name
 * @property {string[]} tasks
 * @property {Record<string, import("./structure.js").HeadLabels & {openRoot: boolean,
 *   bare: number | null, nearestFirst: boolean, temperature: number}>} heads
 * @property {string[]} tags by number; number 0 is none
 * @property {string | null} wrapper
 * @property {import("./pieces.js").PieceSettings} pieces
 * @property {string[]} graphs
 * @property {number} maxWords of a sentence
 */

/**
 * How a parse is watched and given up.
 *
 * @typedef {Object} Watched
 * @property {(share: number) => void} [onShare]
 * @property {() => Promise<void>} [pause] is called often; it may throw.
 */

/** What cannot be parsed here, in a sentence for people. */
export class TooLong extends Error {}

/** A parser in JavaScript. */
export class Parser {
  /**
   * Open the graphs of a model.
   *
   * @param {any} ort the module of onnxruntime-web
   * @param {{model: ModelSettings, tables: any, weights: Uint8Array,
   *   graphs: Record<string, Uint8Array>}} files
   */
  static async open(ort, { model, tables, weights, graphs }) {
    /** @type {Record<string, any>} */
    const sessions = {};
    for (const [name, graph] of Object.entries(graphs))
      sessions[name.replace(".onnx", "")] = await open(ort, graph, weights);
    return new Parser(ort, model, tables, sessions);
  }

  /**
   * @param {any} ort
   * @param {ModelSettings} model
   * @param {any} tables
   * @param {Record<string, any>} sessions
   */
  constructor(ort, model, tables, sessions) {
    this.model = model;
    this.words = wordSplitter(tables.splitter);
    this.sentences = new SentenceSplitter(tables.splitter);
    const speller = new Speller(tables.tokenizer, model.pieces.nothing);
    const { encoder, words, lstm } = sessions;
    this.encoder = new Encoder(ort, { encoder, words, lstm }, speller, model.pieces);
    this.layers = LAYERS.filter((layer) => layer in model.heads).map((layer) => {
      const own = Object.fromEntries(PARTS.map((part) => [part, sessions[`${layer}-${part}`]]));
      const head = model.heads[layer];
      const stepper = new GraphStepper(ort, own, head.temperature);
      return { layer, head, stepper, rules: new Rules(head) };
    });
  }

  /**
   * The sentences of a text.
   *
   * @param {string} text
   * @param {Watched} [watched]
   */
  async parseText(text, watched = {}) {
    const found = this.split(text);
    const sentences = await this.#parse(found.map(({ words }) => words), LAYERS, watched);
    return {
      text,
      sentences: sentences.map((sentence, index) => ({
        ...sentence,
        offsets: found[index].offsets,
      })),
    };
  }

  /**
   * A layer of a sentence.
   *
   * @param {string[]} words
   * @param {Layer} layer
   * @param {Watched & {steps?: boolean}} [watched]
   * @returns {Promise<Sentence>}
   */
  async parseWords(words, layer, watched = {}) {
    const [sentence] = await this.#parse([words], [layer], watched);
    return sentence;
  }

  /** The sentences of a text: words, and where they stand in code points. @param {string} text */
  split(text) {
    const found = this.sentences.split(text, this.words(text));
    let [units, points] = [0, 0];
    const inPoints = (/** @type {number} */ place) => {
      points += size(text.slice(units, place));
      units = place;
      return points;
    };
    return found.map((own) => ({
      words: own.map(([start, end]) => text.slice(start, end)),
      offsets: own.map(
        ([start, end]) => /** @type {[number, number]} */ ([inPoints(start), inPoints(end)]),
      ),
    }));
  }

  /**
   * @param {string[][]} sentences
   * @param {readonly Layer[]} wanted
   * @param {Watched & {steps?: boolean}} watched
   */
  async #parse(sentences, wanted, { onShare, pause, steps = false }) {
    for (const { length } of sentences) this.#checkLength(length);
    const total = sentences.reduce((sum, { length }) => sum + length, 0);
    /** @type {Sentence[]} */
    const found = new Array(sentences.length);
    let done = 0;
    for (const batch of batches(sentences)) {
      const own = batch.map((index) => sentences[index]);
      const { boundaries, tags } = await this.#read(own, pause);
      for (const [row, index] of batch.entries())
        found[index] = { words: own[row], ...(tags[row] ? { tags: tags[row] } : {}), log_probs: {} };
      for (const { layer, head, stepper, rules } of this.layers) {
        if (!wanted.includes(layer)) continue;
        const lengths = own.map(({ length }) => length);
        const how = { pause, keep: steps };
        const taken = await greedy(stepper, boundaries, lengths, rules, how);
        for (const [row, index] of batch.entries())
          this.#take(found[index], layer, taken[row], head, steps);
      }
      done += own.reduce((sum, { length }) => sum + length, 0);
      onShare?.(done / total);
      await pause?.();
    }
    return found;
  }

  /**
   * Put what was found for a layer into its sentence.
   *
   * @param {Sentence} sentence
   * @param {Layer} layer
   * @param {import("./walk.js").Taken[]} taken
   * @param {import("./structure.js").HeadLabels} head
   * @param {boolean} steps
   */
  #take(sentence, layer, taken, head, steps) {
    const { wrapper } = this.model;
    const n = sentence.words.length;
    sentence[layer] = layer === "tree" ? treeOf(taken, head, { n, wrapper }) : spansOf(taken, head);
    const logProb = taken.reduce((sum, step) => sum + step.logProb, 0);
    sentence.log_probs = { ...sentence.log_probs, [layer]: logProb };
    if (steps) sentence.steps = { [layer]: shownSteps(taken, head) };
  }

  /**
   * The boundaries of sentences, padded to the longest, and their tags.
   *
   * @param {string[][]} sentences
   * @param {(() => Promise<void>) | undefined} pause
   */
  async #read(sentences, pause) {
    const longest = Math.max(...sentences.map(({ length }) => length));
    let boundaries = new Float32Array(0);
    const tags = [];
    for (const [row, words] of sentences.entries()) {
      const own = await this.encoder.read(words);
      if (!row) {
        const width = own.boundaries.length / (words.length + 1);
        boundaries = new Float32Array(sentences.length * (longest + 1) * width);
      }
      boundaries.set(own.boundaries, (row * boundaries.length) / sentences.length);
      tags.push(own.tags && this.#tags(own.tags, words.length));
      await pause?.();
    }
    return { boundaries, tags };
  }

  /** The best tag of each word. @param {Float32Array} scores @param {number} words */
  #tags(scores, words) {
    const count = scores.length / words;
    return Array.from({ length: words }, (_, word) => {
      const own = scores.subarray(word * count + 1, (word + 1) * count); // no word is a filler
      return this.model.tags[argmax(own) + 1];
    });
  }

  /** @param {number} length */
  #checkLength(length) {
    const { maxWords } = this.model;
    if (length > maxWords)
      throw new TooLong(
        `A sentence of ${length.toLocaleString("en")} words is longer than the ` +
          `${maxWords.toLocaleString("en")} that are parsed here.`,
      );
  }
}

/** The numbers of sentences that go together: of like length. @param {string[][]} sentences */
function batches(sentences) {
  const order = [...sentences.keys()].filter((index) => sentences[index].length);
  order.sort((one, other) => sentences[one].length - sentences[other].length || one - other);
  /** @type {number[][]} */
  const found = [];
  for (const index of order) {
    const batch = found[found.length - 1];
    const most = MOST_BOUNDARIES / (sentences[index].length + 1);
    if (batch && batch.length < Math.min(MOST_ROWS, most)) batch.push(index);
    else found.push([index]);
  }
  return found;
}
