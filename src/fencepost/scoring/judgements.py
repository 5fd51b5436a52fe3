"""The spans of a gold and a predicted parse: which are right, and their properties."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from fencepost.errors import DataError
from fencepost.scoring.parameters import COLLINS
from fencepost.structure import Parse, Span, Tree
from fencepost.structure.span import by_place, holders_of


class Judged(NamedTuple):
    """A span that counts, its properties in its parse, and whether the other parse has it."""

    span: Span  # for comparison: over the words that count, with the label that counts
    shown: Span  # in its parse
    children: int  # in a tree, child spans and words; else entities directly inside
    depth: int  # 1: no other that counts holds it
    right: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """One sentence: the spans of both sides that count, from left to right, holders first."""

    length: int  # words of the sentence
    words: tuple[str, ...]  # the words that count
    gold: tuple[Judged, ...]
    predicted: tuple[Judged, ...]
    is_parsed: bool = True  # else nothing was predicted, and all gold spans are missing

    @property
    def counts(self) -> tuple[int, int, int]:
        """The numbers of matched, gold and predicted spans."""
        return sum(one.right for one in self.gold), len(self.gold), len(self.predicted)

    @property
    def is_exact(self) -> bool:
        """Whether there is no mistake."""
        matched, gold, predicted = self.counts
        return self.is_parsed and matched == gold == predicted


def judge_trees(gold: Tree, predicted: Tree | None) -> Judgement:
    """Judge two trees of the same words by the rules of EVALB with `COLLINS`.

    Both get the gold tags, so that a punctuation mark with another tag does not change the length.

    Args:
        gold: the gold tree.
        predicted: the predicted tree; None without a prediction.
    """
    words = gold.sentence.words
    if predicted is not None and predicted.sentence.words != words:
        raise DataError("two trees of the same words were expected")
    tags = gold.sentence.tags or ("",) * len(words)
    keep = [tag not in COLLINS.deleted for tag in tags]
    return _judgement(
        words,
        tuple(word for word, keeps in zip(words, keep, strict=True) if keeps),
        _of_tree(gold, keep),
        [] if predicted is None else _of_tree(predicted, keep),
        is_parsed=predicted is not None,
    )


def judge_entities(gold: Parse, predicted: Parse) -> Judgement:
    """Judge the entities of two parses of the same words by strict match.

    Gold entities that were dropped on reading, since they cross others, count, too.
    """
    if gold.words != predicted.words:
        raise DataError("two parses of the same words were expected")
    ours, theirs = (
        _of_entities((parse.entities or ()) + parse.dropped) for parse in (gold, predicted)
    )
    return _judgement(gold.words, gold.words, ours, theirs, is_parsed=True)


def _judgement(
    words: tuple[str, ...],
    counted: tuple[str, ...],
    gold: list[Judged],
    predicted: list[Judged],
    *,
    is_parsed: bool,
) -> Judgement:
    # Each span matches only one other, so predicting a span twice does not pay.
    common = Counter(one.span for one in gold) & Counter(one.span for one in predicted)
    ours, theirs = (tuple(_marked(side, Counter(common))) for side in (gold, predicted))
    return Judgement(len(words), counted, ours, theirs, is_parsed)


def _marked(side: Iterable[Judged], common: Counter[Span]) -> Iterable[Judged]:
    """The same spans with `right` set for those in common."""
    for one in side:
        right = common[one.span] > 0
        common[one.span] -= right
        yield one._replace(right=right)


def _of_tree(tree: Tree, keep: Sequence[bool]) -> list[Judged]:
    """The brackets that count, over the words that count, without a wrapper."""
    spans, before = tree.unwrapped, list(accumulate(keep, initial=0))
    holders = holders_of(spans)
    # All words count as children until a smaller span holds them.
    children = [end - start for start, end, _ in spans]
    depths: list[int] = []
    counted: list[tuple[int, Span]] = []
    for index, (start, end, label) in enumerate(spans):
        holder = holders[index]
        depth = 0
        if holder is not None:
            children[holder] -= end - start - 1
            depth = depths[holder]
        name = counted_label(label or "")
        counts = name is not None and before[start] < before[end]
        depths.append(depth + counts)
        if counts:
            counted.append((index, Span(before[start], before[end], name)))
    return [
        Judged(span, Span(*spans[index]), children[index], depths[index]) for index, span in counted
    ]


def _of_entities(entities: Iterable[Span]) -> list[Judged]:
    spans = [Span(*span) for span in by_place(entities)]
    holders = holders_of(spans)
    inside = Counter(holders)
    depths: list[int] = []
    for holder in holders:
        depths.append(1 if holder is None else depths[holder] + 1)
    return [Judged(span, span, inside[i], depths[i]) for i, span in enumerate(spans)]


@lru_cache(maxsize=4096)
def counted_label(label: str) -> str | None:
    """The label as which a bracket is compared; None if it does not count.

    >>> counted_label("NP-SBJ"), counted_label("PRT"), counted_label("TOP")
    ('NP', 'ADVP', None)
    """
    name = COLLINS.counted_label(label)
    return None if name is None else (COLLINS.representatives or {}).get(name, name)
