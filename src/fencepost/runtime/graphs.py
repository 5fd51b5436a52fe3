"""Encoders as ONNX graphs: what `model.transformer` and `model.encoder` compute, for onnxruntime.

All operators are ONNX's own, but for one in `RoundedLinear`. Weights have the names that they have
in torch, so that one file of weights serves both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

import numpy as np

from fencepost.batching.arrays import Floats
from fencepost.runtime.bert import BertSizes
from fencepost.runtime.onnx import FLOAT, Graph, Value

TRANSFORMER = "encoder.transformer."

_HIDDEN = -1e9  # added to the scores of padding, of which a softmax makes 0
_GATES = (0, 3, 1, 2)  # torch has input, forget, cell, output; ONNX input, output, forget, cell

# The largest whole numbers. Some processors add two products of a byte (0 to 255) and a weight in
# 16 bits: 2 * 255 * 64 fits, so that sums are exact on all of them. With 127 it would not.
_WEIGHT, _INPUT = 64, 127
_MIDDLE = 128  # the byte that stands for 0
_LEAST = 1e-30  # a scale is at least this, so that a row of zeros can be divided by it

Linear = Callable[[Graph, Value, str], Value]  # the linear layer of a name, applied to rows


def linear(graph: Graph, rows: Value, name: str) -> Value:
    """A linear layer: (rows, in) to (rows, out)."""
    weight, bias = graph.float_weight(f"{name}.weight"), graph.float_weight(f"{name}.bias")
    return graph.add("Gemm", rows, weight, bias, transB=1)


class RoundedLinear:
    """Linear layers that multiply whole numbers of 8 bits.

    Weights have one scale for each output, and inputs one for each row, so that no row is rounded
    otherwise because of the rows beside it.

    Args:
        weights: of which the layers are rounded.
    """

    def __init__(self, weights: Mapping[str, Floats]) -> None:
        self._weights = weights

    def __call__(self, graph: Graph, rows: Value, name: str) -> Value:
        """A linear layer: (rows, in) to (rows, out)."""
        weight = self._weights[f"{name}.weight"]
        scale = np.maximum(np.abs(weight).max(1) / np.float32(_WEIGHT), np.float32(_LEAST))
        whole = np.rint(weight / scale[:, None]).astype(np.int8)
        one, middle = graph.constant(np.float32(1)), graph.constant(np.uint8(_MIDDLE))
        last = graph.numbers(-1)  # no array of absolute values is made
        largest = graph.add("ReduceMax", rows, last, keepdims=1)
        smallest = graph.add("Neg", graph.add("ReduceMin", rows, last, keepdims=1))
        largest = graph.add("Max", largest, smallest)
        row_scale = graph.add("Mul", largest, graph.constant(np.float32(1 / _INPUT)))
        row_scale = graph.add("Max", row_scale, graph.constant(np.float32(_LEAST)))
        bytes_of_rows = graph.add("QuantizeLinear", graph.add("Div", rows, row_scale), one, middle)
        product = graph.add(
            "MatMulIntegerToFloat",
            bytes_of_rows,
            graph.constant(np.ascontiguousarray(whole.T)),
            one,
            graph.constant(scale),
            middle,
            domain="com.microsoft",
        )
        return graph.add(
            "Add", graph.add("Mul", product, row_scale), graph.float_weight(f"{name}.bias")
        )


def bert_graph(
    graph: Graph, sizes: BertSizes, *, layers: int, case: bool, linear: Linear = linear
) -> bytes:
    """A transformer that is built like BERT.

    Inputs are `pieces`, `mask` and perhaps `cases`, (windows, pieces), as in `PieceInputs`; the
    output is `vectors`, (windows, pieces, width).

    Args:
        graph: to which it is added.
        sizes: of the transformer.
        layers: how many of the last layers are mixed; 1: the last alone.
        case: whether it is told of capital letters.
        linear: how linear layers are computed.
    """
    pieces = graph.input("pieces", "I64", ("windows", "pieces"))
    mask = graph.input("mask", "I64", ("windows", "pieces"))
    width, heads = sizes.hidden_size, sizes.num_attention_heads
    name = f"{TRANSFORMER}embeddings."
    vectors = graph.rows(f"{name}word_embeddings.weight", pieces)
    if case:
        cases = graph.input("cases", "I64", ("windows", "pieces"))
        vectors = graph.add("Add", vectors, graph.rows("encoder.cases.weight", cases))
    count = graph.add("Gather", graph.add("Shape", pieces), graph.numbers(1))
    first = graph.numbers(sizes.first_position)
    places = graph.add(
        "Range",
        *(
            graph.add("Squeeze", value)
            for value in (first, graph.add("Add", first, count), graph.numbers(1))
        ),
    )
    for table, index in (("position", places), ("token_type", graph.numbers(0))):
        vectors = graph.add("Add", vectors, graph.rows(f"{name}{table}_embeddings.weight", index))
    vectors = graph.add("Reshape", vectors, graph.numbers(-1, width))
    states = [_norm(graph, vectors, f"{name}LayerNorm", sizes)]
    seen = graph.add("Cast", graph.add("Unsqueeze", mask, graph.numbers(1, 2)), to=FLOAT)
    unseen = graph.add("Sub", graph.constant(np.float32(1)), seen)
    bias = graph.add("Mul", unseen, graph.constant(np.float32(_HIDDEN)))
    by_head = graph.add(
        "Concat", graph.numbers(-1), count, graph.numbers(heads, width // heads), axis=0
    )
    for number in range(sizes.num_hidden_layers):
        layer = f"{TRANSFORMER}encoder.layer.{number}."

        def apply(rows: Value, part: str, layer: str = layer) -> Value:
            return linear(graph, rows, layer + part)

        rows = states[-1]
        query, key, value = (
            graph.add("Reshape", apply(rows, f"attention.self.{part}"), by_head)
            for part in ("query", "key", "value")
        )
        query, value = (graph.add("Transpose", each, perm=(0, 2, 1, 3)) for each in (query, value))
        scores = graph.add("MatMul", query, graph.add("Transpose", key, perm=(0, 2, 3, 1)))
        scores = graph.add("Mul", scores, graph.constant(np.float32((width // heads) ** -0.5)))
        shares = graph.add("Softmax", graph.add("Add", scores, bias), axis=-1)
        read = graph.add("Transpose", graph.add("MatMul", shares, value), perm=(0, 2, 1, 3))
        read = apply(graph.add("Reshape", read, graph.numbers(-1, width)), "attention.output.dense")
        rows = _norm(
            graph, graph.add("Add", read, rows), f"{layer}attention.output.LayerNorm", sizes
        )
        inner = apply(graph.add("Gelu", apply(rows, "intermediate.dense")), "output.dense")
        states.append(
            _norm(graph, graph.add("Add", inner, rows), f"{layer}output.LayerNorm", sizes)
        )
    mixed = states[-1]
    if layers > 1:
        shares = graph.add("Softmax", graph.float_weight("encoder.mix.weights"), axis=0)
        shares = graph.add("Mul", shares, graph.float_weight("encoder.mix.scale"))
        parts = graph.add_many("Split", shares, outputs=layers, axis=0, num_outputs=layers)
        terms = (graph.add("Mul", *pair) for pair in zip(states[-layers:], parts, strict=True))
        mixed = reduce(lambda total, term: graph.add("Add", total, term), terms)
    shape = graph.add("Concat", graph.numbers(-1), count, graph.numbers(width), axis=0)
    graph.output(graph.add("Reshape", mixed, shape), "vectors", ("windows", "pieces", width))
    return graph.to_bytes()


def _norm(graph: Graph, rows: Value, name: str, sizes: BertSizes) -> Value:
    weight, bias = graph.float_weight(f"{name}.weight"), graph.float_weight(f"{name}.bias")
    return graph.add(
        "LayerNormalization", rows, weight, bias, axis=-1, epsilon=float(sizes.layer_norm_eps)
    )


def word_graph(graph: Graph, *, static: bool, layers: int, hidden: int, characters: int) -> bytes:
    """Words and characters learned from scratch, and the layers of LSTM above them.

    Inputs are those of `WordInputs` and `sizes`, the numbers of words with sentinels; the output is
    `states`, (batch, n + 2, width).

    Args:
        graph: to which it is added.
        static: whether words have static vectors.
        layers: of the LSTM.
        hidden: size of the LSTM, in each direction.
        characters: size of the LSTM over characters, in each direction.
    """
    words = graph.input("words", "I64", ("batch", "words"))
    spelled = graph.input("spelled", "I64", ("batch", "words"))
    letters = graph.input("characters", "I64", ("spellings", "characters"))
    lengths = graph.input("spelling_lengths", "I32", ("spellings",))
    vectors = graph.rows("encoder.words.weight", words)
    if static:
        known = graph.input("static", "I64", ("batch", "words"))
        vectors = graph.add("Add", vectors, graph.rows("encoder.static.weight", known))
    letters = graph.add(
        "Transpose", graph.rows("encoder.characters.weight", letters), perm=(1, 0, 2)
    )
    _, last = _lstm(graph, letters, lengths, "encoder.spelling.", characters)
    last = graph.add("Reshape", graph.add("Transpose", last, perm=(1, 0, 2)), graph.numbers(0, -1))
    vectors = graph.add("Concat", vectors, graph.add("Gather", last, spelled), axis=-1)
    return _above(graph, vectors, layers=layers, hidden=hidden)


def lstm_graph(graph: Graph, *, width: int, layers: int, hidden: int) -> bytes:
    """The layers of LSTM above a transformer: from `vectors` and `sizes` to `states`.

    Args:
        graph: to which they are added.
        width: of the vectors of words.
        layers: how many.
        hidden: size in each direction.
    """
    vectors = graph.input("vectors", "F32", ("batch", "words", width))
    return _above(graph, vectors, layers=layers, hidden=hidden)


def boundary_graph(graph: Graph, *, width: int, whole: bool, tags: int) -> bytes:
    """Boundaries and tags, from `states` to `boundaries` and `tags`.

    Args:
        graph: to which they are added.
        width: of the states of words.
        whole: whether boundaries take all of the words beside them, and not one half of each.
        tags: how many there are; 0: no output of that name.
    """
    states = graph.input("states", "F32", ("batch", "words", width))
    axis, behind = graph.numbers(1), graph.numbers(2**31)

    def part(first: int, last: int) -> Value:
        return graph.add("Slice", states, graph.numbers(first), graph.numbers(last), axis)

    sides = [part(0, -1), graph.add("Slice", states, axis, behind, axis)]
    if not whole:
        halves = graph.numbers(width // 2, width // 2)
        sides = [
            graph.add_many("Split", side, halves, outputs=2, axis=2)[number]
            for number, side in enumerate(sides)
        ]
    size = 2 * width if whole else width
    graph.output(graph.add("Concat", *sides, axis=2), "boundaries", ("batch", "posts", size))
    if tags:
        weight = graph.add("Transpose", graph.float_weight("tags.weight"), perm=(1, 0))
        scores = graph.add("MatMul", part(1, -1), weight)
        scores = graph.add("Add", scores, graph.float_weight("tags.bias"))
        graph.output(scores, "tags", ("batch", "inner", tags))
    return graph.to_bytes()


def _above(graph: Graph, vectors: Value, *, layers: int, hidden: int) -> bytes:
    """The layers of LSTM above vectors of words, and the end of the graph."""
    if layers:
        sizes = graph.input("sizes", "I32", ("batch",))
        vectors = graph.add("Transpose", vectors, perm=(1, 0, 2))
        for number in range(layers):
            states, _ = _lstm(graph, vectors, sizes, f"lstm.layers.{number}.", hidden)
            # (words, directions, batch, hidden) to (words, batch, both directions)
            states = graph.add("Transpose", states, perm=(0, 2, 1, 3))
            vectors = graph.add("Reshape", states, graph.numbers(0, 0, -1))
        vectors = graph.add("Transpose", vectors, perm=(1, 0, 2))
    graph.output(vectors, "states", ("batch", "words", "width"))
    return graph.to_bytes()


def _lstm(graph: Graph, vectors: Value, lengths: Value, name: str, hidden: int) -> list[Value]:
    """All states and the last ones of an LSTM that reads in both directions.

    Vectors are (time, batch, width), as ONNX has them; behind the end of a row, states are zero.
    """

    def both(*names: str) -> Value:
        """The weights of both directions, those of several names one after the other."""
        each = [
            graph.add(
                "Concat", *(lstm_gates(graph, f"{name}{part}_l0{way}") for part in names), axis=1
            )
            for way in ("", "_reverse")
        ]
        return graph.add("Concat", *each, axis=0)

    return graph.add_many(
        "LSTM",
        vectors,
        both("weight_ih"),
        both("weight_hh"),
        both("bias_ih", "bias_hh"),
        lengths,
        outputs=2,
        hidden_size=hidden,
        direction="bidirectional",
    )


def lstm_gates(graph: Graph, name: str) -> Value:
    """The weights of an LSTM in the order of ONNX: (4 hidden, …) to (1, 4 hidden, …)."""
    parts = graph.add_many("Split", graph.float_weight(name), outputs=4, axis=0, num_outputs=4)
    gates = graph.add("Concat", *(parts[gate] for gate in _GATES), axis=0)
    return graph.add("Unsqueeze", gates, graph.numbers(0))
