// Patterns over trees, after Tregex, read and matched here: those of `fencepost.search` but names,
// numbers, heads, chains and optional parts.

/** @typedef {import("./provider.js").Row} Row */
/** @typedef {import("./provider.js").Sentence} Sentence */

/**
 * A node of a tree: a phrase, the tag of a word, or a word.
 *
 * @typedef {Object} Node
 * @property {"phrase" | "tag" | "word"} kind
 * @property {string} label
 * @property {number} left the boundary before its first word.
 * @property {number} right the boundary behind its last word.
 * @property {number | null} probability
 * @property {Node | null} parent
 * @property {Node[]} children
 * @property {number} number from the root down; less than that of any node below or behind.
 * @property {number} end the number behind its last node below.
 */

/** @typedef {{nodes: Node[], entities: Row[] | undefined}} Tree */
/** @typedef {(node: Node) => boolean} Test */
/** @typedef {(tree: Tree) => Test} Matcher */

const MOST_LETTERS = 2000; // of a pattern
const MOST_NODES = 100; // in a pattern
const MOST_DEPTH = 30; // brackets in brackets
const LONGEST = 1000; // characters of a word that an expression is tried on

/** A text that is no pattern. */
export class PatternError extends Error {
  /** @param {string} message @param {number} place of the text where it is wrong. */
  constructor(message, place) {
    super(message);
    this.place = place;
  }
}

/** The nodes B with "A sign B", of a node A. @type {Record<string, (a: Node, all: Node[]) => Node[]>} */
const PARTNERS = {
  "<": ({ children }) => children,
  "<,": ({ children }) => children.slice(0, 1),
  "<-": ({ children }) => children.slice(-1),
  "<:": ({ children }) => (children.length === 1 ? children : []),
  ">": ({ parent }) => (parent ? [parent] : []),
  ">,": (a) => (sisters(a)[0] === a ? PARTNERS[">"](a, []) : []),
  ">-": (a) => (sisters(a).at(-1) === a ? PARTNERS[">"](a, []) : []),
  ">:": (a) => (sisters(a).length === 1 ? PARTNERS[">"](a, []) : []),
  "<<": ({ number, end }, all) => all.slice(number + 1, end),
  ">>": ({ parent }) => (parent ? [parent, ...PARTNERS[">>"](parent, [])] : []),
  $: (a) => sisters(a).filter((b) => b !== a),
  "$++": (a) => sisters(a).filter((b) => b.number > a.number),
  "$--": (a) => sisters(a).filter((b) => b.number < a.number),
  "$+": (a) => PARTNERS["$++"](a, []).slice(0, 1),
  "$-": (a) => PARTNERS["$--"](a, []).slice(-1),
  "..": ({ end }, all) => all.slice(end),
  ".": ({ right }, all) => all.filter(({ left }) => left === right),
  ",,": ({ number }, all) => all.slice(0, number).filter(({ end }) => end <= number),
  ",": ({ left }, all) => all.filter(({ right }) => right === left),
  "==": (a) => [a],
  "<=": (a) => [a, ...a.children],
  ":": (_, all) => all,
};
/** @type {Record<string, string>} */
const ALIASES = { "<`": "<-", ">`": ">-", "$..": "$++", "$,,": "$--", "$.": "$+", "$,": "$-" };

const SIGNS = String.raw`
  <... <<< <<, <<- <<\` <<: <<# << <+ <, <- <\` <: <# <= <
  >>, >>- >>\` >>: >># >> >+ >, >- >\` >: ># >
  $++ $-- $.. $,, $+ $- $. $, $ .+ .. . ,+ ,, , == :
`.replaceAll("\\`", "`");
const ENDS = String.raw`\s(\/@!#%&)=?\[\]><~.,$:\{\};\|"`;
const RELATION = SIGNS.trim()
  .split(/\s+/)
  .map((sign) => sign.replace(/[.$+]/g, "\\$&"))
  .join("|");
