"""Gold steps beside those that the model would rather take: where an annotation surprises it."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf
from typing import NamedTuple

from fencepost.model.following import walk
from fencepost.model.found import Steps
from fencepost.parser.encoding import Encoded
from fencepost.parser.model import Model
from fencepost.parser.scores import numbered
from fencepost.structure import Parse, Span
from fencepost.tasks.layers import layer_spans
from fencepost.transition import fill_gaps


class Preferred(NamedTuple):
    """The step that greedy search would take: the best boundary, and the best label there."""

    boundary: int
    span: Span  # which it would complete; a filler has no label
    log_prob: float

    @property
    def probability(self) -> float:
        """Of the step, given the gold steps before it."""
        return exp(self.log_prob)


class GoldStep(NamedTuple):
    """A step to a gold analysis, and what the model would rather do in its place."""

    span: Span  # which it completes; labels on the same words are joined, a filler has none
    log_prob: float  # given the gold steps before it; -inf: the model does not know the label
    rather: Preferred

    @property
    def probability(self) -> float:
        """Of the step, given the gold steps before it."""
        return exp(self.log_prob)

    @property
    def is_known(self) -> bool:
        """Whether the model has the label at all."""
        return self.log_prob > -inf

    @property
    def is_doubted(self) -> bool:
        """Whether the model would rather do something else, though it knows the label."""
        return self.is_known and self.span != self.rather.span


def gold_steps(
    model: Model, encoded: Encoded, parses: Sequence[Parse], *, layer: str
) -> list[tuple[GoldStep, ...]]:
    """The gold steps of a layer of each sentence; none where the layer is not annotated.

    Each step is judged given the gold steps before it. Behind a label that the model does not know
    it goes on as if the span had the label that the model finds best there.

    Args:
        model: which judges them.
        encoded: the sentences.
        parses: the gold annotation of each.
        layer: which of its layers.
    """
    spans = {row: layer_spans(parse, layer) for row, parse in enumerate(parses)}
    given = {row: some for row, some in spans.items() if some is not None}
    found: list[tuple[GoldStep, ...]] = [() for _ in parses]
    if not given:
        return found
    labels = model.numbers.labels[layer]
    numbers = [numbered(labels, some) for some in given.values()]
    walked = walk(
        model.network.head(layer),
        encoded.boundaries,
        encoded.lengths,
        Steps.of(numbers).to(encoded.lengths.device),
        row=encoded.lengths.new_tensor(list(given)),
    )
    columns = zip(*(column.tolist() for column in walked), strict=True)
    for (row, some), column in zip(given.items(), columns, strict=True):
        cursor = 0
        steps = []
        # Behind the last gold step there is padding, which `zip` leaves out.
        for span, log_prob, boundary, number, best in zip(fill_gaps(some), *column, strict=False):
            start, end = sorted((cursor, boundary))
            rather = Preferred(boundary, Span(start, end, labels.label(number)), best)
            steps.append(GoldStep(span, log_prob, rather))
            cursor = span.end
        found[row] = tuple(steps)
    return found
