"""What a run has come to, epoch by epoch: `metrics.jsonl`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

NAME = "metrics.jsonl"


@dataclass(frozen=True, slots=True)
class Epoch:
    """The end of an epoch: what it took and how well the model does on dev."""

    epoch: int
    loss: float  # mean over its steps
    seconds: float
    words_per_second: float
    dev: dict[str, float]  # the main figure of each head
    mean: float  # of these
    is_best: bool
    skipped: int


def read_epochs(folder: Path) -> list[Epoch]:
    """The epochs that a run has finished."""
    path = folder / NAME
    if not path.exists():
        return []
    return [Epoch(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def add_epoch(folder: Path, epoch: Epoch) -> list[Epoch]:
    """Write down an epoch after those before it, and return them all.

    Later ones are from a run that was killed before its checkpoint, and are made again.
    """
    epochs = [*read_epochs(folder)[: epoch.epoch - 1], epoch]
    lines = (json.dumps(asdict(each)) for each in epochs)
    temporary = folder / f".{NAME}"
    temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    os.replace(temporary, folder / NAME)
    return epochs


def best_epoch(epochs: Sequence[Epoch]) -> Epoch:
    """The epoch whose model is kept: the last of those that were best so far."""
    return max((epoch for epoch in epochs if epoch.is_best), key=lambda epoch: epoch.epoch)
