"""SVG pictures of nested entities: words in lines, with nested boxes around them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from fencepost.drawing.colours import Theme
from fencepost.drawing.flow import LABEL, WIDE_GAP, WORD, Flow, flow_of, heights
from fencepost.drawing.markup import (
    Paint,
    data_of,
    described,
    escaped,
    is_unsure,
    number,
    post,
    quoted,
    shown_label,
    shown_word,
    svg,
)
from fencepost.drawing.widths import reads_right_to_left
from fencepost.structure import Parse, Span

MARGIN = 18
STEP = 5  # from the border of a box to that of the one it holds
ROOM = 120  # pixels for all steps together; deeper nesting has smaller steps
HALF = 12  # from the middle of a word to the border of an innermost box


def entities_svg(
    parse: Parse,
    *,
    theme: Theme = "light",
    boundaries: bool = False,
    width: int | None = 900,
) -> str:
    """The entities of a sentence as a picture: the words with nested boxes.

    Entities with a probability below one half have dashed borders. Right-to-left sentences begin at
    the right.

    Args:
        parse: the parse.
        theme: `light` or `dark`, with colours in the picture; `auto` has classes for pages with
            `fencepost.drawing.html.STYLE`.
        boundaries: whether to mark and number boundaries, which puts all words on one line.
        width: maximal width of lines in pixels; None for one line.
    """
    spans = parse.entities or ()
    paint = Paint(theme)
    room = None if width is None or boundaries else width - 2 * MARGIN
    flow = flow_of(parse, spans, width=room, marked=boundaries)
    page = _Page(parse, spans, flow, paint)
    parts = [page.box(index) for index in range(len(spans))]
    parts += (page.word(index) for index in range(len(parse.words)))
    if boundaries:
        parts += page.posts()
    count = len(spans)
    return svg(
        parts,
        name="entities",
        description=f"{count or 'No'} {'entity' if count == 1 else 'entities'}: "
        f"{quoted(parse.sentence, 0, len(parse.words))}",
        width=page.width + 2 * MARGIN,
        height=page.bottom + (24 if boundaries else 0) + MARGIN,
        paint=paint,
    )


class _Page:
    """The parts of a picture of entities at their places."""

    def __init__(self, parse: Parse, spans: Sequence[Span], flow: Flow, paint: Paint) -> None:
        self.parse, self.spans, self.flow, self.paint = parse, spans, flow, paint
        self.mirrored = reads_right_to_left(parse.words)
        self.width = max(flow.ends)
        self.inside = heights(spans)
        self.step = min(STEP, ROOM / max(1, *self.inside, 1))
        tallest = [0] * len(flow.ends)
        for span, inside in zip(spans, self.inside, strict=True):
            for line in range(flow.line[span.start], flow.line[span.end - 1] + 1):
                tallest[line] = max(tallest[line], inside)
        self.middles = []
        y = float(MARGIN)
        for inside in tallest:
            half = HALF + inside * self.step
            self.middles.append(y + half)
            y += 2 * half + 8
        self.bottom = y - 8

    def x(self, place: float) -> float:
        """The horizontal place in the picture of a place in a line."""
        return MARGIN + (self.width - place if self.mirrored else place)

    def box(self, index: int) -> str:
        """The group of a span: its box, with a piece for each line, and its label."""
        span, flow = self.spans[index], self.flow
        label = span.label or ""
        first, last = flow.line[span.start], flow.line[span.end - 1]
        half = HALF + self.inside[index] * self.step
        pieces = []
        for line in range(first, last + 1):
            begin = flow.opens[index] if line == first else -4.0
            end = flow.closes[index] if line == last else flow.ends[line] + 4.0
            sides = sorted((self.x(begin), self.x(end)))
            open_sides = (line != first, line != last)
            pieces.append(
                self.piece(
                    span,
                    sides,
                    self.middles[line],
                    half=half,
                    open_sides=open_sides[::-1] if self.mirrored else open_sides,
                )
            )
        x, y = number(self.x(flow.label[index])), number(self.middles[last] + 0.36 * LABEL)
        return (
            f'<g class="span" {data_of(span)}>'
            f"<title>{escaped(described(span, self.parse.sentence))}</title>{''.join(pieces)}"
            f'<text {self.paint.label(label)} font-size="{LABEL}" font-weight="600" '
            f'x="{x}" y="{y}">{escaped(shown_label(span))}</text></g>'
        )

    def piece(
        self,
        span: Span,
        sides: list[float],
        y: float,
        *,
        half: float,
        open_sides: tuple[bool, bool],
    ) -> str:
        """The piece of a box in one line; sides at which the box continues have no border."""
        left, right = sides
        label = span.label or ""
        dashes = ' stroke-dasharray="4 3"' if is_unsure(span) else ""
        top, bottom = number(y - half), number(y + half)
        border = f"{self.paint.border(label)}{dashes}"
        place = (
            f'x="{number(left)}" y="{top}" '
            f'width="{number(right - left)}" height="{number(2 * half)}"'
        )
        corner = "" if any(open_sides) else ' rx="4"'
        inside = f"<rect {self.paint.fill(label)} {place}{corner}/>"
        if not any(open_sides):
            return f"{inside}<rect {border} {place}{corner}/>"
        across = number(right if open_sides[0] else left), number(left if open_sides[0] else right)
        if all(open_sides):
            path = f"M{number(left)} {top}H{number(right)}M{number(left)} {bottom}H{number(right)}"
        else:  # around from the open side and back to it
            path = f"M{across[1]} {top}H{across[0]}V{bottom}H{across[1]}"
        return f'{inside}<path {border} d="{path}"/>'

    def word(self, index: int) -> str:
        """The group of a word."""
        text = shown_word(
            self.parse.words[index],
            x=self.x(self.flow.word[index]),
            y=self.middles[self.flow.line[index]],
            size=WORD,
            mirrored=self.mirrored,
            paint=self.paint,
        )
        return f'<g class="word" data-word="{index}">{text}</g>'

    def posts(self) -> list[str]:
        """A mark for each boundary, half-way between the words with their boxes."""
        sides = self.flow.sides
        places = [sides[0][0] - WIDE_GAP / 2] if sides else [0.0]
        places += [(end + begin) / 2 for (_, end), (begin, _) in pairwise(sides)]
        places += [end + WIDE_GAP / 2 for _, end in sides[-1:]]
        y = self.bottom + 4
        return [
            post(index, x=self.x(place), y=y, paint=self.paint)
            for index, place in enumerate(places)
        ]
