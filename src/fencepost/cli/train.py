"""Commands that need a network: train, evaluate."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fencepost.cli import options as opt

if TYPE_CHECKING:
    from fencepost.run.train import Epoch


def train(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="Settings, a TOML file.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the run.")],
    resume: Annotated[bool, typer.Option("--resume", help="Go on after a stop.")] = False,
    quiet: opt.Quiet = False,
) -> None:
    """Train a model on annotated files; the best one is kept in OUT/model.

    Example:
      fencepost train configs/gum-trees.toml --out runs/gum-trees
    """
    from fencepost.config import read_settings
    from fencepost.run.train import Epoch, run_training

    settings = read_settings(config)
    for event in run_training(settings, out, resume=resume):
        if isinstance(event, Epoch):
            if not quiet:
                print(_told(event), flush=True)
        elif not quiet and sys.stderr.isatty():
            left = f"epoch {event.epoch + 1}, batch {event.batch} of {event.batches}"
            speed = event.words / event.seconds
            print(f"\r{left}, loss {event.loss:.3f}, {speed:.0f} words/s ", end="", file=sys.stderr)


def _told(epoch: Epoch) -> str:
    figures = ", ".join(f"{name} {value:.2f}" for name, value in epoch.dev.items())
    best = " (best)" if epoch.is_best else ""
    return (
        f"epoch {epoch.epoch}: loss {epoch.loss:.3f}, dev {figures}{best}, "
        f"{epoch.seconds:.0f} s, {epoch.words_per_second:.0f} words/s"
    )


def evaluate(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The folder of a model.")],
    source: Annotated[str, typer.Argument(metavar="FILE", help="Gold sentences.")],
    from_: opt.From = None,
    beams: Annotated[int, typer.Option(help="Width of the beam; 1 is greedy.")] = 1,
    unmasked: Annotated[
        bool, typer.Option("--unmasked", help="Search without the canonical rules.")
    ] = False,
    drop_traces: opt.DropTraces = True,
    drop_functions: opt.DropFunctions = True,
    on_crossing: opt.OnCrossing = "error",
    as_json: opt.AsJson = False,
) -> None:
    """Score a model on gold sentences: brackets as EVALB counts them, entities by strict match.

    Example:
      fencepost evaluate runs/gum-trees/model dev.ptb
    """
    from fencepost.formats import Reading, ReadSettings
    from fencepost.parser.model import load_model
    from fencepost.run.evaluate import evaluate as run
    from fencepost.run.evaluate import main_figure

    settings = ReadSettings(
        drop_traces=drop_traces, drop_functions=drop_functions, on_crossing=on_crossing
    )
    gold = list(Reading(source, format=from_, settings=settings))
    for name, report in run(load_model(model), gold, beams=beams, canonical=not unmasked).items():
        if as_json:
            print(json.dumps(report.to_dict(), ensure_ascii=False))
        else:
            print(f"{name}: {main_figure(report):.2f}")
