"""Commands that turn files into files: convert, merge, prepare."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import typer

from fencepost.cli import options as opt
from fencepost.cli.progress import watcher
from fencepost.cli.reports import width_of
from fencepost.cli.tables import plural, table
from fencepost.errors import ConfigError


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A file, a folder, or - .")],
    positional: opt.Positional = None,
    out: opt.Out = None,
    from_: opt.From = None,
    to: opt.To = None,
    encoding: opt.Encoding = "utf-8",
    on_crossing: opt.OnCrossing = "error",
    skip_bad: opt.SkipBad = False,
    drop_traces: opt.DropTraces = False,
    drop_functions: opt.DropFunctions = False,
    drop_features: opt.DropFeatures = False,
    rename: opt.Rename = None,
    rename_tags: opt.RenameTags = None,
    relabel: opt.Relabels = None,
    splice: opt.Splice = None,
    escapes: opt.Escapes = "round",
    scheme: opt.Scheme = "auto",
    word_column: opt.WordColumn = None,
    tag_column: opt.TagColumn = None,
    entity_columns: opt.EntityColumns = None,
    span_group: opt.SpanGroup = "sc",
    to_encoding: Annotated[str, typer.Option(help="Encoding of the output.")] = "utf-8",
    to_scheme: Annotated[
        Literal["bio", "iob1", "bioes"], typer.Option(help="Scheme of CoNLL columns written.")
    ] = "bio",
    indent: Annotated[
        int | None,
        typer.Option(min=1, help="Brackets over several lines, so many blanks a level."),
    ] = None,
    quiet: opt.Quiet = False,
) -> None:
    """Convert trees and entities from one file format to another.

    Examples:
      fencepost convert wsj/22 -o dev.ptb --drop-traces --drop-functions
      fencepost convert dev.ptb -o mapped.ptb --rename HEADING=NP --splice NML
      fencepost convert train.conll -o train.jsonl
      fencepost convert dev.jsonl --to pretty
      fencepost convert dev.jsonl -o dev.html
      fencepost convert dev.ptb -o indented.ptb --indent 2
    """
    from fencepost.formats import ParseReader, ReadSettings
    from fencepost.formats.registry import written_format
    from fencepost.run.convert import convert as run

    target = opt.output_of(out, positional, quiet=quiet)
    settings = ReadSettings(
        encoding=encoding,
        on_crossing=on_crossing,
        skip_bad=skip_bad,
        drop_traces=drop_traces,
        drop_functions=drop_functions,
        drop_features=drop_features,
        rename=opt.renames("--rename", rename),
        rename_tags=opt.renames("--rename-tag", rename_tags),
        relabel=opt.relabels(relabel),
        splice=tuple(splice or ()),
        escapes=escapes,
        scheme=scheme,
        word_column=word_column,
        tag_column=tag_column,
        entity_columns=opt.columns(entity_columns),
        span_group=span_group,
    )
    reading = ParseReader(source, format=from_, settings=settings)
    counts = run(
        reading,
        target,
        to=written_format(target, to).name,
        watch=watcher(quiet),
        encoding=to_encoding,
        scheme=to_scheme,
        span_group=span_group,
        indent=indent,
        width=width_of(target),
    )
    tell(counts, quiet)
    opt.tell_unmatched(reading, source, quiet=quiet)


def tell(counts: Counter[str], quiet: bool) -> None:
    """Say on standard error how many sentences there were, and what was left out."""
    if quiet:
        return
    print(f"{plural(counts.pop('sentences', 0), 'sentence')} written", file=sys.stderr)
    for reason, count in counts.items():
        print(f"left out: {count:,} {reason}", file=sys.stderr)


def merge(
    first: Annotated[str, typer.Argument(metavar="TREES", help="A file with one layer.")],
    second: Annotated[str, typer.Argument(metavar="ENTITIES", help="A file with the other.")],
    positional: opt.Positional = None,
    out: opt.Out = None,
    to: opt.To = None,
    encoding: opt.Encoding = "utf-8",
    on_crossing: opt.OnCrossing = "error",
    entity_columns: opt.EntityColumns = None,
    quiet: opt.Quiet = False,
) -> None:
    """Join the layers of the same sentences from two files.

    The sentences have to be the same, in the same order; the first line whose words differ is
    named.

    Example:
      fencepost merge gum/const/dev.ptb gum/ner/dev.jsonl -o dev.jsonl
    """
    from fencepost.formats import ParseReader, ReadSettings
    from fencepost.run.convert import merge as run

    if on_crossing == "drop-sentence":
        raise ConfigError("--on-crossing drop-sentence would leave one file shorter: use drop-span")
    target = opt.output_of(out, positional, quiet=quiet)
    settings = ReadSettings(
        encoding=encoding,
        on_crossing=on_crossing,
        entity_columns=opt.columns(entity_columns),
    )
    one, other = (ParseReader(path, settings=settings) for path in (first, second))
    tell(run(one, other, target, to=to, watch=watcher(quiet)), quiet)


def prepare(
    corpus: Annotated[
        Literal["ptb", "ctb7", "genia", "ace2004", "ace2005"],
        typer.Argument(metavar="CORPUS", help="Which corpus."),
    ],
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="Its original files.")],
    positional: opt.Positional = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FOLDER", help="For the splits.")
    ] = None,
    train: Annotated[Path | None, typer.Option(help="List of files for training.")] = None,
    dev: Annotated[Path | None, typer.Option(help="List of files for development.")] = None,
    test: Annotated[Path | None, typer.Option(help="List of files for testing.")] = None,
    encoding: Annotated[
        str | None, typer.Option(help="Encoding; without it, what the corpus comes in.")
    ] = None,
    on_crossing: opt.OnCrossing = "error",
    quiet: opt.Quiet = False,
) -> None:
    """Make the paper's splits from a corpus as it is distributed.

    Examples:
      fencepost prepare ptb LDC99T42 -o data/ptb
      fencepost prepare ctb7 LDC2010T07 -o ctb7 --train a --dev b --test c
    """
    from fencepost.run.prepare import prepare as run

    lists = {"train": train, "dev": dev, "test": test}
    folder = opt.output_of(out, positional, quiet=quiet)
    if folder == "-":
        raise ConfigError("the splits are files: -o FOLDER")
    found = run(
        corpus,
        source,
        Path(folder),
        ids={split: path for split, path in lists.items() if path is not None},
        encoding=encoding,
        on_crossing=on_crossing,
    )
    if quiet:
        return
    rows = [["", *found]]
    for field, name in (
        ("documents", "documents"),
        ("sentences", "sentences"),
        ("words", "words"),
        ("spans", "spans"),
        ("crossing", "left out: crossing entities"),
        ("duplicates", "left out: repeated entities"),
        ("outside", "left out: entities outside of the text"),
        ("left_out", "left out: sentences"),
    ):
        numbers = [getattr(counts, field) for counts in found.values()]
        if any(numbers) or not name.startswith("left out"):
            rows.append([name, *(f"{number:,}" for number in numbers)])
    print(table(rows))
    for split, counts in found.items():
        if counts.note:
            print(f"note: {split} has {counts.note}", file=sys.stderr)
