"""Attachment: spans that two trees attach differently, and the mistakes due to that."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from fencepost.scoring.judgements import Judged, Judgement
from fencepost.structure import Span
from fencepost.structure.span import holders_of

NO_LABEL = "(no label)"

Wrong = Mapping[int, Judged]  # wrong spans by `id`, since a chain can have the same span twice


class Move(NamedTuple):
    """A span in both trees with different parents."""

    span: Judged
    stands: Span  # in the predicted tree, perhaps with other punctuation marks
    belongs: Span | None  # its parent in the gold tree; None: nothing that counts
    under: Span | None  # its parent in the predicted tree
    both: Span  # the smallest place around it in both trees

    @property
    def kind(self) -> str:
        """The labels of the span and of both parents, as text."""
        under, belongs = (
            label_name(span) if span else "the top" for span in (self.under, self.belongs)
        )
        other = "another " if under == belongs else ""
        return f"{label_name(self.span.span)} under {under}, belongs to {other}{belongs}"

    def explains(
        self, missing: Wrong, extra: Wrong, *, gold: Ends, predicted: Ends
    ) -> tuple[list[Judged], list[Judged]]:
        """The missing and the extra spans that are due to it.

        A span is due to it if it holds the moved span, is within `both`, and the other side has a
        rest of it: a span of the same label that begins or ends at the same place and leaves out
        the moved span. A rest that is wrong is due to it, too.
        """
        ours, rests = self._around(missing, predicted, extra)
        theirs, others = self._around(extra, gold, missing)
        return ours + others, theirs + rests

    def _around(self, side: Wrong, others: Ends, wrong: Wrong) -> tuple[list[Judged], list[Judged]]:
        """The spans of one side that are due to it, and their wrong rests."""
        due: list[Judged] = []
        left: dict[int, Judged] = {}
        for whole in side.values():
            if holds(whole.span, self.span.span) and holds(self.both, whole.span):
                rests = others.rests(whole.span, self.span.span)
                if rests:
                    due.append(whole)
                    free = (one for one in rests if id(one) in wrong and id(one) not in left)
                    left.update((id(one), one) for one in islice(free, 1))
        return due, list(left.values())


class Ends:
    """The spans of one side, by label and where they begin, and by label and where they end."""

    def __init__(self, side: Iterable[Judged]) -> None:
        self._beginning: dict[tuple[str | None, int], list[Judged]] = {}
        self._ending: dict[tuple[str | None, int], list[Judged]] = {}
        for one in side:
            start, end, label = one.span
            self._beginning.setdefault((label, start), []).append(one)
            self._ending.setdefault((label, end), []).append(one)

    def rests(self, whole: Span, moved: Span) -> list[Judged]:
        """The spans that may be a rest of a span without its moved part."""
        first = self._beginning.get((whole.label, whole.start), ())
        last = self._ending.get((whole.label, whole.end), ())
        return [
            *(one for one in first if one.span.end <= moved.start),
            *(one for one in last if one.span.start >= moved.end),
        ]


def moves_of(judgement: Judgement) -> list[Move]:
    """The spans in both trees with different parents, likely moves first."""
    gold, predicted = (
        larger_spans([one.span for one in side]) for side in (judgement.gold, judgement.predicted)
    )
    judged = {one.span: one for one in reversed(judgement.gold)}
    stands = {one.span: one.shown for one in reversed(judgement.predicted)}
    common = {span[:2] for span in gold} & {span[:2] for span in predicted}
    whole = Span(-1, len(judgement.words) + 1)
    moves = []
    for span, belongs in gold.items():
        under = predicted.get(span, belongs)
        if not _is_same(belongs, under, common):
            both = belongs
            while both is not None and both[:2] not in common:
                both = gold[both]
            moves.append(Move(judged[span], stands[span], belongs, under, both or whole))

    def unlikely(move: Move) -> tuple[bool, int]:
        # The first child of a holder is rather what the rest has been attached to.
        start, end, _ = move.span.span
        return any(span and span.start == start for span in (move.belongs, move.under)), end - start

    return sorted(moves, key=unlikely)


def _is_same(one: Span | None, other: Span | None, common: Container[tuple[int, int]]) -> bool:
    """Whether two spans of two trees are the same, or one became longer or shorter."""
    if one is None or other is None:
        return one is other
    if one[:2] == other[:2]:
        return True
    shares_an_end = one.start == other.start or one.end == other.end
    is_wrong = one[:2] not in common and other[:2] not in common
    return is_wrong and shares_an_end and one.label == other.label


def larger_spans(spans: Sequence[Span]) -> dict[Span, Span | None]:
    """The smallest larger span around each."""
    larger: dict[Span, Span | None] = {}
    for span, place in zip(spans, holders_of(spans), strict=True):
        holder = None if place is None else spans[place]
        larger[span] = larger[holder] if holder and holder[:2] == span[:2] else holder
    return larger


def holds(one: Span, other: Span) -> bool:
    """Whether a span is larger than another and contains it."""
    return one.start <= other.start and other.end <= one.end and one[:2] != other[:2]


def label_name(span: Span) -> str:
    """The label of a span in messages."""
    return span.label or NO_LABEL
