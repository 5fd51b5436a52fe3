"""The layout of words in lines with nested boxes around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.drawing.markup import room_for_number, shown_label, visible
from fencepost.drawing.widths import advance
from fencepost.structure import Parse, Sentence, Span
from fencepost.structure.span import holders_of

WORD, LABEL = 15, 10  # sizes of letters, in pixels
PAD = 5  # inside of a box, left and right
GAP = 5  # between words, as wide as a blank
TIGHT = 1  # between words without a blank
WIDE_GAP = 14  # between words with a boundary's mark


def heights(spans: Sequence[Span]) -> list[int]:
    """The depth of nesting inside of each span; spans are sorted, holders first.

    >>> heights([Span(0, 3, "ORG"), Span(2, 3, "GPE"), Span(4, 5, "PER")])
    [1, 0, 0]
    """
    levels = [0] * len(spans)
    for index, holder in reversed([*enumerate(holders_of(spans))]):
        if holder is not None:
            levels[holder] = max(levels[holder], levels[index] + 1)
    return levels


def spaced(sentence: Sentence) -> list[bool]:
    """For each word, whether there is a blank before it."""
    if sentence.offsets is None:
        return [index > 0 for index in range(len(sentence))]
    ends = [0, *(end for _, end in sentence.offsets)]
    starts = [start for start, _ in sentence.offsets]
    return [
        index > 0 and start > end
        for index, (start, end) in enumerate(zip(starts, ends, strict=False))
    ]


@dataclass(slots=True)
class Flow:
    """The places of words and boxes in their lines."""

    line: list[int]  # of each word
    word: list[float]  # the middle of each word
    opens: list[float]  # the start of each box
    closes: list[float]  # the end of each box
    label: list[float]  # the middle of the label, before the end of its box
    sides: list[tuple[float, float]]  # of each word with all that opens and closes at it
    ends: list[float]  # of each line


def flow_of(parse: Parse, spans: Sequence[Span], *, width: float | None, marked: bool) -> Flow:
    """Lay out words one after the other, with room for the ends of boxes."""
    words = [WORD * advance(visible(word)) for word in parse.words]
    labels = [LABEL * advance(shown_label(span), bold=True) for span in spans]
    opening: list[list[int]] = [[] for _ in words]
    closing: list[list[int]] = [[] for _ in words]
    for index, span in enumerate(spans):
        opening[span.start].append(index)
        closing[span.end - 1].append(index)
    flow = Flow([], [], [0.0] * len(spans), [0.0] * len(spans), [0.0] * len(spans), [], [])
    x, line = 0.0, 0
    for index, (size, blank) in enumerate(zip(words, spaced(parse.sentence), strict=True)):
        needed = size + PAD * len(opening[index])
        needed += sum(labels[box] + 2 * PAD for box in closing[index])
        gap: float = GAP if blank else TIGHT
        if marked:
            gap = max(WIDE_GAP, room_for_number(len(words)) - needed)
        if index and width is not None and x + gap + needed > width:
            flow.ends.append(x)
            x, line = 0.0, line + 1
        elif index:
            x += gap
        begin = x
        for box in opening[index]:
            flow.opens[box] = x
            x += PAD
        flow.line.append(line)
        flow.word.append(x + size / 2)
        x += size
        for box in reversed(closing[index]):
            flow.label[box] = x + PAD + labels[box] / 2
            x += labels[box] + 2 * PAD
            flow.closes[box] = x
        flow.sides.append((begin, x))
    flow.ends.append(x)
    return flow
