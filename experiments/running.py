"""Train and score a system once, on one corpus with one seed, and keep what came of it.

A run has a folder, and what is finished is not done again: scripts that need the same run share it,
and one that was stopped goes on from its last checkpoint. Which part is scored, and with which
weights, is up to the corpus (`corpora.py`).

    runs/experiments/gum-trees/pointing/seed-1/
      result.json          figures, command, commit, time
      predicted.jsonl      what it predicts on the part that is scored
      weights.safetensors  its network: the last weights, or those of the best dev epoch so far
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import asdict, dataclass, field, replace
from fcntl import LOCK_EX, flock
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from experiments.commands import out_folder
from experiments.corpora import Chosen, Part, check_encoder, check_test, chosen
from experiments.keeping import RESULTS, origin, write_json
from experiments.systems.pointing import Pointing
from experiments.systems.system import System
from fencepost import formats
from fencepost.checkpoints.trainable import TrainableModel
from fencepost.cli.progress import TrainingBar
from fencepost.errors import DataError
from fencepost.formats import ParseReader
from fencepost.run.evaluate import compared, main_figure
from fencepost.run.training.corpora import read_corpora
from fencepost.run.training.folder import check_same, write_settings
from fencepost.run.training.train import optimizer_of, prepare_training, recipe_of
from fencepost.structure import Parse
from fencepost.training.average import Average, averaged
from fencepost.training.checkpoint import load_checkpoint, save_checkpoint
from fencepost.training.device import accelerator_for
from fencepost.training.loop import Progress, train

WEIGHTS = "weights.safetensors"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is trained and scored.

    Args:
        corpus: a file of settings.
        name: of this way to do it.
        changes: settings that differ from the file's.
        system: what is trained.
    """

    corpus: str
    name: str = "pointing"
    changes: tuple[str, ...] = ()
    system: System = field(default_factory=Pointing)


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a run."""

    corpus: str
    name: str
    seed: int
    command: str
    commit: str  # of the code that finished it
    date: str
    minutes: float  # of training: processor time, since others may share the machine
    words_per_second: float  # in training, by the same time
    train_sentences: int
    dev_sentences: int
    epochs: int
    scores: dict[str, Any]  # by layer, as `fencepost evaluate --json` gives them
    # The defaults hold for results that were kept without these.
    part: Part = "dev"  # which the scores are of
    weights: str = "last"  # or "best dev epoch"
    best_epoch: int | None = None
    best_dev: float | None = None  # its score on dev in per cent, the mean over layers

    @property
    def scored(self) -> str:
        """The part and the weights that the scores are of."""
        return f"{self.part}, {self.weights}"

    def figure(self, layer: str, which: str = "f1") -> float:
        """A score of a layer, in per cent."""
        return float(self.scores[layer][which])


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run."""

    plan: Plan
    folder: Path
    chosen: Chosen
    result: Result

    def gold(self) -> list[Parse]:
        """The scored sentences as annotated."""
        return _gold(self.chosen, self.result.part)

    def predicted(self) -> list[Parse]:
        """The scored sentences as the system parses them."""
        return list(ParseReader(self.folder / "predicted.jsonl"))

    def model(self) -> TrainableModel:
        """The trained model."""
        model, _ = _prepared(self.plan, self.chosen)
        model.network.load_state_dict(load_file(self.folder / WEIGHTS))
        model.network.eval()
        return model


class Best(NamedTuple):
    """The epoch that scores best on dev."""

    epoch: int
    score: float


def seed_runs(plan: Plan, options: argparse.Namespace) -> list[Run]:
    """The runs of a plan with all seeds."""
    seeds = options.seeds or chosen(plan.corpus, options).seeds
    return [run(plan, seed, options) for seed in seeds]


def run(plan: Plan, seed: int, options: argparse.Namespace) -> Run:
    """The run of a plan with a seed: from its folder if it is finished, and else done now."""
    here = chosen(plan.corpus, options, plan.changes)
    here = replace(here, settings=here.settings.model_copy(update={"seed": seed}))
    check_encoder(here.settings)
    check_test(here)
    folder = out_folder(options) / plan.corpus / plan.name / f"seed-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "result.json"
    with open(folder / ".lock", "w") as file:
        flock(file, LOCK_EX)  # two scripts that need the same run: the second one waits
        check_same(here.settings, folder)
        write_settings(here.settings, folder)
        if not path.exists():
            write_json(path, asdict(_trained(plan, here, folder, quiet=options.quiet)))
    result = Result(**json.loads(path.read_text(encoding="utf-8")))
    if options.keep and not options.quick:
        RESULTS.mkdir(exist_ok=True)
        write_json(RESULTS / f"{plan.corpus}-{plan.name}-{seed}.json", asdict(result))
    return Run(plan, folder, here, result)


