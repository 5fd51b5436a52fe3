"""Steps that cost little on a CPU: the fast twin of `model.stepper.HeadStepper`, in numpy.

Wherever two linear layers meet, their weights are multiplied out once for a head. All that depends
on boundaries alone is computed once for a sentence: the first layers of MLP_span and MLP_label are
linear in `b_end - b_start`, so that a step subtracts two projections. What is left of a step is one
product with the decoder's state, one with the span, one with the labels and one with the sentence's
boundaries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fencepost.batching.arrays import Bools, Floats, Ints
from fencepost.decoding.configurations import Configurations

SLOPE = 0.1  # of the perceptrons' leaky ReLU


@dataclass(frozen=True, slots=True)
class Folded:
    """A head's weights, multiplied out. `d` is the decoder's size, `m` that of perceptrons.

    Gates come in the order input, forget, output, cell. The logistic function of the first three is
    `(tanh(x / 2) + 1) / 2`: the halves are folded into the weights, so that one tanh does for all.
    """

    point_in: Floats  # (width, m): boundaries to the hidden layer of MLP_point
    point_bias: Floats  # (m,)
    span_in: Floats  # (width, m): boundaries to the hidden layer of MLP_span
    span_bias: Floats  # (m,)
    label_in: Floats  # (width, m): boundaries to the hidden layer of MLP_label
    sides: Floats  # (m, m): the second layer of MLP_point, W_point and that of MLP_cursor
    sides_bias: Floats  # (m,)
    offset: Floats  # (m,): with a number, the part of pointing scores that no state changes
    offset_bias: Floats  # ()
    state: Floats  # (d, 4 d + 2 m): the state to gates, MLP_cursor and MLP_label
    state_bias: Floats  # (4 d + 2 m,)
    span: Floats  # (m, 4 d): MLP_span's hidden layer to gates
    labels_in: Floats | None  # (labels, 4 d): the last label to gates
    labels_out: Floats  # (m, labels)
    labels_bias: Floats  # (labels,)
    first_cell: Floats  # (1, d): after START was read
    first_outputs: Floats  # (1, 4 d + 2 m)

    @classmethod
    def of(cls, weights: Mapping[str, Floats], *, temperature: float) -> Folded:
        """The weights of a head, by their names in `model.head.PointingHead`.

        Names and shapes tell which of its settings are on.
        """
        w = weights
        d, m = len(w["first_hidden"]), w["label_vectors"].shape[1]
        order = np.concatenate([np.arange(d) + gate * d for gate in (0, 1, 3, 2)])
        halves = np.repeat([0.5, 1.0], (3 * d, d)).astype(w["biaffine"].dtype)
        into = w["lstm.weight_ih_l0"][order] * halves[:, None]
        own = w["lstm.weight_hh_l0"][order] * halves[:, None]
        gate_bias = (w["lstm.bias_ih_l0"] + w["lstm.bias_hh_l0"])[order] * halves
        after_span = into[:, :m] @ w["span.second.bias"] + gate_bias
        previous_label = into.shape[1] > m
        labels_in = w["label_vectors"] @ into[:, m:].T if previous_label else None
        state = np.concatenate((own, w["cursor.first.weight"], w["label.first.weight"][:, :d])).T
        state_bias = np.concatenate((after_span, w["cursor.first.bias"], w["label.first.bias"]))
        sides = w["point.second.weight"].T @ w["biaffine"][:-1] / temperature
        sides_bias = (w["point.second.bias"] @ w["biaffine"][:-1] + w["biaffine"][-1]) / temperature
        label_vectors = w["label_vectors"] / temperature
        # `_read` makes states twice as large, since it leaves out a half of the output gate.
        state = np.ascontiguousarray(state * 0.5)
        first_gates = into @ w["start"] + own @ w["first_hidden"] + gate_bias
        first_cell, first_outputs = _read(
            state, state_bias, first_gates[None], w["first_cell"][None]
        )
        return cls(
            point_in=_columns(w["point.first.weight"]),
            point_bias=w["point.first.bias"],
            span_in=_columns(w["span.first.weight"]),
            span_bias=w["span.first.bias"],
            label_in=_columns(w["label.first.weight"][:, d:]),
            sides=sides @ w["cursor.second.weight"],
            sides_bias=sides_bias @ w["cursor.second.weight"],
            offset=sides @ w["cursor.second.bias"],
            offset_bias=sides_bias @ w["cursor.second.bias"],
            state=state,
            state_bias=state_bias,
            span=_columns(into[:, :m] @ w["span.second.weight"]),
            labels_in=labels_in,
            labels_out=_columns(label_vectors @ w["label.second.weight"]),
            labels_bias=label_vectors @ w["label.second.bias"],
            first_cell=first_cell,
            first_outputs=first_outputs,
        )


class FastState(NamedTuple):
    """The state of some rows, and what is computed once for their sentences.

    Rows that have come the same way have one state of the decoder, which is computed once: in a
    beam many differ only in labels, and of many samples most are alike.
    """

    for_spans: Floats  # (all sentences * (n + 1), m): boundaries to MLP_span, never copied
    for_labels: Floats  # (all sentences * (n + 1), m): boundaries to MLP_label, never copied
    sides: Floats  # (sentences, n + 1, m)
    offsets: Floats  # (sentences, n + 1)
    place: Ints  # (rows,): where the row's sentence begins in `for_spans`
    cell: Floats  # (states, d)
    outputs: Floats  # (states, 4 d + 2 m): what a state gives to gates and perceptrons
    of_row: Ints | None = None  # (rows,): the state of each row; None: each has its own
    each: int = 1  # rows of each sentence, one sentence after the other


@dataclass(frozen=True, slots=True)
class FastStepper:
    """Steps with folded weights."""

    weights: Folded

    def start(self, boundaries: Floats) -> FastState:
        """The state before the first step."""
        weights = self.weights
        rows, width, size = boundaries.shape
        flat = boundaries.reshape(rows * width, size)
        hidden = flat @ weights.point_in
        hidden += weights.point_bias
        _leaky(hidden, out=hidden)
        sides = (hidden @ weights.sides).reshape(rows, width, -1)
        sides += weights.sides_bias
        offsets = (hidden @ weights.offset).reshape(rows, width) + weights.offset_bias
        del hidden  # large, and not needed any more
        return FastState(
            flat @ weights.span_in,
            flat @ weights.label_in,
            sides,
            offsets,
            np.arange(rows) * width,
            weights.first_cell.repeat(rows, axis=0),
            weights.first_outputs.repeat(rows, axis=0),
        )

    def point_logits(self, state: FastState, where: Configurations) -> Floats:
        """Scores of pointing to each boundary: (rows, n + 1)."""
        sentences, width, m = state.sides.shape
        query = _of_rows(state, _leaky(state.outputs[:, -2 * m : -m]))
        logits = query.reshape(sentences, state.each, m) @ state.sides.swapaxes(1, 2)
        logits += state.offsets[:, None]
        return logits.reshape(len(query), width)

    def label_logits(self, state: FastState, where: Configurations, boundary: Ints) -> Floats:
        """Scores of the labels of the spans made by pointing there: (rows, labels)."""
        m = state.sides.shape[-1]
        start, end = _ends(state, where, boundary)
        spans = _between(state.for_labels, start, end)
        spans += _of_rows(state, state.outputs[:, -m:])
        logits = _leaky(spans, out=spans) @ self.weights.labels_out
        logits += self.weights.labels_bias
        return logits

    def inputs(
        self, state: FastState, where: Configurations, boundary: Ints, label: Ints
    ) -> tuple[Ints, ...]:
        """All that the decoder reads of a step, column by column: each (rows,).

        Rows that agree in these and have the same state will have the same state again. So
        whatever `gates` is to read has to be here.
        """
        start, end = _ends(state, where, boundary)
        return (start, end) if self.weights.labels_in is None else (start, end, label)

    def gates(self, state: FastState, *inputs: Ints) -> Floats:
        """What the decoder's gates get of a step, from its `inputs` alone: (states, 4 d)."""
        start, end, *label = inputs
        spans = _between(state.for_spans, start, end)
        spans += self.weights.span_bias
        gates = _leaky(spans, out=spans) @ self.weights.span
        if self.weights.labels_in is not None:
            gates += self.weights.labels_in[label[0]]
        return gates

    def advance(
        self, state: FastState, where: Configurations, boundary: Ints, label: Ints
    ) -> FastState:
        """The state after a step of each row."""
        inputs = self.inputs(state, where, boundary, label)
        last, cell, group = state.outputs, state.cell, None
        if state.of_row is not None:
            # A finished row needs no state any more.
            one, group = _distinct((state.of_row, *inputs), where.is_final)
            inputs = tuple(column[one] for column in inputs)
            before = state.of_row[one]
            last, cell = last.take(before, axis=0), cell.take(before, axis=0)
        gates = self.gates(state, *inputs)
        gates += last[:, : gates.shape[1]]
        cell, outputs = _read(self.weights.state, self.weights.state_bias, gates, cell)
        return FastState(*state[:5], cell, outputs, group, state.each)

    def select(self, state: FastState, rows: Ints, *, each: int = 1) -> FastState:
        """The state of some of the rows."""
        sentence = rows[::each] // state.each
        sides, offsets = state.sides, state.offsets
        if not np.array_equal(sentence, np.arange(len(sides))):
            sides, offsets = sides[sentence], offsets[sentence]
        cell, outputs, of_row = state.cell, state.outputs, state.of_row
        if of_row is not None:
            of_row = of_row[rows]
        elif each > 1:
            of_row = rows
        else:
            cell, outputs = cell[rows], outputs[rows]
        return state._replace(
            sides=sides,
            offsets=offsets,
            place=state.place[rows],
            cell=cell,
            outputs=outputs,
            of_row=of_row,
            each=each,
        )


