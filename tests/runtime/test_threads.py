import os
from pathlib import Path

import pytest
import torch

from fencepost.errors import ConfigError
from fencepost.parser.threads import set_threads, usable_processors


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


def test_threads_are_never_more_than_torch_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        monkeypatch.setattr("fencepost.parser.threads.usable_processors", lambda: 1)
        set_threads(None)
        assert torch.get_num_threads() == 1
        monkeypatch.setattr("fencepost.parser.threads.usable_processors", lambda: 64)
        set_threads(None)
        assert torch.get_num_threads() == 1
        set_threads(2)
        assert torch.get_num_threads() == 2
        with pytest.raises(ConfigError, match="threads: at least 1, not 0"):
            set_threads(0)
    finally:
        torch.set_num_threads(before)
