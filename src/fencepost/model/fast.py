"""Steps that cost little: the fast twin of `stepping.PlainStepping`.

Wherever two linear layers meet, their weights are multiplied out once for a head. All that depends
on boundaries alone is computed once for a sentence: the first layers of MLP_span and MLP_label are
linear in `b_end - b_start`, so that a step subtracts two projections. What is left of a step is one
product with the decoder's state, one with the span, one with the labels and one with the sentence's
boundaries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    """Steps with folded weights.

    Rows that have come the same way have one state of the decoder, which is computed once: in a
    beam many differ only in labels, and of many samples most are alike.
    """

    weights: Folded
    rules: Rules
    for_spans: Tensor  # (all sentences * (n + 1), m): boundaries to MLP_span, never copied
    for_labels: Tensor  # (all sentences * (n + 1), m): boundaries to MLP_label, never copied
    sides: Tensor  # (sentences, n + 1, m)
    offsets: Tensor  # (sentences, n + 1)
    place: Tensor  # (rows,): where the row's sentence begins in `for_spans`
    where: Configurations
    cell: Tensor  # (states, d)
    of_state: Tensor  # (states, 4 d + 2 m): what a state gives to gates and perceptrons
    state: Tensor | None = None  # (rows,): which state each row has; None: its own
    each: int = 1  # rows of each sentence, one sentence after the other

    @classmethod
    def first(
        cls, head: PointingHead, boundaries: Tensor, lengths: Tensor, rules: Rules
    ) -> FastStepping:
        """All at the beginning."""
        weights = folded(head)
        rows, width, _ = boundaries.shape
        sides, offsets, spans = projections(head, weights, boundaries)
        for_spans, for_labels = spans.flatten(0, 1).chunk(2, dim=-1)
        place = torch.arange(rows, device=lengths.device) * width
        where = Configurations.first(lengths, width)
        cell, of_state = _read(
            weights, weights.first_gates.expand(rows, -1), weights.first_cell.expand(rows, -1)
        )
        return cls(
            weights,
            rules,
            for_spans.contiguous(),
            for_labels.contiguous(),
            sides,
            offsets,
            place,
            where,
            cell,
            of_state,
        )

    def pointing(self) -> Tensor:
        """Log-probabilities of pointing to each boundary: (rows, n + 1)."""
        m = self.sides.shape[-1]
        asked = self._of(functional.leaky_relu(self.of_state[:, -2 * m : -m], SLOPE))
        scores = torch.baddbmm(
            self.offsets[:, :, None], self.sides, asked.view(-1, self.each, m).transpose(1, 2)
        )  # (sentences, n + 1, each)
        scores = scores[:, :, 0] if self.each == 1 else scores.transpose(1, 2).flatten(0, 1)
        return self.rules.points(self.where, scores)

    def labelling(self, boundary: Tensor) -> Tensor:
        """Log-probabilities of the labels of the spans made by pointing to some boundaries."""
        m = self.sides.shape[-1]
        rows, few = boundary.shape
        start, end = self._ends(self.where.cursor[:, None], boundary, self.place[:, None])
        spans = _between(self.for_labels, start.flatten(), end.flatten()).view(rows, few, m)
        hidden = functional.leaky_relu_(spans + self._of(self.of_state[:, -m:])[:, None], SLOPE)
        weights = self.weights
        scores = torch.addmm(weights.labels_bias, hidden.view(rows * few, m), weights.labels_out)
        return self.rules.labels(self.where, boundary, scores.view(rows, few, -1))

    def point(self, boundary: Tensor, label: Tensor) -> FastStepping:
        """Take a step."""
        weights, m = self.weights, self.sides.shape[-1]
        start, end = self._ends(self.where.cursor, boundary, self.place)
        last, spoken, state = None, label, None
        if self.state is not None:
            one, state = self._alike(boundary, label)
            start, end, spoken, last = start[one], end[one], label[one], self.state[one]
        spans = _between(self.for_spans, start, end)
        hidden = functional.leaky_relu_(spans.add_(weights.span_bias), SLOPE)
        gates, cell = self.of_state[:, : -2 * m], self.cell
        if last is not None:
            gates, cell = gates.index_select(0, last), cell.index_select(0, last)
        gates = torch.addmm(gates, hidden, weights.span)
        if weights.labels_in is not None:
            gates += weights.labels_in.index_select(0, spoken)
        cell, of_state = _read(weights, gates, cell)
        return FastStepping(
            weights,
            self.rules,
            self.for_spans,
            self.for_labels,
            self.sides,
            self.offsets,
            self.place,
            self.where.point(boundary, filler=label == FILLER),
            cell,
            of_state,
            state,
            self.each,
        )

    def rows(self, index: Tensor) -> FastStepping:
        """Some of the rows, in this order."""
        sentence = index if self.each == 1 else index // self.each
        own = self.state is None
        return replace(
            self._placed(index),
            sides=self.sides[sentence],
            offsets=self.offsets[sentence],
            cell=self.cell[index] if own else self.cell,
            of_state=self.of_state[index] if own else self.of_state,
            each=1,
        )

    def spread(self, index: Tensor, each: int) -> FastStepping:
        """Some of the rows in this order: as many for each sentence, one after the other."""
        state = index if self.state is None else self.state[index]
        return replace(self._placed(index), state=state, each=each)

    def sentences(self, index: Tensor) -> FastStepping:
        """Some of the sentences, with all of their rows."""
        every = torch.arange(self.each, device=index.device)
        kept = self.spread((index[:, None] * self.each + every).flatten(), self.each)
        return replace(kept, sides=self.sides[index], offsets=self.offsets[index])

    def _placed(self, index: Tensor) -> FastStepping:
        """The same for some of the rows, but for what depends on how these are arranged."""
        return replace(
            self,
            rules=self.rules.rows(index),
            place=self.place[index],
            where=self.where.rows(index),
            state=None if self.state is None else self.state[index],
        )

    def _of(self, states: Tensor) -> Tensor:
        """What rows have of their states: (states, …) to (rows, …)."""
        return states if self.state is None else states.index_select(0, self.state)

    def _alike(self, boundary: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
        """One row of each group that will have the same state, and which group each row is in."""
        assert self.state is not None
        key = self.state * self.sides.shape[1] + boundary
        if self.weights.labels_in is not None:
            key = key * len(self.weights.labels_in) + label
        # What is finished needs no state any more.
        key, group = key.masked_fill(self.where.is_final, -1).unique(return_inverse=True)
        one = torch.zeros_like(key)
        one[group] = torch.arange(len(group), device=key.device)
        return one, group

    def _ends(self, cursor: Tensor, boundary: Tensor, place: Tensor) -> tuple[Tensor, Tensor]:
        """Where the two ends of the spans stand among the boundaries of all sentences."""
        return torch.minimum(cursor, boundary) + place, torch.maximum(cursor, boundary) + place


def _between(projected: Tensor, start: Tensor, end: Tensor) -> Tensor:
    """The projections of spans, from those of boundaries: (spans, m)."""
    return projected.index_select(0, end).sub_(projected.index_select(0, start))


def _read(weights: Folded, gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """One step of the decoder's LSTM: its cell, and what its state gives to all that asks it."""
    d = cell.shape[-1]
    openings, values = gates[:, : 3 * d].sigmoid(), gates[:, 3 * d :].tanh()
    cell = torch.addcmul(openings[:, :d] * values, openings[:, d : 2 * d], cell)
    state = openings[:, 2 * d :] * cell.tanh()
    return cell, torch.addmm(weights.state_bias, state, weights.state)
