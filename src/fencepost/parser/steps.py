"""The steps of a search as they are made, with all that they were chosen from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import exp
from typing import NamedTuple

from torch import Tensor

from fencepost.batching.vocabulary import Labels
from fencepost.model.constraints import RowLimits, limits_of
from fencepost.model.search import Taken, stream
from fencepost.parser.encoding import Encoded
from fencepost.parser.model import Model
from fencepost.structure import Sentence, Span
from fencepost.transition import Constraints


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
    """One step of a parse."""

    sentence: Sentence
    layer: str
    number: int  # of the step in its layer, from 1
    cursor: int
    candidates: tuple[Candidate, ...]  # from left to right
    span: Span  # which is complete now; labels on the same words are joined
    probability: float  # of boundary and label, given the steps before
    label_probability: float  # of the label alone, given the boundary
    runner_up: LabelChoice | None  # the second best label; None: there was no other

    @property
    def boundary(self) -> int:
        """Where it points to."""
        return self.span.start if self.span.end == self.cursor else self.span.end


def steps_of(
    model: Model, encoded: Encoded, layer: str, constraints: Constraints | None
) -> Iterator[Step]:
    """The steps of greedy search in one sentence.

    Args:
        model: which takes them.
        encoded: one sentence.
        layer: which of its layers.
        constraints: what the parse has to obey.
    """
    (sentence,) = encoded.sentences
    head, labels = model.network.head(layer), model.numbers.labels[layer]
    limits = limits_of([constraints], labels, [len(sentence)], open_root=head.open_root)
    rows = RowLimits.of(limits, labels, boundaries=len(sentence) + 1)
    rows = None if rows is None else rows.to(encoded.lengths.device)
    cursor = 0
    taken = stream(head, encoded.boundaries[0], constraints=rows)
    for number, step in enumerate(taken, 1):
        start, end = sorted((cursor, step.boundary))
        points = _likely(step.points)
        best, *others = _best_labels(step, labels)
        yield Step(
            sentence,
            layer,
            number,
            cursor,
            tuple(Candidate(*item) for item in points.items()),
            Span(start, end, best.label),
            points[step.boundary] * best.probability,
            best.probability,
            others[0] if others else None,
        )
        cursor = end


def _likely(log_probs: Tensor) -> Mapping[int, float]:
    """The probabilities of all that is possible."""
    return {
        number: exp(log_prob)
        for number, log_prob in enumerate(log_probs.tolist())
        if log_prob > float("-inf")
    }


def _best_labels(step: Taken, labels: Labels) -> list[LabelChoice]:
    """The label that was taken, and the second best, if there is one."""
    likely = _likely(step.labels)
    others = sorted((number for number in likely if number != step.label), key=lambda n: -likely[n])
    return [
        LabelChoice(labels.label(number), likely[number]) for number in (step.label, *others[:1])
    ]
