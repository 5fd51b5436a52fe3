"""The command `calibrate`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fencepost.cli import options as opt
from fencepost.cli.progress import counting, watcher
from fencepost.cli.tables import table
from fencepost.errors import DataError

if TYPE_CHECKING:
    from fencepost.parser.calibration import Calibration


def calibrate(
    source: Annotated[
        str, typer.Argument(metavar="DEV", help="Gold sentences that it was not trained on.")
    ],
    positional: opt.Positional = None,
    model: opt.ChosenModel = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Write a calibrated copy here, and leave the model as it is."
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(help="Draw how sure and how right it is: a .svg, .png or .pdf file."),
    ] = None,
    from_: opt.From = None,
    encoding: opt.Encoding = "utf-8",
    on_crossing: opt.OnCrossing = "error",
    entity_columns: opt.EntityColumns = None,
    device: opt.Device = "cpu",
    threads: opt.Threads = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Make probabilities say how often such spans are right.

    One temperature is fitted for each of the model's heads that DEV has the layer of, and written
    into the model's config.json. Parses found step by step stay the same. The error that is
    printed is the expected calibration error in per cent; "after" is measured on sentences that
    the temperature was not fitted to. DEV is read as for evaluate.

    Examples:
      fencepost calibrate dev.ptb -m runs/trees/model
      fencepost calibrate dev.jsonl -o calibrated --picture calibrated.svg
    """
    from fencepost.checkpoints.shipped import find_model
    from fencepost.run import calibrate as run

    model, source = opt.model_and_file(model, source, positional, quiet=quiet)
    folder = find_model(model)
    run.check_target(folder, out)
    if picture is not None:
        run.check_picture(picture)
    from fencepost.checkpoints.loading import load_model
    from fencepost.formats import ParseReader, ReadSettings

    settings = ReadSettings(
        encoding=encoding,
        # As in evaluation: an entity that cannot be found is still one that was missed.
        on_crossing="drop-span" if on_crossing == "drop-sentence" else on_crossing,
        entity_columns=opt.columns(entity_columns),
        drop_traces=True,
        drop_functions=True,  # brackets are compared without them anyway
        drop_features=True,
    )
    loaded = load_model(folder, device=device, threads=threads)
    gold = list(watcher(quiet)(ParseReader(source, format=from_, settings=settings)))
    words = sum(len(parse.words) for parse in gold)
    with counting("parsing", words, quiet=quiet) as done:
        try:
            found = run.run_calibration(loaded, gold, done=done)
        except DataError as error:
            raise error.at(source, None) from None
    if picture is not None:
        run.draw_reliability(found, picture)
    temperatures = {one.layer: one.temperature for one in found}
    target = run.write_temperatures(folder, temperatures, out=out)
    if as_json:
        for one in found:
            print(json.dumps(one.to_dict(), ensure_ascii=False))
    else:
        print(_told(found))
    if not quiet:
        for note in (note for one in found for note in run.notes(one)):
            print(f"note: {note}", file=sys.stderr)
        print(f"temperatures written to {target / 'config.json'}", file=sys.stderr)


def _told(found: Sequence[Calibration]) -> str:
    """The temperatures, and how far probabilities are off without and with them."""
    from fencepost.scoring.totals import per_cent

    rows = [["calibration", "temperature", "spans", "right", "error before", "error after"]]
    for one in found:
        percents = (per_cent(one.right, one.spans), 100 * one.ece_before, 100 * one.ece_after)
        rows.append(
            [
                one.layer,
                f"{one.temperature:.2f}",
                f"{one.spans:,}",
                *(f"{percent:.2f}" for percent in percents),
            ]
        )
    return table(rows)
