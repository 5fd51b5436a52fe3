"""Steps that cost little: the fast twin of `stepping.PlainStepping`.

Wherever two linear layers meet, their weights are multiplied out once for a head. All that depends
on boundaries alone is computed once for a sentence: the first layers of MLP_span and MLP_label are
linear in `b_end - b_start`, so that a step subtracts two projections. What is left of a step is one
product with the decoder's state, one with the span, one with the labels and one with the sentence's
boundaries.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch.nn import functional

from fencepost.batching.vocabulary import FILLER
from fencepost.model.configurations import Configurations
from fencepost.model.head import PointingHead
from fencepost.model.stepping import Rules

SLOPE = 0.1  # of the perceptrons' leaky ReLU


@dataclass(frozen=True, slots=True)
class Folded:
    """A head's weights, multiplied out. `d` is the decoder's size, `m` that of perceptrons."""

    spans: Tensor  # (2 m, width): boundaries to the first layers of MLP_span and MLP_label
    points: Tensor  # (m, m): the second layer of MLP_point, W_point and that of MLP_cursor
    points_bias: Tensor  # (m,)
    point_offset: Tensor  # (m,) and a number: what is added to each boundary's score
    point_constant: Tensor
    state: Tensor  # (d, 4 d + 2 m): the state to gates, MLP_cursor and MLP_label
    state_bias: Tensor  # (4 d + 2 m,)
    span: Tensor  # (m, 4 d): MLP_span's hidden layer to gates
    span_bias: Tensor  # (m,)
    labels_in: Tensor | None  # (labels, 4 d): the last label to gates
    labels_out: Tensor  # (m, labels)
    labels_bias: Tensor  # (labels,)
    first_gates: Tensor  # (4 d,)
    first_cell: Tensor  # (d,)

    @classmethod
    @torch.no_grad()
    def of(cls, head: PointingHead) -> Folded:
        """The weights of a head."""
        d, m = head.first_hidden.shape[0], head.label_vectors.shape[1]
        order = torch.cat(  # i, f, g, o become i, f, o, g: three of one kind side by side
            [torch.arange(d) + gate * d for gate in (0, 1, 3, 2)]
        ).to(head.first_hidden.device)
        lstm = dict(head.lstm.named_parameters())
        into, own = lstm["weight_ih_l0"][order], lstm["weight_hh_l0"][order]
        gate_bias = (lstm["bias_ih_l0"] + lstm["bias_hh_l0"])[order]
        labels_in = None
        after_span = into[:, :m] @ head.span.second.bias + gate_bias
        if head.previous_label:
            labels_in = head.label_vectors @ into[:, m:].T + after_span
            after_span = torch.zeros_like(after_span)
        of_state = torch.cat((own, head.cursor.first.weight, head.label.first.weight[:, :d]))
        of_state_bias = torch.cat((after_span, head.cursor.first.bias, head.label.first.bias))
        sharp = 1 / head.temperature
        weights, bias = head.biaffine[:-1] * sharp, head.biaffine[-1] * sharp
        label_vectors = head.label_vectors * sharp
        second = head.point.second
        sides = second.weight.T @ weights  # hidden layer of MLP_point to a boundary's side
        sides_bias = second.bias @ weights + bias
        return cls(
            torch.cat((head.span.first.weight, head.label.first.weight[:, d:])),
            sides @ head.cursor.second.weight,
            sides_bias @ head.cursor.second.weight,
            sides @ head.cursor.second.bias,
            sides_bias @ head.cursor.second.bias,
            of_state.T.contiguous(),
            of_state_bias,
            (into[:, :m] @ head.span.second.weight).T.contiguous(),
            head.span.first.bias,
            labels_in,
            (label_vectors @ head.label.second.weight).T.contiguous(),
            label_vectors @ head.label.second.bias,
            into @ head.start + own @ head.first_hidden + gate_bias,
            head.first_cell,
        )


_folded: WeakKeyDictionary[PointingHead, tuple[tuple[float, ...], Folded]] = WeakKeyDictionary()


def folded(head: PointingHead) -> Folded:
    """The multiplied weights of a head, made anew when any of them has changed."""
    # A fused optimiser changes weights without telling, but only in a network that is learning.
    versions = (
        head.trainings,
        head.temperature,
        *(
            number
            for weight in head.parameters()
            for number in (weight._version, weight.data_ptr())
        ),
    )
    found = _folded.get(head)
    if found is None or found[0] != versions:
        found = _folded[head] = (versions, Folded.of(head))
    return found[1]


def projections(
    head: PointingHead, weights: Folded, boundaries: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """All that depends on boundaries alone.

    Args:
        head: which points.
        weights: the head's, multiplied out
        boundaries: (…, n + 1, width)

    Returns:
        What pointing scores are products with (…, n + 1, m), what is added to them (…, n + 1), and
        what the first layers of MLP_span and MLP_label make of each boundary (…, n + 1, 2 m).
    """
    hidden = functional.leaky_relu(
        functional.linear(boundaries, head.point.first.weight, head.point.first.bias), SLOPE
    )
    return (
        hidden @ weights.points + weights.points_bias,
        hidden @ weights.point_offset + weights.point_constant,
        functional.linear(boundaries, weights.spans),
    )


@dataclass(frozen=True, slots=True)
class FastStepping:
    """Steps with folded weights."""

    weights: Folded
    rules: Rules
    spans: Tensor  # (all rows * (n + 1), 2 m): projections, never copied
    sides: Tensor  # (rows, n + 1, m)
    offsets: Tensor  # (rows, n + 1)
    place: Tensor  # (rows,): where the row begins in `spans`
    where: Configurations
    cell: Tensor  # (rows, d)
    of_state: Tensor  # (rows, 4 d + 2 m): what the state gives to gates and perceptrons

    @classmethod
    def first(
        cls, head: PointingHead, boundaries: Tensor, lengths: Tensor, rules: Rules
    ) -> FastStepping:
        """All at the beginning."""
        weights = folded(head)
        rows, width, _ = boundaries.shape
        sides, offsets, spans = projections(head, weights, boundaries)
        spans = spans.flatten(0, 1)
        place = torch.arange(rows, device=lengths.device) * width
        where = Configurations.first(lengths, width)
        cell, of_state = _read(
            weights, weights.first_gates.expand(rows, -1), weights.first_cell.expand(rows, -1)
        )
        return cls(weights, rules, spans, sides, offsets, place, where, cell, of_state)

    def pointing(self) -> Tensor:
        """Log-probabilities of pointing to each boundary: (rows, n + 1)."""
        m = self.sides.shape[-1]
        asked = functional.leaky_relu(self.of_state[:, -2 * m : -m], SLOPE)
        scores = torch.baddbmm(self.offsets[:, :, None], self.sides, asked[:, :, None])[:, :, 0]
        return self.rules.points(self.where, scores)

    def labelling(self, boundary: Tensor) -> Tensor:
        """Log-probabilities of the labels of the spans made by pointing to some boundaries."""
        m = self.sides.shape[-1]
        rows, few = boundary.shape
        spans = self._between(boundary)[..., m:]
        hidden = functional.leaky_relu(spans + self.of_state[:, None, -m:], SLOPE)
        weights = self.weights
        scores = torch.addmm(weights.labels_bias, hidden.reshape(rows * few, m), weights.labels_out)
        return self.rules.labels(self.where, boundary, scores.view(rows, few, -1))

    def _between(self, boundary: Tensor) -> Tensor:
        """The projections of the spans made by pointing to some boundaries: (rows, few, 2 m)."""
        cursor = self.where.cursor[:, None]
        place = self.place[:, None]
        start = (torch.minimum(cursor, boundary) + place).flatten()
        end = (torch.maximum(cursor, boundary) + place).flatten()
        found = self.spans.index_select(0, end) - self.spans.index_select(0, start)
        return found.view(*boundary.shape, -1)

    def point(self, boundary: Tensor, label: Tensor) -> FastStepping:
        """Take a step."""
        weights, m = self.weights, self.sides.shape[-1]
        spans = self._between(boundary[:, None])[:, 0, :m]
        hidden = functional.leaky_relu(spans + weights.span_bias, SLOPE)
        gates = torch.addmm(self.of_state[:, : -2 * m], hidden, weights.span)
        if weights.labels_in is not None:
            gates += weights.labels_in.index_select(0, label)
        cell, of_state = _read(weights, gates, self.cell)
        return FastStepping(
            weights,
            self.rules,
            self.spans,
            self.sides,
            self.offsets,
            self.place,
            self.where.point(boundary, filler=label == FILLER),
            cell,
            of_state,
        )

    def rows(self, index: Tensor) -> FastStepping:
        """Some of the rows, in this order."""
        return FastStepping(
            self.weights,
            self.rules.rows(index),
            self.spans,
            self.sides[index],
            self.offsets[index],
            self.place[index],
            self.where.rows(index),
            self.cell[index],
            self.of_state[index],
        )


def _read(weights: Folded, gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """One step of the decoder's LSTM: its cell, and what its state gives to all that asks it."""
    d = cell.shape[-1]
    openings, values = gates[:, : 3 * d].sigmoid(), gates[:, 3 * d :].tanh()
    cell = torch.addcmul(openings[:, :d] * values, openings[:, d : 2 * d], cell)
    state = openings[:, 2 * d :] * cell.tanh()
    return cell, torch.addmm(weights.state_bias, state, weights.state)
