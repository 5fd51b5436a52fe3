"""How well a model parses gold sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fencepost.checkpoints.model import Model
from fencepost.parser.predict import Done, no_progress, predict
from fencepost.run.score import EntityReport, TreeReport
from fencepost.scoring import Comparison, side_of_tree
from fencepost.scoring.parameters import COLLINS
from fencepost.scoring.totals import per_cent
from fencepost.structure import Parse, Sentence, Tree
from fencepost.structure.span import by_place
from fencepost.tasks.labels import split


@dataclass(slots=True)
class TagReport:
    """How many tags are right."""

    words: int = 0
    right: int = 0

    @property
    def accuracy(self) -> float:
        """Of all tags, in per cent."""
        return per_cent(self.right, self.words)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, in per cent."""
        return {"task": "tags", "accuracy": self.accuracy, "words": self.words}


Report = TreeReport | EntityReport | TagReport


def evaluate(
    model: Model,
    gold: Sequence[Parse],
    *,
    beams: int | None = None,
    canonical: bool = True,
    done: Done = no_progress,
) -> dict[str, Report]:
    """The scores of a model's heads on gold sentences, for the layers that these have.

    Brackets stand over the gold words and gold tags, as is usual: EVALB takes a punctuation tag
    confused with a word tag for an error of length. Tags are scored beside them.

    Args:
        model: to parse with.
        gold: the annotation.
        beams: 1 is greedy search; None: the model's own width.
        canonical: whether search keeps to the canonical rules; the paper's does not.
        done: called with the number of words after each batch.
    """
    return compared(
        gold, predict(model, untagged(gold), beams=beams, canonical=canonical, done=done)
    )


def untagged(gold: Sequence[Parse]) -> list[Sentence]:
    """Gold sentences as a model reads them, without their tags."""
    return [replace(parse.sentence, tags=None) for parse in gold]


def unknown_labels(model: Model, gold: Iterable[Parse]) -> Counter[tuple[str, str]]:
    """How often gold labels are there that a model cannot predict, by layer and label.

    The wrapper of a tree is left out, since it does not count.
    """
    counts: Counter[tuple[str, str]] = Counter()
    names = {name: labels.names for name, labels in model.numbers.labels.items()}
    known = {name: {part for label in names[name] for part in split(label)} for name in names}
    known["tags"] = set(names.get("tags", ()))
    for parse in gold:
        labels = {
            "tree": [] if parse.tree is None else [one.label for one in parse.tree.unwrapped],
            "entities": [one.label for one in (*(parse.entities or ()), *parse.dropped)],
            "tags": parse.tags or (),
        }
        for name in names:
            counts.update((name, label or "") for label in labels[name] if label not in known[name])
    return counts


def compared(gold: Sequence[Parse], predicted: Sequence[Parse]) -> dict[str, Report]:
    """The scores of predicted parses, for the layers that both have."""
    reports: dict[str, Report] = {}
    comparison = Comparison(COLLINS)
    for one, other in zip(gold, predicted, strict=True):
        if one.tree is not None and other.tree is not None:
            trees = reports.setdefault("tree", TreeReport(COLLINS.cut_off, gold_tags=True))
            assert isinstance(trees, TreeReport)
            ours = side_of_tree(one.tree, wrapper=False)
            theirs = side_of_tree(Tree(one.sentence, other.tree.spans), wrapper=False)
            counts = comparison.compare(ours, theirs)
            trees.all.add(counts)
            if counts.length <= trees.cut_off:
                trees.short.add(counts)
            trees.fingerprint.add(ours.words, ours.brackets)
        if one.entities is not None and other.entities is not None:
            found = reports.setdefault("entities", EntityReport())
            assert isinstance(found, EntityReport)
            spans = one.entities + one.dropped
            found.score.add(spans, other.entities)
            found.fingerprint.add(one.words, by_place(spans))
        if one.tags is not None and other.tags is not None:
            tags = reports.setdefault("tags", TagReport())
            assert isinstance(tags, TagReport)
            tags.words += len(one.tags)
            tags.right += sum(a == b for a, b in zip(one.tags, other.tags, strict=True))
    return reports


def main_figure(report: Report) -> float:
    """The one number that says how good a head is, in per cent."""
    if isinstance(report, TreeReport):
        return report.all.f1
    if isinstance(report, EntityReport):
        return report.score.all.f1
    return report.accuracy
