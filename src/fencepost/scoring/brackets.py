"""Matching brackets of one sentence, counted exactly as EVALB does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from fencepost.errors import DataError
from fencepost.scoring.parameters import COLLINS, Parameters
from fencepost.structure import Tree
from fencepost.structure.tree import WRAPPERS

Bracket = tuple[int, int, str]

_QUOTES = ("'", '"', "/")  # the words to which `quotes` applies

_ITEM = re.compile(r"\(([^\s()]*+)\s++([^\s()]*+)\s*+(\))|\(([^\s()]*+)|(\))|([^\s()]++)", re.ASCII)


class Side(NamedTuple):
    """One side of a comparison: words, their tags, and brackets from the root down."""

    words: Sequence[str]
    tags: Sequence[str]
    brackets: Sequence[tuple[int, int, str | None]]


def side_of_tree(tree: Tree, *, wrapper: bool = True) -> Side:
    """The side of a tree.

    Args:
        tree: the tree of a sentence.
        wrapper: whether to include a wrapper at the top. EVALB deletes only TOP, so any other would
            be a right bracket for free in each tree, or a missing one.
    """
    return Side(tree.words, tree.tags, tree.spans if wrapper else tree.unwrapped)


def without_wrapper(side: Side) -> Side:
    """The side without a wrapper at the top."""
    start, end, label = next(iter(side.brackets), (0, 0, None))
    is_wrapped = (start, end) == (0, len(side.words) or -1) and (label or "") in WRAPPERS
    return side._replace(brackets=side.brackets[1:]) if is_wrapped else side


def side_of_line(line: str) -> Side:
    """The side of a line of brackets, read as leniently as EVALB does.

    Parsers that fail print an empty line, `(())` or brackets without words. `(TOP )` is an empty
    word, as in EVALB.
    """
    words: list[str] = []
    tags: list[str] = []
    brackets: list[tuple[int, int, str | None]] = []
    opened: list[int] = []
    for tag, word, leaf, label, closing, bare in _ITEM.findall(line):
        if leaf:
            words.append(word)
            tags.append(tag)
        elif closing:
            if not opened:
                raise DataError("this bracket closes nothing")
            index = opened.pop()
            start, _, name = brackets[index]
            brackets[index] = (start, len(words), name)
        elif bare:
            raise DataError(f"the word {bare!r} has no tag, and EVALB reads none without")
        else:
            opened.append(len(brackets))
            brackets.append((len(words), len(words), label))
    if opened:
        raise DataError("this bracket is never closed")
    return Side(words, tags, brackets)


class Counts(NamedTuple):
    """The counts of one sentence."""

    length: int  # words of the gold tree, without those deleted for length
    status: int = 0  # 1: the words do not agree; 2: the prediction has none
    matched: int = 0
    gold: int = 0
    predicted: int = 0
    crossing: int = 0
    words: int = 0
    right_tags: int = 0
    problem: str = ""  # with status 1, what does not agree


class Comparison:
    """Compares trees by the rules of one parameter file."""

    def __init__(self, parameters: Parameters = COLLINS) -> None:
        self.parameters = parameters
        self._counted_label = lru_cache(maxsize=4096)(self._label)

    def _label(self, label: str) -> str | None:
        counted = self.parameters.counted_label(label)
        if counted is None:
            return None
        if not self.parameters.labelled:
            return ""
        return (self.parameters.representatives or {}).get(counted, counted)

    def compare(self, gold: Side, predicted: Side) -> Counts:
        """Compare a predicted tree with the gold one."""
        rules = self.parameters
        length = sum(tag not in rules.deleted_for_length for tag in gold.tags)
        gold_keep, predicted_keep = self._kept(gold), self._kept(predicted)
        if not any(predicted_keep):
            return Counts(length, 2)
        if sum(gold_keep) != sum(predicted_keep):
            if rules.quotes:
                restore_quotes(gold, gold_keep, predicted, predicted_keep, rules)
            if sum(gold_keep) != sum(predicted_keep):
                problem = f"Length unmatch ({sum(gold_keep)}|{sum(predicted_keep)})"
                return Counts(length, 1, problem=problem)
        gold_words, predicted_words = (
            _only(gold.words, gold_keep),
            _only(predicted.words, predicted_keep),
        )
        if gold_words != predicted_words:
            for one, other in zip(gold_words, predicted_words, strict=True):
                if not rules.same_word(one, other):
                    return Counts(length, 1, problem=f"Words unmatch ({one}|{other})")
        gold_tags, predicted_tags = (
            _only(gold.tags, gold_keep),
            _only(predicted.tags, predicted_keep),
        )
        right_tags = (
            len(gold_tags)
            if gold_tags == predicted_tags
            else sum(map(rules.same_label, gold_tags, predicted_tags))
        )
        ours = self._brackets(gold, gold_keep)
        theirs = self._brackets(predicted, predicted_keep)
        if rules.labelled and rules.representatives is None:
            matched = matched_in_turn(ours, theirs, rules)
        else:
            matched = _matched(ours, theirs)
        crossing = 0 if ours == theirs else crossing_in_one_pass(ours, theirs, len(gold_words))
        return Counts(
            length, 0, matched, len(ours), len(theirs), crossing, len(gold_words), right_tags
        )

    def _kept(self, side: Side) -> list[bool]:
        deleted = self.parameters.deleted
        return [tag not in deleted for tag in side.tags]

    def _brackets(self, side: Side, keep: list[bool]) -> list[Bracket]:
        """The brackets that count, over the words that count."""
        before = list(accumulate(keep, initial=0))
        counted: list[Bracket] = []
        for first, last, label in side.brackets:
            start, end = before[first], before[last]
            if start < end:
                name = self._counted_label(label or "")
                if name is not None:
                    counted.append((start, end, name))
        return counted


def _only(items: Sequence[str], keep: list[bool]) -> list[str]:
    return [item for item, keeps in zip(items, keep, strict=True) if keeps]


def _matched(ours: Iterable[Bracket], theirs: Iterable[Bracket]) -> int:
    """The number of brackets in both, each matching one other."""
    left: dict[Bracket, int] = {}
    for bracket in ours:
        left[bracket] = left.get(bracket, 0) + 1
    matched = 0
    for bracket in theirs:
        count = left.get(bracket)
        if count:
            left[bracket] = count - 1
            matched += 1
    return matched


def matched_in_turn(ours: Sequence[Bracket], theirs: Sequence[Bracket], rules: Parameters) -> int:
    """The number of brackets in both, where each matches the first that fits, as in EVALB.

    It is the reference for counting identical brackets, and needed if equality of labels does not
    form classes: then the order of matches matters.
    """
    free = list(theirs)
    for start, end, label in ours:
        for index, (first, last, name) in enumerate(free):
            if (first, last) == (start, end) and rules.same_label(label, name):
                del free[index]
                break
    return len(theirs) - len(free)


def crossing_in_one_pass(ours: Sequence[Bracket], theirs: Sequence[Bracket], n: int) -> int:
    """The number of predicted brackets that cross a gold one, in linear time.

    A bracket crosses a gold one only if it crosses the innermost one around its start or its end:
    of all brackets around a boundary, that one ends first and starts last.
    """
    around: list[tuple[int, int]] = []  # the innermost gold bracket around each boundary
    holders: list[tuple[int, int]] = [(-1, n + 1)]
    coming = 0
    for boundary in range(n + 1):
        while coming < len(ours) and ours[coming][0] < boundary:
            start, end, _ = ours[coming]
            holders.append((start, end))
            coming += 1
        while holders[-1][1] <= boundary:
            holders.pop()
        around.append(holders[-1])
    return sum(around[start][1] < end or around[end][0] > start for start, end, _ in theirs)


def crossing_by_pairs(ours: Sequence[Bracket], theirs: Sequence[Bracket]) -> int:
    """The number of predicted brackets that cross a gold one, by all pairs: the reference."""
    return sum(
        any(start < first < end < last or first < start < last < end for start, end, _ in ours)
        for first, last, _ in theirs
    )


def restore_quotes(
    gold: Side,
    gold_keep: list[bool],
    predicted: Side,
    predicted_keep: list[bool],
    rules: Parameters,
) -> None:
    """Keep quotation marks that only one of the two trees would delete (EVALB's fix of 2006).

    A possessive `'` tagged as a quote in only one tree would make the lengths differ; it is kept
    where both have such a mark at the same place.
    """

    def marks(side: Side) -> list[int]:
        return [
            index
            for index, (tag, word) in enumerate(zip(side.tags, side.words, strict=True))
            if tag in rules.quotes and word in _QUOTES
        ]

    for theirs in marks(predicted):
        for ours in marks(gold):
            if gold.tags[ours] == predicted.tags[theirs]:
                continue
            if sum(gold_keep[:ours]) != sum(predicted_keep[:theirs]):
                continue
            # One is deleted and the other is not: keep both.
            if gold_keep[ours] != predicted_keep[theirs]:
                gold_keep[ours] = predicted_keep[theirs] = True
