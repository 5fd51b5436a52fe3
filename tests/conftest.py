"""What all tests share: one thread for torch, and how many examples Hypothesis draws."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Some virtual machines announce AMX and cannot run it: an LSTM in bf16 fails, and with it every
# other LSTM of the process. Read by torch when it is imported.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

IS_CI = "CI" in os.environ

# CI draws the same examples each time; a developer's runs draw fewer, and others each time.
settings.register_profile(
    "fencepost",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=IS_CI,
    max_examples=50 if IS_CI else 20,
)
settings.load_profile("fencepost")


TESTS = Path(__file__).parent
SLOW = {TESTS / "reliability", TESTS / "experiments"}  # `make check` leaves their tests out


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of some folders as slow."""
    for item in items:
        if SLOW.intersection(item.path.parents):
            item.add_marker("slow")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Torch on one thread, where a test has imported it: two processes share two cores."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
