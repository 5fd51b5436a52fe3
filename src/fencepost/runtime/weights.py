"""The weights of a head, multiplied out for `runtime.stepper`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fencepost.batching.arrays import Floats
from fencepost.decoding.blas import quiet
from fencepost.runtime.grid import GridWeights
from fencepost.runtime.layers import Perceptron, columns, lstm_step


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
    second_scale: Floats | None  # (m,)
    second_label: Floats | None  # (labels + 1, m)
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
            own = w["lstm.weight_hh_l0"][order] * halves[:, None]
            gate_bias = (w["lstm.bias_ih_l0"] + w["lstm.bias_hh_l0"])[order] * halves
            read = Perceptron.of(w, "span")
            span_in, span_bias, span = read.first, read.first_bias, columns(into[:, :m])
            after_span = gate_bias
            if read.second is not None:
                after_span = read.second_bias @ span + gate_bias
                span = read.second @ span
            if into.shape[1] > m:
                labels_in = w["label_vectors"] @ into[:, m:].T
            state = np.concatenate((own, w["cursor.first.weight"], label_first[:, :d])).T
            # `lstm_step` leaves out a half of the output gate, so its states are twice as large.
            state = np.ascontiguousarray(state * 0.5)
            state_bias = np.concatenate((after_span, w["cursor.first.bias"], w["label.first.bias"]))
            first_gates = into @ w["start"] + own @ w["first_hidden"] + gate_bias
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
            second_scale=w["second_scale"] if context else None,
            second_label=w["second_label"] if context else None,
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
