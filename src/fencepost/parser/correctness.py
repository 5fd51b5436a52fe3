"""Correctness of the spans that a head predicts, with the alternatives of their steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fencepost.batching.arrays import Bools, Floats, Ints
from fencepost.batching.steps import Steps
from fencepost.batching.vocabulary import FILLER
from fencepost.checkpoints.model import Model
from fencepost.decoding.beam import beam
from fencepost.decoding.rules import MINUS, asked_before
from fencepost.decoding.walk import Choice, Given, Policy, walk
from fencepost.parser.encoding import Encoded
from fencepost.scoring import Comparison, Side, side_of_tree
from fencepost.structure import Parse, Span
from fencepost.structure.tree import WRAPPERS
from fencepost.tasks.labels import split
from fencepost.tasks.layers import layer_spans


@dataclass(frozen=True, slots=True)
class Choices:
    """The steps of a batch that completed labelled spans, with their alternatives.

    Each alternative has a doubt: its log-probability minus that of the choice, so even the
    smallest one keeps its digits. The choice itself and impossible alternatives have -inf. With
    nearest-first pointing, a doubt belongs to each yes/no decision: the log-odds of the answer
    that was not taken.
    """

    points: Floats  # (steps, n + 1)
    labels: Floats  # (steps, labels)
    step: Ints  # the step of each span, (spans,)
    nearest_first: bool = False

    def log_probs(self, ratio: float) -> Floats:
        """The log-probabilities of the spans with the temperature multiplied: (spans,), float64."""
        points, labels = (np.exp(doubts / ratio) for doubts in (self.points, self.labels))
        if not self.nearest_first:
            points = points.sum(-1, keepdims=True)
        pointing = np.log1p(points, dtype=np.float64).sum(-1)
        log_probs: Floats = -pointing - np.log1p(labels.sum(-1), dtype=np.float64)
        return log_probs[self.step]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The labelled spans that a head predicts in gold sentences, and their correctness."""

    temperature: float  # of the search that predicted them
    choices: tuple[Choices, ...]  # batch by batch
    right: Bools  # (spans,)
    sentence: Ints  # the number of each span's sentence, (spans,)

    @classmethod
    def concatenate(cls, batches: Sequence[Outcomes]) -> Outcomes:
        """The outcomes of several batches of a head."""
        return cls(
            batches[0].temperature,
            tuple(choices for batch in batches for choices in batch.choices),
            np.concatenate([batch.right for batch in batches]),
            np.concatenate([batch.sentence for batch in batches]),
        )

    def log_probs(self, temperature: float) -> Floats:
        """The log-probabilities of the spans at another temperature: (spans,)."""
        ratio = temperature / self.temperature
        return np.concatenate([choices.log_probs(ratio) for choices in self.choices])


def outcomes_of(
    model: Model,
    encoded: Encoded,
    *,
    layer: str,
    gold: Sequence[tuple[int, Parse]],
    comparison: Comparison,
) -> Outcomes:
    """Parse a layer of a batch with the model's own search, and mark the spans right or wrong.

    Args:
        model: the model to parse with.
        encoded: the sentences.
        layer: the layer; at least one gold parse has it, and those without it are left out.
        gold: the gold parse of each sentence, with the number of the sentence.
        comparison: compares trees.
    """
    labels = model.numbers.labels[layer]
    rows = [row for row, (_, parse) in enumerate(gold) if layer_spans(parse, layer) is not None]
    points: list[Floats] = []
    label_doubts: list[Floats] = []
    spans: dict[int, list[tuple[int, Span]]] = {row: [] for row in rows}  # with their steps
    steps = 0
    lengths = encoded.lengths[rows]
    is_label = layer == "tree" and model.numbers.wrapper_is_label
    rules = model.rules(layer)
    space = (model.network.stepper(layer), encoded.boundaries[rows], lengths, rules)
    policy: Policy | None = None
    if model.search.beams > 1:  # force the same steps, to see their alternatives
        best = beam(*space, beams=model.search.beams)
        policy = Given(Steps(best.boundaries[:, 0], best.labels[:, 0], best.counts[:, 0]))
    for choice in walk(*space, policy):
        labelled = choice.label != FILLER  # finished rows have none either
        doubts = (
            _decision_doubts(choice)
            if rules.nearest_first
            else _doubts(choice.points, choice.boundary)
        )
        points.append(doubts[labelled])
        label_doubts.append(_doubts(choice.labels, choice.label)[labelled])
        columns = (choice.rows, choice.where.cursor, choice.boundary, choice.label)
        for row, cursor, boundary, number in np.stack(columns, 1)[labelled].tolist():
            start, end = sorted((cursor, boundary))
            # Each label of a chain is a span of its own, with the probability of the step.
            chain = split(labels.label(number) or "")
            if is_label and end - start == lengths[row] and chain[0] in WRAPPERS:
                chain = chain[1:]
            spans[rows[row]] += ((steps, Span(start, end, label)) for label in chain)
            steps += 1
    marked: list[tuple[int, bool, int]] = []
    for row, predicted in spans.items():
        number, parse = gold[row]
        marks = right_spans(
            parse, [span for _, span in predicted], layer=layer, comparison=comparison
        )
        marked += (
            (step, mark, number)
            for (step, _), mark in zip(predicted, marks, strict=True)
            if mark is not None
        )
    table = np.array(marked, dtype=np.intp).reshape(-1, 3)
    choices = Choices(
        np.concatenate(points), np.concatenate(label_doubts), table[:, 0], rules.nearest_first
    )
    return Outcomes(rules.temperature, (choices,), table[:, 1].astype(np.bool_), table[:, 2])


def right_spans(
    gold: Parse, spans: Sequence[Span], *, layer: str, comparison: Comparison
) -> list[bool | None]:
    """Whether each predicted span matches a gold span of its own; None: it does not count.

    Args:
        gold: the gold parse.
        spans: the predicted spans, with single labels.
        layer: `tree` or `entities`.
        comparison: tells which brackets of trees count.
    """
    if layer == "tree":
        assert gold.tree is not None
        side = side_of_tree(gold.tree, wrapper=False)
        # The difference that each bracket makes to the counts is its own result.
        counts = [
            comparison.compare(side, Side(side.words, side.tags, spans[:number]))
            for number in range(len(spans) + 1)
        ]
        return [
            after.matched > before.matched if after.predicted > before.predicted else None
            for before, after in pairwise(counts)
        ]
    unmatched = Counter((gold.entities or ()) + gold.dropped)
    marks: list[bool | None] = []
    for span in spans:
        marks.append(unmatched[span] > 0)
        unmatched[span] -= 1
    return marks


def _doubts(log_probs: Floats, chosen: Ints) -> Floats:
    """The log-probabilities relative to that of the choice, which itself gets -inf."""
    choice = chosen[:, None]
    doubts: Floats = log_probs - np.take_along_axis(log_probs, choice, 1)
    np.put_along_axis(doubts, choice, MINUS, 1)
    return doubts


def _decision_doubts(choice: Choice) -> Floats:
    """The log-odds of yes before the choice, and of no at it: (rows, n + 1)."""
    row = np.arange(len(choice.boundary))
    earlier, is_last = asked_before(choice.where, choice.points > MINUS, choice.boundary)
    doubts: Floats = np.where(earlier, choice.logits, MINUS)
    no = -choice.logits[row, choice.boundary]
    doubts[row, choice.boundary] = np.where(is_last, MINUS, no)
    return doubts
