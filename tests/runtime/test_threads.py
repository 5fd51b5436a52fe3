import os
from pathlib import Path
from typing import Any

import pytest

from fencepost.errors import ConfigError
from fencepost.runtime.threads import threads_of, usable_processors


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("max 100000", 8), ("150000 100000", 2), ("50000 100000", 1), ("900000 100000", 8), ("", 8)],
)
def test_no_more_processors_are_used_than_a_container_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: str, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    (tmp_path / "cpu.max").write_text(quota)
    assert usable_processors(tmp_path / "cpu.max") == expected
    assert usable_processors(tmp_path / "none") == 8


def test_where_nobody_tells_all_processors_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert usable_processors(tmp_path / "none") == 3


def test_there_is_a_thread_for_each_processor_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fencepost.runtime.threads.usable_processors", lambda: 3)
    assert threads_of(None) == 3
    assert threads_of(8) == 8
    refused: list[Any] = ["2", 0, 2.0, True, 10**6]
    for threads in refused:
        with pytest.raises(ConfigError, match="threads: a whole number from 1 to 1024, not "):
            threads_of(threads)
