"""The spans that a head finds in gold sentences: chosen from what, and which of them are right."""

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
    """The labelled spans of a batch, and all that their steps were chosen from.

    Each alternative has a doubt: how far it is below the choice, in logarithms. The choice itself,
    and whatever could not be chosen, has -inf. So even the last trace of doubt keeps its digits. Of
    boundaries that are asked in order, it is how far the answer that was given is from the other.
    """

    points: Floats  # (steps, n + 1)
    labels: Floats  # (steps, labels)
    step: Ints  # which step made each span, (spans,)
    nearest_first: bool = False

    def log_probs(self, ratio: float) -> Floats:
        """Those of the spans, at so many times the temperature: (spans,), of 64 bits."""
        points, labels = (np.exp(doubts / ratio) for doubts in (self.points, self.labels))
        if not self.nearest_first:
            points = points.sum(-1, keepdims=True)
        pointing = np.log1p(points, dtype=np.float64).sum(-1)
        each: Floats = -pointing - np.log1p(labels.sum(-1), dtype=np.float64)
        return each[self.step]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The labelled spans that a head finds in gold sentences, and whether they are right."""

    temperature: float  # at which they were found
    choices: tuple[Choices, ...]  # batch by batch
    right: Bools  # (spans,)
    sentence: Ints  # which sentence each span is of, (spans,)

    def log_probs(self, temperature: float) -> Floats:
        """Those of the spans at any temperature: (spans,)."""
        ratio = temperature / self.temperature
        return np.concatenate([some.log_probs(ratio) for some in self.choices])


def joined(parts: Sequence[Outcomes]) -> Outcomes:
    """The outcomes of several batches of a head."""
    return Outcomes(
        parts[0].temperature,
        tuple(some for part in parts for some in part.choices),
        np.concatenate([part.right for part in parts]),
        np.concatenate([part.sentence for part in parts]),
    )


def outcomes_of(
    model: Model,
    encoded: Encoded,
    *,
    layer: str,
    gold: Sequence[tuple[int, Parse]],
    comparison: Comparison,
) -> Outcomes:
    """The results of the model's own search in a batch, and their correctness.

    Args:
        model: to parse with.
        encoded: the sentences.
        layer: of the parses; at least one has it, and those that do not are left out.
        gold: the annotation of each sentence, with its number.
        comparison: of trees.
    """
    labels = model.numbers.labels[layer]
    rows = [row for row, (_, parse) in enumerate(gold) if layer_spans(parse, layer) is not None]
    points: list[Floats] = []
    chains: list[Floats] = []
    spans: dict[int, list[tuple[int, Span]]] = {row: [] for row in rows}  # and their steps
    steps = 0
    lengths = encoded.lengths[rows]
    is_label = layer == "tree" and model.numbers.wrapper_is_label
    stepper, rules = model.network.stepper(layer), model.rules(layer)
    search_in = (stepper, encoded.boundaries[rows], lengths, rules)
    policy: Policy | None = None
    if model.search.beams > 1:  # the same steps again, with all that they were chosen from
        found = beam(*search_in, beams=model.search.beams)
        policy = Given(Steps(found.boundaries[:, 0], found.labels[:, 0], found.counts[:, 0]))
    for choice in walk(*search_in, policy):
        kept = choice.label != FILLER  # a finished row has none either
        doubts = _answers(choice) if rules.nearest_first else _below(choice.points, choice.boundary)
        points.append(doubts[kept])
        chains.append(_below(choice.labels, choice.label)[kept])
        columns = (choice.rows, choice.where.cursor, choice.boundary, choice.label)
        for row, cursor, boundary, number in np.stack(columns, 1)[kept].tolist():
            start, end = sorted((cursor, boundary))
            # Each label of a chain is a span of its own, with the probability of the step.
            chain = split(labels.label(number) or "")
            if is_label and end - start == lengths[row] and chain[0] in WRAPPERS:
                chain = chain[1:]
            spans[rows[row]] += ((steps, Span(start, end, label)) for label in chain)
            steps += 1
    counted: list[tuple[int, bool, int]] = []
    for row, some in spans.items():
        number, parse = gold[row]
        marks = right_spans(parse, [span for _, span in some], layer=layer, comparison=comparison)
        counted += (
            (step, mark, number)
            for (step, _), mark in zip(some, marks, strict=True)
            if mark is not None
        )
    made = np.array(counted, dtype=np.intp).reshape(-1, 3)
    return Outcomes(
        rules.temperature,
        (Choices(np.concatenate(points), np.concatenate(chains), made[:, 0], rules.nearest_first),),
        made[:, 1].astype(np.bool_),
        made[:, 2],
    )


def right_spans(
    gold: Parse, spans: Sequence[Span], *, layer: str, comparison: Comparison
) -> list[bool | None]:
    """Which predicted spans are right, each matching one gold span; None: it does not count.

    Args:
        gold: the annotation.
        spans: those of a predicted layer, with single labels.
        layer: `tree` or `entities`.
        comparison: tells which brackets of trees count.
    """
    if layer == "tree":
        assert gold.tree is not None
        ours = side_of_tree(gold.tree, wrapper=False)
        # What one bracket more adds to the counts says what it is itself.
        counts = [
            comparison.compare(ours, Side(ours.words, ours.tags, spans[:number]))
            for number in range(len(spans) + 1)
        ]
        return [
            after.matched > before.matched if after.predicted > before.predicted else None
            for before, after in pairwise(counts)
        ]
    left = Counter((gold.entities or ()) + gold.dropped)
    marks: list[bool | None] = []
    for span in spans:
        marks.append(left[span] > 0)
        left[span] -= 1
    return marks


def _below(log_probs: Floats, chosen: Ints) -> Floats:
    """How far all others are below what was chosen, which itself is -inf: as `log_probs`."""
    choice = chosen[:, None]
    below: Floats = log_probs - np.take_along_axis(log_probs, choice, 1)
    np.put_along_axis(below, choice, MINUS, 1)
    return below


def _answers(choice: Choice) -> Floats:
    """How far each answer is from the other, no before the choice and yes there: (rows, n + 1)."""
    row = np.arange(len(choice.boundary))
    earlier, is_last = asked_before(choice.where, choice.points > MINUS, choice.boundary)
    doubts: Floats = np.where(earlier, choice.logits, MINUS)
    own = -choice.logits[row, choice.boundary]
    doubts[row, choice.boundary] = np.where(is_last, MINUS, own)
    return doubts
