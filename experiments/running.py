"""Train and score a system once, on one corpus with one seed, and keep what came of it.

A run has a folder, and what is finished is not done again: scripts that need the same run share it,
and one that was stopped goes on from its last checkpoint. The last weights are scored, not those of
the best epoch, so that dev chooses nothing.

    runs/experiments/gum-trees/pointing/seed-1/
      result.json          figures, command, commit, time
      predicted.jsonl      what it predicts on dev
      weights.safetensors  its network
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass, field, replace
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from experiments.commands import out_folder
from experiments.corpora import Chosen, check_encoder, chosen
from experiments.keeping import RESULTS, origin, write_json
from experiments.systems.pointing import Pointing
from experiments.systems.system import System
from fencepost import formats
from fencepost.cli.progress import TrainingBar
from fencepost.formats import Reading
from fencepost.parser.model import Model
from fencepost.run.evaluate import compared
from fencepost.run.folder import check_same
from fencepost.run.train import optimizer_of, prepare_training, read_corpora, recipe_of
from fencepost.structure import Parse
from fencepost.training.average import Average, averaged
from fencepost.training.checkpoint import load_checkpoint, save_checkpoint
from fencepost.training.device import accelerator_for
from fencepost.training.loop import Progress, train


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
        """The dev sentences as annotated."""
        return _dev(self.chosen)

    def predicted(self) -> list[Parse]:
        """The dev sentences as the system parses them."""
        return list(Reading(self.folder / "predicted.jsonl"))

    def model(self) -> Model:
        """The trained model."""
        model, _ = _prepared(self.plan, self.chosen)
        model.network.load_state_dict(load_file(self.folder / "weights.safetensors"))
        model.network.eval()
        return model


def run(plan: Plan, seed: int, options: argparse.Namespace) -> Run:
    """The run of a plan with a seed: from its folder if it is finished, and else done now."""
    here = chosen(plan.corpus, options, plan.changes)
    here = replace(here, settings=here.settings.model_copy(update={"seed": seed}))
    check_encoder(here.settings)
    folder = out_folder(options) / plan.corpus / plan.name / f"seed-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "result.json"
    with open(folder / ".lock", "w") as file:
        flock(file, LOCK_EX)  # two scripts that need the same run: the second one waits
        check_same(here.settings, folder)
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
    network = model.network.to(accelerator.device)
    optimizer = optimizer_of(network, training)
    average = Average(training.average) if training.average else None
    progress, kept = load_checkpoint(folder, network, optimizer, average) or (
        Progress(),
        {"seconds": 0.0, "words": 0},
    )
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
                save_checkpoint(folder, network, optimizer, progress, average, kept=kept)
                saved = time.monotonic()
    bar.stop()
    gold = _dev(here)
    with averaged(network, average):
        network.eval()
        plain = [replace(parse.sentence, tags=None) for parse in gold]
        predicted = plan.system.predict(model, plain)
        weights = {name: value.contiguous() for name, value in network.state_dict().items()}
        save_file(weights, folder / "weights.safetensors")
    formats.write(predicted, folder / "predicted.jsonl")
    return Result(
        corpus=plan.corpus,
        name=plan.name,
        seed=settings.seed,
        **origin(),
        minutes=kept["seconds"] / 60,
        words_per_second=kept["words"] / max(kept["seconds"], 1e-9),
        train_sentences=len(examples),
        dev_sentences=len(gold),
        epochs=training.epochs,
        scores={layer: report.to_dict() for layer, report in compared(gold, predicted).items()},
    )


def _prepared(plan: Plan, here: Chosen) -> tuple[Model, list[Any]]:
    """A new model with the head of the system, and the examples that it learns from."""
    parses = list(read_corpora(here.settings.data.train, here.settings.data))
    model, examples = prepare_training(here.settings, parses[: here.train_sentences])
    plan.system.fit(model)
    return model, examples


def _dev(here: Chosen) -> list[Parse]:
    data = here.settings.data
    return [parse for _, parse in read_corpora(data.dev, data, is_gold=True)][: here.dev_sentences]
