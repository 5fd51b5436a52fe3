"""Does `fencepost audit` find errors that were planted on purpose?

    python experiments/audit.py [--quick] [--seeds 1 2 3 4 5]

In a copy of GUM dev in memory, one sentence in twenty gets one error: in the trees another label,
or a prepositional phrase under the next higher or next lower span; in the entities another type, a
boundary one word off, or one entity less. Then the sentences are ranked by what the shipped model
finds least likely. Of k planted errors, how many are among the first k and the first 2 k sentences,
how often is the step that is shown there the one that was spoilt, and how often would the model
rather do what stood there before?

The rest of the corpus has errors of its own, and the model makes others: no ranking can be perfect.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from random import Random

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from fencepost.checkpoints.model import Model
from fencepost.cli.tables import table
from fencepost.formats import ParseReader, ReadSettings
from fencepost.parser.parser import load
from fencepost.parser.steps import Step
from fencepost.run.audit import Audit, Finding, Placed, audit_parses
from fencepost.structure import Parse, Span, Tree
from fencepost.structure.span import by_place, first_crossing
from fencepost.tasks.layers import layer_spans
from fencepost.transition import fill_gaps

GUM = Path("../shared/data/gum")
FILES = {"tree": "const/dev.ptb", "entities": "ner/dev.jsonl"}
SHARE = 0.05  # of all sentences get an error
QUICK = 300  # sentences

Spans = tuple[Span, ...]
Planting = Callable[[Spans, Random, Sequence[str], int], Iterator[Spans]]


def relabelled(spans: Spans, random: Random, labels: Sequence[str], n: int) -> Iterator[Spans]:
    """Ways to give a span another label, by how frequent labels are; never the whole sentence."""
    for index, span in enumerate(spans):
        if span[:2] != (0, n):
            other = span.label
            while other == span.label:
                other = random.choice(labels)
            yield (*spans[:index], span.relabelled(other), *spans[index + 1 :])


def raised(spans: Spans, random: Random, labels: Sequence[str], n: int) -> Iterator[Spans]:
    """Ways to take a prepositional phrase out of the span that ends with it."""
    for phrase, holder in _phrases(spans):
        if holder.end == phrase.end and holder.start < phrase.start and holder[:2] != (0, n):
            shorter = Span(holder.start, phrase.start, holder.label)
            rest = [span for span in spans if span is not holder]
            # What held a phrase and its modifier is not needed around the phrase alone.
            inner = [] if any(span[:2] == shorter[:2] for span in rest) else [shorter]
            yield tuple(by_place([*rest, *inner]))


def lowered(spans: Spans, random: Random, labels: Sequence[str], n: int) -> Iterator[Spans]:
    """Ways to put a prepositional phrase into the noun or verb phrase on its left."""
    for phrase, holder in _phrases(spans):
        left = [
            span
            for span in spans
            if span.end == phrase.start and holder.start <= span.start and span[:2] != holder[:2]
        ]
        if not left:
            continue
        sister = left[0]  # the largest
        if (sister.start, phrase.end) == holder[:2] or sister.label not in ("NP", "VP"):
            continue
        longer = Span(sister.start, phrase.end, sister.label)
        rest = [span for span in spans if sister.label == "NP" or span is not sister]
        yield tuple(by_place([*rest, longer]))


def _phrases(spans: Spans) -> Iterator[tuple[Span, Span]]:
    """Each prepositional phrase that is no part of a chain, with what holds it directly."""
    for phrase in spans:
        holders = [
            span
            for span in spans
            if span is not phrase and span.start <= phrase.start and phrase.end <= span.end
        ]
        if phrase.label == "PP" and holders:
            holder = min(holders, key=lambda span: span.end - span.start)
            if holder[:2] != phrase[:2]:
                yield phrase, holder


def shifted(spans: Spans, random: Random, labels: Sequence[str], n: int) -> Iterator[Spans]:
    """Ways to move one boundary of an entity by a word."""
    for index, (start, end, label) in enumerate(spans):
        others = (*spans[:index], *spans[index + 1 :])
        for moved in (
            Span(start - 1, end, label),
            Span(start + 1, end, label),
            Span(start, end - 1, label),
            Span(start, end + 1, label),
        ):
            fits = 0 <= moved.start < moved.end <= n and moved not in others
            if fits and first_crossing((*others, moved)) is None:
                yield (*others, moved)


def dropped(spans: Spans, random: Random, labels: Sequence[str], n: int) -> Iterator[Spans]:
    """Ways to leave an entity out."""
    for index in range(len(spans)):
        yield (*spans[:index], *spans[index + 1 :])


KINDS: dict[str, dict[str, Planting]] = {
    "tree": {"another label": relabelled, "PP too high": raised, "PP too low": lowered},
    "entities": {"another type": relabelled, "boundary off": shifted, "left out": dropped},
}


@dataclass(frozen=True)
class Planted:
    """An error, and how the annotation was before."""

    kind: str
    before: Parse
    after: Parse
    layer: str

    def is_mended_by(self, step: Step) -> bool:
        """Whether what the model would rather do is what was done there before."""
        one, other = self.parting
        if step.span == one and step.rather == other:
            return True
        return step.rather in set(_steps(self.before, self.layer)) - self._steps_after

    def is_at(self, step: Step) -> bool:
        """Whether a gold step is of the error's making, or the model would mend the error there."""
        return step.span in self.made or self.is_mended_by(step)

    @property
    def parting(self) -> tuple[Span, Span]:
        """The first step that differs: as it is with the error, and as it was before."""
        ways = zip(_steps(self.after, self.layer), _steps(self.before, self.layer), strict=False)
        return next((one, other) for one, other in ways if one != other)

    @property
    def made(self) -> set[Span]:
        """The steps of the error's making."""
        return self._steps_after - set(_steps(self.before, self.layer)) | {self.parting[0]}

    @property
    def share_of_steps(self) -> float:
        """How many of the sentence's steps are of the error's making."""
        return len(self.made) / len(self._steps_after)

    @property
    def _steps_after(self) -> set[Span]:
        return set(_steps(self.after, self.layer))


