"""Layers in numpy: perceptrons, and one step of an LSTM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from fencepost.batching.arrays import Floats
from fencepost.runtime.weights import Shapes

SLOPE = 0.1  # of the perceptrons' leaky ReLU


class Perceptron(NamedTuple):
    """A perceptron of one layer or of two: weights as what vectors are multiplied with."""

    first: Floats  # (width, m)
    first_bias: Floats  # (m,)
    second: Floats | None  # (m, m); None: there is only one layer
    second_bias: Floats  # (m,)

    @classmethod
    def of(cls, weights: Mapping[str, Floats], name: str) -> Perceptron:
        """The one with a name."""
        first_bias = weights[f"{name}.first.bias"]
        first = columns(weights[f"{name}.first.weight"])
        second = weights.get(f"{name}.second.weight")
        if second is None:
            return cls(first, first_bias, None, np.zeros_like(first_bias))
        return cls(first, first_bias, columns(second), weights[f"{name}.second.bias"])

    def hidden(self, vectors: Floats) -> Floats:
        """The output of the first layer: (vectors, m)."""
        hidden = vectors.dot(self.first)
        hidden += self.first_bias
        return leaky(hidden, out=hidden)

    def __call__(self, vectors: Floats) -> Floats:
        """The output for vectors: (vectors, m)."""
        hidden = self.hidden(vectors)
        return hidden if self.second is None else hidden.dot(self.second) + self.second_bias


def columns(weight: Floats) -> Floats:
    """A linear layer's weight as what vectors are multiplied with from the right."""
    return np.ascontiguousarray(weight.T)


def leaky(values: Floats, out: Floats | None = None) -> Floats:
    """The leaky ReLU, in a new array or in `out`."""
    return np.maximum(values, SLOPE * values, out=out)


def lstm_step(
    state: Floats, state_bias: Floats, gates: Floats, cell: Floats
) -> tuple[Floats, Floats]:
    """One step of the decoder's LSTM: its cell, and what its state gives to all that reads it."""
    d = cell.shape[-1]
    np.tanh(gates, out=gates)
    gates[:, : 3 * d] += 1  # twice the logistic function
    cell = gates[:, d : 2 * d] * cell
    cell += gates[:, :d] * gates[:, 3 * d :]
    cell *= 0.5
    hidden = np.tanh(cell)
    hidden *= gates[:, 2 * d : 3 * d]
    outputs = hidden.dot(state)
    outputs += state_bias
    return cell, outputs


def lstm_shapes(
    name: str, width: int, hidden: int, *, directions: tuple[str, ...] = ("", "_reverse")
) -> Shapes:
    """The shapes of the weights of a layer of LSTM, as torch names them."""
    gates = 4 * hidden
    return {
        f"{name}{part}_l0{way}": shape
        for way in directions
        for part, shape in (
            ("weight_ih", (gates, width)),
            ("weight_hh", (gates, hidden)),
            ("bias_ih", (gates,)),
            ("bias_hh", (gates,)),
        )
    }
