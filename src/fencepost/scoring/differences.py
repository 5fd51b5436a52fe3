"""Differences between two parses of the same words: spans, and attachment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fencepost.errors import ConfigError, DataError
from fencepost.scoring.attachment import larger_spans
from fencepost.structure import Document, Parse, Sentence, Span
from fencepost.structure.span import by_place


class Moved(NamedTuple):
    """A span in both parses with different parents."""

    span: Span
    first: Span
    second: Span


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences between two parses.

    >>> from fencepost.structure import Tree
    >>> one, other = (Tree.from_brackets(text) for text in (
    ...     "(VP (V saw) (NP (N men)) (PP (P with) (NP (N dogs))))",
    ...     "(VP (V saw) (NP (NP (N men)) (PP (P with) (NP (N dogs)))))"))
    >>> print(differences(Parse(one.sentence, one), Parse(other.sentence, other)))
    PP "with dogs" belongs to VP "saw men with dogs", or to NP "men with dogs"
    only in the second: NP "men with dogs"
    """

    sentence: Sentence
    first: tuple[Span, ...]  # only in the first
    second: tuple[Span, ...]
    moved: tuple[Moved, ...]

    def __bool__(self) -> bool:
        return bool(self.first or self.second)

    def __str__(self) -> str:
        return self.told()

    def told(self, first: str = "the first", second: str = "the second") -> str:
        """The differences as text.

        Args:
            first: the name of the first parse.
            second: the name of the second parse.
        """
        lines = [
            f"{self._told(span)} belongs to {self._told(one)}, or to {self._told(other)}"
            for span, one, other in self.moved
        ]
        for which, spans in ((first, self.first), (second, self.second)):
            if spans:
                lines.append(f"only in {which}: {', '.join(map(self._told, spans))}")
        return "\n".join(lines) or "no difference"

    def _told(self, span: Span) -> str:
        return f'{span.label} "{self.sentence.text_between(span.start, span.end)}"'


def differences(one: Parse | Document, other: Parse | Document) -> Differences:
    """Compare two parses of the same words in all layers that both have.

    A document of one sentence stands for its parse.
    """
    one, other = (x.only() if isinstance(x, Document) else x for x in (one, other))
    if not (isinstance(one, Parse) and isinstance(other, Parse)):
        raise ConfigError("two parses were expected: differences(*parser.n_best(text, 2))")
    if one.words != other.words:
        raise DataError("two readings of the same words were expected")
    first: list[Span] = []
    second: list[Span] = []
    moved: list[Moved] = []
    if one.tree is not None and other.tree is not None:
        first += _missing(one.tree.spans, other.tree.spans)
        second += _missing(other.tree.spans, one.tree.spans)
        moved += _moved(one.tree.spans, other.tree.spans)
    if one.entities is not None and other.entities is not None:
        first += _missing(one.entities, other.entities)
        second += _missing(other.entities, one.entities)
    return Differences(one.sentence, tuple(first), tuple(second), tuple(moved))


def _missing(ours: Sequence[Span], theirs: Sequence[Span]) -> list[Span]:
    """The spans that the others lack, or have less often."""
    return by_place((Counter(map(_plain, ours)) - Counter(map(_plain, theirs))).elements())


def _moved(ours: Sequence[Span], theirs: Sequence[Span]) -> list[Moved]:
    """The largest spans of both with parents at different places."""
    first, second = (larger_spans(list(map(_plain, spans))) for spans in (ours, theirs))
    moves: list[Moved] = []
    for span, one in first.items():
        other = second.get(span)
        if one is None or other is None or one[:2] == other[:2]:
            continue
        # Spans below a moved span have moved with it.
        if not any(span.start >= last.start and span.end <= last.end for last, _, _ in moves):
            moves.append(Moved(span, one, other))
    # Where a new span is put around several, the last of them is the one that has moved.
    return [move for move in moves if not _stays(move, ours, theirs)]


def _stays(move: Moved, ours: Sequence[Span], theirs: Sequence[Span]) -> bool:
    """Whether a span only has a new one around it that begins at the same place."""
    return any(
        holder.start == move.span.start and holder[:2] not in {span[:2] for span in spans}
        for holder, spans in ((move.first, theirs), (move.second, ours))
    )


def _plain(span: Span) -> Span:
    return Span(span.start, span.end, span.label)
