"""The mistakes in a parse, with a reason for each wrong span.

The reason of a missing or extra span is the first of these that fits:

label        the other side has another label over the same words
attachment   in a tree: a span in both is attached elsewhere, which causes this one
boundary     an entity: the other side has the same label over partly the same words
missing      a gold span that nothing predicted corresponds to
extra        a predicted span that nothing in the gold data corresponds to
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from fencepost.scoring.attachment import Ends, holds, label_name, moves_of
from fencepost.scoring.judgements import Judged, Judgement
from fencepost.structure import Span

Reason = Literal["label", "attachment", "boundary", "missing", "extra"]
REASONS: tuple[Reason, ...] = ("label", "attachment", "boundary", "missing", "extra")


@dataclass(frozen=True, slots=True)
class Mistake:
    """The spans that are wrong for one reason.

    Attributes:
        reason: the reason.
        kind: details, as in `NP → ADJP`.
        missing: gold spans.
        extra: predicted spans.
        moved: for an attachment, the moved span in the gold and in the predicted tree, where it may
            have other punctuation marks.
    """

    reason: Reason
    kind: str
    missing: tuple[Span, ...] = ()
    extra: tuple[Span, ...] = ()
    moved: tuple[Span, Span] | None = None


def tree_mistakes(judgement: Judgement) -> list[Mistake]:
    """The mistakes of a predicted tree.

    >>> from fencepost.scoring.judgements import judge_trees
    >>> from fencepost.structure import Tree
    >>> gold, predicted = (Tree.from_brackets(text) for text in (
    ...     "(VP (V saw) (NP (NP (N men)) (PP (P with) (NP (N dogs)))))",
    ...     "(VP (V saw) (NP (N men)) (PP (P with) (NP (N dogs))))"))
    >>> for mistake in tree_mistakes(judge_trees(gold, predicted)):
    ...     print(mistake.reason, "-", mistake.kind)
    attachment - PP under VP, belongs to NP
    """
    wrong = _Wrong(judgement)
    mistakes = list(_relabelled(wrong))
    mistakes += _misplaced(wrong, judgement)
    return [*mistakes, *_left(wrong)]


def entity_mistakes(judgement: Judgement) -> list[Mistake]:
    """The mistakes among predicted entities."""
    wrong = _Wrong(judgement)
    return [*_relabelled(wrong), *_shifted(wrong), *_left(wrong)]


class _Wrong:
    """The wrong spans that have no reason yet."""

    def __init__(self, judgement: Judgement) -> None:
        # By `id`: a chain can have the same span twice.
        self.missing = {id(one): one for one in judgement.gold if not one.right}
        self.extra = {id(one): one for one in judgement.predicted if not one.right}

    def take(
        self,
        reason: Reason,
        kind: str,
        *,
        missing: Sequence[Judged] = (),
        extra: Sequence[Judged] = (),
        moved: tuple[Span, Span] | None = None,
    ) -> Mistake:
        """A mistake, whose spans are removed from those without a reason."""
        for one in missing:
            del self.missing[id(one)]
        for one in extra:
            del self.extra[id(one)]
        ours, theirs = (tuple(one.shown for one in side) for side in (missing, extra))
        return Mistake(reason, kind, ours, theirs, moved)


def _relabelled(wrong: _Wrong) -> Iterator[Mistake]:
    """Pairs of spans over the same words, in chains from the outermost on."""
    others: dict[tuple[int, int], deque[Judged]] = {}
    for other in wrong.extra.values():
        others.setdefault(other.span[:2], deque()).append(other)
    for one in list(wrong.missing.values()):
        if same := others.get(one.span[:2]):
            other = same.popleft()
            kind = f"{label_name(one.span)} → {label_name(other.span)}"
            yield wrong.take("label", kind, missing=[one], extra=[other])


def _misplaced(wrong: _Wrong, judgement: Judgement) -> Iterator[Mistake]:
    """Mistakes due to moved spans, those with the most wrong spans first."""
    gold, predicted = Ends(judgement.gold), Ends(judgement.predicted)
    due = [
        (move, *move.explains(wrong.missing, wrong.extra, gold=gold, predicted=predicted))
        for move in moves_of(judgement)
    ]
    while due := [(move, ours, theirs) for move, ours, theirs in due if ours or theirs]:
        # Of equal ones, the first is the likeliest.
        move, missing, extra = max(due, key=lambda item: len(item[1]) + len(item[2]))
        moved = move.span.shown, move.stands
        yield wrong.take("attachment", move.kind, missing=missing, extra=extra, moved=moved)
        left = {*wrong.missing, *wrong.extra}
        due = [
            (
                other,
                [one for one in ours if id(one) in left],
                [one for one in theirs if id(one) in left],
            )
            for other, ours, theirs in due
        ]


def _shifted(wrong: _Wrong) -> Iterator[Mistake]:
    """Pairs with the same label over partly the same words, the largest overlap first."""
    pairs = [
        (shared, one, other)
        for one in wrong.missing.values()
        for other in wrong.extra.values()
        if one.span.label == other.span.label
        and (shared := min(one.span.end, other.span.end) - max(one.span.start, other.span.start))
        > 0
    ]
    for _, one, other in sorted(pairs, key=lambda pair: -pair[0]):
        if id(one) in wrong.missing and id(other) in wrong.extra:
            kind = f"{label_name(one.span)}: {_how(one.span, other.span)}"
            yield wrong.take("boundary", kind, missing=[one], extra=[other])


def _how(gold: Span, predicted: Span) -> str:
    if holds(gold, predicted):
        return "too short"
    return "too long" if holds(predicted, gold) else "shifted"


def _left(wrong: _Wrong) -> Iterator[Mistake]:
    for one in list(wrong.missing.values()):
        yield wrong.take("missing", label_name(one.span), missing=[one])
    for one in list(wrong.extra.values()):
        yield wrong.take("extra", label_name(one.span), extra=[one])