def _steps(parse: Parse, layer: str) -> tuple[Span, ...]:
    return fill_gaps(layer_spans(parse, layer) or ())


def plant(
    gold: Sequence[Parse], layer: str, random: Random
) -> tuple[list[Parse], dict[int, Planted]]:
    """A copy of the gold sentences with errors in some, by their numbers."""
    labels = _labels(gold, layer)
    copy = list(gold)
    planted: dict[int, Planted] = {}
    wanted = round(SHARE * len(gold))
    for number in random.sample(range(len(gold)), len(gold)):
        if len(planted) == wanted:
            break
        kind = random.choice(list(KINDS[layer]))
        spans = _spans(gold[number], layer)
        ways = list(KINDS[layer][kind](spans, random, labels, len(gold[number].words)))
        if ways:
            copy[number] = _with_spans(gold[number], layer, random.choice(ways))
            planted[number] = Planted(kind, gold[number], copy[number], layer)
    return copy, planted


def _labels(gold: Sequence[Parse], layer: str) -> list[str]:
    """The labels of spans below the root, each as often as it occurs."""
    return [
        span.label
        for parse in gold
        for span in _spans(parse, layer)
        if span.label and (layer == "entities" or span[:2] != (0, len(parse.words)))
    ]


def _spans(parse: Parse, layer: str) -> Spans:
    if layer == "tree":
        assert parse.tree is not None
        return parse.tree.spans
    return parse.entities or ()


def _with_spans(parse: Parse, layer: str, spans: Spans) -> Parse:
    if layer == "tree":
        return replace(parse, tree=Tree(parse.sentence, spans))
    return replace(parse, entities=spans)


@dataclass(frozen=True)
class Ranking:
    """How sentences are ranked: by the most surprising step in each."""

    name: str
    surprise: Callable[[Step], float]

    def ranked(self, findings: Sequence[Finding]) -> list[tuple[int, Step]]:
        """The number of each sentence and the step that is shown, the most surprising first."""
        shown = [(finding.line, max(finding.steps, key=self.surprise)) for finding in findings]
        return sorted(shown, key=lambda row: -self.surprise(row[1]))


