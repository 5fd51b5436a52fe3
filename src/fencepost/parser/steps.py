"""Steps as a person is shown them: what each was chosen from, and how sure the choice was."""

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
    """A label that the span may have; None: it is a filler."""

    label: str | None
    probability: float


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a parse: found by a parser, or taken along a given analysis."""

    sentence: Sentence
    layer: str
    number: int  # of the step in its layer, from 1
    cursor: int
    span: Span  # which it completes; labels on the same words are joined, a filler has none
    log_prob: float  # of boundary and label, given the steps before; -inf: an unknown label
    rather: FoundSpan  # what greedy search would complete here; the same span if it agrees
    _points: Floats = field(repr=False, compare=False)  # log-probabilities of all boundaries
    _chains: Floats = field(repr=False, compare=False)  # those of labels at the boundary
    _labels: Labels = field(repr=False, compare=False)

    @property
    def probability(self) -> float:
        """Of boundary and label, given the steps before."""
        return exp(self.log_prob)

    @property
    def boundary(self) -> int:
        """The boundary that it points to."""
        return other_end(self.span, self.cursor)

    @property
    def rather_boundary(self) -> int:
        """The boundary that greedy search would point to."""
        return other_end(self.rather, self.cursor)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The boundaries that may be pointed to, from left to right."""
        return tuple(Candidate(*item) for item in _likely(self._points))

    @property
    def label_probability(self) -> float:
        """Of the label alone, given the boundary."""
        number = self._labels.number(self.span.label)
        return 0.0 if number is None else exp(self._chains[number])

    @property
    def runner_up(self) -> LabelChoice | None:
        """The best other label; None if no other is allowed."""
        own = self._labels.number(self.span.label)
        others = [item for item in _likely(self._chains) if item[0] != own]
        if not others:
            return None
        number, probability = max(others, key=lambda item: item[1])
        return LabelChoice(self._labels.label(number), probability)

    @property
    def is_known(self) -> bool:
        """Whether the model has the label at all."""
        return self.log_prob > -inf

    @property
    def is_doubted(self) -> bool:
        """Whether the model would rather do something else, though it knows the label."""
        return self.is_known and self.span != self.rather


def other_end(span: Span, cursor: int) -> int:
    """The boundary that is pointed to from the cursor when a span is completed."""
    return span.start if span.end == cursor else span.end


def _likely(log_probs: Floats) -> Iterator[tuple[int, float]]:
    """All that is possible, with its probability."""
    for number, log_prob in enumerate(log_probs.tolist()):
        if log_prob > -inf:
            yield number, exp(log_prob)


def greedy_steps(
    model: Model, encoded: Encoded, layer: str, limits: RowLimits | None
) -> Iterator[Step]:
    """The steps of greedy search in one sentence, one after the other.

    Args:
        model: takes them.
        encoded: one sentence.
        layer: `tree` or `entities`.
        limits: the steps that constraints leave.
    """
    (sentence,) = encoded.sentences
    rules = model.rules(layer, limits=limits)
    choices = walk(model.network.stepper(layer), encoded.boundaries, encoded.lengths, rules)
    for _, step in _shown(choices, rules, [sentence], layer, model.numbers.labels[layer]):
        yield step


def given_steps(
    model: Model, encoded: Encoded, parses: Sequence[Parse], *, layer: str
) -> list[tuple[Step, ...]]:
    """The steps to given analyses of sentences; none where an analysis does not have the layer.

    Behind a label that the model does not know it goes on as if the span had the best label that
    the model knows.

    Args:
        model: judges them.
        encoded: the sentences.
        parses: an analysis of each.
        layer: `tree` or `entities`.
    """
    is_label = model.numbers.wrapper_is_label
    spans = {
        row: layer_spans(parse, layer, with_wrapper=is_label) for row, parse in enumerate(parses)
    }
    given = {row: some for row, some in spans.items() if some is not None}
    labels = model.numbers.labels[layer]
    rows = list(given)
    rules = model.rules(layer)
    choices = walk(
        model.network.stepper(layer),
        encoded.boundaries,
        encoded.lengths,
        rules,
        Given(Steps.of([numbered(some, labels) for some in given.values()])),
        sentence=np.array(rows, dtype=np.intp),
    )
    steps: list[list[Step]] = [[] for _ in parses]
    filled = [fill_gaps(some) for some in given.values()]
    sentences = [encoded.sentences[row] for row in rows]
    for row, step in _shown(choices, rules, sentences, layer, labels, filled):
        steps[rows[row]].append(step)
    return [tuple(some) for some in steps]


def _shown(
    choices: Iterable[Choice],
    rules: Rules,
    sentences: Sequence[Sentence],
    layer: str,
    labels: Labels,
    given: Sequence[Sequence[Span]] | None = None,
) -> Iterator[tuple[int, Step]]:
    """The steps of a walk, each with the number of its row.

    Args:
        choices: of the walk
        rules: that tell which choice is best
        sentences: of its rows
        layer: `tree` or `entities`
        labels: of that layer
        given: the spans that the steps complete; None: those that were chosen
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
            name, likely = labels.label(int(label[index])), exp(log_probs[index])
            rather = FoundSpan(start, end, name, sentence, likely)
            span = Span(*rather) if given is None else given[row][number]
            points = choice.points[index, : len(sentence) + 1].copy()
            own = choice.labels[index].copy()
            known = labels.number(span.label)
            log_prob = -inf if known is None else points[other_end(span, cursor)] + own[known]
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
                    own,
                    labels,
                ),
            )
