"""Predicted files against gold files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from fencepost.errors import DataError
from fencepost.formats import ParseReader, ReadSettings
from fencepost.formats.cleaning import TRACE, without_function
from fencepost.formats.registry import format_of
from fencepost.run.progress import Watch, unwatched
from fencepost.run.sides import Sides
from fencepost.scoring import (
    COLLINS,
    Comparison,
    EntityScore,
    Fingerprint,
    Parameters,
    Side,
    Totals,
)
from fencepost.scoring.brackets import without_wrapper
from fencepost.scoring.entities import Match
from fencepost.structure.brackets import unescape
from fencepost.structure.span import by_place

Path = str | os.PathLike[str]


@dataclass(slots=True)
class TreeReport:
    """The score of trees, over all sentences and over the short ones."""

    cut_off: int
    all: Totals = field(default_factory=Totals)
    short: Totals = field(default_factory=Totals)
    fingerprint: Fingerprint = field(default_factory=Fingerprint)
    wrapper: bool = False  # whether one at the top counts, as far as the parameters say
    gold_tags: bool = False  # predicted brackets stand over them: their accuracy says nothing

    def to_dict(self) -> dict[str, Any]:
        """Plain data, in per cent."""
        every, short = _of_totals(self.all), _of_totals(self.short)
        if self.gold_tags:
            del every["tag_accuracy"], short["tag_accuracy"]
        return {
            "task": "tree",
            **every,
            f"length<={self.cut_off}": short,
            "wrapper": "by the parameters" if self.wrapper else "left out",
            "gold_data": self.fingerprint.to_dict(),
        }


@dataclass(slots=True)
class EntityReport:
    """The score of entities."""

    score: EntityScore = field(default_factory=EntityScore)
    fingerprint: Fingerprint = field(default_factory=Fingerprint)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, in per cent."""
        score = self.score
        return {
            "task": "entities",
            **_of_match(score.all),
            "sentences": score.sentences,
            "macro": dict(zip(("precision", "recall", "f1"), score.macro, strict=True)),
            "types": {name: _of_match(score.types[name]) for name in sorted(score.types)},
            "depth": {name: _of_match(match) for name, match in score.depths.items()},
            "length": {name: _of_match(match) for name, match in score.lengths.items()},
            "gold_data": self.fingerprint.to_dict(),
        }


def _of_totals(totals: Totals) -> dict[str, Any]:
    return {
        "precision": totals.precision,
        "recall": totals.recall,
        "f1": totals.f1,
        "matched": totals.matched,
        "gold": totals.gold,
        "predicted": totals.predicted,
        "sentences": totals.sentences,
        "error_sentences": totals.errors,
        "skipped_sentences": totals.skipped,
        "complete_match": totals.complete_match,
        "average_crossing": totals.average_crossing,
        "no_crossing": totals.no_crossing,
        "two_or_less_crossing": totals.two_or_less_crossing,
        "tag_accuracy": totals.tag_accuracy,
    }


def _of_match(match: Match) -> dict[str, Any]:
    return {
        "precision": match.precision,
        "recall": match.recall,
        "f1": match.f1,
        "matched": match.found,
        "gold": match.gold,
        "predicted": match.predicted,
    }


def layers_of(path: Path, format: str | None, settings: ReadSettings) -> frozenset[str]:
    """The layers that a file has, as its format or its first sentence tells."""
    layers = format_of(path, format).layers if not os.path.isdir(path) else frozenset()
    if len(layers) == 1:
        return layers
    parse = next(ParseReader(path, format=format, settings=settings), None)
    return frozenset(
        layer for layer in ("tree", "entities") if parse and getattr(parse, layer) is not None
    )


