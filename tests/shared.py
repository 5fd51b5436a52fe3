"""Where the benchmark data lies, if it is there: beside the project, not in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("FENCEPOST_SHARED", Path(__file__).parents[2] / "shared")) / "data"

needs_shared_data = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the benchmark corpora are not beside this checkout"
)
