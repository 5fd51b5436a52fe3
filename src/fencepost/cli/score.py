"""The command `score`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fencepost.cli import options as opt
from fencepost.cli.progress import watcher
from fencepost.cli.reports import told_entities, told_trees
from fencepost.errors import ConfigError, DataError

if TYPE_CHECKING:
    from fencepost.formats import ReadSettings
    from fencepost.scoring import Parameters


def score(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The annotation.")],
    predicted: Annotated[str, typer.Argument(metavar="PREDICTED", help="What to score, or - .")],
    task: opt.Task = None,
    to: Annotated[
        Literal["evalb"] | None,
        typer.Option(help="evalb: print what the EVALB program prints, to the byte."),
    ] = None,
    prm: Annotated[
        str | None, typer.Option(help="EVALB's parameter file; without it, COLLINS.prm.")
    ] = None,
    from_: opt.From = None,
    encoding: opt.Encoding = "utf-8",
    on_crossing: opt.OnCrossing = "error",
    entity_columns: opt.EntityColumns = None,
    rename: opt.Rename = None,
    rename_tags: opt.RenameTags = None,
    relabel: opt.Relabels = None,
    splice: opt.Splice = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Score predicted trees (EVALB) and entities (strict match).

    Sentences are compared in order. Other words than in the gold file are an error; with --to evalb
    they are counted and reported the way that program does it. Labels are mapped (--rename and so
    on) on both sides, after function tags are cut off. A wrapper at the top (ROOT, TOP, S1, VROOT
    or no label) does not count, as for analyse and evaluate; with --prm or --to evalb it is left to
    the parameters, and those of COLLINS.prm delete TOP alone.

    Examples:
      fencepost score gold.ptb predicted.ptb
      fencepost score gold.ptb predicted.ptb --to evalb --prm COLLINS.prm
      fencepost score gold.jsonl predicted.jsonl --task entities --json
    """
    from fencepost.formats import ReadSettings
    from fencepost.run import score as run
    from fencepost.scoring import COLLINS, read_parameters

    settings = ReadSettings(
        encoding=encoding,
        on_crossing=on_crossing,
        entity_columns=opt.columns(entity_columns),
        rename=opt.renames("--rename", rename),
        rename_tags=opt.renames("--rename-tag", rename_tags),
        relabel=opt.relabels(relabel),
        splice=tuple(splice or ()),
    )
    parameters = COLLINS if prm is None else read_parameters(prm)
    if to == "evalb":
        if as_json or task == "entities":
            raise ConfigError("--to evalb prints trees' scores as that program does, and no JSON")
        _print_evalb(gold, predicted, from_, settings, parameters)
        return
    tasks = _tasks(gold, predicted, from_, settings) if task is None else [task]
    for index, name in enumerate(tasks):
        if name == "tree":
            trees = run.score_trees(
                gold,
                predicted,
                gold_format=from_,
                predicted_format=from_,
                settings=settings,
                parameters=parameters,
                wrapper=prm is not None,
                watch=watcher(quiet),
            )
            told, data = told_trees(trees), trees.to_dict()
        else:
            entities = run.score_entities(
                gold,
                predicted,
                gold_format=from_,
                predicted_format=from_,
                settings=settings,
                watch=watcher(quiet),
            )
            told, data = told_entities(entities), entities.to_dict()
        print(json.dumps(data, ensure_ascii=False) if as_json else "\n" * (index > 0) + told)


def _tasks(gold: str, predicted: str, format: str | None, settings: ReadSettings) -> list[str]:
    from fencepost.formats.files import STANDARD
    from fencepost.run.score import layers_of

    layers = layers_of(gold, format, settings)
    if predicted != STANDARD:  # which could be read only once
        layers &= layers_of(predicted, format, settings)
    if not layers:
        raise DataError(f"{gold} and {predicted} have no layer in common that could be scored")
    return sorted(layers, reverse=True)


def _print_evalb(
    gold: str, predicted: str, format: str | None, settings: ReadSettings, parameters: Parameters
) -> None:
    from fencepost.run.sides import Sides
    from fencepost.scoring.evalb import TooManyErrors, evalb

    ours, theirs = (
        (side for _, side in Sides(path, format, settings)) for path in (gold, predicted)
    )
    try:
        for text, is_message in evalb(ours, theirs, parameters):
            print(text, end="", file=sys.stderr if is_message else sys.stdout)
    except TooManyErrors:
        sys.exit(1)