const TOKEN = new RegExp(
  String.raw`(?<relation>${RELATION})` +
    String.raw`|(?<any>__(?![^${ENDS}]))` +
    String.raw`|\/(?<regex>(?:\\.|[^\/\\\n])*)\/` +
    String.raw`|"(?<quoted>(?:\\.|[^"\\\n])*)"` +
    String.raw`|(?<name>(?![0-9_])[^${ENDS}][^${ENDS}]*)` +
    String.raw`|(?<sign>[()\[\]\{\};&\|!?@~=])`,
  "suy",
);
const BLANKS = /\s*/uy;
const NUMBER = /(?<name>p|words)\s*(?<compare><=|>=|==|=|!=|<|>)\s*(?<value>[0-9]*\.?[0-9]+(?:[eE]-?[0-9]{1,2})?)/uy;
const ABOUT = /(?<not>!?)\s*(?<place>is|has|in)(?![\p{L}\p{N}_\-])/uy;
/** @type {Record<string, (a: number, b: number) => boolean>} */
const COMPARE = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "=": (a, b) => a === b,
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};
/** Whether the span of an entity is at a node. @type {Record<string, (row: Row, node: Node) => boolean>} */
const AT = {
  is: ([start, end], { left, right }) => start === left && end === right,
  has: ([start, end], { left, right }) => left <= start && end <= right,
  in: ([start, end], { left, right }) => start <= left && right <= end,
};
const A_NODE = 'a label, "a word", /an expression/, __ or (';
const A_RELATION = "a relation such as < or $+";

/**
 * What finds the nodes of a sentence that match a pattern, from the root down.
 *
 * @param {string} text the pattern.
 * @returns {(sentence: Sentence, layer: "tree" | "entities") => Node[]} throws a PatternError for a
 *   sentence without what the pattern asks for.
 */
export function patternOf(text) {
  const matcher = new Reader(text).read();
  return (sentence, layer) => {
    const nodes = nodesOf(sentence, layer);
    return nodes.filter(matcher({ nodes, entities: sentence.entities }));
  };
}

/**
 * The nodes of a layer. Entities are a tree, too, below a root without a label.
 *
 * @param {Sentence} sentence
 * @param {"tree" | "entities"} layer
 */
export function nodesOf({ words, tags = [], ...layers }, layer) {
  const own = layers[layer] ?? [];
  /** @type {Row[]} */
  const rows = layer === "tree" ? own : [[0, words.length, ""], ...own];
  /** @type {Node[]} */
  const nodes = [];
  let parent = /** @type {Node | null} */ (null);
  let coming = 0;
  /** @type {(part: Pick<Node, "kind" | "label" | "left" | "right" | "probability">) => Node} */
  const add = (part) => {
    const number = nodes.length;
    /** @type {Node} */
    const node = { ...part, parent, children: [], number, end: number + 1 };
    parent?.children.push(node);
    nodes.push(node);
    return (parent = node);
  };
  for (const [left, word] of words.entries()) {
    const right = left + 1;
    for (; coming < rows.length && rows[coming][0] === left; coming += 1) {
      const [, end, label, probability = null] = rows[coming];
      add({ kind: "phrase", label: label ?? "", left, right: end, probability });
    }
    const place = { left, right, probability: null };
    if (tags[left]) add({ kind: "tag", label: tags[left], ...place });
    add({ kind: "word", label: word, ...place });
    for (; parent?.right === right; parent = parent.parent) parent.end = nodes.length;
  }
  return nodes;
}

/** A node's parent's children. @param {Node} node */
function sisters({ parent }) {
  return parent ? parent.children : [];
}

