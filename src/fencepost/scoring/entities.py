"""Entities by strict match: same words, same type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from fencepost.scoring.totals import f1, per_cent
from fencepost.structure import Span
from fencepost.structure.span import by_place

LENGTHS = (("1", 1), ("2", 2), ("3", 3), ("4-5", 5), ("6-10", 10), (">10", None))
DEPTHS = ("flat", "outer", "inner")


@dataclass(slots=True)
class Match:
    """Counts of spans of a kind, and of those that are right.

    A matched span can be of one kind on the gold side and of another on the predicted side (an
    inner entity whose holder was missed, say). So matches are counted on both sides.
    """

    gold: int = 0
    predicted: int = 0
    found: int = 0  # of the gold ones
    right: int = 0  # of the predicted ones

    @property
    def recall(self) -> float:
        """The percentage of gold spans that are predicted."""
        return per_cent(self.found, self.gold)

    @property
    def precision(self) -> float:
        """The percentage of predicted spans that are right."""
        return per_cent(self.right, self.predicted)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return f1(self.precision, self.recall)


@dataclass(slots=True)
class EntityScore:
    """Sums over sentences, in total and by kind."""

    sentences: int = 0
    all: Match = field(default_factory=Match)
    types: dict[str, Match] = field(default_factory=dict)
    depths: dict[str, Match] = field(default_factory=lambda: {name: Match() for name in DEPTHS})
    lengths: dict[str, Match] = field(
        default_factory=lambda: {name: Match() for name, _ in LENGTHS}
    )

    def add(self, gold: Iterable[Span], predicted: Iterable[Span]) -> None:
        """Add a sentence. Gold spans may cross: those left out on reading count, too."""
        ours, theirs = by_place(gold), by_place(predicted)
        self.sentences += 1
        # Each span matches only one other, so predicting a span twice does not pay.
        common = Counter(ours) & Counter(theirs)
        for span, depth, hit in _kinds(ours, Counter(common)):
            for match in self._matches(span, depth):
                match.gold += 1
                match.found += hit
        for span, depth, hit in _kinds(theirs, Counter(common)):
            for match in self._matches(span, depth):
                match.predicted += 1
                match.right += hit

    def _matches(self, span: Span, depth: str) -> tuple[Match, Match, Match, Match]:
        width = span.end - span.start
        length = next(name for name, most in LENGTHS if most is None or width <= most)
        type_ = self.types.setdefault(span.label or "", Match())
        return self.all, type_, self.depths[depth], self.lengths[length]

    @property
    def macro(self) -> tuple[float, float, float]:
        """Precision, recall and F1, each averaged over the types in the gold data."""
        matches = [match for match in self.types.values() if match.gold]
        count = len(matches) or 1
        return (
            sum(match.precision for match in matches) / count,
            sum(match.recall for match in matches) / count,
            sum(match.f1 for match in matches) / count,
        )


def _kinds(spans: Sequence[Span], common: Counter[Span]) -> Iterator[tuple[Span, str, bool]]:
    """Each span, its kind of nesting, and whether both sides have it."""
    for span, depth in zip(spans, depths(spans), strict=True):
        hit = common[span] > 0
        common[span] -= hit
        yield span, depth, hit


def depths(spans: Sequence[Span]) -> list[str]:
    """The kind of nesting of each span: `flat`, `outer` (holds others, held by none) or `inner`.

    >>> depths([Span(0, 3, "ORG"), Span(2, 3, "GPE"), Span(5, 6, "PER")])
    ['outer', 'inner', 'flat']
    """
    kinds: list[str] = []
    holders: list[int] = []
    for index, span in enumerate(spans):
        while holders and spans[holders[-1]].end <= span.start:
            holders.pop()
        # Spans that cross do not hold each other.
        held_by = [h for h in holders if spans[h].end >= span.end]
        for holder in held_by:
            if kinds[holder] == "flat":
                kinds[holder] = "outer"
        kinds.append("inner" if held_by else "flat")
        holders.append(index)
    return kinds
