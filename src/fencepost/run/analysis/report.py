"""Where systems fail, and whether one is better than another: gold against predicted files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fencepost.errors import ConfigError
from fencepost.formats import ReadSettings
from fencepost.formats.files import STANDARD
from fencepost.run.analysis.files import read_files
from fencepost.run.analysis.mistakes import Group, grouped
from fencepost.run.progress import Watch, unwatched
from fencepost.scoring import Fingerprint
from fencepost.scoring.bootstrap import Difference, compared
from fencepost.scoring.breakdown import Breakdown, Layer, breakdown
from fencepost.scoring.entities import Match
from fencepost.scoring.judgements import Judgement, judge_entities, judge_trees
from fencepost.structure import Parse
from fencepost.structure.span import by_place


@dataclass(frozen=True, slots=True)
class System:
    """The scores and mistakes of one system."""

    name: str
    path: str
    scores: Breakdown
    mistakes: tuple[
        Group, ...
    ]  # in the order of `REASONS`; reasons that do not occur are not there

    def to_dict(self) -> dict[str, Any]:
        """Plain data, in per cent."""
        scores = self.scores
        return {
            "name": self.name,
            "file": self.path,
            **_of_match(scores.all),
            "exact_match": scores.exact_match,
            "unparsed_sentences": scores.unparsed,
            "by": {
                name: {bin_: _of_match(match) for bin_, match in bins.items()}
                for name, bins in scores.by.items()
            },
            "mistakes": {group.reason: group.to_dict() for group in self.mistakes},
        }


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems, and how much better the first is."""

    first: str
    second: str
    difference: Difference


@dataclass(frozen=True, slots=True)
class LayerAnalysis:
    """The analysis of trees, or of entities."""

    layer: Layer
    systems: tuple[System, ...]
    pairs: tuple[Pair, ...]
    fingerprint: Fingerprint

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "task": self.layer,
            "systems": [system.to_dict() for system in self.systems],
            "comparisons": [
                {"first": pair.first, "second": pair.second, **pair.difference.to_dict()}
                for pair in self.pairs
            ],
            "gold_data": self.fingerprint.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysis of predicted files against a gold one."""

    gold: str
    layers: tuple[LayerAnalysis, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, in per cent."""
        return {"gold": self.gold, "layers": [layer.to_dict() for layer in self.layers]}


def analyse(
    gold: str,
    predicted: Sequence[str],
    *,
    names: Sequence[str] = (),
    layer: Layer | None = None,
    format: str | None = None,
    settings: ReadSettings | None = None,
    examples: int = 1,
    samples: int = 10_000,
    seed: int = 1,
    watch: Watch = unwatched,
) -> Analysis:
    """Compare predicted files with a gold one, and with each other.

    Args:
        gold: the annotation.
        predicted: what systems have found.
        names: of the systems; without any, those of the files.
        layer: that is wanted; None: all that every file has.
        format: of all files; None: what the suffix of each tells.
        settings: encoding, and what happens to entities that cross.
        examples: sentences for each of the most common kinds of mistakes.
        samples: of the bootstrap, if there are several systems.
        seed: of the drawing of samples.
        watch: shows how far it is.
    """
    names = names_of(predicted, names)
    files = read_files(gold, predicted, layer=layer, format=format, settings=settings, watch=watch)
    made = []
    for chosen in files.layers:
        judged = [_judged(files.gold, system, chosen) for system in files.systems]
        counts = [[one.counts for one in system] for system in judged]
        pairs = compared(counts, samples=samples, seed=seed) if len(counts) > 1 else []
        made.append(
            LayerAnalysis(
                chosen,
                tuple(
                    System(
                        name,
                        path,
                        breakdown(judgements, chosen),
                        grouped(judgements, files.gold, system, layer=chosen, examples=examples),
                    )
                    for name, path, system, judgements in zip(
                        names, predicted, files.systems, judged, strict=True
                    )
                ),
                tuple(Pair(names[one], names[other], found) for one, other, found in pairs),
                _fingerprint(files.gold, chosen),
            )
        )
    return Analysis(gold, tuple(made))


def names_of(predicted: Sequence[str], names: Sequence[str] = ()) -> list[str]:
    """The names of systems: those given, or their files, as short as keeps them apart.

    >>> names_of(["a/greedy.ptb", "b/beam.ptb"]), names_of(["a/out.ptb", "b/out.ptb"])
    (['greedy', 'beam'], ['a/out.ptb', 'b/out.ptb'])
    """
    if names and len(names) != len(predicted):
        raise ConfigError(
            f"--name: {len(predicted)} files were given and {len(names)} names; "
            "give one for each file, or none"
        )
    found = list(names)
    if not found:
        found = [os.path.basename(path).split(".")[0] or path for path in predicted]
        found = [
            "standard input" if path == STANDARD else name
            for path, name in zip(predicted, found, strict=True)
        ]
        if len(set(found)) < len(found):
            found = list(predicted)
    if len(set(found)) < len(found):
        raise ConfigError("two systems have the same name; tell them apart with --name")
    return found


def _judged(gold: Sequence[Parse], system: Sequence[Parse | None], layer: Layer) -> list[Judgement]:
    found = []
    for one, other in zip(gold, system, strict=True):
        if layer == "tree":
            assert one.tree is not None
            found.append(judge_trees(one.tree, None if other is None else other.tree))
        else:
            assert other is not None
            found.append(judge_entities(one, other))
    return found


def _fingerprint(gold: Sequence[Parse], layer: Layer) -> Fingerprint:
    found = Fingerprint()
    for parse in gold:
        spans = parse.tree.unwrapped if layer == "tree" and parse.tree is not None else ()
        if layer == "entities":
            spans = tuple(by_place((parse.entities or ()) + parse.dropped))
        found.add(parse.words, spans)
    return found


def _of_match(match: Match) -> dict[str, Any]:
    return {
        "precision": match.precision,
        "recall": match.recall,
        "f1": match.f1,
        "gold": match.gold,
        "found": match.found,
        "predicted": match.predicted,
        "right": match.right,
    }
