"""Attachment: spans that two trees have at other places, and the mistakes that are due to it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from fencepost.scoring.judging import Judged, Judgement, holders_of
from fencepost.structure import Span

NO_LABEL = "(no label)"


class Move(NamedTuple):
    """A span of both trees that is directly below other places in each."""

    span: Judged
    belongs: Span | None  # around it in the gold tree; None: nothing that counts
    under: Span | None  # and in the predicted one
    both: Span  # the smallest place around it that both trees have

    @property
    def kind(self) -> str:
        """What has moved where."""
        under, belongs = (told(span) if span else "the top" for span in (self.under, self.belongs))
        other = "another " if under == belongs else ""
        return f"{told(self.span.span)} under {under}, belongs to {other}{belongs}"

    def explains(
        self, missing: Sequence[Judged], extra: Sequence[Judged], judgement: Judgement
    ) -> tuple[list[Judged], list[Judged]]:
        """Those of the missing and of the extra spans that are due to it.

        A span is, if it holds the one that has moved, within what is around that in both trees, and
        if the other side has a rest of it: a span of the same label that begins or ends at the
        same place and leaves out the one that has moved. A rest that is wrong is due as well.
        """
        ours, rests = self._around(missing, judgement.predicted, extra)
        theirs, others = self._around(extra, judgement.gold, missing)
        return ours + others, theirs + rests

    def _around(
        self, side: Iterable[Judged], others: Iterable[Judged], wrong: Iterable[Judged]
    ) -> tuple[list[Judged], list[Judged]]:
        """The spans of one side that are due to it, and their rests that are wrong."""
        found: list[Judged] = []
        left: list[Judged] = []
        for whole in side:
            if holds(whole.span, self.span.span) and holds(self.both, whole.span):
                rests = [one for one in others if self._is_rest(one.span, whole.span)]
                if rests:
                    found.append(whole)
                    left += [o for o in rests if is_in(o, wrong) and not is_in(o, left)][:1]
        return found, left

    def _is_rest(self, span: Span, whole: Span) -> bool:
        start, end, _ = self.span.span
        at_the_start = span.start == whole.start and span.end <= start
        at_the_end = span.end == whole.end and span.start >= end
        return span.label == whole.label and (at_the_start or at_the_end)


def moves_of(judgement: Judgement) -> list[Move]:
    """The spans of both trees that are elsewhere in each, the likelier ones first."""
    gold, predicted = _larger(judgement.gold), _larger(judgement.predicted)
    judged = {one.span: one for one in reversed(judgement.gold)}
    common = {span[:2] for span in gold} & {span[:2] for span in predicted}
    whole = Span(-1, len(judgement.words) + 1)
    moves = []
    for span, belongs in gold.items():
        under = predicted.get(span, belongs)
        if not _is_same(belongs, under, common):
            both = belongs
            while both is not None and both[:2] not in common:
                both = gold[both]
            moves.append(Move(judged[span], belongs, under, both or whole))

    def unlikely(move: Move) -> tuple[bool, int]:
        # What a holder begins with is rather what the rest has been attached to.
        start, end, _ = move.span.span
        return any(span and span.start == start for span in (move.belongs, move.under)), end - start

    return sorted(moves, key=unlikely)


def _is_same(one: Span | None, other: Span | None, common: Container[tuple[int, int]]) -> bool:
    """Whether two spans of two trees are the same, or one that has become longer or shorter."""
    if one is None or other is None:
        return one is other
    if one[:2] == other[:2]:
        return True
    shares_an_end = one.start == other.start or one.end == other.end
    is_wrong = one[:2] not in common and other[:2] not in common
    return is_wrong and shares_an_end and one.label == other.label


def _larger(side: Sequence[Judged]) -> dict[Span, Span | None]:
    """Of each span, the smallest that is larger and around it."""
    spans = [one.span for one in side]
    holders = holders_of(spans)
    found: dict[Span, Span | None] = {}
    for index, span in enumerate(spans):
        holder = holders[index]
        while holder is not None and spans[holder][:2] == span[:2]:
            holder = holders[holder]
        found[span] = None if holder is None else spans[holder]
    return found


def is_in(one: Judged, others: Iterable[Judged]) -> bool:
    """Whether a span itself, and not only one that is equal to it, is among others."""
    # By identity: a chain can have the same span twice.
    return any(one is other for other in others)


def holds(one: Span, other: Span) -> bool:
    """Whether a span is larger than another and around it."""
    return one.start <= other.start and other.end <= one.end and one[:2] != other[:2]


def told(span: Span) -> str:
    """The label of a span as it is told."""
    return span.label or NO_LABEL
