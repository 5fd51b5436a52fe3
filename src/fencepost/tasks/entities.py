"""Nested entities as spans for the pointing system (section 2.1)."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.structure import Span
from fencepost.structure.span import in_order
from fencepost.tasks.labels import join_spans, split_spans


def encode(entities: Iterable[Span], n: int) -> tuple[Span, ...]:
    """The spans of the entities of `n` words, with one over the whole sentence.

    Types on the same words are joined in sorted order. The whole sentence is a filler unless it
    is an entity, which then takes the place of the root.

    >>> encode([Span(0, 1, "PER"), Span(0, 1, "GPE")], 2)
    (Span(start=0, end=2, label=None), Span(start=0, end=1, label='GPE+PER'))
    """
    spans = join_spans(in_order(entities))
    if n == 0 or (spans and (spans[0].start, spans[0].end) == (0, n)):
        return spans
    return (Span(0, n), *spans)


def decode(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The entities of these spans, without fillers."""
    return split_spans(spans)
