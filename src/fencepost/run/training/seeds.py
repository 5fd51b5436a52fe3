"""The same training with several seeds: how good, and how much of it is luck."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, stdev

from fencepost.config import Settings
from fencepost.run.training.folder import check_folder
from fencepost.run.training.metrics import Epoch, best_epoch, read_epochs
from fencepost.run.training.train import Finished, Note, Stop, never, run_training
from fencepost.training.loop import TrainingStep
from fencepost.training.processes import join_processes


@dataclass(frozen=True, slots=True)
class Spread:
    """The dev figures of one head, by seed."""

    figures: tuple[float, ...]
    mean: float
    spread: float  # standard deviation; 0 of a single figure


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of all seeds."""

    seeds: tuple[int, ...]
    heads: dict[str, Spread]


@dataclass(frozen=True, slots=True)
class Seed:
    """The run of a seed begins, or was there already."""

    seed: int
    number: int  # counted from 0
    is_finished: bool


def run_seeds(
    settings: Settings, out: Path, *, count: int, resume: bool = False, stop: Stop = never
) -> Iterator[TrainingStep | Epoch | Note | Seed | Summary | Finished]:
    """Train with the seeds `seed`, `seed + 1`, …, each in `out/seed-K`, and sum them up.

    The last event is the end of the best run.

    Args:
        settings: of each run, but for the seed.
        out: the folder of all runs; `summary.json` comes to lie there.
        count: how many seeds.
        resume: whether to go on: finished runs stay, the one under way is resumed.
        stop: as in `run_training`.
    """
    processes = join_processes()
    with processes.together():
        if processes.is_main:
            check_folder(out, resume=resume)
    seeds = range(settings.seed, settings.seed + count)
    for number, seed in enumerate(seeds):
        folder = out / f"seed-{seed}"
        is_finished = processes.broadcast(len(read_epochs(folder)) >= settings.training.epochs)
        yield Seed(seed, number, is_finished)
        if not is_finished:
            own = settings.model_copy(update={"seed": seed})
            for event in run_training(own, folder, resume=resume, stop=stop):
                if not isinstance(event, Finished):
                    yield event
    found = processes.broadcast(_summed_up(out, seeds, settings) if processes.is_main else None)
    assert found is not None
    yield from found


def _summed_up(out: Path, seeds: Sequence[int], settings: Settings) -> tuple[Summary, Finished]:
    """The summary of finished runs, which is written down too, and the end of the best on dev."""
    runs = [out / f"seed-{seed}" for seed in seeds]
    epochs = [best_epoch(read_epochs(run)) for run in runs]
    summary = summarise(seeds, epochs)
    draft = out / ".summary.json"
    draft.write_text(json.dumps(asdict(summary), indent=1) + "\n", encoding="utf-8")
    os.replace(draft, out / "summary.json")
    best, run = max(zip(epochs, runs, strict=True), key=lambda pair: pair[0].mean)
    return summary, Finished(run / "model", best, settings.training.epochs)


def summarise(seeds: Sequence[int], best: Sequence[Epoch]) -> Summary:
    """Mean and spread of the best epochs of some runs, by head."""
    heads = {}
    for head in best[0].dev:
        figures = tuple(epoch.dev[head] for epoch in best)
        heads[head] = Spread(figures, fmean(figures), stdev(figures) if len(figures) > 1 else 0.0)
    return Summary(tuple(seeds), heads)
