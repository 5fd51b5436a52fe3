// The pointing system: where a parse stands, and which steps are allowed; what
// `fencepost.decoding.configurations` has for many parses.

export const FILLER = 0; // the number of the label of fillers
export const NO_SPAN = -1; // stands for the label of a span that is not there
const NONE = -1; // no such boundary

/**
 * A completed span that no other holds.
 *
 * @typedef {Object} Held
 * @property {number} start
 * @property {number} label
 * @property {number} below where the last of two neighbouring fillers below it starts
 */

/** A parse of `n` words, part-way through the post-order walk over its spans. */
export class Configuration {
  /** @param {number} n */
  constructor(n) {
    this.n = n;
    this.cursor = 0;
    this.newest = 0; // where the newest span starts; 0 before the first
    this.label = NO_SPAN; // of the newest span
    this.floor = NONE; // where the last of two neighbouring fillers starts
    /** @type {Held[]} */
    this.stack = [];
  }

  /** Whether the span over the whole sentence is complete. */
  get isFinal() {
    return this.stack.length === 1 && this.newest === 0 && this.cursor === this.n;
  }

  /** The boundaries that may be pointed to, in order; a merge never holds two fillers in a row. */
  candidates() {
    if (this.isFinal) return [];
    const found = [];
    for (const { start } of this.stack.slice(0, -1)) if (start > this.floor) found.push(start);
    for (let boundary = this.cursor + 1; boundary <= this.n; boundary += 1) found.push(boundary);
    return found;
  }

  /**
   * Whether the span made by pointing there may go without a label.
   *
   * @param {number} boundary
   * @param {boolean} openRoot whether the whole sentence may
   */
  mayBeFiller(boundary, openRoot) {
    // At the end of the sentence only if the left neighbour is no filler.
    const most = this.label === FILLER ? this.n - 1 : this.n;
    const ahead = boundary > this.cursor && boundary <= most;
    return openRoot ? ahead || this.isWhole(boundary) && boundary < this.cursor
                    : ahead && !this.isWhole(boundary);
  }

  /** Whether pointing there makes the span over the whole sentence. @param {number} boundary */
  isWhole(boundary) {
    return Math.abs(boundary - this.cursor) === this.n;
  }

  /**
   * Complete the span between the cursor and a boundary.
   *
   * @param {number} boundary
   * @param {number} label
   */
  point(boundary, label) {
    const start = Math.min(this.cursor, boundary);
    let below = this.floor;
    while (this.stack.length && this.stack[this.stack.length - 1].start >= start)
      below = /** @type {Held} */ (this.stack.pop()).below;
    this.stack.push({ start, label, below });
    this.floor = label === FILLER && this.label === FILLER ? this.newest : below;
    this.cursor = Math.max(this.cursor, boundary);
    this.newest = start;
    this.label = label;
  }
}

/** Configurations of several parses, as the graphs take them: numbers of 32 bits in rows. */
export class Rows {
  /** @param {number[]} lengths of the sentences */
  constructor(lengths) {
    const rows = lengths.length;
    this.width = Math.max(...lengths) + 1;
    this.each = lengths.map((n) => new Configuration(n));
    this.cursor = new Int32Array(rows);
    this.newest = new Int32Array(rows);
    this.label = new Int32Array(rows).fill(NO_SPAN);
    this.boundary = new Int32Array(rows);
    this.stack_labels = new Int32Array(rows * this.width).fill(NO_SPAN);
    this.merged = new Int32Array(rows * this.width);
  }

  /**
   * Complete a span in one row.
   *
   * @param {number} row
   * @param {number} boundary
   * @param {number} label
   */
  point(row, boundary, label) {
    const one = this.each[row];
    const first = row * this.width;
    for (const { start } of one.stack) this.merged[first + start] = 0;
    one.point(boundary, label);
    [this.cursor[row], this.newest[row], this.label[row]] = [one.cursor, one.newest, label];
    this.stack_labels[first + one.newest] = label;
    const depth = one.stack.length;
    for (let below = 0; below < depth - 1; below += 1)
      this.merged[first + one.stack[below].start] = depth - below;
  }
}
