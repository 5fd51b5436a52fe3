"""The command that draws annotated sentences."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Literal

import typer

from fencepost.cli import options as opt
from fencepost.cli.progress import watcher
from fencepost.cli.reports import tell_missed
from fencepost.cli.tables import plural
from fencepost.errors import DataError


def draw(
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="An annotated file, a folder of them, or - .")
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER/|FILE",
            help="A folder for one file each; .pdf or .html for all; .svg or .png for one.",
        ),
    ],
    to: Annotated[
        Literal["svg", "pdf", "png"] | None,
        typer.Option("--to", help="Kind of the files in a folder; without it, svg."),
    ] = None,
    task: opt.Task = None,
    sentence: Annotated[
        int | None, typer.Option(min=1, help="Only this sentence, counted from 1.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Stop after so many sentences.")] = None,
    theme: Annotated[
        Literal["light", "dark"] | None,
        typer.Option(help="Without it, light; on a page of HTML, what its reader prefers."),
    ] = None,
    boundaries: Annotated[
        bool, typer.Option("--boundaries", help="Number the boundaries between the words.")
    ] = False,
    from_: opt.From = None,
    encoding: opt.Encoding = "utf-8",
    on_crossing: opt.OnCrossing = "error",
    entity_columns: opt.EntityColumns = None,
    skip_bad: opt.SkipBad = False,
    span_group: opt.SpanGroup = "sc",
    quiet: opt.Quiet = False,
) -> None:
    """Draw the trees and entities of an annotated file.

    A folder, which is there or ends with a slash, gets a file for each drawing: 0001-tree.svg,
    0001-entities.svg and so on. PDF and PNG need typst: pip install 'fencepost[draw]'.

    Examples:
      fencepost draw examples/garden.ptb -o garden.svg --sentence 1
      fencepost draw examples/garden.ptb -o garden.pdf
      fencepost draw examples/museum.data -o pictures/ --to png
      fencepost parse "The cat sat." | fencepost draw - --from jsonl -o cat.html
    """
    from fencepost.formats import ParseReader, ReadSettings
    from fencepost.formats.files import place_of_output
    from fencepost.formats.registry import bare_suffix
    from fencepost.run.draw import Wanted
    from fencepost.run.draw import draw as run
    from fencepost.run.texts import TEXT_SUFFIXES

    if source != "-" and not os.path.exists(source):
        raise DataError(
            "there is no such file; fencepost parse TEXT --to html draws a text", path=source
        )
    if from_ is None and os.path.isfile(source) and bare_suffix(source) in TEXT_SUFFIXES:
        page = f"{os.path.splitext(os.path.basename(source))[0]}.html"
        raise DataError(
            f"a text is parsed first, and can be drawn at once: fencepost parse {source} -o {page}",
            path=source,
        )
    wanted = Wanted(task=task, limit=limit, sentence=sentence, theme=theme, boundaries=boundaries)
    settings = ReadSettings(
        encoding=encoding,
        on_crossing=on_crossing,
        skip_bad=skip_bad,
        entity_columns=opt.columns(entity_columns),
        span_group=span_group,
    )
    reading = ParseReader(source, format=from_, settings=settings)
    count, missed = run(reading, place_of_output(out), kind=to, wanted=wanted, watch=watcher(quiet))
    if not quiet:
        print(f"{plural(count, 'drawing')} written", file=sys.stderr)
        for reason, left_out in reading.counts.items():
            if left_out:
                print(f"left out: {left_out:,} {reason}", file=sys.stderr)
    tell_missed(missed)