/** A label without functions: NP of NP-SBJ. @param {string} label */
function basic(label) {
  if (!label.startsWith("-")) return label.replace(/(?<=.)[-=|#^~_[].*$/su, "");
  const closing = label.indexOf("-", 1);
  return closing > 0 ? label.slice(0, closing + 1) : label;
}

/** @param {Matcher[]} parts @returns {Matcher} */
function all(parts) {
  return (tree) => {
    const tests = parts.map((part) => part(tree));
    return (node) => tests.every((test) => test(node));
  };
}

/** @param {Matcher[]} parts @returns {Matcher} */
function any(parts) {
  return (tree) => {
    const tests = parts.map((part) => part(tree));
    return (node) => tests.some((test) => test(node));
  };
}

/** @param {Matcher} part @returns {Matcher} */
function not(part) {
  return (tree) => {
    const test = part(tree);
    return (node) => !test(node);
  };
}

/** The same, looked up for each node but once. @param {Matcher} matcher @returns {Matcher} */
function once(matcher) {
  return (tree) => {
    const test = matcher(tree);
    /** @type {Map<Node, boolean>} */
    const known = new Map();
    return (node) => {
      const found = known.get(node) ?? test(node);
      known.set(node, found);
      return found;
    };
  };
}

/** Reads a pattern, token by token. */
class Reader {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.place = 0;
    this.depth = 0;
    this.count = 0;
  }

  read() {
    if (this.text.length > MOST_LETTERS) this.#refuse(`at most ${MOST_LETTERS} characters`);
    const alternatives = [this.#node()];
    while (this.#peek() === "|") {
      this.#take("|");
      alternatives.push(this.#node());
    }
    if (this.place < this.text.length) this.#refuse(`${A_RELATION}, or the end`);
    return any(alternatives);
  }

  /** @param {string} expected @returns {never} */
  #refuse(expected) {
    const found = [...this.text.slice(this.place)][0];
    const behind = found === undefined ? "the end" : `“${found}”`;
    throw new PatternError(`${expected} was expected, not ${behind}.`, this.place);
  }

  /** @param {string} sign @returns {never} */
  #leave(sign) {
    throw new PatternError(`${sign} does not work here, only in fencepost search.`, this.place);
  }

  #token() {
    BLANKS.lastIndex = this.place;
    this.place += BLANKS.exec(this.text)?.[0].length ?? 0;
    return this.#at(TOKEN, this.place)?.groups ?? null;
  }

  /** @param {RegExp} sticky @param {number} place */
  #at(sticky, place) {
    sticky.lastIndex = place;
    return sticky.exec(this.text);
  }

  /** The sign or relation that comes next; of anything else, nothing. */
  #peek() {
    const token = this.#token();
    return token?.sign ?? token?.relation ?? "";
  }

  /** @param {string} sign @param {string} [expected] */
  #take(sign, expected = sign) {
    if (this.#peek() !== sign) this.#refuse(expected);
    this.place += sign.length;
  }

  /** What stands inside of brackets. @template T @param {() => T} read @returns {T} */
  #deeper(read) {
    this.depth += 1;
    if (this.depth > MOST_DEPTH) this.#refuse(`at most ${MOST_DEPTH} brackets in brackets`);
    const found = read();
    this.depth -= 1;
    return found;
  }

  /** A node with its relations. @returns {Matcher} */
  #node() {
    const node = this.#related();
    return this.#startsRelation() ? all([node, once(this.#anyOf())]) : node;
  }

  /** A node that a relation leads to: in brackets with its own relations, or without. */
  #related() {
    if (this.#peek() !== "(") return this.#described();
    this.#take("(");
    const node = this.#deeper(() => this.#node());
    this.#take(")", `${A_RELATION}, or )`);
    return once(node);
  }

  /** A node's label and conditions. */
  #described() {
    this.count += 1;
    if (this.count > MOST_NODES) this.#refuse(`at most ${MOST_NODES} nodes`);
    let negated = false;
    for (; this.#peek() === "!"; negated = !negated) this.#take("!");
    const isBasic = this.#peek() === "@";
    if (isBasic) this.#take("@");
    if (["=", "~"].includes(this.#peek())) this.#leave("a name");
    const labels = this.#labels(A_NODE);
    /** @type {Test} */
    const own = ({ label }) => labels(isBasic ? basic(label) : label) !== negated;
    const conditions = this.#conditions();
    if (this.#peek() === "=") this.#leave("a name");
    return all([() => own, ...conditions]);
  }

  /** @param {string} expected @returns {(label: string) => boolean} */
  #labels(expected) {
    /** @type {((label: string) => boolean)[]} */
    const tests = [];
    for (;;) {
      const token = this.#token();
      if (!token || token.relation || token.sign) this.#refuse(expected);
      const { any: isAny, quoted, regex } = token;
      const name = quoted?.replace(/\\(.)/gsu, "$1") ?? token.name;
      if (regex !== undefined) tests.push(this.#expression(regex));
      else tests.push(isAny ? () => true : (label) => label === name);
      this.place = TOKEN.lastIndex;
      // NP|VP is a list of labels; a relation or a pattern may stand behind `NP | `.
      const behind = this.text[this.place] === "|" && this.#at(TOKEN, this.place + 1)?.groups;
      if (!behind || behind.relation || behind.sign) break;
      this.place += 1;
    }
    return (label) => tests.some((test) => test(label));
  }

  /** @param {string} source @returns {(label: string) => boolean} */
  #expression(source) {
    const plain = source.replace(/^\(\?i\)/u, "");
    try {
      const regex = new RegExp(plain, plain === source ? "u" : "ui");
      return (label) => label.length <= LONGEST && regex.test(label);
    } catch {
      throw new PatternError("this is no regular expression.", this.place);
    }
  }

  /** Conditions in braces. @returns {Matcher[]} */
  #conditions() {
    if (this.#peek() !== "{") return [];
    const found = [];
    for (let sign = "{"; this.#peek() === sign; sign = ",") {
      this.#take(sign);
      this.#token();
      found.push(this.#condition());
    }
    this.#take("}", ", or }");
    return found;
  }

  /** @returns {Matcher} */
  #condition() {
    const number = this.#at(NUMBER, this.place)?.groups;
    if (number) {
      this.place = NUMBER.lastIndex;
      const [compare, value] = [COMPARE[number.compare], Number(number.value)];
      if (number.name === "words") return () => ({ left, right }) => compare(right - left, value);
      return () => ({ probability }) => probability !== null && compare(probability, value);
    }
    const about = this.#at(ABOUT, this.place)?.groups;
    if (!about) this.#refuse("p<0.5, words>3, is TYPE, has TYPE or in TYPE");
    const { place } = this;
    this.place = ABOUT.lastIndex;
    const types = this.#labels('the type of an entity, "a type", /an expression/ or __');
    const [isAt, isNot] = [AT[about.place], about.not !== ""];
    return ({ entities }) => {
      if (!entities) throw new PatternError("this model finds no entities.", place);
      const some = entities.filter(([, , type]) => types(type));
      return (node) => some.some((row) => isAt(row, node)) !== isNot;
    };
  }

  /** Whether a relation comes next, perhaps in brackets or negated. */
  #startsRelation() {
    const { place } = this;
    while (["!", "("].includes(this.#peek())) this.place += 1;
    const isRelation = ["[", "&", "?"].includes(this.#peek()) || !!this.#token()?.relation;
    this.place = place;
    return isRelation;
  }

  /** @returns {Matcher} */
  #anyOf() {
    const parts = [this.#allOf()];
    while (this.#peek() === "|" && this.#relationBehind()) {
      this.#take("|");
      parts.push(this.#allOf());
    }
    return any(parts);
  }

  #relationBehind() {
    const { place } = this;
    this.#take("|");
    const found = this.#startsRelation();
    this.place = place;
    return found;
  }

  #allOf() {
    const parts = [this.#modified()];
    while (this.#peek() === "&" || this.#startsRelation()) {
      if (this.#peek() === "&") this.#take("&");
      parts.push(this.#modified());
    }
    return all(parts);
  }

  /** @returns {Matcher} */
  #modified() {
    const sign = this.#peek();
    if (sign === "?") this.#leave("?");
    if (sign === "!") {
      this.#take("!");
      return not(this.#deeper(() => this.#modified()));
    }
    if (sign !== "[" && sign !== "(") return this.#relation();
    this.#take(sign);
    const found = this.#deeper(() => this.#anyOf());
    const closing = sign === "[" ? "]" : ")";
    this.#take(closing, `${A_RELATION}, or ${closing}`);
    return found;
  }

  /** @returns {Matcher} */
  #relation() {
    const sign = this.#token()?.relation;
    if (!sign) this.#refuse(A_RELATION);
    const partners = PARTNERS[ALIASES[sign] ?? sign];
    if (!partners) this.#leave(sign);
    this.place += sign.length;
    this.#token();
    if (/^-?[0-9]/u.test(this.text.slice(this.place))) this.#leave("a number");
    const target = this.#related();
    return (tree) => {
      const isTarget = target(tree);
      return (node) => partners(node, tree.nodes).some(isTarget);
    };
  }
}
