"""What each of two processes does in the tests."""

import json
import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import nn

from fencepost.checkpoints.trainable import load_trainable
from fencepost.config import Settings, checked
from fencepost.errors import ConfigError, FencepostError
from fencepost.formats import read
from fencepost.model.network import Network
from fencepost.run.evaluate import compared, main_figure, untagged
from fencepost.run.training import train as run
from fencepost.run.training.corpora import read_corpora
from fencepost.run.training.metrics import Epoch
from fencepost.run.training.train import (
    predict_together,
    prepare_training,
    recipe_of,
    run_training,
)
from fencepost.training import gradients, loop
from fencepost.training.device import accelerator_for
from fencepost.training.gradients import sum_gradients
from fencepost.training.loop import Progress, TrainingStep, train
from fencepost.training.processes import AgreedError, Processes, join_processes
from tests.eight import LINES, settings, write_eight


def write_corpora(folder: Path) -> None:
    """Write trees to one file, entities to another, and both to a third."""
    (folder / "trees.ptb").write_text("".join(f"{tree}\n" for tree, _ in LINES[:5]))
    write_eight(folder / "entities.jsonl", LINES[2:])
    write_eight(folder / "eight.jsonl")


def two_corpora(folder: Path, *, dropout: float = 0.0, **training: Any) -> Settings:
    """Settings by which each sentence has one of the layers."""
    heads: dict[str, Any] = {"tree": {}, "entities": {}, "tags": {}}
    eight = folder / "eight.jsonl"
    chosen = settings(eight, heads, threads=1, **training).model_dump(mode="json")
    chosen["data"]["train"] = [
        {"path": str(folder / "trees.ptb"), "layers": ["tree", "tags"]},
        {"path": str(folder / "entities.jsonl"), "layers": ["entities"]},
    ]
    chosen["network"].update(dropout=dropout, lstm_hidden=16)
    for name in ("tree", "entities"):
        chosen["heads"][name].update(mlp=16, decoder=16)
    return checked(Settings, chosen, where="test")


# Batches of one sentence, of a few, and all; steps of one batch and of several. Of three batches
# in one step, some have trees and some have entities; a batch of one sentence leaves a process
# without any.
SHAPES = {
    "single": {"batch_words": 1, "accumulate": 1},
    "few": {"batch_words": 12, "accumulate": 1},
    "all": {"batch_words": 1000, "accumulate": 1},
    "three single": {"batch_words": 1, "accumulate": 3},
    "three": {"batch_words": 12, "accumulate": 3},
}


def descent(out: Path, shape: str) -> dict[str, Any]:
    """Losses and weights of plain gradient descent, which shows how long gradients are."""
    chosen = two_corpora(out, epochs=2, clip=1e9, warmup=0.0, **SHAPES[shape])
    accelerator = accelerator_for()
    torch.manual_seed(1)
    model, examples = prepare_training(chosen, list(read_corpora(chosen.data.train, chosen.data)))
    progress = Progress()
    found: dict[str, list[Any]] = {"loss": [], "words": [], "without": []}
    weights = list(model.network.parameters())
    optimizer = torch.optim.SGD([{"params": weights, "full_rate": 0.05}], lr=0.05)
    optimizer.register_step_pre_hook(
        lambda *_: found["without"].append([one.grad is None for one in weights])
    )
    while progress.epoch < chosen.training.epochs:
        for step in train(
            model.network,
            optimizer,
            examples,
            model.read,
            recipe=recipe_of(chosen),
            progress=progress,
            accelerator=accelerator,
        ):
            found["loss"].append(step.loss)
            found["words"].append(step.words)
    weights_by_name = {name: one.tolist() for name, one in model.network.state_dict().items()}
    return {**found, "weights": weights_by_name}


def each_descent(out: Path, processes: Processes) -> dict[str, Any]:
    return {shape: descent(out, shape) for shape in SHAPES}


def told(out: Path, processes: Processes) -> dict[str, Any]:
    """What goes from one to the other."""
    own = torch.tensor([1.0, 10.0 * processes.rank])
    total, copy = own.clone(), torch.stack((own, own)).T  # which is not contiguous
    processes.all_reduce(total)
    processes.broadcast_tensor(copy)
    return {
        "gathered": processes.gather({"rank": processes.rank}),
        "main": processes.broadcast(processes.rank),
        "sum": total.tolist(),
        "copy": copy.tolist(),
        "is_main": processes.is_main,
    }


def agreement(out: Path, processes: Processes) -> list[str]:
    """Who hears of whose error."""
    heard = []
    for raising in ((), (1,), (0, 1)):
        try:
            with processes.together():
                if processes.rank in raising:
                    raise ConfigError("wrong")
            heard.append("nothing")
        except AgreedError as error:
            heard.append(str(error))
    return heard


