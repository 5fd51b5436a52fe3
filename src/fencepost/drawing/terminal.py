"""Trees for the terminal, with box-drawing characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from fencepost.drawing.layout import Layout, children_of, lay_out
from fencepost.drawing.markup import NO_LABEL
from fencepost.drawing.widths import REPLACEMENT, cells
from fencepost.structure import Tree

_LEFT_TO_RIGHT = "\u200e"  # an invisible mark
_STEERING = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}
_MORE = "⋮ "  # before lines without their outer levels


@lru_cache(maxsize=16384)
def printable(text: str) -> str:
    """A text without characters that control a terminal, which are replaced."""
    return "".join(map(_printable, text))


def _printable(char: str) -> str:
    code = ord(char)
    if code < 32:
        return chr(0x2400 + code)  # Unicode's picture of this control character
    if code in _STEERING or unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}:
        return REPLACEMENT
    return char


def pretty(tree: Tree, *, width: int = 100) -> str:
    """A tree for the terminal: top down if it fits, else sideways.

    >>> print(pretty(Tree.from_brackets("(S (NP (DT The) (NN cat)) (VP (VBD sat)))")))
           S
       ┌───┴───┐
      NP      VP
     ┌─┴──┐    │
    DT   NN   VBD
    The  cat  sat

    Args:
        tree: a tree of any depth.
        width: the columns of the terminal.
    """
    labels = [printable(span.label or "") or NO_LABEL for span in tree.spans]
    words = [printable(word) for word in tree.words]
    tags = [printable(tag) for tag in tree.tags] if tree.sentence.tags else [""] * len(words)
    heads = [cells(label) for label in labels]
    columns = [max(cells(word), cells(tag)) for word, tag in zip(words, tags, strict=True)]
    for gap in (2, 1):
        layout = lay_out(tree, heads, columns, gap=gap, whole=True)
        if layout.width <= width:
            return _upright(layout, labels, words, tags)
    return _sideways(tree, labels, words, tags, width=width)


def _upright(
    layout: Layout, labels: Sequence[str], words: Sequence[str], tags: Sequence[str]
) -> str:
    """The words along the bottom, every label centred over its children."""
    columns = [int(centre) for centre in layout.centres]
    # Two lines per row: its labels, and the edges below them.
    lines: list[list[tuple[int, int, str]]] = [[] for _ in range(2 * layout.levels + 2)]
    bottom = len(lines) - 2  # the tags; the words are below

    def put(line: int, column: int, text: str) -> None:
        size = cells(text)
        lines[line].append((column - size // 2, size, text))

    for index, label in enumerate(labels):
        row = 2 * (layout.levels - layout.rows[index])
        put(row, columns[index], label)
        below = layout.children[index]
        places = [columns[child] for child in below]
        edges = _edges(places, columns[index])
        lines[row + 1].append((places[0], len(edges), edges))
        for child, column in zip(below, places, strict=True):
            for line in range(row + 2, bottom - 2 * layout.rows[child]):
                lines[line].append((column, 1, "│"))
    for word, tag, column in zip(words, tags, columns[len(labels) :], strict=True):
        put(bottom, column, tag or ("│" if labels else ""))
        put(bottom + 1, column, word)
    if not any(tags):
        del lines[bottom]
    return "\n".join(map(_line, lines))


def _edges(places: Sequence[int], parent: int) -> str:
    """The edges from a parent to children at these columns: `┌──┴──┐`."""
    if len(places) == 1:
        return "│"
    drawn = ["─"] * (places[-1] - places[0] + 1)
    for place in places:
        drawn[place - places[0]] = "┬"
    drawn[0], drawn[-1] = "┌", "┐"
    middle = parent - places[0]
    drawn[middle] = "┼" if drawn[middle] == "┬" else "┴"
    return "".join(drawn)


def _line(texts: list[tuple[int, int, str]]) -> str:
    """A line with texts at their columns, given as column, width and text."""
    parts = []
    filled = 0
    for column, size, text in sorted(texts):
        parts.append(" " * (column - filled) + left_to_right(text))
        filled = column + size
    return "".join(parts).rstrip(" ")


@lru_cache(maxsize=16384)
def left_to_right(text: str) -> str:
    """A text with marks around right-to-left words, which terminals would otherwise move."""
    if any(unicodedata.bidirectional(char) in {"R", "AL", "AN"} for char in text):
        return f"{_LEFT_TO_RIGHT}{text}{_LEFT_TO_RIGHT}"
    return text


def _sideways(
    tree: Tree, labels: Sequence[str], words: Sequence[str], tags: Sequence[str], *, width: int
) -> str:
    """One label or word per line, indented below its parent, with the words in a column."""
    below = children_of(tree.spans, tree.start, tree.end)
    heads = [*labels, *tags]
    tails = [""] * len(labels) + list(words)
    sizes = [
        cells(head) + (2 + cells(tail) if tail else 0)
        for head, tail in zip(heads, tails, strict=True)
    ]
    places = _places(below)
    indent, levels = _indentation(places, sizes, width=width)
    open_levels: list[bool] = []  # for each level down to this line, whether more follows
    rows: list[tuple[int, str, int]] = []
    for item, depth, more in places:
        del open_levels[depth:]
        open_levels.append(more)
        prefix = _prefix(open_levels, depth, indent=indent, levels=levels)
        # All characters of a prefix are one column wide.
        rows.append((item, prefix, len(prefix) + cells(heads[item])))
    column = max(filled for item, _, filled in rows if tails[item]) + 2
    lines = []
    for item, prefix, filled in rows:
        line = prefix + left_to_right(heads[item])
        if tails[item]:
            # A word that is too long begins before the column.
            start = min(column, width - cells(tails[item]))
            line += " " * max(2, start - filled) + left_to_right(tails[item])
        lines.append(line)
    return "\n".join(lines)


def _places(below: Sequence[Sequence[int]]) -> list[tuple[int, int, bool]]:
    """Every item from the root down, with its depth and whether a sibling follows."""
    places = []
    waiting = [(0, 0, False)]
    while waiting:
        item, depth, more = waiting.pop()
        places.append((item, depth, more))
        if item < len(below):
            last = below[item][-1]
            waiting += ((child, depth + 1, child != last) for child in reversed(below[item]))
    return places


def _indentation(
    places: Sequence[tuple[int, int, bool]], sizes: Sequence[int], *, width: int
) -> tuple[int, int]:
    """The columns per level, and the number of levels before indentation starts again."""
    deepest = max(depth for _, depth, _ in places)
    for indent in (3, 2):
        if all(indent * depth + sizes[item] <= width for item, depth, _ in places):
            return indent, max(1, deepest)
    return 2, max(1, (width - cells(_MORE) - max(sizes)) // 2)


def _prefix(open_levels: Sequence[bool], depth: int, *, indent: int, levels: int) -> str:
    """The lines left of an item: those of open levels, and its own edge."""
    if not depth:
        return ""
    first = (depth - 1) // levels * levels + 1
    parts = [_MORE if first > 1 else ""]
    parts += (("│" if open_levels[level] else " ").ljust(indent) for level in range(first, depth))
    parts.append(("├" if open_levels[depth] else "└") + ("─ " if indent == 3 else " "))
    return "".join(parts)
