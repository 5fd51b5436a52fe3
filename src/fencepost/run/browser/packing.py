"""Weights for a download: tables in 8 bits with a scale for each row, all others in 16 bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fencepost.batching.arrays import Floats
from fencepost.runtime.onnx import SCALE

_MOST = 127
_LEAST = np.float32(1e-30)  # a scale is at least this, so that a row of zeros can be divided by it


def packed(weights: Mapping[str, Floats]) -> dict[str, Any]:
    """The weights of a network as they are downloaded, each with its scales if it has any.

    Graphs multiply them out when they are opened (`Graph.float_weight`), so that products are made
    of numbers of 32 bits, which WebAssembly does faster than products of whole numbers.
    """
    found: dict[str, Any] = {}
    for name, weight in weights.items():
        if weight.ndim == 2:
            largest = np.abs(weight).max(1, keepdims=True)
            scale = np.maximum(largest / np.float32(_MOST), _LEAST)
            found[name] = np.rint(weight / scale).astype(np.int8)
            found[name + SCALE] = scale
        else:
            found[name] = weight.astype(np.float16)
    return found
