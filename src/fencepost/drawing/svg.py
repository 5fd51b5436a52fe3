"""SVG pictures of trees; those of entities are in `boxes`."""

from __future__ import annotations

from itertools import pairwise

from fencepost.drawing.boxes import entities_svg
from fencepost.drawing.colours import Theme
from fencepost.drawing.layout import Layout, lay_out
from fencepost.drawing.markup import (
    Paint,
    data_of,
    described,
    escaped,
    is_unsure,
    number,
    post,
    quoted,
    room_for_number,
    shown_label,
    shown_tags,
    shown_word,
    svg,
    visible,
)
from fencepost.drawing.widths import advance, reads_right_to_left
from fencepost.structure import Tree

__all__ = ["Theme", "entities_svg", "tree_svg"]

WORD, TAG, LABEL = 15, 11, 13  # sizes of letters, in pixels
MARGIN = 18
GAP = 16  # between neighbouring words
TALL, LOW = 46, 28  # height of a row of labels in flat and in deep trees
FLAT = 3  # largest ratio of width to height of an aslant edge
ROOM = 1200  # pixels from the root to the words; deeper trees have lower rows


def tree_svg(tree: Tree, *, theme: Theme = "light", boundaries: bool = False) -> str:
    """A tree as a picture: the words along the bottom, every label centred over its children.

    Spans with a probability below one half have dashed edges. Right-to-left sentences have their
    first word at the right.

    Args:
        tree: a tree of any depth, over any part of a sentence.
        theme: `light` or `dark`, with colours in the picture; `auto` has classes for pages with
            `fencepost.drawing.html.STYLE`.
        boundaries: whether to mark and number boundaries.
    """
    labels = [shown_label(span) for span in tree.spans]
    tags = shown_tags(tree)
    least = room_for_number(tree.end) - GAP if boundaries else 0.0
    columns = [
        max(WORD * advance(visible(word)), TAG * advance(tag), least)
        for word, tag in zip(tree.words, tags, strict=True)
    ]
    heads = [LABEL * advance(label, bold=True) for label in labels]
    layout = lay_out(tree, heads, columns, gap=GAP)
    picture = _Picture(layout, tags, reads_right_to_left(tree.words), Paint(theme))
    parts = picture.spans(tree, labels)
    parts += picture.words(tree)
    if boundaries:
        parts += picture.posts(tree.start, columns)
    count = len(tree)
    return svg(
        parts,
        name="tree",
        description=f"Tree of {count} {'word' if count == 1 else 'words'}: "
        f"{quoted(tree.sentence, tree.start, tree.end)}",
        width=layout.width + 2 * MARGIN,
        height=picture.floor + (46 if boundaries else 20),
        paint=picture.paint,
    )


class _Picture:
    """The parts of a picture of a tree at their places."""

    def __init__(self, layout: Layout, tags: list[str], mirrored: bool, paint: Paint) -> None:
        self.children, self.rows, self.shown_tags = layout.children, layout.rows, tags
        self.paint = paint
        self.mirrored = mirrored
        self.centres = [
            MARGIN + (layout.width - centre if mirrored else centre) for centre in layout.centres
        ]
        self.row = min(TALL, max(LOW, ROOM / max(1, layout.levels)))
        self.top = MARGIN + LABEL / 2
        self.levels = layout.levels
        # The middles of the tags and of the words.
        self.tags = self.top + self.levels * self.row
        self.floor = self.tags + (19 if any(tags) else 0)

    def middle(self, item: int) -> float:
        """The vertical place of a span's label."""
        return self.top + (self.levels - self.rows[item]) * self.row

    def spans(self, tree: Tree, labels: list[str]) -> list[str]:
        """A group for each span: its label, and its edges down to its children."""
        parts = []
        for index, (span, label) in enumerate(zip(tree.spans, labels, strict=True)):
            x, y = self.centres[index], self.middle(index)
            edges = self.edges(index)
            dashes = ' stroke-dasharray="4 3"' if is_unsure(span) else ""
            parts.append(
                f'<g class="span" {data_of(span)}>'
                f"<title>{escaped(described(span, tree.sentence))}</title>"
                f'<path {self.paint.edge()}{dashes} d="{edges}"/>'
                f'<text {self.paint.label(span.label or "")} font-size="{LABEL}" '
                f'font-weight="600" x="{number(x)}" y="{number(y + 0.36 * LABEL)}">'
                f"{escaped(label)}</text></g>"
            )
        return parts

    def edges(self, index: int) -> str:
        """The path from below a label to above each of its children.

        Edges go aslant to the next row or, where that would be too flat, along a bar. From there
        they go straight down, where there are only descendants of the child.
        """
        x, y = self.centres[index], self.middle(index) + LABEL / 2 + 3
        gap = self.row - LABEL - 6
        children = self.children[index]
        places = [self.centres[child] for child in children]
        ends = [self.above(child) for child in children]
        if max(abs(places[0] - x), abs(places[-1] - x)) <= FLAT * gap:
            start = f"M{number(x)} {number(y)}L"
            return "".join(
                f"{start}{number(place)} {number(min(end, y + gap))}V{number(end)}"
                for place, end in zip(places, ends, strict=True)
            )
        bar, turn = y + gap / 3, gap / 3
        parts = [f"M{number(x)} {number(y)}V{number(bar)}"]
        for place, end in zip(places, ends, strict=True):
            if place in (places[0], places[-1]):  # round the corner
                before = place - turn if place > x else place + turn
                parts.append(f"M{number(x)} {number(bar)}H{number(before)}")
                parts.append(f"Q{number(place)} {number(bar)} {number(place)} {number(bar + turn)}")
            else:
                parts.append(f"M{number(place)} {number(bar)}")
            parts.append(f"V{number(end)}")
        return "".join(parts)

    def above(self, item: int) -> float:
        """The vertical place at which an edge to an item ends."""
        if self.rows[item]:
            return self.middle(item) - LABEL / 2 - 3
        tag = self.shown_tags[item - len(self.children)]
        return self.tags - TAG / 2 - 3 if tag else self.floor - WORD / 2 - 3

    def words(self, tree: Tree) -> list[str]:
        """A group for each word, with its tag."""
        parts = []
        centres = self.centres[len(self.children) :]
        for leaf, tag, x in zip(tree.leaves, self.shown_tags, centres, strict=True):
            above = (
                f'<text {self.paint.muted("tag")} font-size="{TAG}" x="{number(x)}" '
                f'y="{number(self.tags + 0.36 * TAG)}">{escaped(tag)}</text>'
            )
            word = shown_word(
                leaf.word, x=x, y=self.floor, size=WORD, mirrored=self.mirrored, paint=self.paint
            )
            parts.append(
                f'<g class="word" data-word="{leaf.start}">{above if tag else ""}{word}</g>'
            )
        return parts

    def posts(self, start: int, columns: list[float]) -> list[str]:
        """A mark for each boundary, half-way between the columns around it."""
        sign = -1 if self.mirrored else 1
        centres = self.centres[len(self.children) :]
        halves = [sign * column / 2 for column in columns]
        sides = [
            (centre - half, centre + half) for centre, half in zip(centres, halves, strict=True)
        ]
        places = [sides[0][0] - sign * GAP / 2]
        places += [(end + begin) / 2 for (_, end), (begin, _) in pairwise(sides)]
        places.append(sides[-1][1] + sign * GAP / 2)
        y = self.floor + 12
        return [post(start + index, x=x, y=y, paint=self.paint) for index, x in enumerate(places)]
