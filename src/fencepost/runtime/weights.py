"""The weights in a file of safetensors, read one by one where they are needed."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from fencepost.batching.arrays import Floats
from fencepost.errors import ModelError
from fencepost.runtime.manifest import size_of
from fencepost.runtime.onnx import Stored

MOST_WEIGHTS, MOST_HEADER = 2**34, 2**22  # bytes
FLOATS = {"F16": "<f2", "BF16": "<u2", "F32": "<f4", "F64": "<f8"}  # what weights may be stored as

Shapes = dict[str, tuple[int, ...]]  # by the names of weights

# Of a number that is not finite, all bits of the exponent are set.
_EXPONENTS = {"F16": 0x7C00, "BF16": 0x7F80}


class Weights(Mapping[str, Floats]):
    """The weights in a file by their names, each as an array of 32 bits.

    Args:
        path: the file; nothing but its header is read now. It stays open, and may be removed.

    Raises:
        ModelError: there is no such file, or it is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        size_of(path, most=MOST_WEIGHTS)
        with readable(path):
            self._file = open(path, "rb")  # noqa: SIM115  # closed with the object
            weakref.finalize(self, self._file.close)
            length = int.from_bytes(self._file.read(8), "little")
            if length > MOST_HEADER:
                raise ModelError(
                    f"{path}: damaged, or no safetensors file: {length:,} bytes of names and shapes"
                )
            header = self._file.read(length)
            with safe_open(path, "np") as checked:  # refuses what does not fit together
                names = list(checked.keys())
            entries = json.loads(header)
            self.stored = {name: _stored(entries[name], start=8 + length) for name in names}

    def __getitem__(self, name: str) -> Floats:
        stored = self.stored[name]
        values = self._bits(stored)
        if stored.kind == "BF16":
            return (values.astype(np.uint32) << 16).view(np.float32)
        return values.astype(np.float32)

    def __iter__(self) -> Iterator[str]:
        return iter(self.stored)

    def __len__(self) -> int:
        return len(self.stored)

    def under(self, prefix: str) -> dict[str, Floats]:
        """The weights whose names begin with something, named by the rest."""
        some = (name for name in self.stored if name.startswith(prefix))
        return {name.removeprefix(prefix): self[name] for name in some}

    def check(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Refuse weights that are not those of a network, or are no finite numbers.

        Args:
            shapes: of the network's weights, by name.
        """
        wrong = [f"{name} is missing" for name in shapes if name not in self.stored]
        for name, (kind, shape, _, _) in self.stored.items():
            if name not in shapes:
                wrong.append(f"{name[:100]} is too much")
            elif shape != shapes[name]:
                wrong.append(f"{name} has {shape} and not {shapes[name]}")
            elif kind not in FLOATS:
                wrong.append(f"{name} has numbers of the kind {kind}")
        if wrong:
            more = f" and {len(wrong) - 3:,} more" if len(wrong) > 3 else ""
            raise ModelError(
                f"{self.path}: the weights do not fit the settings: {'; '.join(wrong[:3])}{more}"
            )
        for name, stored in self.stored.items():
            values = self._bits(stored)
            exponent = _EXPONENTS.get(stored.kind)
            is_finite = (
                np.isfinite(values)
                if exponent is None
                else (values.view(np.uint16) & exponent) != exponent
            )
            if not is_finite.all():
                raise ModelError(f"{self.path}: {name} has numbers that are not finite")

    def _bits(self, stored: Stored) -> Floats:
        """A weight as it is stored; 16 bits of a `BF16` as a whole number."""
        with readable(self.path):
            data = os.pread(self._file.fileno(), stored.length, stored.offset)
        if len(data) < stored.length:
            raise ModelError(f"{self.path}: cut short while it was read")
        return np.frombuffer(data, FLOATS[stored.kind]).reshape(stored.shape)


def _stored(entry: Mapping[str, Any], *, start: int) -> Stored:
    first, last = entry["data_offsets"]
    return Stored(entry["dtype"], tuple(entry["shape"]), start + first, last - first)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn errors of libraries about a file into one of ours."""
    try:
        yield
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from error
    except SafetensorError as error:
        raise ModelError(f"{path}: damaged, or no safetensors file: {error}") from error
