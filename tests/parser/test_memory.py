"""What is free is given back, now and then."""

import re
import sys
import time
from pathlib import Path

import pytest

from fencepost.parser import memory
from fencepost.parser.memory import MemoryTrimmer, trim_memory
from fencepost.parser.parser import Parser
from tests.models import lively_model

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="other systems keep what they keep")


def resident() -> int:
    """The bytes that this process has in memory."""
    told = Path("/proc/self/status").read_text()
    found = re.search(r"^VmRSS:\s+(\d+) kB$", told, re.MULTILINE)
    assert found
    return int(found[1]) * 1024


@ON_LINUX
def test_holes_between_what_stays_are_given_back() -> None:
    rows = [bytes(10_000) for _ in range(20_000)]  # too small to be given back one by one
    kept = rows[::50]
    full = resident()
    del rows
    assert trim_memory()
    assert full - resident() > 100_000_000
    assert len(kept) == 400


def test_it_is_not_done_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(memory, "trim_memory", lambda: True)
    trimmer = MemoryTrimmer(seconds=2.0)
    done = []
    for now[0] in (1.0, 1.9, 2.1, 3.0, 4.0, 4.2):
        done.append(trimmer.trim_if_due())
    assert done == [False, False, True, False, False, True]


def test_a_system_that_cannot_be_told_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "another")
    assert not trim_memory()


def test_whoever_parses_many_looks_after_each_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[MemoryTrimmer] = []
    monkeypatch.setattr(MemoryTrimmer, "trim_if_due", lambda self: looked.append(self))
    parser = Parser(lively_model("tree"))
    told: list[int] = []
    assert len(list(parser.parse_many(["a b", "c"], done=told.append))) == 2
    assert sum(told) == 3
    assert len(looked) == len(told)
