// What a parse has to obey: choosing two fence posts, and the constraints in force.

import { boundaryName } from "./drawing.js";
import { button, inRow, make, percent, quoted } from "./elements.js";

let made = 0; // choosers, so that each has names of its own

/** The constraints as a query has them: `must` and `forbid`. */
export function asked(constraints) {
  const rows = (kind) =>
    constraints
      .filter((one) => one.kind === kind)
      .map(({ start, end, label }) => [start, end, label]);
  return { must: rows("must"), forbid: rows("forbid") };
}

/** A constraint in words: require NP over “the man”. */
export function inWords({ kind, start, end, label }, words) {
  const what = label ?? (kind === "must" ? "a span" : "any span");
  return `${kind === "must" ? "require" : "forbid"} ${what} over ${quoted(words, start, end)}`;
}

/** Whether two constraints ask for the same. */
export function areEqual(one, other) {
  return ["kind", "start", "end", "label"].every((key) => one[key] === other[key]);
}

/** Whether two lists have the same constraints, in order. */
export function areSame(some, others) {
  return some.length === others.length && some.every((one, index) => areEqual(one, others[index]));
}

/** What contradicts what, in the words of the page; null if it names no two of them. */
export function contradiction(constraints, words, said) {
  const blamed = constraints.filter(({ kind, start, end, label }) => {
    const name = `${kind} (${start}, ${end})${label === null ? "" : ` ${label}`}`;
    return ["and", "cross", "contradict"].some((next) => said.includes(`${name} ${next}`));
  });
  if (blamed.length < 2) return null;
  const names = inRow(blamed.map((one) => inWords(one, words)));
  const why = said.includes("cross") ? "cross, and spans have to nest" : "contradict each other";
  return `${names[0].toUpperCase()}${names.slice(1)} ${why}.`;
}

/** The constraints, each with a button that removes it; those in `unmet` are not in force. */
export function chips(constraints, words, { unmet, onRemove }) {
  const list = make("ul", { className: "chips", "aria-label": "Constraints" });
  for (const constraint of constraints) {
    const text = inWords(constraint, words);
    const isUnmet = unmet.includes(constraint);
    list.append(
      make(
        "li",
        { className: `chip ${constraint.kind}${isUnmet ? " unmet" : ""}` },
        make("span", { textContent: isUnmet ? `${text} (not met)` : text }),
        button("×", () => onRemove(constraint), { "aria-label": `Remove: ${text}` }),
      ),
    );
  }
  list.hidden = !constraints.length;
  return list;
}

/**
 * Two boundaries are chosen, then what to ask of the words between them.
 *
 * @param labels those of each layer, that of this drawing first: [["tree", ["NP", …]], …]
 * @param onAsk gets the layer and the constraint.
 * @param onChange gets the chosen boundaries, to show them.
 * @param onCancel gets the boundary at which the keyboard goes on, and the span if one was chosen.
 */
export class Chooser {
  constructor({ words, labels, onAsk, onChange, onCancel }) {
    this.words = words;
    this.onAsk = onAsk;
    this.onChange = onChange;
    this.onCancel = onCancel;
    this.chosen = [];
    this.span = null;
    made += 1;
    const name = `label-${made}`;
    this.text = make("p", { className: "chosen-words", dir: "auto" });
    this.label = make("select", { id: name }, ...labels.map(options));
    this.controls = make(
      "div",
      { className: "controls" },
      make("label", { for: name, textContent: "Label" }),
      this.label,
      button("Require", () => this.#ask("must"), { className: "main" }),
      button("Forbid", () => this.#ask("forbid"), { className: "main forbid" }),
    );
    this.element = make(
      "div",
      { className: "chooser", role: "group", "aria-label": "Constraint", hidden: true },
      this.text,
      this.controls,
      button("Cancel", () => this.#cancel(), { className: "quiet" }),
    );
    this.element.onkeydown = (event) => {
      if (event.key === "Escape") this.#cancel();
    };
  }

  /** A boundary was chosen: the first, the second, or the first of another span. */
  choose(boundary) {
    if (this.chosen.length === 1 && this.chosen[0] === boundary) return this.close();
    const before = this.chosen.length === 1 ? this.chosen : [];
    return this.#show(
      [...before, boundary].sort((a, b) => a - b),
      null,
    );
  }

  /** Both boundaries were chosen at once, with the span between them. */
  take(span) {
    this.#show([span.start, span.end], span);
  }

  /** Let go of what was chosen. */
  close() {
    this.chosen = [];
    this.element.hidden = true;
    this.onChange(this.chosen);
  }

  #show(chosen, span) {
    this.chosen = chosen;
    this.span = span;
    const [start, end] = chosen;
    const isSpan = chosen.length === 2;
    this.element.hidden = false;
    this.controls.hidden = !isSpan;
    const known = span?.probability == null ? "" : `: ${span.label}, ${percent(span.probability)}`;
    this.text.textContent = isSpan
      ? `${quoted(this.words, start, end)} (${start}, ${end})${known}`
      : `From ${boundaryName(this.words, start)}: now choose the other fence post.`;
    const option = [...this.label.options].find((one) => one.dataset.label === span?.label);
    this.label.selectedIndex = option ? option.index : 0;
    this.onChange(chosen);
    if (isSpan) this.label.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: "nearest" });
  }

  #cancel() {
    const { chosen, span } = this;
    this.close();
    this.onCancel(chosen[0], span);
  }

  #ask(kind) {
    const [start, end] = this.chosen;
    const { layer, label } = this.label.selectedOptions[0].dataset;
    this.close();
    this.onAsk(layer, { kind, start, end, label: label ?? null });
  }
}

/** The labels of a layer, after one that stands for any. */
function options([layer, labels]) {
  const any = make("option", { textContent: "any label" });
  const all = [any, ...labels.map((label) => make("option", { textContent: label }))];
  for (const option of all) {
    option.dataset.layer = layer;
    if (option !== any) option.dataset.label = option.textContent;
  }
  return make("optgroup", { label: layer === "tree" ? "Tree" : "Entities" }, ...all);
}
