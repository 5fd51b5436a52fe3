"""ONNX graphs, written down without the `onnx` package, which a small install does not have.

A graph names its weights by where they stand in a file of safetensors, so that each weight is
stored once: https://onnx.ai/onnx/repo-docs/ExternalData.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np

OPSET, IR_VERSION = 20, 9

_KINDS = {"F32": 1, "U8": 2, "I8": 3, "I32": 6, "I64": 7, "F16": 10, "F64": 11, "BF16": 16}
_CODES = {
    np.dtype(np.float32): "F32",
    np.dtype(np.uint8): "U8",
    np.dtype(np.int8): "I8",
    np.dtype(np.int32): "I32",
    np.dtype(np.int64): "I64",
}
FLOAT, INT64 = _KINDS["F32"], _KINDS["I64"]
SCALE = ":scale"  # behind the name of a weight of 8 bits: that of the scales of its rows, (rows, 1)


class Stored(NamedTuple):
    """A weight in a file of safetensors."""

    kind: str  # as safetensors name it
    shape: tuple[int, ...]
    offset: int  # of its first byte in the file
    length: int  # in bytes


@dataclass(frozen=True, slots=True)
class Value:
    """An output of a node."""

    name: str


class Graph:
    """A graph that grows node by node.

    Args:
        file: the name of the file that holds the weights.
        stored: the weights in it.
    """

    def __init__(self, file: str, stored: Mapping[str, Stored]) -> None:
        self._file = file
        self._stored = stored
        self._nodes: list[bytes] = []
        self._tensors: dict[str, bytes] = {}
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []
        self._numbers = count()

    def input(self, name: str, kind: str, shape: Iterable[int | str]) -> Value:
        """An input; sizes that may vary have names."""
        self._inputs.append(_value_info(name, kind, shape))
        return Value(name)

    def output(self, value: Value, name: str, shape: Iterable[int | str]) -> None:
        """Give a value of 32 bits to the outside under a name."""
        self._nodes.append(_node("Identity", (value.name,), (name,), {}))
        self._outputs.append(_value_info(name, "F32", shape))

    def weight(self, name: str) -> Value:
        """A weight as it is stored."""
        stored = self._stored[name]
        place = {"location": self._file, "offset": stored.offset, "length": stored.length}
        entries = [_text(1, key) + _text(2, str(value)) for key, value in place.items()]
        self._tensors[name] = b"".join(
            (
                _ints(1, stored.shape),
                _int(2, _KINDS[stored.kind]),
                _text(8, name),
                *(_bytes(13, entry) for entry in entries),
                _int(14, 1),
            )
        )
        return Value(name)

    def float_weight(self, name: str) -> Value:
        """A weight with 32 bits, times the scales of its rows if it has any."""
        value = self.as_float(self.weight(name), self._stored[name].kind)
        if name + SCALE in self._stored:
            value = self.add("Mul", value, self.float_weight(name + SCALE))
        return value

    def as_float(self, value: Value, kind: str) -> Value:
        """A value of some kind, with 32 bits."""
        return value if kind == "F32" else self.add("Cast", value, to=FLOAT)

    def rows(self, name: str, index: Value) -> Value:
        """Rows of a table of weights; these alone get their 32 bits."""
        rows = self.as_float(self.add("Gather", self.weight(name), index), self._stored[name].kind)
        if name + SCALE in self._stored:
            rows = self.add("Mul", rows, self.rows(name + SCALE, index))
        return rows

    def constant(self, value: Any) -> Value:
        """A constant, which is part of the graph."""
        array = np.asarray(value)
        name = f"constant_{next(self._numbers)}"
        self._tensors[name] = _tensor(name, array)
        return Value(name)

    def numbers(self, *numbers: int) -> Value:
        """Whole numbers, such as a shape."""
        return self.constant(np.array(numbers, dtype=np.int64))

    def add(
        self, operator: str, *inputs: Value | None, domain: str = "", **attributes: Any
    ) -> Value:
        """A node with one output; None stands for an input that is left out."""
        return self.add_many(operator, *inputs, outputs=1, domain=domain, **attributes)[0]

    def add_many(
        self,
        operator: str,
        *inputs: Value | None,
        outputs: int,
        domain: str = "",
        **attributes: Any,
    ) -> list[Value]:
        """A node with several outputs."""
        names = [f"{operator.lower()}_{next(self._numbers)}" for _ in range(outputs)]
        names_of_inputs = tuple(value.name if value else "" for value in inputs)
        self._nodes.append(_node(operator, names_of_inputs, tuple(names), attributes, domain))
        return [Value(name) for name in names]

    def to_bytes(self) -> bytes:
        """The graph as a file has it."""
        graph = b"".join(
            (
                *(_bytes(1, node) for node in self._nodes),
                _text(2, "fencepost"),
                *(_bytes(5, tensor) for tensor in self._tensors.values()),
                *(_bytes(11, one) for one in self._inputs),
                *(_bytes(12, one) for one in self._outputs),
            )
        )
        domains = {"": OPSET, "com.microsoft": 1}
        opsets = (_text(1, domain) + _int(2, version) for domain, version in domains.items())
        return b"".join(
            (
                _int(1, IR_VERSION),
                _text(2, "fencepost"),
                _bytes(7, graph),
                *(_bytes(8, opset) for opset in opsets),
            )
        )


def _node(
    operator: str,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    attributes: Mapping[str, Any],
    domain: str = "",
) -> bytes:
    return b"".join(
        (
            *(_text(1, name) for name in inputs),
            *(_text(2, name) for name in outputs),
            _text(4, operator),
            *(_bytes(5, _attribute(name, value)) for name, value in attributes.items()),
            _text(7, domain),
        )
    )


def _attribute(name: str, value: Any) -> bytes:
    head = _text(1, name)
    match value:
        case int():
            return head + _int(3, value) + _int(20, 2)
        case float():
            return head + _tag(2, 5) + np.float32(value).tobytes() + _int(20, 1)
        case str():
            return head + _text(4, value) + _int(20, 3)
        case _:
            return head + _ints(8, value) + _int(20, 7)


def _tensor(name: str, array: Any) -> bytes:
    kind = _KINDS[_CODES[array.dtype]]
    return b"".join(
        (_ints(1, array.shape), _int(2, kind), _text(8, name), _bytes(9, array.tobytes()))
    )


def _value_info(name: str, kind: str, shape: Iterable[int | str]) -> bytes:
    sizes = (_int(1, size) if isinstance(size, int) else _text(2, size) for size in shape)
    dimensions = b"".join(_bytes(1, size) for size in sizes)
    tensor = _int(1, _KINDS[kind]) + _bytes(2, dimensions)
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


# Protocol buffers: https://protobuf.dev/programming-guides/encoding/


def _varint(number: int) -> bytes:
    number &= 2**64 - 1
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def _tag(field: int, wire: int) -> bytes:
    return _varint(field << 3 | wire)


def _int(field: int, number: int) -> bytes:
    return _tag(field, 0) + _varint(int(number))


def _ints(field: int, numbers: Iterable[int]) -> bytes:
    return b"".join(_int(field, number) for number in numbers)


def _bytes(field: int, data: bytes) -> bytes:
    return _tag(field, 2) + _varint(len(data)) + data


def _text(field: int, text: str) -> bytes:
    return _bytes(field, text.encode())
