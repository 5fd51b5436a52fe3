"""The metrics of a run, epoch by epoch: `metrics.jsonl`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError

from fencepost.errors import TrainingError

NAME = "metrics.jsonl"
_MOST_BYTES = 1 << 16  # of a line, which has some hundreds


@dataclass(frozen=True, slots=True)
class Epoch:
    """The end of an epoch: what it took and how well the model does on dev."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    epoch: int
    loss: float  # mean over its steps
    seconds: float
    words_per_second: float
    dev: dict[str, float]  # the main figure of each head
    mean: float  # of these
    is_best: bool
    skipped: int


_EPOCHS = TypeAdapter(Epoch)


def read_epochs(folder: Path) -> list[Epoch]:
    """The epochs that a run has finished.

    Raises:
        TrainingError: the file is damaged.
    """
    path = folder / NAME
    found = []
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(iter(partial(file.readline, _MOST_BYTES), b""), 1):
                found.append(_epoch(line, where=f"{path}:{number}"))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise TrainingError(f"{path}: cannot be read: {error.strerror}") from error
    return found


def _epoch(line: bytes, *, where: str) -> Epoch:
    try:
        return _EPOCHS.validate_json(line.rstrip(), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        found = ": ".join(
            [*map(str, first["loc"]), first["msg"].replace("line 1 column", "column")]
        )
        raise TrainingError(
            f"{where}: no record of an epoch: {found}. Take this line out, or move the file away: "
            "--resume then goes on from the last checkpoint. Epochs without a line are missing "
            "from training.png, and do not count in a summary of seeds."
        ) from None


def add_epoch(folder: Path, epoch: Epoch) -> list[Epoch]:
    """Write down an epoch after those before it, and return them all.

    Later ones are from a run that was killed before its checkpoint, and are made again.
    """
    epochs = [*(each for each in read_epochs(folder) if each.epoch < epoch.epoch), epoch]
    lines = (json.dumps(asdict(each)) for each in epochs)
    temporary = folder / f".{NAME}"
    temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    os.replace(temporary, folder / NAME)
    return epochs


def best_epoch(epochs: Sequence[Epoch]) -> Epoch:
    """The epoch whose model is kept: the last of those that were best so far.

    If that is no longer in the file, it is the best of those that are.

    Raises:
        TrainingError: there are none.
    """
    if not epochs:
        raise TrainingError(
            f"{NAME} of a finished run tells of no epoch; remove the folder of this run, and "
            "--resume trains it again"
        )
    return max(
        epochs, key=lambda epoch: (epoch.is_best, epoch.epoch if epoch.is_best else epoch.mean)
    )
