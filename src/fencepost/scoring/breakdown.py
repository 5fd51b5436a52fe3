"""Scores by length, children, label and depth of spans, and by length of sentences.

>>> from fencepost.structure import Tree
>>> gold, predicted = (Tree.from_brackets(text) for text in (
...     "(S (NP (N men)) (VP (V saw) (NP (N dogs))))", "(S (NP (N men)) (VP (V saw) (N dogs)))"))
>>> scores = tree_breakdown([(gold, predicted)])
>>> round(scores.all.f1, 2), scores.by["label"]["NP"].recall, scores.by["children"]["2"].f1
(85.71, 50.0, 100.0)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from fencepost.scoring.entities import LENGTHS, Match
from fencepost.scoring.judgements import Judged, Judgement, judge_entities, judge_trees
from fencepost.scoring.totals import per_cent
from fencepost.structure import Parse, Tree

Layer = Literal["tree", "entities"]
Bins = tuple[tuple[str, int | None], ...]  # names and largest numbers of bins

SENTENCES: Bins = (
    ("1-10", 10),
    ("11-20", 20),
    ("21-30", 30),
    ("31-40", 40),
    ("41-50", 50),
    (">50", None),
)
# Lengths and children of trees are those of figures 4 and 5 of Yang and Tu (2022).
BINS: dict[Layer, dict[str, Bins]] = {
    "tree": {
        "length": (("1-10", 10), ("11-20", 20), ("21-30", 30), ("31-40", 40), (">40", None)),
        "children": (("1", 1), ("2", 2), ("3", 3), ("4-5", 5), (">5", None)),
        "depth": (("1", 1), ("2", 2), ("3", 3), ("4-5", 5), ("6-10", 10), (">10", None)),
        "sentence": SENTENCES,
    },
    "entities": {
        "length": LENGTHS,
        "children": (("0", 0), ("1", 1), ("2", 2), (">2", None)),
        "depth": (("1", 1), ("2", 2), (">2", None)),
        "sentence": SENTENCES,
    },
}


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Scores of spans, in total and by property.

    A span belongs to a bin by its properties on its own side: recall is about the gold spans of a
    bin, precision about the predicted ones.

    Attributes:
        sentences: the number of sentences.
        unparsed: sentences without a prediction; their gold spans count as missing.
        exact: sentences without a mistake.
        countable: sentences with a word that counts.
        all: the score over all spans.
        by: `length`, `children`, `depth` and `sentence` by bin, in the order of `BINS`; `label` by
            label, the most frequent in the gold data first.
    """

    sentences: int
    unparsed: int
    exact: int
    countable: int
    all: Match
    by: Mapping[str, Mapping[str, Match]]

    @property
    def exact_match(self) -> float:
        """The percentage of sentences without a mistake, of those with a word that counts."""
        return per_cent(self.exact, self.countable)


def tree_breakdown(pairs: Iterable[tuple[Tree, Tree | None]]) -> Breakdown:
    """The scores of pairs of a gold and a predicted tree, as EVALB counts them.

    Both have the same words; the tags are the gold ones. None stands for a sentence that could not
    be parsed.
    """
    return breakdown((judge_trees(gold, predicted) for gold, predicted in pairs), "tree")


def entity_breakdown(pairs: Iterable[tuple[Parse, Parse]]) -> Breakdown:
    """The scores of the entities in pairs of a gold and a predicted parse, by strict match."""
    return breakdown((judge_entities(gold, predicted) for gold, predicted in pairs), "entities")


def breakdown(judgements: Iterable[Judgement], layer: Layer) -> Breakdown:
    """The scores of judged sentences."""
    every = Match()
    by: dict[str, dict[str, Match]] = {
        name: {bin_: Match() for bin_, _ in bins} for name, bins in BINS[layer].items()
    }
    labels: dict[str, Match] = {}
    sentences = unparsed = exact = countable = 0
    for one in judgements:
        sentences += 1
        unparsed += not one.is_parsed
        if one.words:
            countable += 1
            exact += one.is_exact
        length = bin_of(one.length, SENTENCES)

        def kinds(span: Judged, length: str = length) -> Iterable[Match]:
            yield every
            yield labels.setdefault(span.span.label or "", Match())
            yield by["sentence"][length]
            width = span.shown.end - span.shown.start
            numbers = {"length": width, "children": span.children, "depth": span.depth}
            for name, number in numbers.items():
                yield by[name][bin_of(number, BINS[layer][name])]

        for span in one.gold:
            for match in kinds(span):
                match.gold += 1
                match.found += span.right
        for span in one.predicted:
            for match in kinds(span):
                match.predicted += 1
                match.right += span.right
    ordered = sorted(labels.items(), key=lambda item: (-item[1].gold, item[0]))
    return Breakdown(sentences, unparsed, exact, countable, every, {**by, "label": dict(ordered)})


def bin_of(number: int, bins: Bins) -> str:
    """The bin of a number.

    >>> bin_of(4, BINS["tree"]["children"])
    '4-5'
    """
    return next(name for name, most in bins if most is None or number <= most)
