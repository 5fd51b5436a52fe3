// Taking a parse along: as brackets, as Python, as a link.

import { button, make } from "./elements.js";

const LONGEST = 8000; // characters of a text in a link; programs for mail and chat cut longer ones
const [BLANK, NO_NAME] = [/[\s\x1c-\x1f\x85]/, /[\s\x1c-\x1f\x85()]/];

/**
 * A tree in brackets, as treebanks write it.
 *
 * @returns {string | null} null if brackets cannot say it: a word holds a blank, say.
 */
export function brackets({ words, tags, tree }) {
  const parts = [];
  const ends = [];
  let coming = 0;
  for (const [index, word] of words.entries()) {
    while (coming < tree.length && tree[coming][0] === index) {
      const [, end, label] = tree[coming];
      if (NO_NAME.test(label)) return null;
      parts.push(`${parts.length ? " " : ""}(${label}`);
      ends.push(end);
      coming += 1;
    }
    const tag = tags?.[index] || "XX";
    if (NO_NAME.test(tag) || BLANK.test(word) || !word) return null;
    parts.push(` (${tag} ${word.replaceAll("(", "-LRB-").replaceAll(")", "-RRB-")})`);
    for (; ends.at(-1) === index + 1; ends.pop()) parts.push(")");
  }
  return parts.join("");
}

/**
 * The lines of Python that parse the same.
 *
 * @param {string} model its name.
 * @param {string | string[]} given a text, or the words of a sentence.
 * @param {Object<string, {must: [], forbid: [], names?: boolean}>} queries what each layer obeys,
 *   and whether it has names only.
 * @param {string[]} search the arguments that search as the provider does.
 */
export function python(model, given, queries, search = []) {
  const canSplit = Array.isArray(given) && given.every((word) => word && !BLANK.test(word));
  const input = canSplit ? `${literal(given.join(" "))}.split()` : literal(given);
  const lines = ["import fencepost", "", `parser = fencepost.load(${literal(model)})`];
  const layers = Object.keys(queries);
  const obeying = layers.filter((layer) => {
    const { must, forbid, names } = queries[layer];
    return names || must.length + forbid.length > 0;
  });
  const calls = obeying.length
    ? layers.map((layer) => ({ tasks: [layer], ...queries[layer] }))
    : [{ tasks: layers, must: [], forbid: [] }];
  for (const { tasks, must, forbid, names } of calls) {
    const options = [
      obeying.length ? `tasks=${literal(tasks)}` : "",
      must.length ? `must=[${must.map(spanLiteral).join(", ")}]` : "",
      forbid.length ? `forbid=[${forbid.map(spanLiteral).join(", ")}]` : "",
      names ? "names=True" : "",
      ...search,
    ].filter(Boolean);
    lines.push(`document = parser.parse(${[input, ...options].join(", ")})`);
    lines.push("for parse in document.sentences:");
    if (tasks.includes("tree")) lines.push("    print(parse.tree)");
    if (tasks.includes("entities")) {
      lines.push("    for entity in parse.entities:");
      lines.push("        print(entity.label, entity.text, sep=\"\\t\")");
    }
  }
  return `${lines.join("\n")}\n`;
}

/** The names of the buttons. */
export const [BRACKETS, PYTHON, LINK] = ["Copy as brackets", "Copy as Python", "Copy link"];

const REFUSALS = {
  [BRACKETS]: "Brackets cannot hold these words.",
  [LINK]: `A link holds texts of up to ${LONGEST.toLocaleString("en")} characters.`,
};
const COPIED = { [LINK]: "Copied. The text is in the link itself; nothing was sent." };

/** The address at which this page shows a text; null if the text is too long. */
export function linkTo(text) {
  if (text.length > LONGEST) return null;
  return `${location.href.split("#")[0]}#text=${encodeURIComponent(text)}`;
}

/**
 * Buttons that copy.
 *
 * @param {Object<string, () => string | null>} texts by the names of buttons; null: there is none,
 *   and `REFUSALS` says why.
 */
export function copyBar(texts) {
  const note = make("span", { className: "note", role: "status" });
  const shown = make("pre", { className: "copied", tabIndex: 0, dir: "auto", hidden: true });
  shown.setAttribute("aria-label", "To be copied");
  const copy = async (name) => {
    const text = texts[name]();
    shown.hidden = true;
    if (text === null) {
      note.textContent = REFUSALS[name];
      return;
    }
    try {
      await navigator.clipboard.writeText(text);
      note.textContent = COPIED[name] ?? "Copied.";
    } catch {
      shown.hidden = false;
      shown.textContent = text;
      getSelection().selectAllChildren(shown);
      note.textContent = "Selected; copy it with Ctrl or ⌘ + C.";
    }
  };
  const buttons = Object.keys(texts).map((name) =>
    button(name, () => copy(name), { className: "quiet" }),
  );
  return make("div", { className: "copying" }, ...buttons, note, shown);
}

/** A value of JSON as Python writes it. */
function literal(value) {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  return value === null ? "None" : JSON.stringify(value);
}

function spanLiteral([start, end, label]) {
  return `(${start}, ${end}, ${literal(label)})`;
}