def _columns(weight: Floats) -> Floats:
    """A linear layer's weight as what vectors are multiplied with from the right."""
    return np.ascontiguousarray(weight.T)


def _leaky(values: Floats, out: Floats | None = None) -> Floats:
    """The leaky ReLU, in a new array or in `out`."""
    return np.maximum(values, SLOPE * values, out=out)


def _of_rows(state: FastState, values: Floats) -> Floats:
    """The values of the states that rows have: (states, …) to (rows, …)."""
    return values if state.of_row is None else values.take(state.of_row, axis=0)


def _ends(state: FastState, where: Configurations, boundary: Ints) -> tuple[Ints, Ints]:
    """Where the two ends of the spans stand among the boundaries of all sentences."""
    start, end = np.minimum(where.cursor, boundary), np.maximum(where.cursor, boundary)
    return start + state.place, end + state.place


def _between(projected: Floats, start: Ints, end: Ints) -> Floats:
    """The projections of spans, from those of boundaries: (spans, m)."""
    spans = projected.take(end, axis=0)
    spans -= projected.take(start, axis=0)
    return spans


def _distinct(columns: tuple[Ints, ...], ignored: Bools) -> tuple[Ints, Ints]:
    """One row of each group that agrees in all columns, and the group of each row.

    Args:
        columns: each (rows,), not negative
        ignored: rows that may be in any group, (rows,)
    """
    key = np.zeros_like(columns[0])
    for column in columns:
        key = key * (column.max(initial=0) + 1) + column
    key[ignored] = -1
    _, one, group = np.unique(key, return_index=True, return_inverse=True)
    return one, group


def _read(state: Floats, state_bias: Floats, gates: Floats, cell: Floats) -> tuple[Floats, Floats]:
    """One step of the decoder's LSTM: its cell, and what its state gives to all that reads it."""
    d = cell.shape[-1]
    np.tanh(gates, out=gates)
    gates[:, : 3 * d] += 1  # twice the logistic function
    cell = gates[:, d : 2 * d] * cell
    cell += gates[:, :d] * gates[:, 3 * d :]
    cell *= 0.5
    hidden = np.tanh(cell)
    hidden *= gates[:, 2 * d : 3 * d]
    outputs = hidden @ state
    outputs += state_bias
    return cell, outputs
