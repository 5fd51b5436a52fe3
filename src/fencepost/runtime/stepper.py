"""Steps that cost little on a CPU: the fast twin of `model.stepper.HeadStepper`, in numpy.

Wherever two linear layers meet, their weights are multiplied out once for a head. All that depends
on boundaries alone is computed once for a sentence: the first layers of MLP_span and MLP_label are
linear in `b_end - b_start`, so that a step subtracts two projections. What is left of a step is one
product with the decoder's state, one with the span, one with the labels and one with the sentence's
boundaries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fencepost.batching.arrays import Bools, Floats, Ints
from fencepost.decoding.configurations import Configurations
from fencepost.runtime.grid import NORM_EPSILON, GridEnds, fits, products
from fencepost.runtime.layers import leaky, lstm_step
from fencepost.runtime.weights import Folded


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
    second: Floats | None  # (all boundaries, m): that of the start of the span below it
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
        offsets = None
        if weights.offset is not None:
            offsets = hidden.dot(weights.offset).reshape(rows, width) + weights.offset_bias
        del hidden  # large, and not needed any more
        label_ends = flat.dot(weights.label_end)
        newest = second = None
        if weights.newest_start is not None and weights.second_scale is not None:
            newest = weights.newest_start(flat)
            second = newest * weights.second_scale
        return FastState(
            None if weights.span_in is None else flat.dot(weights.span_in),
            -label_ends if weights.label_start is None else flat.dot(weights.label_start),
            label_ends,
            None if weights.standing is None else weights.standing(flat),
            newest,
            second,
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
        if state.newest is not None and state.second is not None:
            assert weights.newest_label is not None
            assert weights.second_label is not None
            query = query + state.newest.take(state.place + where.newest, axis=0)
            query += weights.newest_label.take(where.label + 1, axis=0)
            start, label = where.second()
            query += state.second.take(state.place + start, axis=0) * (start >= 0)[:, None]
            query += weights.second_label.take(label + 1, axis=0)
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
        """What the decoder's gates get of a step, from its `inputs` alone: (states, 4 d)."""
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
        return FastState(*state[:11], cell, outputs, group, state.each)

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
