// Words: where each of them starts and ends in a text, by the rules of `fencepost.text.words`.

import { withoutBlanksBefore, withoutBlanksBehind } from "./strings.js";

/** @typedef {[number, number]} Offsets start and end, in units of JavaScript's strings */

/**
 * The rules as `fencepost export-web` writes them.
 *
 * @typedef {Object} WordTables
 * @property {string} word
 * @property {string} ending
 * @property {number} mostCuts
 * @property {Record<string, number[]>} twoInOne
 */

/**
 * What splits texts into words.
 *
 * @param {WordTables} tables
 * @returns {(text: string) => Offsets[]}
 */
export function wordSplitter(tables) {
  const rules = new RegExp(tables.word, "gv");
  const ending = new RegExp(tables.ending, "gv");
  const twoInOne = new Map(Object.entries(tables.twoInOne));

  /** Where a word with an apostrophe is cut, in order. @param {string} word */
  function cuts(word) {
    const found = [];
    let rest = word;
    while (found.length < tables.mostCuts) {
      ending.lastIndex = /** @type {number} */ (word.codePointAt(0)) > 0xffff ? 2 : 1;
      const match = ending.exec(rest);
      if (!match) break;
      rest = rest.slice(0, match.index);
      found.push(match.index);
    }
    return found.length ? found.reverse() : whole(word);
  }

  /** Where a word is cut that stands for two. @param {string} word */
  function whole(word) {
    return twoInOne.get(word.toLowerCase()) ?? [];
  }

  return (text) => {
    /** @type {Offsets[]} */
    const words = [];
    rules.lastIndex = text.length - withoutBlanksBefore(text).length;
    for (let match = rules.exec(text); match; match = rules.exec(text)) {
      const word = withoutBlanksBehind(match[0]);
      const hasApostrophe = word.includes("'") || word.includes("’");
      const places = match.groups?.word !== undefined && hasApostrophe ? cuts(word) : whole(word);
      let start = match.index;
      for (const cut of places) {
        words.push([start, match.index + cut]);
        start = match.index + cut;
      }
      words.push([start, match.index + word.length]);
    }
    return words;
  };
}
