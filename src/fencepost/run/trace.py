"""The pointings of a parse, one step a line: how the method works, on any sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fencepost.structure import Parse, Span
from fencepost.tasks import constituency, entities
from fencepost.transition import Configuration, fill_gaps, pointings


@dataclass(frozen=True, slots=True)
class Step:
    """One pointing and the configuration that it starts from."""

    configuration: Configuration
    boundary: int
    span: Span


def spans_of_layer(parse: Parse, layer: str) -> tuple[Span, ...] | None:
    """The spans that the pointing system makes for a layer; None if the parse has no such layer."""
    if layer == "tree":
        return None if parse.tree is None else constituency.encode(parse.tree)
    return None if parse.entities is None else entities.encode(parse.entities, len(parse.words))


def steps(spans: tuple[Span, ...]) -> Iterator[Step]:
    """The steps that make the spans, from the first configuration to the last."""
    configuration = Configuration(max((span.end for span in spans), default=0))
    for pointing, span in zip(pointings(spans), fill_gaps(spans), strict=True):
        yield Step(configuration, pointing.boundary, span)
        configuration = configuration.point(pointing.boundary)


def trace(parse: Parse, layer: str) -> Iterator[str]:
    """Lines of text: the sentence with its boundaries, then a row for each step."""
    spans = spans_of_layer(parse, layer)
    if spans is None:
        return
    rows = [("step", "cursor", "candidates", "points to", "completes", "label")]
    for number, step in enumerate(steps(spans), 1):
        start, end, label = step.span
        rows.append(
            (
                str(number),
                str(step.configuration.cursor),
                _candidates(step.configuration),
                str(step.boundary),
                f"({start}, {end})",
                "∅" if label is None else label,
            )
        )
    count = len(rows) - 1
    name = f"{parse.id}: " if parse.id else ""
    words = len(parse.words)
    yield (
        f"# {name}{layer} of {words} word{'s' * (words != 1)} in {count} step{'s' * (count != 1)}"
    )
    yield " ".join(f"{index} {word}" for index, word in enumerate(parse.words)) + (
        f" {len(parse.words)}" if parse.words else ""
    )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.rjust(width) if index in (0, 1, 3) else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _candidates(configuration: Configuration) -> str:
    """The candidates, those on the right as a range.

    >>> _candidates(Configuration(9, 4, (0, 2, 3)))
    '0 2 5-9'
    """
    left = [str(start) for start in configuration.starts[:-1]]
    first, last = configuration.cursor + 1, configuration.n
    right = [] if first > last else [str(last) if first == last else f"{first}-{last}"]
    return " ".join(left + right)
