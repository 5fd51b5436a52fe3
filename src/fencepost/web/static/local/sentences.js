// Sentences: after which words a text is cut, by the rules of `fencepost.text.sentences`.

import {
  first,
  firstWord,
  isAlphanumeric,
  isDecimal,
  isLower,
  isTitle,
  last,
  lines,
  size,
  withoutBlanksBehind,
} from "./strings.js";

/** @typedef {import("./words.js").Offsets} Offsets */

/**
 * The rules as `fencepost export-web` writes them.
 *
 * @typedef {Record<"wide" | "stops" | "marks" | "quotes" | "closing" | "opening" | "bullets" |
 *   "dashes" | "unfinished" | "leading" | "starters" | "speech", string[]> &
 *   {picture: string, item: string, narrow: number}} SentenceTables
 */

/** Cuts texts into sentences. */
export class SentenceSplitter {
  /** @param {SentenceTables} tables */
  constructor(tables) {
    this.narrow = tables.narrow;
    this.picture = new RegExp(`^(?:${tables.picture})`, "v");
    this.item = new RegExp(`^(?:${tables.item})`, "v");
    this.wide = new Set(tables.wide);
    this.stops = new Set(tables.stops);
    this.marks = new Set(tables.marks);
    this.quotes = new Set(tables.quotes);
    this.closing = new Set(tables.closing);
    this.opening = new Set(tables.opening);
    this.bullets = new Set(tables.bullets);
    this.dashes = new Set(tables.dashes);
    this.unfinished = new Set(tables.unfinished);
    this.leading = new Set(tables.leading);
    this.starters = new Set(tables.starters);
    this.speech = new Set(tables.speech);
  }

  /**
   * The words of a text, sentence by sentence.
   *
   * @param {string} text
   * @param {Offsets[]} words
   */
  split(text, words) {
    const sentences = [];
    let start = 0;
    for (const end of this.#ends(text, words)) {
      sentences.push(words.slice(start, end));
      start = end;
    }
    return sentences;
  }

  /**
   * For each sentence, the number of words up to its end.
   *
   * @param {string} text
   * @param {Offsets[]} words
   */
  *#ends(text, words) {
    const strings = words.map(([start, end]) => text.slice(start, end));
    const roomy = this.#linesWithRoom(text);
    let ending = ""; // the word that ended the sentence, if all words since then close it
    let quoted = false; // whether one of these was a quote
    let note = -1; // the last word of a note in square brackets
    for (let index = 0; index < words.length - 1; index += 1) {
      const word = strings[index];
      if (this.#mayEnd(word)) {
        [ending, quoted] = [word, false];
      } else if (ending && index > note) {
        const attached = words[index - 1][1] === words[index][0];
        if (isNote(strings, index)) note = index + 2;
        else if (attached && this.closing.has(word)) quoted ||= this.quotes.has(word);
        else if (!(attached && isDecimal(word)) && !this.picture.test(word)) ending = "";
      }
      const gap = text.slice(words[index][1], words[index + 1][0]);
      const breaks = gap === " " ? 0 : lines(`${gap}.`).length - 1;
      const ended = ending !== "" && index >= note;
      const room = roomy.has(words[index][1]);
      if (
        breaks > 1 ||
        (breaks && this.#startsLine(strings, index + 1, ended, room)) ||
        (ended &&
          (gap || this.#lacksSpace(strings, index)) &&
          this.#mayStart(strings, index + 1, ending, quoted))
      ) {
        yield index + 1;
        ending = "";
      }
    }
    if (words.length) yield words.length;
  }

  /** Whether a sentence may end with this word. @param {string} word */
  #mayEnd(word) {
    const end = last(word);
    const length = size(word);
    if (length === 1) return this.stops.has(end) || this.marks.has(end) || end === "…";
    if (end === "…" || word.startsWith("..")) return true;
    // The full stop of an initial, of an item's number and of a title says nothing.
    if (end !== "." || length === 2 || isDecimal(first(word))) return false;
    return !this.leading.has(word.slice(0, -1).toLowerCase());
  }

  /**
   * Whether a sentence may start with the word at `index`, given how the last one ended.
   *
   * @param {string[]} strings
   * @param {number} index
   * @param {string} ending
   * @param {boolean} quoted
   */
  #mayStart(strings, index, ending, quoted) {
    if (isNote(strings, index)) return false;
    const opening = index;
    while (index < Math.min(opening + 3, strings.length - 1) && this.opening.has(strings[index]))
      index += 1;
    const word = strings[index];
    const start = first(word);
    if (isLower(start) && isLower(word)) return false;
    if (ending.endsWith(".") && !/^\.*$/v.test(ending))
      return this.starters.has(word.toLowerCase()); // an abbreviation
    if (this.marks.has(ending)) {
      // A title and its year: `Viva! (1965)`
      if (index > opening && isDecimal(start)) return false;
      if (quoted && index + 1 < strings.length && this.speech.has(strings[index + 1])) return false;
    }
    return isAlphanumeric(start) || "$£€@#".includes(start) || this.bullets.has(word);
  }

  /**
   * Whether the space after a sentence was left out: `the end.Then`, or as Chinese does.
   *
   * @param {string[]} strings
   * @param {number} index
   */
  #lacksSpace(strings, index) {
    const word = strings[index];
    if (this.wide.has(word)) return true;
    if (index === 0 || !isTitle(strings[index + 1])) return false;
    return this.marks.has(word) || (word === "." && isLower(strings[index - 1]));
  }

  /**
   * Whether the line that starts with the word at `index` starts a sentence, whatever it is.
   *
   * @param {string[]} strings
   * @param {number} index
   * @param {boolean} ended
   * @param {boolean} room
   */
  #startsLine(strings, index, ended, room) {
    const [before, word] = [strings[index - 1], strings[index]];
    if (this.bullets.has(word) || this.dashes.has(word) || this.item.test(word)) return true;
    if (!room || this.unfinished.has(before) || this.starters.has(before)) return false;
    if (before.endsWith(".") && !ended) return false; // a title, or an initial
    return ended || !isLower(word);
  }

  /**
   * The ends of the lines that had room for the first word of the next one: those were ended on
   * purpose, and the others may have been wrapped.
   *
   * @param {string} text
   */
  #linesWithRoom(text) {
    /** @type {Set<number>} */
    const roomy = new Set();
    /** @type {{end: number, width: number, first: number}[]} */
    let paragraph = [];
    let position = 0;
    for (const line of [...lines(text), ""]) {
      const content = withoutBlanksBehind(line);
      if (content) {
        const end = position + content.length;
        paragraph.push({ end, width: size(content), first: size(firstWord(content)) });
      } else {
        const widest = paragraph.reduce((most, { width }) => Math.max(most, width), this.narrow);
        for (const [index, { end, width }] of paragraph.entries()) {
          const next = paragraph[index + 1];
          if (next && width + 1 + next.first <= widest) roomy.add(end);
        }
        paragraph = [];
      }
      position += line.length;
    }
    return roomy;
  }
}

/**
 * Whether a note such as [2] stands here.
 *
 * @param {string[]} strings
 * @param {number} index
 */
function isNote(strings, index) {
  return (
    strings[index] === "[" &&
    index + 2 < strings.length &&
    isDecimal(strings[index + 1]) &&
    strings[index + 2] === "]"
  );
}
