"""Steps with their alternatives and probabilities, to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import exp, inf
from typing import NamedTuple

import numpy as np

from fencepost.batching.arrays import Floats
from fencepost.batching.steps import Steps, numbered
from fencepost.batching.vocabulary import Labels
from fencepost.checkpoints.model import Model
from fencepost.decoding.constraints import RowLimits
from fencepost.decoding.rules import Rules
from fencepost.decoding.walk import Choice, Given, probability_of, walk
from fencepost.parser.encoding import Encoded
from fencepost.structure import FoundSpan, Parse, Sentence, Span
from fencepost.tasks.layers import layer_spans
from fencepost.transition import fill_gaps


class Candidate(NamedTuple):
    """A boundary that may be pointed to."""

    boundary: int
    probability: float


class LabelChoice(NamedTuple):
    """A label that the span may have; None stands for a filler."""

    label: str | None
    probability: float


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a parse: of greedy search, or of forced decoding along an analysis."""

    sentence: Sentence
    layer: str
    number: int  # of the step in its layer, from 1
    cursor: int
    span: Span  # the completed span; labels on the same words are joined, a filler has none
    log_prob: float  # of boundary and label, given the steps before; -inf: an unknown label
    rather: FoundSpan  # the span that greedy search would complete; the same if it agrees
    _points: Floats = field(repr=False, compare=False)  # log-probabilities of all boundaries
    _chains: Floats = field(repr=False, compare=False)  # of all labels at the boundary
    _labels: Labels = field(repr=False, compare=False)

    @property
    def probability(self) -> float:
        """The probability of boundary and label, given the steps before."""
        return exp(self.log_prob)

    @property
    def boundary(self) -> int:
        """The boundary that the step points to."""
        return other_end(self.span, self.cursor)

    @property
    def rather_boundary(self) -> int:
        """The boundary that greedy search would point to."""
        return other_end(self.rather, self.cursor)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The boundaries that may be pointed to, from left to right."""
        return tuple(Candidate(*item) for item in _possible(self._points))

    @property
    def label_probability(self) -> float:
        """The probability of the label, given the boundary."""
        number = self._labels.number(self.span.label)
        return 0.0 if number is None else exp(self._chains[number])

    @property
    def runner_up(self) -> LabelChoice | None:
        """The best other label; None if no other is allowed."""
        number = self._labels.number(self.span.label)
        others = [item for item in _possible(self._chains) if item[0] != number]
        if not others:
            return None
        number, probability = max(others, key=lambda item: item[1])
        return LabelChoice(self._labels.label(number), probability)

    @property
    def is_known(self) -> bool:
        """Whether the model has the label."""
        return self.log_prob > -inf

    @property
    def is_doubted(self) -> bool:
        """Whether greedy search would take another step, although the label is known."""
        return self.is_known and self.span != self.rather


def other_end(span: Span, cursor: int) -> int:
    """The boundary that a step from the cursor points to, by the span that it completes."""
    return span.start if span.end == cursor else span.end


def _possible(log_probs: Floats) -> Iterator[tuple[int, float]]:
    """The numbers of all possible choices, with their probabilities."""
    for number, log_prob in enumerate(log_probs.tolist()):
        if log_prob > -inf:
            yield number, exp(log_prob)


def greedy_steps(
    model: Model, encoded: Encoded, layer: str, limits: RowLimits | None
) -> Iterator[Step]:
    """The steps of greedy search in one sentence, one by one.

    Args:
        model: the model to parse with.
        encoded: one sentence.
        layer: `tree` or `entities`.
        limits: the steps that constraints allow.
    """
    rules = model.rules(layer, limits=limits)
    choices = walk(model.network.stepper(layer), encoded.boundaries, encoded.lengths, rules)
    steps = _steps(choices, rules, encoded.sentences, layer, model.numbers.labels[layer])
    return (step for _, step in steps)


def forced_steps(
    model: Model, encoded: Encoded, parses: Sequence[Parse], *, layer: str
) -> list[tuple[Step, ...]]:
    """Forced decoding: the steps to a parse of each sentence; none without the layer.

    After an unknown label, decoding goes on as if the span had the best label that is known.

    Args:
        model: the model to decode with.
        encoded: the sentences.
        parses: a parse of each sentence.
        layer: `tree` or `entities`.
    """
    is_label = model.numbers.wrapper_is_label
    gold = {
        row: spans
        for row, parse in enumerate(parses)
        if (spans := layer_spans(parse, layer, with_wrapper=is_label)) is not None
    }
    rows = list(gold)
    labels = model.numbers.labels[layer]
    rules = model.rules(layer)
    choices = walk(
        model.network.stepper(layer),
        encoded.boundaries,
        encoded.lengths,
        rules,
        Given(Steps.of([numbered(spans, labels) for spans in gold.values()])),
        sentence=np.array(rows, dtype=np.intp),
    )
    steps: list[list[Step]] = [[] for _ in parses]
    filled = [fill_gaps(spans) for spans in gold.values()]
    sentences = [encoded.sentences[row] for row in rows]
    for row, step in _steps(choices, rules, sentences, layer, labels, filled):
        steps[rows[row]].append(step)
    return list(map(tuple, steps))


def _steps(
    choices: Iterable[Choice],
    rules: Rules,
    sentences: Sequence[Sentence],
    layer: str,
    labels: Labels,
    gold: Sequence[Sequence[Span]] | None = None,
) -> Iterator[tuple[int, Step]]:
    """The steps of a walk, each with the number of its row.

    Args:
        choices: the choices of the walk.
        rules: the rules of the walk, which tell the best choice.
        sentences: the sentences of its rows.
        layer: `tree` or `entities`.
        labels: the labels of the layer.
        gold: the spans that the steps complete; None: the best ones.
    """
    for number, choice in enumerate(choices):
        boundary = rules.best_point(choice.where, choice.logits, choice.points)
        chains = choice.labels_at(boundary)
        label = chains.argmax(-1)
        log_probs = probability_of(choice.points, boundary) + probability_of(chains, label)
        for index in (~choice.where.is_final).nonzero()[0].tolist():
            row, cursor = int(choice.rows[index]), int(choice.where.cursor[index])
            sentence = sentences[row]
            start, end = sorted((cursor, int(boundary[index])))
            name, probability = labels.label(int(label[index])), exp(log_probs[index])
            rather = FoundSpan(start, end, name, sentence, probability)
            span = Span(*rather) if gold is None else gold[row][number]
            points = choice.points[index, : len(sentence) + 1].copy()
            label_log_probs = choice.labels[index].copy()
            log_prob = -inf
            if (known := labels.number(span.label)) is not None:
                log_prob = points[other_end(span, cursor)] + label_log_probs[known]
            yield (
                row,
                Step(
                    sentence,
                    layer,
                    number + 1,
                    cursor,
                    span,
                    float(log_prob),
                    rather,
                    points,
                    label_log_probs,
                    labels,
                ),
            )
