"""The command that trains a model further on annotated files, without settings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from fencepost.cli import options as opt
from fencepost.cli.progress import TrainingBar
from fencepost.cli.train import needing_torch, show_training, stoppable, told_once


def finetune(
    data: Annotated[
        list[str],
        typer.Argument(metavar="DATA...", help="Annotated files: trees, entities or both."),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="MODEL", help="The folder of the new model.")
    ],
    dev: Annotated[
        list[str] | None,
        typer.Option(
            "--dev", metavar="DATA", help="Files to choose the best epoch by; else a part of DATA."
        ),
    ] = None,
    base: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="MODEL",
            help="The model to start from.",
            autocompletion=opt.models,
        ),
    ] = "en-small",
    format_: Annotated[
        str | None,
        typer.Option("--format", help="Format of DATA; without it, what the suffix tells."),
    ] = None,
    entity_columns: opt.EntityColumns = None,
    seed: Annotated[int, typer.Option(help="Of chance.")] = 1,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting, as in training.epochs=20."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on after a stop.")] = False,
    quiet: opt.Quiet = False,
) -> None:
    """Train a model further on your own annotations.

    Their size decides the settings.

    Heads (trees, entities, tags) that DATA has labels for are trained further, or begin anew where
    the labels are others; all other heads are kept. MODEL/finetune.toml has the settings.

    Examples:
      fencepost finetune train.data -o my-model
      fencepost finetune train.ptb --dev dev.ptb -o my-model --from en-small
      fencepost finetune train.data -o my-model --resume
    """
    with needing_torch("finetune"):
        from fencepost.run.training.finetune import planned, run_finetuning
        from fencepost.training.processes import join_processes

    reading = {"format": format_, "entity_columns": opt.columns(entity_columns)}
    processes = join_processes()
    quiet = quiet or not processes.is_main
    with told_once(processes), stoppable(out, is_main=processes.is_main):
        with processes.together():
            settings, told = planned(
                data,
                out,
                dev=dev or (),
                base=base,
                seed=seed,
                reading={key: value for key, value in reading.items() if value is not None},
                changes=changes or (),
                resume=resume,
            )
        if not quiet:
            print(f"note: {told}", file=sys.stderr, flush=True)
        bar = TrainingBar(settings.training.epochs, quiet=quiet)
        events = run_finetuning(settings, out, resume=resume)
        show_training(events, bar, is_main=processes.is_main)
