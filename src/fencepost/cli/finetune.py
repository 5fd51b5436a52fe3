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
        typer.Argument(metavar="DATA", help="Annotated files: trees, entities or both."),
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
    model: opt.ChosenModel = None,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="FORMAT", help="Format of DATA; without it, what the suffix tells."
        ),
    ] = None,
    format_: Annotated[str | None, typer.Option("--format", hidden=True)] = None,
    entity_columns: opt.EntityColumns = None,
    seed: Annotated[int, typer.Option(min=0, help="Of chance.")] = 1,
    device: opt.TrainingDevice = None,
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
      fencepost finetune train.ptb --dev dev.ptb -o my-model -m en-small
      fencepost finetune train.data -o my-model --resume
    """
    with needing_torch("finetune"):
        from fencepost.run.training.finetune import planned, run_finetuning
        from fencepost.training.processes import join_processes

    model, format_ = _model_and_format(model, from_, format_, quiet=quiet)
    reading = {"format": format_, "entity_columns": opt.columns(entity_columns)}
    processes = join_processes()
    quiet = quiet or not processes.is_main
    with told_once(processes), stoppable(out, processes) as stopping:
        with processes.together():
            settings, told = planned(
                data,
                out,
                dev=dev or (),
                base=model,
                seed=seed,
                reading={key: value for key, value in reading.items() if value is not None},
                changes=opt.with_device(changes, device),
                resume=resume,
            )
        if not quiet:
            print(f"note: {told}", file=sys.stderr, flush=True)
        bar = TrainingBar(settings.training.epochs, quiet=quiet)
        events = run_finetuning(settings, out, resume=resume, stop=stopping)
        show_training(events, bar, stopping, is_main=processes.is_main)


def _model_and_format(
    model: str | None, from_: str | None, format_: str | None, *, quiet: bool
) -> tuple[str, str | None]:
    """The model to start from and the format of the data, also as they were written before."""
    from fencepost.checkpoints.shipped import DEFAULT
    from fencepost.formats.registry import FORMATS

    if from_ is not None and from_ not in FORMATS:
        model = opt.of_alias(f"-m {from_}", from_, model, quiet=quiet)
        from_ = None
    if format_ is not None:
        from_ = opt.of_alias(f"--from {format_}", format_, from_, quiet=quiet)
    return model or DEFAULT, from_
