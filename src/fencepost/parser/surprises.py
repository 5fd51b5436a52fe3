"""Gold steps beside those that the model would rather take: where an annotation surprises it."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf
from typing import NamedTuple

import torch
from torch import Tensor

from fencepost.model.fast import FastStepping
from fencepost.model.found import Steps
from fencepost.model.head import PointingHead
from fencepost.model.search import First
from fencepost.model.stepping import MINUS, Rules
from fencepost.parser.encoding import Encoded
from fencepost.parser.model import Model
from fencepost.structure import Parse, Span
from fencepost.tasks.layers import layer_spans
from fencepost.transition import fill_gaps, pointings

_UNKNOWN = -1  # the number of a label that the head does not have


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
    numbers = [
        [(boundary, _number(labels.number(label))) for boundary, label in pointings(some)]
        for some in given.values()
    ]
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


def _number(known: int | None) -> int:
    return _UNKNOWN if known is None else known


class Walked(NamedTuple):
    """What was met along given steps, all (parses, steps); it means nothing behind the last."""

    log_probs: Tensor  # of the given steps, each given those before it; -inf: unknown labels
    boundaries: Tensor  # where greedy search would point to at each
    labels: Tensor  # the label that it would choose there
    best: Tensor  # the log-probability of that step


@torch.no_grad()
def walk(
    head: PointingHead,
    boundaries: Tensor,
    lengths: Tensor,
    steps: Steps,
    *,
    row: Tensor,
    first: First = FastStepping.first,
) -> Walked:
    """Go along given steps under the canonical rules, and look at the best step at each.

    Args:
        head: which parses.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,), at least 1
        steps: of `parses` parses; a label that the head does not know is -1
        row: the row that each parse belongs to, (parses,)
        first: which stepping
    """
    stepping = first(head, boundaries, lengths, Rules(True, head.open_root)).rows(row)
    columns: list[tuple[Tensor, ...]] = []
    for number in range(steps.boundaries.shape[1]):
        boundary, label = steps.boundaries[:, number], steps.labels[:, number]
        points = stepping.pointing()
        point, chosen = points.max(-1)
        given, best = stepping.labelling(torch.stack((boundary, chosen), 1)).unbind(1)
        known = label >= 0
        label = torch.where(known, label, given[:, 1:].argmax(-1) + 1)  # a span, and no filler
        cost = points.gather(1, boundary[:, None]) + given.gather(1, label[:, None])
        best_label = best.max(-1)
        columns.append(
            (
                cost[:, 0].masked_fill(~known, MINUS),
                chosen,
                best_label.indices,
                point + best_label.values,
            )
        )
        # A finished row points to 0 without a label, which changes nothing.
        stepping = stepping.point(boundary, label)
    return Walked(*(torch.stack(column, 1) for column in zip(*columns, strict=True)))
