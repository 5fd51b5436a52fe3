"""Parses for the terminal: the tree, drawn with lines, and the entities below it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import exp

from fencepost.drawing.terminal import left_to_right, pretty, printable
from fencepost.drawing.widths import cells
from fencepost.formats.settings import WriteSettings
from fencepost.structure import Parse, Sentence, Span
from fencepost.structure.span import holders_of


def pieces(parses: Iterable[Parse], settings: WriteSettings) -> Iterator[str]:
    """The text of a file: an empty line between sentences."""
    gap = ""
    for parse in parses:
        yield f"{gap}{pretty_parse(parse, width=settings.width)}\n"
        gap = "\n"


def pretty_parse(parse: Parse, *, width: int = 100) -> str:
    """A parse for the terminal: the tree, then the entities, each below the one that holds it.

    Args:
        parse: the parse; without a tree, its words are shown.
        width: the columns of the terminal.
    """
    parts = []
    if parse.tree is not None:
        parts.append(pretty(parse.tree, width=width))
    elif parse.tags is not None:
        tagged = map("/".join, zip(parse.words, parse.tags, strict=True))
        parts.append(" ".join(map(printable, tagged)))
    else:
        lines = parse.sentence.text_between(0, len(parse.words)).split("\n")
        parts += map(printable, lines)
    if parse.entities:
        parts += ["entities", _entity_rows(parse.entities, parse.sentence)]
    elif parse.entities is not None:
        parts.append("no entities")
    if parse.log_probs:
        layers = [f"{name} {exp(value):.2g}" for name, value in parse.log_probs.items()]
        parts.append(f"probability of the {', of the '.join(layers)}")
    return "\n".join(parts)


def _entity_rows(entities: Sequence[Span], sentence: Sentence) -> str:
    rows = []
    depths: list[int] = []
    for span, holder in zip(entities, holders_of(entities), strict=True):
        depths.append(0 if holder is None else depths[holder] + 1)
        text = " ".join(sentence.text_between(span.start, span.end).split())
        probability = "" if span.probability is None else f"{span.probability:.2f}"
        rows.append(("  " * depths[-1] + printable(text), printable(span.label or ""), probability))
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        f"  {_padded(text, widths[0])}  {_padded(label, widths[1])}  {probability}".rstrip()
        for text, label, probability in rows
    )


def _padded(text: str, width: int) -> str:
    return left_to_right(text) + " " * (width - cells(text))
