"""Pointing heads as ONNX graphs: the formula of `model.head`, for programs that are not in Python.

A head has three graphs. Which inputs and outputs they have depends on its settings; a caller that
keeps tensors by name, and gives each graph those that it names as inputs, works with any head:

    tensors = start(boundaries)                             # once for a sentence
    while the parse is not complete:
        tensors |= point(tensors, configuration)            # point_logits, perhaps next_state
        tensors.state = tensors.next_state
        boundary = the best of the candidates
        tensors |= label(tensors, configuration, boundary)  # label_logits
        configuration = configuration.point(boundary, the best of the labels)

Candidates, canonical rules and normalisation are the caller's. Rows are independent of each other:
whoever drops finished rows drops them from all tensors.

| input          | type  | shape                |                                               |
|----------------|-------|----------------------|-----------------------------------------------|
| `boundaries`   | float | (rows, n + 1, width) | boundary vectors                              |
| `cursor`       | int32 | (rows,)              | boundary where the cursor stands              |
| `newest`       | int32 | (rows,)              | start of the newest span; 0 if there is none  |
| `label`        | int32 | (rows,)              | its label; -1 if there is none                |
| `stack_labels` | int32 | (rows, n + 1)        | labels of the stack by their starts, or -1    |
| `merged`       | int32 | (rows, n + 1)        | spans that pointing to the left merges, or 0  |
| `boundary`     | int32 | (rows,)              | boundary to point to                          |
| `temperature`  | float | (1,)                 | divides all logits                            |
| `state`        | float | (rows, 2 decoder)    | hidden and cell state of the LSTM             |

Outputs are `point_logits`, (rows, n + 1), `label_logits`, (rows, labels), `next_state`, and the
projections that `start` makes, whose first axis is that of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import numpy as np

from fencepost.runtime.graphs import lstm_gates
from fencepost.runtime.grid import NEVER, NORM_EPSILON, WIDEST
from fencepost.runtime.layers import SLOPE
from fencepost.runtime.onnx import INT64, Graph, Stored, Value
from fencepost.runtime.shapes import MOST_MERGED

PARTS = ("start", "point", "label")


def step_graphs(stored: Mapping[str, Stored], prefix: str, *, file: str) -> dict[str, bytes]:
    """The graphs of a head by the names of `PARTS`.

    Args:
        stored: the weights of the network.
        prefix: of the names of the head's weights.
        file: that holds them, beside the graphs.
    """
    build = {"start": _Head.start, "point": _Head.point, "label": _Head.label}
    graphs = {}
    for part in PARTS:
        head = _Head(Graph(file, stored), stored, prefix)
        build[part](head)
        graphs[part] = head.graph.to_bytes()
    return graphs


class _Head:
    """Writes one graph of a head. The names of its weights tell which settings are on."""

    def __init__(self, graph: Graph, stored: Mapping[str, Stored], prefix: str) -> None:
        self.graph, self._stored, self._prefix = graph, stored, prefix
        self._inputs: dict[str, Value] = {}
        self.labels, self.mlp = self._shape("label_vectors")
        self.width = self._shape("point.first.weight")[1]
        self.recurrent, self.context = self._has("first_hidden"), self._has("newest_label")
        self.standing, self.grid = self._has("standing.first.weight"), self._has("grid_weight")
        self.decoder = self._shape("first_hidden")[0] if self.recurrent else 0
        self.ways = 2 if self._has("bias") else 1

    def start(self) -> None:
        """Project boundaries, once for a sentence."""
        add, numbers = self.graph.add, self.graph.numbers
        boundaries = self.graph.input("boundaries", "F32", ("rows", "boundaries", self.width))
        mlp, ways = self.mlp, self.ways

        # [p; 1] W of each way, (rows, ways, mlp, n + 1): a query is multiplied from the left.
        biaffine = add("Reshape", self._weight("biaffine"), numbers(ways, mlp + 1, mlp))
        weight, bias = self._split(biaffine, mlp, 1, axis=1)
        weight = add("Reshape", add("Transpose", weight, perm=(1, 0, 2)), numbers(mlp, -1))
        sides = add("MatMul", self._perceptron(boundaries, "point"), weight)
        sides = add("Add", sides, add("Reshape", bias, numbers(-1)))
        sides = add("Reshape", sides, numbers(0, 0, ways, mlp))
        sides = add("Transpose", sides, perm=(0, 2, 3, 1))
        self.graph.output(sides, "sides", ("rows", ways, mlp, "boundaries"))

        if self.standing:
            self._give(self._perceptron(boundaries, "standing"), "standing")
        if self.context:
            self._give(self._perceptron(boundaries, "newest_start"), "newest_starts")
        if self.grid:
            starts, ends = self._split(self._weight("grid.first.weight"), *[self.width] * 2, axis=1)
            self._give(self._linear(boundaries, starts), "grid_starts")
            bias = self._weight("grid.first.bias")
            self._give(self._linear(boundaries, ends, bias), "grid_ends")

        first = self._weight("label.first.weight")
        if self.recurrent:
            _, ends = self._split(first, self.decoder, self.width, axis=1)
            self._give(self._linear(boundaries, self._weight("span.first.weight")), "spans")
            state = add("Concat", *map(self._weight, ("first_hidden", "first_cell")), axis=0)
            rows = add("Shape", boundaries, start=0, end=1)
            shape = add("Concat", rows, numbers(2 * self.decoder), axis=0)
            self.graph.output(add("Expand", state, shape), "state", ("rows", 2 * self.decoder))
        else:
            starts, ends = self._split(first, self.width, self.width, axis=1)
            self._give(self._linear(boundaries, starts), "label_starts")
        self._give(self._linear(boundaries, ends), "label_ends")

    def point(self) -> None:
        """Let the decoder read the newest span, and score all boundaries."""
        add, numbers = self.graph.add, self.graph.numbers
        sides = self.graph.input("sides", "F32", ("rows", self.ways, self.mlp, "boundaries"))
        terms = []
        if self.recurrent:
            terms.append(self._perceptron(self._read(), "cursor"))
        if self.standing:
            terms.append(self._at("standing", self._column("cursor")))
        if self.context:
            terms.append(self._at("newest_starts", self._column("newest")))
            terms.append(self._rows("newest_label", self._plus_one(self._column("label"))))
        query = self._sum(*terms)

        scores = add("MatMul", add("Unsqueeze", query, numbers(1, 2)), sides)
        if self.ways == 1:
            scores = add("Squeeze", scores, numbers(1, 2))
        else:
            count = add("Squeeze", add("Shape", sides, start=3))
            every = add("Range", self._number(0), count, self._number(1))
            leftward = add("Less", every, self._column("cursor"))
            bias = add("Reshape", self._weight("bias"), numbers(2, 1))
            scores = add("Add", add("Squeeze", scores, numbers(2)), bias)
            left, right = (add("Gather", scores, self._number(way), axis=1) for way in (0, 1))
            scores = add("Where", leftward, left, right)
            if self.grid:
                scores = add("Add", scores, self._grid(every, leftward))
        if self.context:
            scores = add("Add", scores, self._merging(query))
        self._give_logits(scores, "point_logits", "boundaries")

    def _read(self) -> Value:
        """The decoder's hidden state after the newest span, or after START: (rows, decoder)."""
        add, numbers = self.graph.add, self.graph.numbers
        cursor, newest, label = map(self._column, ("cursor", "newest", "label"))
        inputs = add("Sub", self._at("spans", cursor), self._at("spans", newest))
        inputs = self._after(add("Add", inputs, self._weight("span.first.bias")), "span")
        if self._shape("start")[0] > self.mlp:  # the decoder reads labels, too
            known = add("Max", label, numbers(0))
            inputs = add("Concat", inputs, self._rows("label_vectors", known), axis=1)
        is_first = add("Less", label, numbers(0))
        inputs = add("Where", is_first, self._weight("start"), inputs)
        hidden, cell = self._state()
        biases = (self._gates(f"bias_{part}") for part in ("ih", "hh"))
        _, *states = self.graph.add_many(
            "LSTM",
            add("Unsqueeze", inputs, numbers(0)),
            self._gates("weight_ih"),
            self._gates("weight_hh"),
            add("Concat", *biases, axis=1),
            None,  # all rows have one step
            add("Unsqueeze", hidden, numbers(0)),
            add("Unsqueeze", cell, numbers(0)),
            outputs=3,
            hidden_size=self.decoder,
        )
        hidden, cell = (add("Squeeze", each, numbers(0)) for each in states)
        after = add("Concat", hidden, cell, axis=1)
        self.graph.output(after, "next_state", ("rows", 2 * self.decoder))
        return hidden

    def _grid(self, every: Value, leftward: Value) -> Value:
        """The terms of the grid in pointing scores: (rows, n + 1).

        Only the spans at the cursor are scored: all of them at once would need memory for the
        square of a sentence's length.
        """
        add, numbers = self.graph.add, self.graph.numbers
        names, cursor = ("grid_starts", "grid_ends"), self._column("cursor")
        is_start = add("Unsqueeze", leftward, numbers(2))
        there = add("Where", is_start, *map(self._taken, names))
        here = (add("Unsqueeze", self._at(name, cursor), numbers(1)) for name in reversed(names))
        hidden = add("Add", there, add("Where", is_start, *here))
        hidden = add("Relu", self._norm(hidden, "grid.norm"))
        scores = self._linear(
            hidden, self._weight("grid.out.weight"), self._weight("grid.out.bias")
        )
        width = add("Abs", add("Sub", every, cursor))
        never = self.graph.constant(np.float32(NEVER))
        is_wide = add("Greater", width, numbers(WIDEST))
        scores = add("Where", is_wide, never, add("Squeeze", scores, numbers(2)))
        left, right = self._split(self._weight("grid_weight"), 1, 1, axis=0)
        return add("Mul", scores, add("Where", leftward, left, right))

    def _merging(self, query: Value) -> Value:
        """The terms of labels on the stack in pointing scores: (rows, n + 1)."""
        add = self.graph.add
        by_label = self._linear(query, self._weight("stack_label"))
        by_label = add(
            "GatherElements", by_label, self._plus_one(self._stack("stack_labels")), axis=1
        )
        merged = self._stack("merged")
        most = add("Min", merged, self.graph.numbers(MOST_MERGED))
        terms = add("Add", by_label, add("Gather", self._weight("merged"), most))
        is_merge = add("Greater", merged, self.graph.numbers(0))
        return add("Where", is_merge, terms, self.graph.constant(np.float32(0)))

    def label(self) -> None:
        """Score the labels of the spans that pointing to `boundary` completes."""
        add, numbers = self.graph.add, self.graph.numbers
        cursor, boundary = self._column("cursor"), self._column("boundary")
        start, end = add("Min", cursor, boundary), add("Max", cursor, boundary)
        bias = self._weight("label.first.bias")
        if self.recurrent:
            hidden, _ = self._state()
            weight, _ = self._split(
                self._weight("label.first.weight"), self.decoder, self.width, axis=1
            )
            spans = add("Sub", self._at("label_ends", end), self._at("label_ends", start))
            terms = [spans, self._linear(hidden, weight, bias)]
        else:
            terms = [self._at("label_ends", end), self._at("label_starts", start), bias]
        if self.context:
            labels = add("GatherElements", self._stack("stack_labels"), boundary, axis=1)
            is_merge = add("Less", boundary, cursor)
            child = add("Where", is_merge, self._plus_one(labels), numbers(0))
            newest = self._plus_one(self._column("label"))
            terms.append(self._rows("label_newest", newest))
            terms.append(self._rows("label_child", child))
        hidden = self._sum(*terms)
        if self._has("label.norm.weight"):
            hidden = add("Relu", self._norm(hidden, "label.norm"))
        else:
            hidden = add("LeakyRelu", hidden, alpha=SLOPE)
        # The second layer and the labels' vectors are multiplied out when the graph is loaded.
        vectors = self._weight("label_vectors")
        weight = add("MatMul", vectors, self._weight("label.second.weight"))
        bias = add("MatMul", vectors, self._weight("label.second.bias"))
        self._give_logits(self._linear(hidden, weight, bias), "label_logits", self.labels)

    # Inputs and outputs. An input is declared when it is first used.

    def _input(self, name: str, kind: str, *shape: int | str) -> Value:
        if name not in self._inputs:
            self._inputs[name] = self.graph.input(name, kind, ("rows", *shape))
        return self._inputs[name]

    def _column(self, name: str) -> Value:
        """A number for each row: (rows, 1)."""
        column = self._input(name, "I32")
        return self.graph.add(
            "Cast", self.graph.add("Unsqueeze", column, self.graph.numbers(1)), to=INT64
        )

    def _stack(self, name: str) -> Value:
        """A number for each boundary of each row: (rows, n + 1)."""
        return self.graph.add("Cast", self._input(name, "I32", "boundaries"), to=INT64)

    def _taken(self, name: str) -> Value:
        """A projection of all boundaries, by `start`: (rows, n + 1, …)."""
        width = self._shape("grid.out.weight")[1] if name.startswith("grid") else self.mlp
        return self._input(name, "F32", "boundaries", width)

    def _state(self) -> list[Value]:
        """The decoder's hidden state and its cell, (rows, decoder) each."""
        state = self._input("state", "F32", 2 * self.decoder)
        return self._split(state, self.decoder, self.decoder, axis=1)

    def _give(self, values: Value, name: str) -> None:
        """Output a projection of all boundaries, which `_taken` takes: (rows, n + 1, …)."""
        width = self._shape("grid.out.weight")[1] if name.startswith("grid") else self.mlp
        self.graph.output(values, name, ("rows", "boundaries", width))

    def _give_logits(self, scores: Value, name: str, count: int | str) -> None:
        temperature = self.graph.input("temperature", "F32", (1,))
        self.graph.output(self.graph.add("Div", scores, temperature), name, ("rows", count))

    # Parts of the formula.

    def _at(self, name: str, column: Value) -> Value:
        """A projection of one boundary of each row, by `start`: (rows, …)."""
        return self.graph.add("GatherND", self._taken(name), column, batch_dims=1)

    def _rows(self, name: str, column: Value) -> Value:
        """A row of a table of weights for each row: (rows, …)."""
        index = self.graph.add("Squeeze", column, self.graph.numbers(1))
        return self.graph.rows(self._prefix + name, index)

    def _plus_one(self, labels: Value) -> Value:
        """Labels as places in the tables that begin with no span at all."""
        return self.graph.add("Add", labels, self.graph.numbers(1))

    def _sum(self, first: Value, *others: Value) -> Value:
        return reduce(lambda total, term: self.graph.add("Add", total, term), others, first)

    def _linear(self, values: Value, weight: Value, bias: Value | None = None) -> Value:
        """A linear layer: (…, in) to (…, out); its weight is (out, in)."""
        product = self.graph.add("MatMul", values, self.graph.add("Transpose", weight, perm=(1, 0)))
        return product if bias is None else self.graph.add("Add", product, bias)

    def _perceptron(self, values: Value, name: str) -> Value:
        """A perceptron of one layer or of two: (…, in) to (…, mlp)."""
        weight, bias = (self._weight(f"{name}.first.{part}") for part in ("weight", "bias"))
        return self._after(self._linear(values, weight, bias), name)

    def _after(self, hidden: Value, name: str) -> Value:
        """A perceptron from the output of its first layer on."""
        hidden = self.graph.add("LeakyRelu", hidden, alpha=SLOPE)
        if not self._has(f"{name}.second.weight"):
            return hidden
        weight, bias = (self._weight(f"{name}.second.{part}") for part in ("weight", "bias"))
        return self._linear(hidden, weight, bias)

    def _norm(self, values: Value, name: str) -> Value:
        weight, bias = (self._weight(f"{name}.{part}") for part in ("weight", "bias"))
        return self.graph.add(
            "LayerNormalization", values, weight, bias, axis=-1, epsilon=NORM_EPSILON
        )

    # Weights.

    def _has(self, name: str) -> bool:
        return self._prefix + name in self._stored

    def _shape(self, name: str) -> tuple[int, ...]:
        return self._stored[self._prefix + name].shape

    def _weight(self, name: str) -> Value:
        return self.graph.float_weight(self._prefix + name)

    def _gates(self, name: str) -> Value:
        return lstm_gates(self.graph, f"{self._prefix}lstm.{name}_l0")

    def _split(self, values: Value, *sizes: int, axis: int) -> list[Value]:
        parts = self.graph.numbers(*sizes)
        return self.graph.add_many("Split", values, parts, outputs=len(sizes), axis=axis)

    def _number(self, number: int) -> Value:
        return self.graph.constant(np.int64(number))
