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
from typing import Any, NamedTuple

import numpy as np

from fencepost.batching.arrays import Bools, Floats, Ints
from fencepost.decoding.blas import quiet
from fencepost.decoding.configurations import Configurations
from fencepost.runtime.grid import NORM_EPSILON, GridEnds, GridWeights, fits, products
from fencepost.runtime.layers import Perceptron, columns, leaky, lstm_step


@dataclass(frozen=True, slots=True)
class Folded:
    """A head's weights, multiplied out. `d` is the decoder's size, `m` that of perceptrons.

    Gates come in the order input, forget, output, cell. The logistic function of the first three is
    `(tanh(x / 2) + 1) / 2`: the halves are folded into the weights, so that one tanh does for all.
    A head without an LSTM has d = 0, and its states are empty.
    """

    point: Perceptron
    sides: Floats  # (m, ways m): MLP_point to the boundaries' sides of pointing scores
    sides_bias: Floats  # (ways m,)
    offset: Floats | None  # (m,): with a number, the part of pointing scores that no state changes
    offset_bias: Floats  # ()
    bias: Floats | None  # (2,): of pointing to the left and to the right
    cursor: Floats | None  # (m, m): the second layer of MLP_cursor; None: it is folded into sides
    cursor_bias: Floats  # (m,)
    standing: Perceptron | None
    newest_start: Perceptron | None
    newest_label: Floats | None  # (labels + 1, m)
    stack_label: Floats | None  # (m, labels + 1)
    merged: Floats | None  # (numbers of merged spans,)
    grid: GridWeights | None
    state: Floats  # (d, 4 d + 2 m): the state to gates, MLP_cursor and MLP_label
    state_bias: Floats  # (4 d + 2 m,); without an LSTM that of MLP_label alone, (m,)
    span_in: Floats | None  # (width, m): boundaries to the hidden layer of MLP_span
    span_bias: Floats | None  # (m,)
    span: Floats | None  # (m, 4 d): MLP_span's hidden layer to gates
    labels_in: Floats | None  # (labels, 4 d): the last label to gates
    label_start: Floats | None  # (width, m): starts of spans to the hidden layer of MLP_label
    label_end: Floats  # (width, m): ends of spans to it; None above: starts count the opposite
    label_newest: Floats | None  # (labels + 1, m): the newest label to that layer
    label_child: Floats | None  # (labels + 1, m): the first label of a merge to it
    norm: tuple[Floats, Floats] | None  # of MLP_label, (m,) twice; None: it has a leaky ReLU
    labels_out: Floats  # (m, labels)
    labels_bias: Floats  # (labels,)
    first_cell: Floats  # (1, d): after START was read
    first_outputs: Floats  # (1, 4 d + 2 m)

    @classmethod
    @quiet
    def of(cls, weights: Mapping[str, Floats], *, temperature: float) -> Folded:
        """The weights of a head, by their names in `model.head.PointingHead`.

        Names and shapes tell which of its settings are on.
        """
        w = weights
        m, width = w["label_vectors"].shape[1], w["point.first.weight"].shape[1]
        sharp = 1 / temperature
        recurrent, context = "lstm.weight_ih_l0" in w, "newest_label" in w
        d = len(w["first_hidden"]) if recurrent else 0

        # Pointing: [p; 1] W of each way, side by side.
        biaffine = w["biaffine"].reshape(-1, m + 1, m) * sharp
        sides = np.concatenate([way[:-1] for way in biaffine], axis=1)
        sides_bias = np.concatenate([way[-1] for way in biaffine])
        point = Perceptron.of(w, "point")
        if point.second is not None:
            sides, sides_bias = point.second @ sides, point.second_bias @ sides + sides_bias
        cursor, cursor_bias = None, np.zeros(m, dtype=sides.dtype)
        offset, offset_bias = None, sides_bias[:0].sum()
        if "cursor.second.weight" in w:
            cursor, cursor_bias = columns(w["cursor.second.weight"]), w["cursor.second.bias"]
            if len(biaffine) == 1 and not context and "standing.first.weight" not in w:
                # Nothing is added to what MLP_cursor makes: its second layer is one of the sides'.
                offset, offset_bias = sides @ cursor_bias, sides_bias @ cursor_bias
                sides, sides_bias, cursor = sides @ cursor.T, sides_bias @ cursor.T, None

        # The decoder, and what reads its state.
        label_first = w["label.first.weight"]
        state, state_bias = np.zeros((0, m), dtype=sides.dtype), w["label.first.bias"]
        span = span_in = span_bias = labels_in = None
        first_cell, first_outputs = state[:0].T[:1, :0], state_bias[None]
        if recurrent:
            order = np.concatenate([np.arange(d) + gate * d for gate in (0, 1, 3, 2)])
            halves = np.repeat([0.5, 1.0], (3 * d, d)).astype(sides.dtype)
            into = w["lstm.weight_ih_l0"][order] * halves[:, None]
            recurrent_weights = w["lstm.weight_hh_l0"][order] * halves[:, None]
            gate_bias = (w["lstm.bias_ih_l0"] + w["lstm.bias_hh_l0"])[order] * halves
            read = Perceptron.of(w, "span")
            span_in, span_bias, span = read.first, read.first_bias, columns(into[:, :m])
            after_span = gate_bias
            if read.second is not None:
                after_span = read.second_bias @ span + gate_bias
                span = read.second @ span
            if into.shape[1] > m:
                labels_in = w["label_vectors"] @ into[:, m:].T
            state = np.concatenate(
                (recurrent_weights, w["cursor.first.weight"], label_first[:, :d])
            ).T
            # `lstm_step` leaves out a half of the output gate, so its states are twice as large.
            state = np.ascontiguousarray(state * 0.5)
            state_bias = np.concatenate((after_span, w["cursor.first.bias"], w["label.first.bias"]))
            first_gates = into @ w["start"] + recurrent_weights @ w["first_hidden"] + gate_bias
            first_cell, first_outputs = lstm_step(
                state, state_bias, first_gates[None], w["first_cell"][None]
            )
        label_vectors = w["label_vectors"] * sharp
        norm = (w["label.norm.weight"], w["label.norm.bias"]) if "label.norm.weight" in w else None
        return cls(
            point=point,
            sides=np.ascontiguousarray(sides),
            sides_bias=sides_bias,
            offset=offset,
            offset_bias=offset_bias,
            bias=w["bias"] * sharp if "bias" in w else None,
            cursor=cursor,
            cursor_bias=cursor_bias,
            standing=Perceptron.of(w, "standing") if "standing.first.weight" in w else None,
            newest_start=Perceptron.of(w, "newest_start") if context else None,
            newest_label=w["newest_label"] if context else None,
            stack_label=columns(w["stack_label"] * sharp) if context else None,
            merged=w["merged"] * sharp if context else None,
            grid=GridWeights.of(w, temperature=temperature) if "grid_weight" in w else None,
            state=state,
            state_bias=state_bias,
            span_in=span_in,
            span_bias=span_bias,
            span=span,
            labels_in=labels_in,
            label_start=None if recurrent else columns(label_first[:, :width]),
            label_end=columns(label_first[:, -width:]),
            label_newest=w["label_newest"] if context else None,
            label_child=w["label_child"] if context else None,
            norm=norm,
            labels_out=columns(label_vectors @ w["label.second.weight"]),
            labels_bias=label_vectors @ w["label.second.bias"],
            first_cell=first_cell,
            first_outputs=first_outputs,
        )