def gradient_sums(out: Path, processes: Processes) -> dict[str, Any]:
    """Sums of gradients that some processes have and others do not."""
    bucket, gradients.BUCKET = gradients.BUCKET, 3  # numbers, so that there are several
    names = ("both", "first", "second", "none", "frozen")
    weights = {name: nn.Parameter(torch.zeros(2, 1)) for name in names}
    weights["frozen"].requires_grad = False
    own = ("both", "second") if processes.rank else ("both", "first")
    found: dict[str, Any] = {}
    for case, loss, failed in (
        ("summed", 1.5, False),
        ("not finite", float("nan") if processes.rank else 1.0, False),
        ("failed", 1.0, processes.rank == 1),
    ):
        for name, weight in weights.items():
            weight.grad = torch.tensor([[1.0], [2.0 + processes.rank]]) if name in own else None
        total, has_failed = sum_gradients(weights.values(), loss, processes, has_failed=failed)
        kept = {name: None if w.grad is None else w.grad.tolist() for name, w in weights.items()}
        found[case] = {"loss": total, "failed": has_failed, "gradients": kept}
    gradients.BUCKET = bucket
    return found


def stopped(out: Path, processes: Processes) -> dict[str, Any]:
    """A run with dropout that goes on after a stop, and one that was never stopped."""
    chosen = two_corpora(
        out, dropout=0.3, epochs=2, batch_words=12, checkpoint_seconds=0, average=0.9
    )
    whole = list(run_training(chosen, out / "whole"))
    list(islice(run_training(chosen, out / "stopped"), 3))
    rest = list(run_training(chosen, out / "stopped", resume=True))
    steps = [event.loss for event in whole if isinstance(event, TrainingStep)]
    resumed = [event.loss for event in rest if isinstance(event, TrainingStep)]
    epochs = [event.loss for event in whole if isinstance(event, Epoch)]
    return {"steps": steps, "resumed": resumed, "epochs": epochs}


def draws(out: Path, processes: Processes) -> float:
    """What the random numbers of a process begin with, once it learns."""
    found: list[float] = []
    before = loop.batch_losses

    def losses(*arguments: Any) -> dict[str, torch.Tensor]:
        with torch.random.fork_rng(devices=[]):
            found.append(float(torch.rand(())))
        return before(*arguments)

    loop.batch_losses = losses  # type: ignore[assignment]
    try:
        next(run_training(two_corpora(out, batch_words=1000), out / "draws"))
    finally:
        loop.batch_losses = before
    return found[0]


def failures(out: Path, processes: Processes) -> list[str]:
    """What one process cannot do is heard of by both."""
    heard = []
    chosen = two_corpora(out, epochs=30)

    def short_of_memory(*_: Any) -> dict[str, torch.Tensor]:
        if processes.rank == 1:
            raise MemoryError
        return {}

    def no_number(network: Network, *_: Any) -> dict[str, torch.Tensor]:
        nothing = next(network.parameters()).sum() * 0
        return {"tags": nothing + (float("nan") if processes.rank == 1 else 1.0)}

    before = loop.batch_losses
    for number, losses in enumerate((short_of_memory, no_number)):
        loop.batch_losses = losses  # type: ignore[assignment]
        try:
            list(run_training(chosen, out / f"failing-{number}"))
        except AgreedError as error:
            heard.append(str(error))
        finally:
            loop.batch_losses = before
    return heard


def disagreement(out: Path, processes: Processes) -> list[str]:
    """Processes that have different files in front of them."""
    heard = []
    (out / f"own-{processes.rank}").mkdir()
    os.chdir(out / f"own-{processes.rank}")  # as if each had a disk of its own
    same = settings(out / "eight.jsonl", {"tags": {}}, epochs=2, threads=1)
    other = settings(
        write_eight(Path("mine.jsonl"), LINES[processes.rank :]), {"tags": {}}, threads=1
    )
    third = same.model_copy(update={"seed": processes.rank})
    for chosen, folder, resume in (
        (other, Path("words"), False),
        (third, Path("seeds"), False),
        (same, Path("run"), False),
        (same, Path("run"), True),
    ):
        try:
            for event in run_training(chosen, folder, resume=resume):
                if isinstance(event, Epoch) and not resume:
                    break  # or it would be finished
            heard.append("nothing")
        except FencepostError as error:
            heard.append(str(error))
    return heard


def scores(out: Path, processes: Processes) -> dict[str, Any]:
    """How well a model does, parsed by both."""
    gold = list(read(out / "eight.jsonl"))
    model = load_trainable(out / "model")
    reports = compared(gold, predict_together(model, untagged(gold), processes))
    return {
        name: {**report.to_dict(), "main": main_figure(report)} for name, report in reports.items()
    }


def threads(out: Path, processes: Processes) -> int:
    """How many each has if nothing is said."""
    chosen = settings(out / "eight.jsonl", {"tags": {}}, epochs=1)
    list(run_training(chosen, out / "threads"))
    return torch.get_num_threads()


CASES: dict[str, Callable[[Path, Processes], Any]] = {
    case.__name__: case
    for case in (
        told,
        agreement,
        gradient_sums,
        each_descent,
        stopped,
        draws,
        failures,
        disagreement,
        scores,
        threads,
    )
}


def go_through_cases(out: Path) -> None:
    """Write what each case returns to OUT/CASE-RANK.json."""
    torch.set_num_threads(1)
    run.draw_training = lambda *_: None  # type: ignore[attr-defined]
    here = join_processes()
    for name, case in CASES.items():
        (out / f"{name}-{here.rank}.json").write_text(json.dumps(case(out, here)))