RANKINGS = (
    Ranking("probability of the gold step", lambda step: -step.log_prob),
    Ranking(
        "gap to the best step", lambda step: log(step.rather.probability or 1.0) - step.log_prob
    ),
)


@dataclass(frozen=True)
class Trial:
    """One copy with errors, and what was found in it."""

    layer: str
    sentences: int
    planted: dict[int, Planted]
    found: Audit

    def counts(self, ranking: Ranking) -> dict[str, Counter[str]]:
        """How many errors are among the first k and 2 k sentences, by kind; k are planted."""
        counts = {kind: Counter[str]() for kind in KINDS[self.layer]}
        for error in self.planted.values():
            counts[error.kind]["planted"] += 1
        ranked = ranking.ranked(self.found.findings)
        for times in (1, 2):
            for number, step in ranked[: times * len(self.planted)]:
                if number in self.planted:
                    error = self.planted[number]
                    count = counts[error.kind]
                    count[f"sentence@{times}k"] += 1
                    count[f"step@{times}k"] += error.is_at(step)
                    count[f"mended@{times}k"] += error.is_mended_by(step)
        return counts


NAMES = [f"{what}@{times}k" for times in (1, 2) for what in ("sentence", "step", "mended")]


def measured(trials: Sequence[Trial], ranking: Ranking) -> str:
    """A table of how many planted errors are found, by kind, over all trials."""
    counts: dict[str, Counter[str]] = {}
    for trial in trials:
        for kind, count in trial.counts(ranking).items():
            counts[kind] = counts.get(kind, Counter()) + count
    total = sum(counts.values(), Counter())
    rows = [["", "planted", *NAMES]]
    for kind, count in [*counts.items(), ("all", total)]:
        rows.append([kind, *(f"{count[name]:,}" for name in ("planted", *NAMES))])
    every = total["planted"]
    rows.append(["per cent", "", *(f"{100 * total[name] / every:.1f}" for name in NAMES)])
    errors = [error for trial in trials for error in trial.planted.values()]
    sentence = 100 * every / sum(trial.sentences for trial in trials)
    step = sentence * sum(error.share_of_steps for error in errors) / every
    chances = [f"{times * chance:.1f}" for times in (1, 2) for chance in (sentence, step)]
    rows.append(["by chance", "", *chances[:2], "", *chances[2:], ""])
    return table(rows)


def run(model: Model, layer: str, gold: Sequence[Parse], seed: int) -> Trial:
    """Plant errors in a layer, and look for them."""
    copy, planted = plant(gold, layer, Random(seed))
    placed = [Placed(FILES[layer], number, parse) for number, parse in enumerate(copy)]
    found = audit_parses(model, placed, tasks=[layer], top=None)
    return Trial(layer, len(gold), planted, found)


def main() -> None:
    """Plant errors in trees, and then in entities."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--model", default="en-small", help="a shipped model, or a folder")
    parser.add_argument("--data", type=Path, default=GUM, help="the folder of GUM")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="a trial with each")
    parser.add_argument("--quick", action="store_true", help=f"only {QUICK} sentences")
    options = parser.parse_args()
    model = load(options.model, threads=1).model
    settings = ReadSettings(drop_functions=True)
    for layer, path in FILES.items():
        gold = list(ParseReader(options.data / path, settings=settings))
        gold = gold[: QUICK if options.quick else None]
        trials = [run(model, layer, gold, seed) for seed in options.seeds]
        print(f"{layer}: {len(gold):,} sentences, seeds {' '.join(map(str, options.seeds))}")
        for trial in trials:
            found = trial.found
            print(
                f"  {len(trial.planted)} errors; of {found.steps[layer]:,} gold steps the model "
                f"would take {found.doubted[layer]:,} others, in {len(found.findings):,} sentences;"
                f" {sum(one.count for one in found.unknown_labels)} labels unknown"
            )
        for ranking in RANKINGS:
            print(f"\nranked by {ranking.name}\n{measured(trials, ranking)}")
        print(flush=True)


if __name__ == "__main__":
    main()