class FastState(NamedTuple):
    """The state of some rows, and what is computed once for their sentences.

    Rows that have come the same way have one state of the decoder, which is computed once: in a
    beam many differ only in labels, and of many samples most are alike. Of boundaries, those of all
    sentences stand one after the other, and are never copied.
    """

    for_spans: Floats | None  # (all boundaries, m): to MLP_span
    label_starts: Floats  # (all boundaries, m): to MLP_label, where a span starts
    label_ends: Floats  # (all boundaries, m): and where it ends
    standing: Floats | None  # (all boundaries, m): the query's part of a cursor
    newest: Floats | None  # (all boundaries, m): the query's part of the newest span's start
    grid: Floats | None  # (all boundaries, n + 1): what the grid adds to each candidate
    grid_ends: GridEnds | None  # of long sentences, whose grid is computed step by step
    sides: Floats  # (sentences, ways (n + 1), m)
    offsets: Floats | None  # (sentences, n + 1)
    place: Ints  # (rows,): where the row's sentence begins among all boundaries
    cell: Floats  # (states, d)
    outputs: Floats  # (states, 4 d + 2 m): what a state gives to gates and perceptrons
    of_row: Ints | None = None  # (rows,): the state of each row; None: each has its own
    each: int = 1  # rows of each sentence, one sentence after the other