def score_trees(
    gold: Path,
    predicted: Path,
    *,
    gold_format: str | None = None,
    predicted_format: str | None = None,
    settings: ReadSettings | None = None,
    parameters: Parameters = COLLINS,
    wrapper: bool = False,
    watch: Watch = unwatched,
) -> TreeReport:
    """The bracket score of a predicted file.

    Args:
        gold: the annotation.
        predicted: what to score.
        gold_format: None: what the suffix tells.
        predicted_format: None: what the suffix tells.
        settings: how both are read.
        parameters: EVALB's.
        wrapper: whether a wrapper at the top (ROOT, TOP, S1, VROOT or no label) is left to the
            parameters; else it does not count, as in `evaluate` and `analyse`.
        watch: shows how far it is.
    """
    settings = settings or ReadSettings()
    comparison = Comparison(parameters)
    report = TreeReport(parameters.cut_off, wrapper=wrapper)
    ours = Sides(gold, gold_format, settings)
    theirs = Sides(predicted, predicted_format, settings)
    for number, (one, other) in enumerate(zip_longest(watch(ours), theirs), 1):
        if one is None or other is None:
            raise too_short(predicted if other is None else gold, number - 1)
        (line, gold_side), (other_line, predicted_side) = one, other
        if not wrapper:
            gold_side, predicted_side = map(without_wrapper, (gold_side, predicted_side))
        counts = comparison.compare(gold_side, predicted_side)
        if counts.status == 1:
            problem = difference_of_words(_spoken(gold_side), _spoken(predicted_side), parameters)
            if problem:  # otherwise only tags differ, which EVALB counts as an error sentence
                raise DataError(
                    f"{problem} (gold: {gold}:{line}).\n  Pass --to evalb to count such sentences "
                    "the way that program does.",
                    path=str(predicted),
                    line=other_line,
                )
        report.all.add(counts)
        if counts.length <= parameters.cut_off:
            report.short.add(counts)
        if not wrapper:
            gold_side = _as_read(gold_side, settings)
        report.fingerprint.add(gold_side.words, gold_side.brackets)
    return report


def score_entities(
    gold: Path,
    predicted: Path,
    *,
    gold_format: str | None = None,
    predicted_format: str | None = None,
    settings: ReadSettings | None = None,
    watch: Watch = unwatched,
) -> EntityReport:
    """The score of a predicted file, by strict match.

    Gold entities that cross are refused unless the settings say to drop them; they then count all
    the same, since a parser that cannot find them has missed them.
    """
    settings = settings or ReadSettings()
    if settings.on_crossing == "drop-sentence":  # here as well its entities have to count
        settings = replace(settings, on_crossing="drop-span")
    report = EntityReport()
    ours = ParseReader(gold, format=gold_format, settings=settings)
    theirs = ParseReader(predicted, format=predicted_format, settings=settings)
    for number, (one, other) in enumerate(zip_longest(watch(ours), theirs), 1):
        if one is None or other is None:
            raise too_short(predicted if other is None else gold, number - 1)
        # A corpus may have kept the treebank's -LRB-, which is the same word as (.
        gold_words, words = (
            [unescape(word, "round") for word in parse.words] for parse in (one, other)
        )
        problem = difference_of_words(gold_words, words)
        for parse, reading in ((one, ours), (other, theirs)):
            if parse.entities is None:
                raise DataError("this sentence has no entities layer").at(*reading.place)
        if problem:
            place = "{}:{}".format(*ours.place)
            raise DataError(f"{problem} (gold: {place})").at(*theirs.place)
        spans = (one.entities or ()) + one.dropped
        report.score.add(spans, (other.entities or ()) + other.dropped)
        report.fingerprint.add(one.words, by_place(spans))
    return report


def too_short(path: Path | str, sentences: int) -> DataError:
    """The error that one of two files has fewer sentences."""
    return DataError(
        f"this file ends after {sentences} sentences, and the other one goes on", path=str(path)
    )


def _as_read(side: Side, settings: ReadSettings) -> Side:
    """The same as `evaluate` and `analyse` read it, so that all three name the same data alike."""
    return side._replace(
        words=[unescape(word, settings.escapes) for word in side.words],
        brackets=[
            (start, end, without_function(label or "")) for start, end, label in side.brackets
        ],
    )


def _spoken(side: Side) -> list[str]:
    """The words of a tree without traces, which only one of the two may have."""
    return [word for word, tag in zip(side.words, side.tags, strict=True) if tag != TRACE]


def difference_of_words(
    gold: Sequence[str], predicted: Sequence[str], rules: Parameters = COLLINS
) -> str:
    """The difference between two sentences; empty if they have the same words."""
    for index, (one, other) in enumerate(zip(gold, predicted, strict=False)):
        if not rules.same_word(one, other):
            return f"word {index} is {other!r}, where the gold file has {one!r}"
    if len(gold) != len(predicted):
        return f"there are {len(predicted)} words, where the gold file has {len(gold)}"
    return ""
