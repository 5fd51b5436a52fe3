"""Type aliases of numpy arrays by their contents; comments and docstrings give the shapes.

To a type checker they are all the same: numpy's types do not follow operators and indices well.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

Bools = NDArray[Any]
Floats = NDArray[Any]
Ints = NDArray[Any]