def _trained(plan: Plan, here: Chosen, folder: Path, *, quiet: bool) -> Result:
    settings, training = here.settings, here.settings.training
    if training.threads:
        torch.set_num_threads(training.threads)
    accelerator = accelerator_for(training.device, training.precision)
    torch.manual_seed(settings.seed)
    model, examples = _prepared(plan, here)
    dev = _gold(here, "dev")
    gold = dev if here.part == "dev" else _gold(here, here.part)
    network = model.network.to(accelerator.device)
    optimizer = optimizer_of(network, training)
    average = Average(training.average) if training.average else None
    found = load_checkpoint(folder, network, optimizer, average, read_extra=dict)
    if found is None:
        (folder / WEIGHTS).unlink(missing_ok=True)  # left by another run, with no checkpoint
    progress, kept = found or (Progress(), {"seconds": 0.0, "words": 0})
    bar = TrainingBar(training.epochs, quiet=quiet)
    saved, spent = time.monotonic(), time.process_time()
    while progress.epoch < training.epochs:
        for step in train(
            network,
            optimizer,
            examples,
            model.read,
            recipe=recipe_of(settings),
            progress=progress,
            accelerator=accelerator,
            average=average,
            losses=plan.system.losses,
        ):
            kept["seconds"] += time.process_time() - spent
            kept["words"] += step.words
            spent = time.process_time()
            bar.show(step)
            if time.monotonic() - saved >= training.checkpoint_seconds:
                save_checkpoint(folder, network, optimizer, progress, average, extra=kept)
                saved = time.monotonic()
        if here.part == "test":
            with averaged(network, average):
                _keep_best(plan, model, dev, folder, epoch=progress.epoch)
            # Now, so that no epoch is done again whose weights may have been kept.
            save_checkpoint(folder, network, optimizer, progress, average, extra=kept)
            saved, spent = time.monotonic(), time.process_time()
    bar.stop()
    if here.part == "dev":
        with averaged(network, average):
            _save_weights(model, folder)
    network.load_state_dict(load_file(folder / WEIGHTS))
    best = _best(folder)
    predicted = _predicted(plan, model, gold)
    formats.write(predicted, folder / "predicted.jsonl")
    return Result(
        corpus=plan.corpus,
        name=plan.name,
        seed=settings.seed,
        **origin(),
        minutes=kept["seconds"] / 60,
        words_per_second=kept["words"] / max(kept["seconds"], 1e-9),
        train_sentences=len(examples),
        dev_sentences=len(dev),
        epochs=training.epochs,
        scores={layer: report.to_dict() for layer, report in compared(gold, predicted).items()},
        part=here.part,
        weights="best dev epoch" if best else "last",
        best_epoch=best.epoch if best else None,
        best_dev=best.score if best else None,
    )


def _keep_best(
    plan: Plan, model: TrainableModel, dev: list[Parse], folder: Path, *, epoch: int
) -> None:
    """Keep the weights unless an earlier epoch scores better on dev."""
    reports = compared(dev, _predicted(plan, model, dev))
    score = fmean(main_figure(report) for report in reports.values())
    best = _best(folder)
    # Of two that score the same, the later has learned more.
    if best is None or score >= best.score:
        _save_weights(model, folder, Best(epoch, score))


def _predicted(plan: Plan, model: TrainableModel, gold: list[Parse]) -> list[Parse]:
    """The sentences as the system parses them from their words alone."""
    model.network.eval()
    return plan.system.predict(model, [replace(parse.sentence, tags=None) for parse in gold])


def _save_weights(model: TrainableModel, folder: Path, best: Best | None = None) -> None:
    """Write the weights, whole or not at all, with their score in the same file."""
    weights = {name: value.contiguous() for name, value in model.network.state_dict().items()}
    draft = folder / f".{WEIGHTS}"
    save_file(weights, draft, None if best is None else {"best": json.dumps(best)})
    os.replace(draft, folder / WEIGHTS)


def _best(folder: Path) -> Best | None:
    """The epoch whose weights are in the folder; None if dev has chosen none."""
    if not (folder / WEIGHTS).exists():
        return None
    with safe_open(folder / WEIGHTS, "pt") as file:
        notes = file.metadata() or {}
    return Best(*json.loads(notes["best"])) if "best" in notes else None


def _prepared(plan: Plan, here: Chosen) -> tuple[TrainableModel, list[Any]]:
    """A new model with the head of the system, and the examples that it learns from."""
    parses = list(read_corpora(here.settings.data.train, here.settings.data))
    model, examples = prepare_training(here.settings, parses[: here.train_sentences])
    plan.system.fit(model)
    return model, examples


def _gold(here: Chosen, part: Part) -> list[Parse]:
    """The annotated sentences of a part."""
    files = here.gold_files(part)
    pairs = read_corpora(files, here.settings.data, is_gold=True)
    parses = [parse for _, parse in pairs][: here.gold_sentences]
    if not parses:
        raise DataError("no sentence to score", path=files[0].path)
    return parses
