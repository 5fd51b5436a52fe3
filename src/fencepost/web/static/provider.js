// The page asks a provider: the server that it came from, or a parser in the browser itself.
//
// This is all that the page knows of either. Providers find spans and steps; drawings, brackets and
// comparisons are made by the page.

/**
 * What a provider can do; the page offers nothing else.
 *
 * @typedef {Object} Abilities
 * @property {boolean} readings whether `readings` finds more than the best parse.
 * @property {boolean} constraints whether parses obey `must` and `forbid`.
 * @property {boolean} steps whether `steps` tells how a parse was made.
 * @property {boolean} names whether `names` tells names from other entities.
 * @property {boolean} token whether it may refuse with status 401 until `useToken` was called.
 */

/**
 * A span: start, end, label and, if it is known, the probability of the step that made it.
 *
 * @typedef {[number, number, string, number?]} Row
 */

/**
 * What is known of a sentence, or of one reading of it. A layer that was not asked for is left out.
 *
 * @typedef {Object} Sentence
 * @property {string[]} words
 * @property {string[]} [tags] one for each word.
 * @property {[number, number][]} [offsets] where each word is in the text of the document, in code
 *   points.
 * @property {Row[]} [tree] holders first, from left to right; of a chain the outermost first.
 * @property {Row[]} [entities] in the same order.
 * @property {{tree?: number, entities?: number}} [log_probs] of each layer.
 * @property {string} [differences] of a reading: how it differs from the first, a line for each.
 * @property {{tree?: Step[], entities?: Step[]}} [steps] from `steps` only.
 */

/**
 * One step of greedy search.
 *
 * @typedef {Object} Step
 * @property {number} number from 1.
 * @property {number} cursor the boundary that it points from.
 * @property {number} boundary the boundary that it points to.
 * @property {[number, number][]} candidates all that it could point to, each with its probability.
 * @property {number} start of the span that is complete now.
 * @property {number} end
 * @property {string | null} label null is a filler.
 * @property {number} label_probability of the label, given the boundary.
 * @property {[string | null, number] | null} runner_up the second best label, and its probability.
 */

/**
 * The sentences of a text.
 *
 * @typedef {Object} Document
 * @property {string} text
 * @property {Sentence[]} sentences none if there are no words.
 */

/**
 * What answers.
 *
 * @typedef {Object} Description
 * @property {string} name of the model.
 * @property {string[]} tasks of tree, entities and tags, those that it finds.
 * @property {{tree?: string[], entities?: string[]}} labels of each layer, to choose from.
 * @property {number} closeWords words at most of a sentence for readings, constraints and steps.
 */

/**
 * What to find for words that are known already.
 *
 * @typedef {Object} Query
 * @property {"tree" | "entities"} layer
 * @property {[number, number, string | null][]} must empty without `can.constraints`.
 * @property {[number, number, string | null][]} forbid empty without `can.constraints`.
 */

/**
 * How a long call is watched and given up.
 *
 * @typedef {Object} Watch
 * @property {AbortSignal} [signal] aborted: the call rejects with an AbortError.
 * @property {(progress: {what: string, share: number | null}) => void} [onProgress] is called while
 *   it takes time, with a phrase such as "Loading the model" and how much is done, from 0 to 1;
 *   null where that is not known.
 */

/**
 * Whoever answers the page. Calls that fail reject with a Refusal, whose message is shown as it is.
 *
 * @typedef {Object} Provider
 * @property {Abilities} can
 * @property {string} privacy where texts go, in a sentence: it stands below the field of the text.
 * @property {string[]} [search] the arguments with which Python searches as it does; without it, as
 *   the model's folder says.
 * @property {Document} [example] a parse that ships with the page, which the first visit shows.
 *   Without it, the text that stands in the field is parsed then.
 * @property {(watch?: Watch) => Promise<Description>} describe is cheap: it is called when the page
 *   opens, so nothing large is loaded for it.
 * @property {(text: string, watch?: Watch) => Promise<Document>} parseText
 * @property {(words: string[], query: Query, watch?: Watch) => Promise<Sentence>} parseWords
 * @property {(words: string[], count: number, query: Query, watch?: Watch) => Promise<Sentence[]>}
 *   [readings] the best first, at most `count`; with `can.readings`.
 * @property {(words: string[], query: Query, watch?: Watch) => Promise<Sentence>} [steps] the parse
 *   of greedy search, with its steps; with `can.steps`.
 * @property {(words: string[], query: Query, watch?: Watch) => Promise<Sentence>} [names] the
 *   entities that are names; with `can.names`.
 * @property {(token: string) => void} [useToken] keeps a token for later calls; with `can.token`.
 */

/** Why a provider does not answer. */
export class Refusal extends Error {
  /**
   * @param {string} message for people, in whole sentences.
   * @param {{status?: number, said?: string}} more status: as in HTTP; 401 asks for a token, 422
   *   says that asking again is of no use. said: the parser's own words, in which a contradiction
   *   names constraints: "must (0, 2) NP and must (1, 3) cross".
   */
  constructor(message, { status = 0, said = "" } = {}) {
    super(message);
    this.status = status;
    this.said = said;
  }
}

/** Whether a call was given up for a newer one. */
export function isGivenUp(error) {
  return error.name === "AbortError";
}