@dataclass(frozen=True, slots=True)
class FastStepper:
    """Steps with folded weights."""

    weights: Folded

    @property
    def looks_at_stack(self) -> bool:
        """Whether scores look at the stack."""
        return self.weights.stack_label is not None

    def start(self, boundaries: Floats) -> FastState:
        """The state before the first step."""
        weights = self.weights
        rows, width, size = boundaries.shape
        flat = boundaries.reshape(rows * width, size)
        hidden = weights.point.hidden(flat)
        sides = hidden.dot(weights.sides)
        sides += weights.sides_bias
        m = len(weights.labels_out)
        if sides.shape[1] > m:  # left and right: all boundaries of the one, then of the other
            sides = sides.reshape(rows, width, 2, m).swapaxes(1, 2)
        grid = grid_ends = None
        if weights.grid is not None:
            grid_ends = weights.grid.ends(boundaries)
            if fits(width):
                grid, grid_ends = weights.grid.matrix(grid_ends).reshape(-1, width), None
        offsets = (
            None
            if weights.offset is None
            else hidden.dot(weights.offset).reshape(rows, width) + weights.offset_bias
        )
        del hidden  # large, and not needed any more
        label_ends = flat.dot(weights.label_end)
        return FastState(
            None if weights.span_in is None else flat.dot(weights.span_in),
            -label_ends if weights.label_start is None else flat.dot(weights.label_start),
            label_ends,
            None if weights.standing is None else weights.standing(flat),
            None if weights.newest_start is None else weights.newest_start(flat),
            grid,
            grid_ends,
            sides.reshape(rows, -1, sides.shape[-1]),
            offsets,
            np.arange(rows) * width,
            weights.first_cell.repeat(rows, axis=0),
            weights.first_outputs.repeat(rows, axis=0),
        )

    def point_logits(self, state: FastState, where: Configurations) -> Floats:
        """Scores of pointing to each boundary: (rows, n + 1)."""
        weights, at_cursor = self.weights, state.place + where.cursor
        rows, width = where.rank.shape
        query = self._query(state, where, at_cursor)
        logits = self._sided(state, query).reshape(rows, -1, width)
        if weights.bias is None:
            logits = logits[:, 0]
        else:
            logits += weights.bias[:, None]
            leftward = np.arange(width) < where.cursor[:, None]
            logits = np.where(leftward, logits[:, 0], logits[:, 1])
        if state.grid is not None:
            logits += state.grid.take(at_cursor, axis=0)
        elif state.grid_ends is not None and weights.grid is not None:
            logits += weights.grid.around(state.grid_ends, state.place // width, where.cursor)
        if where.stack is not None and weights.stack_label is not None:
            assert weights.merged is not None
            merged = np.minimum(where.merged(), len(weights.merged) - 1)
            row = np.arange(rows)[:, None]
            by_label = query.dot(weights.stack_label)[row, where.stack.labels + 1]
            logits += np.where(merged > 0, by_label + weights.merged[merged], 0)
        return logits

    def _sided(self, state: FastState, query: Floats) -> Floats:
        """Products of queries with the boundaries of their sentences: (rows, ways (n + 1))."""
        shape = len(state.sides), state.each, state.sides.shape[2]
        logits = products(query.reshape(shape), state.sides)
        if state.offsets is not None:
            logits += state.offsets[:, None]
        return logits

    def _query(self, state: FastState, where: Configurations, at_cursor: Ints) -> Floats:
        """The decoder's side of pointing scores: (rows, m)."""
        weights, m = self.weights, len(self.weights.labels_out)
        query: Any = 0
        if len(weights.state):
            query = leaky(state.outputs[:, -2 * m : -m])
            if weights.cursor is not None:
                query = query.dot(weights.cursor) + weights.cursor_bias
            query = _of_rows(state, query)
        if state.standing is not None:
            query = query + state.standing.take(at_cursor, axis=0)
        if state.newest is not None:
            assert weights.newest_label is not None
            query = query + state.newest.take(state.place + where.newest, axis=0)
            query += weights.newest_label.take(where.label + 1, axis=0)
        return query

    def label_logits(self, state: FastState, where: Configurations, boundary: Ints) -> Floats:
        """Scores of the labels of the spans made by pointing there: (rows, labels)."""
        weights, m = self.weights, len(self.weights.labels_out)
        start, end = _ends(state, where, boundary)
        spans = state.label_ends.take(end, axis=0)
        spans += state.label_starts.take(start, axis=0)
        spans += _of_rows(state, state.outputs[:, -m:])
        if where.stack is not None and weights.label_newest is not None:
            assert weights.label_child is not None
            child = where.stack.labels[np.arange(len(boundary)), boundary] + 1
            spans += weights.label_newest.take(where.label + 1, axis=0)
            spans += weights.label_child.take(child * (boundary < where.cursor), axis=0)
        if weights.norm is None:
            hidden = leaky(spans, out=spans)
        else:
            spans -= np.add.reduce(spans, axis=-1, keepdims=True) / m
            squares = np.add.reduce(np.square(spans), axis=-1, keepdims=True)
            spans /= np.sqrt(squares / m + NORM_EPSILON)
            scale, shift = weights.norm
            hidden = np.maximum(spans * scale + shift, 0)
        logits = hidden.dot(weights.labels_out)
        logits += weights.labels_bias
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
        """The decoder's gates of a step, from its `inputs` alone: (states, 4 d)."""
        start, end, *label = inputs
        weights = self.weights
        assert state.for_spans is not None
        assert weights.span is not None
        spans = state.for_spans.take(end, axis=0)
        spans -= state.for_spans.take(start, axis=0)
        spans += weights.span_bias
        gates = leaky(spans, out=spans).dot(weights.span)
        if weights.labels_in is not None:
            gates += weights.labels_in.take(label[0], axis=0)
        return gates

    def advance(
        self, state: FastState, where: Configurations, boundary: Ints, label: Ints
    ) -> FastState:
        """The state after a step of each row."""
        if not len(self.weights.state):
            return state
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
        cell, outputs = lstm_step(self.weights.state, self.weights.state_bias, gates, cell)
        return FastState(*state[:10], cell, outputs, group, state.each)

    def select(self, state: FastState, rows: Ints, *, each: int = 1) -> FastState:
        """The state of some of the rows."""
        sentence = rows[::each] // state.each
        sides, offsets = state.sides, state.offsets
        if not np.array_equal(sentence, np.arange(len(sides))):
            sides = sides[sentence]
            offsets = None if offsets is None else offsets[sentence]
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


def _of_rows(state: FastState, values: Floats) -> Floats:
    """The values of the states that rows have: (states, …) to (rows, …)."""
    return values if state.of_row is None else values.take(state.of_row, axis=0)


def _ends(state: FastState, where: Configurations, boundary: Ints) -> tuple[Ints, Ints]:
    """Where the two ends of the spans stand among the boundaries of all sentences."""
    start, end = np.minimum(where.cursor, boundary), np.maximum(where.cursor, boundary)
    return start + state.place, end + state.place


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
