// Words as the pieces of a tokenizer like BERT's, in windows that a transformer can read; what
// `fencepost.batching.pieces` does.

import { first, isLower, isUpper, size } from "./strings.js";

const OVERLAP = 1 / 4; // of a window, at least, is in the next one, too
const MOST_KNOWN = 50_000; // words whose pieces are remembered
const LONGEST_KNOWN = 50; // units of a word that is remembered
const MOST_PIECES = 100; // of a word
const [DROP, BLANK, APART, SPELLED] = [1, 2, 3, 4]; // what becomes of a character
const [SYLLABLES, BEHIND_SYLLABLES] = [0xac00, 0xd7a4]; // of Korean

export const [NO_CASE, SMALL, CAPITALISED, ALL_CAPITALS, ONE_CAPITAL, MIXED] = [0, 1, 2, 3, 4, 5];

/**
 * A tokenizer as `fencepost export-web` writes it.
 *
 * @typedef {Object} TokenizerTables
 * @property {string[]} names of the pieces, in their order.
 * @property {number} unknown
 * @property {string} prefix of pieces that go on a word.
 * @property {number} longest characters of a part of a word that is not unknown.
 * @property {number[]} runs where each run of characters of one kind begins, and the kind.
 * @property {Record<string, string>} spelled characters that become others.
 * @property {boolean} syllables whether those of Korean are taken apart.
 */

/**
 * What windows are made of.
 *
 * @typedef {Object} PieceSettings
 * @property {number[]} before
 * @property {number[]} after
 * @property {number} nothing
 * @property {number} window
 * @property {"last" | "first" | "mean"} which
 */

/**
 * A window of pieces, and the words that take their vectors from it.
 *
 * @typedef {Object} Window
 * @property {number[]} pieces
 * @property {number[]} cases
 * @property {{place: number, word: number, share: number}[]} picked word 0 is the first sentinel.
 */

/** The pieces of words, each cut on its own. */
export class Speller {
  /**
   * @param {TokenizerTables} tables
   * @param {number} nothing stands for a word without pieces.
   */
  constructor(tables, nothing) {
    this.tables = tables;
    this.nothing = nothing;
    this.numbers = new Map(tables.names.map((name, number) => [name, number]));
    this.longestName = tables.names.reduce((most, name) => Math.max(most, size(name)), 0);
    this.spelled = new Map(Object.entries(tables.spelled));
    /** @type {Map<string, number[]>} */
    this.known = new Map();
  }

  /** The pieces of a word, at least one. @param {string} word */
  pieces(word) {
    const known = this.known.get(word);
    if (known) return known;
    const all = this.#parts(word.toWellFormed()).flatMap((part) => this.#cut(part));
    const half = MOST_PIECES / 2;
    const few = all.length > MOST_PIECES ? [...all.slice(0, half), ...all.slice(-half)] : all;
    const pieces = few.length ? few : [this.nothing];
    if (this.known.size >= MOST_KNOWN) this.known.clear();
    if (word.length <= LONGEST_KNOWN) this.known.set(word, pieces);
    return pieces;
  }

  /** The normalised parts of a word, each as its characters. @param {string} word */
  #parts(word) {
    /** @type {string[][]} */
    const parts = [];
    /** @type {string[] | null} */
    let part = null;
    for (const char of this.#normalised(word)) {
      const kind = this.#kind(/** @type {number} */ (char.codePointAt(0)));
      if (kind === BLANK) part = null;
      else if (kind === APART) {
        parts.push([char]);
        part = null;
      } else if (part) part.push(char);
      else parts.push((part = [char]));
    }
    return parts;
  }

  /** @param {string} word */
  *#normalised(word) {
    for (const char of word) {
      const code = /** @type {number} */ (char.codePointAt(0));
      const kind = this.#kind(code);
      if (kind === SPELLED) yield* /** @type {string} */ (this.spelled.get(char));
      else if (this.tables.syllables && code >= SYLLABLES && code < BEHIND_SYLLABLES)
        yield* char.normalize("NFD");
      else if (kind !== DROP) yield char;
    }
  }

  /** @param {number} code */
  #kind(code) {
    const { runs } = this.tables;
    let [low, high] = [0, runs.length / 2];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (runs[2 * middle] <= code) low = middle;
      else high = middle;
    }
    return runs[2 * low + 1];
  }

  /** The longest pieces one after the other. @param {string[]} characters */
  #cut(characters) {
    const { unknown, prefix, longest } = this.tables;
    if (characters.length > longest) return [unknown];
    const pieces = [];
    for (let start = 0; start < characters.length;) {
      let end = Math.min(characters.length, start + this.longestName);
      const before = start ? prefix : "";
      let number;
      for (; end > start; end -= 1) {
        number = this.numbers.get(before + characters.slice(start, end).join(""));
        if (number !== undefined) break;
      }
      if (number === undefined) return [unknown];
      pieces.push(number);
      start = end;
    }
    return pieces;
  }
}

/**
 * The windows of a sentence.
 *
 * @param {string[]} words
 * @param {Speller} speller
 * @param {PieceSettings} settings
 * @returns {Window[]}
 */
export function windowsOf(words, speller, { before, after, window, which }) {
  const room = window - before.length - after.length;
  const spelled = words.map((word) => speller.pieces(word));
  const pieces = spelled.flat();
  const cases = words.flatMap((word, index) => spelled[index].map(() => caseOf(word)));
  const starts = windowStarts(pieces.length, room);
  const windows = starts.map((start) => ({
    pieces: [...before, ...pieces.slice(start, start + room), ...after],
    cases: [
      ...before.map(() => NO_CASE),
      ...cases.slice(start, start + room),
      ...after.map(() => NO_CASE),
    ],
    picked: /** @type {Window["picked"]} */ ([]),
  }));
  windows[0].picked.push({ place: 0, word: 0, share: 1 });
  let at = 0;
  let end = 0;
  for (const [index, own] of spelled.entries()) {
    let [from, to] = [end, end + own.length];
    end = to;
    if (which === "last") from = to - 1;
    if (which === "first") to = from + 1;
    for (let piece = from; piece < to; piece += 1) {
      // Between two windows, pieces belong to the one whose middle is nearer.
      while (at + 1 < starts.length && (starts[at] + starts[at + 1] + room - 1) / 2 < piece) at += 1;
      const place = before.length + piece - starts[at];
      windows[at].picked.push({ place, word: index + 1, share: 1 / (to - from) });
    }
  }
  const final = windows[windows.length - 1];
  final.picked.push({ place: final.pieces.length - 1, word: words.length + 1, share: 1 });
  return windows;
}

/**
 * Where windows start that together hold all pieces, evenly spread.
 *
 * @param {number} pieces
 * @param {number} room
 */
export function windowStarts(pieces, room) {
  const stride = room - Math.floor(room * OVERLAP);
  const steps = Math.ceil(Math.max(0, pieces - room) / stride);
  if (!steps) return [0];
  return Array.from({ length: steps + 1 }, (_, step) =>
    Math.floor((step * (pieces - room)) / steps),
  );
}

/** How a word is capitalised, which an uncased tokenizer forgets. @param {string} word */
export function caseOf(word) {
  if (isLower(word)) return SMALL;
  if (isUpper(word)) {
    const capitals = [...word].filter((char) => isUpper(char)).length;
    return capitals > 1 ? ALL_CAPITALS : ONE_CAPITAL;
  }
  const start = word ? first(word) : "";
  if (isUpper(start) && isLower(word.slice(start.length))) return CAPITALISED;
  return word.toLowerCase() === word ? NO_CASE : MIXED;
}
