"""The command that most people come for: text in, trees and entities out."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fencepost.cli import options as opt
from fencepost.cli.corpus import bytes_of, is_corpus, on_ray, parse_corpus
from fencepost.cli.files import tell
from fencepost.cli.progress import parsing
from fencepost.cli.reports import told_readings, width_of
from fencepost.errors import ConfigError, DataError

if TYPE_CHECKING:
    from fencepost.formats.registry import Format
    from fencepost.parser.asking import Options
    from fencepost.run.parse import Unparsed
    from fencepost.structure import Parse


class Task(StrEnum):
    """What can be found."""

    TREE = "tree"
    ENTITIES = "entities"
    TAGS = "tags"


def parse(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="TEXT|FILE|-...", help="Texts, files, folders, or - ."),
    ],
    model: opt.ModelName = "en-small",
    task: Annotated[
        list[Task] | None,
        typer.Option(help="What to find; may be given several times. Without it, all."),
    ] = None,
    to: Annotated[
        Literal[
            "ptb", "pretty", "data", "jsonl", "conll", "brat", "tsv", "html", "spacy", "parquet"
        ]
        | None,
        typer.Option("--to", help="Format of the output; without it, what the suffix tells."),
    ] = None,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE|FOLDER/",
            help="A file, whose suffix tells the format; or a folder, for a file for each input.",
        ),
    ] = "-",
    words: Annotated[
        bool, typer.Option("--words", help="One sentence a line, words between blanks.")
    ] = False,
    lines: Annotated[bool, typer.Option("--lines", help="One sentence a line.")] = False,
    text: Annotated[
        bool, typer.Option("--text", help="The arguments are text, not names of files.")
    ] = False,
    from_: opt.From = None,
    encoding: opt.Encoding = "utf-8",
    beams: opt.Beams = 1,
    best: Annotated[
        int, typer.Option("--n-best", min=1, help="So many readings of each sentence.")
    ] = 1,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show each step, and what it was chosen from.")
    ] = False,
    min_probability: Annotated[
        float, typer.Option(min=0, max=1, help="Leave out entities that are less probable.")
    ] = 0.0,
    must: Annotated[
        list[str] | None,
        typer.Option(
            metavar="START:END[:LABEL]",
            help="A span that has to be there; boundaries count from 0. For one sentence.",
        ),
    ] = None,
    forbid: Annotated[
        list[str] | None,
        typer.Option(metavar="START:END[:LABEL]", help="A span that must not be there."),
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option(help="Use only this label, and others given so.")
    ] = None,
    root: Annotated[str | None, typer.Option(help="The label of each whole sentence.")] = None,
    consistent: Annotated[
        bool, typer.Option("--consistent", help="Entities never cross a span of the tree.")
    ] = False,
    gazetteer: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Phrases that are entities: phrase, tab, label a line."),
    ] = None,
    precision: opt.Precision = "fp32",
    threads: opt.Threads = None,
    max_words: Annotated[
        int | None, typer.Option(min=1, help="Refuse sentences that are longer.")
    ] = None,
    engine: Annotated[
        Literal["stream", "ray"] | None,
        typer.Option(help="Who parses a corpus: this process, or the workers of a Ray cluster."),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            help="Of the Ray cluster; without it, RAY_ADDRESS, or else a new one on this machine."
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many on Ray, each with --threads; without it, as many as there is room for.",
        ),
    ] = None,
    gpus: Annotated[
        float,
        typer.Option(min=0, help="For each worker on Ray; 0.5 shares one."),
    ] = 0.0,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with a corpus after a stop."),
    ] = False,
    shard_size: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES",
            help="Of input in a shard, as in 4MB; without it, what suits the corpus.",
        ),
    ] = None,
    max_row_size: Annotated[
        str | None,
        typer.Option(metavar="BYTES", help="Refuse rows that are longer; without it, than 16MB."),
    ] = None,
    text_column: Annotated[
        str | None,
        typer.Option(help="Where JSON lines and Parquet have the text, if not in `text`."),
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="Where they have its name, if not in `id`.")
    ] = None,
    quiet: opt.Quiet = False,
) -> None:
    """Find the trees and entities of a text.

    An argument that names a file or folder is read, and anything else is text. On a terminal, or
    with --to pretty, trees and entities are laid out for reading; in a pipe, they are JSON lines,
    or brackets if only trees are asked for. Of annotated files (.ptb, .conll, .jsonl …) the words
    are taken as they are. A folder for the output, which is there or ends with a slash, gets one
    file for each that was read, under the same name.

    A folder of JSON lines or Parquet gets a row for each row that was read (a paragraph, a line, an
    object, a row of Parquet), those that could not be parsed with a status that says why. Large
    files are divided into shards. After a stop, --resume goes on. Inputs and output may be
    anywhere that pyarrow opens, as in s3://bucket/folder.

    Examples:
      fencepost parse "The cat sat on the mat. It slept."
      fencepost parse report.txt --task entities --min-probability 0.8 -o report.jsonl
      fencepost parse report.txt -o report.html
      fencepost parse articles/ -o parsed/ --to jsonl
      fencepost parse corpus.parquet -o parsed/ --to parquet --engine ray --workers 8
      echo "Ann 's cat slept ." | fencepost parse - --words --task tree --to ptb
      fencepost parse "I saw the man with the telescope." --task tree --n-best 2 --to pretty
      fencepost parse "I saw the man with the telescope." --task tree --must 1:4:VP
      fencepost parse "The cat sat." --explain
    """
    from fencepost.run.corpus.rows import RowSettings
    from fencepost.run.parse import (
        check_layers,
        check_target,
        explain_texts,
        parse_into,
        read_several,
        targets,
    )
    from fencepost.run.texts import Texts
    from fencepost.text.gazetteer import Gazetteer

    if words and lines:
        raise ConfigError("--words and --lines: one of them, not both")
    kind: Literal["text", "lines", "words"] = "words" if words else "lines" if lines else "text"
    tasks = tuple(map(str, task or ()))
    options: Options = {
        "tasks": tasks or None,
        "beams": max(beams, best, 10) if best > 1 else beams,
        "must": [_span(one) for one in must or ()],
        "forbid": [_span(one) for one in forbid or ()],
        "labels": label,
        "root": root,
        "consistent": consistent,
        "gazetteer": None if gazetteer is None else Gazetteer.read(gazetteer),
        "min_probability": min_probability,
    }
    scale = {
        "--engine": engine,
        "--address": address,
        "--workers": workers,
        "--gpus": gpus,
        "--resume": resume,
        "--shard-size": shard_size,
        "--max-row-size": max_row_size,
        "--text-column": text_column,
        "--id-column": id_column,
    }
    if is_corpus(out, to, engine=engine, tasks=tasks):
        alone = {"--n-best": best > 1, "--explain": explain, "--must": must, "--forbid": forbid}
        _refuse(alone, "is for single sentences, not for a corpus")
        parse_corpus(
            inputs,
            out,
            to="parquet" if to == "parquet" else "jsonl",
            model=model,
            options=options,
            kind=kind,
            is_text=text,
            rows=RowSettings(
                encoding=encoding,
                format=from_,
                text_column=text_column or "text",
                id_column=id_column or "id",
                most_bytes=bytes_of(max_row_size or "16MB"),
            ),
            shard_bytes=None if shard_size is None else bytes_of(shard_size),
            max_words=max_words,
            precision=precision,
            threads=threads,
            on=on_ray(engine, address=address, count=workers, threads=threads, gpus=gpus),
            resume=resume,
            quiet=quiet,
        )
        return
    _refuse(scale, "is for a folder of JSON lines or Parquet: -o FOLDER/ --to jsonl")
    folder = _folder(out, to)
    format = _format(out, to, folder=folder, tasks=tasks)
    texts = Texts(inputs, kind=kind, format=from_, encoding=encoding, is_text=text, without=folder)
    # What cannot be written is told before the model is loaded.
    if tasks:
        check_layers(format, tasks)
    if folder is not None:
        targets(texts, folder, format)
    else:
        check_target(texts, out, format)
    from fencepost.formats import write
    from fencepost.parser.parser import MOST_WORDS, load

    parser = load(model, threads=threads, max_words=max_words or MOST_WORDS, precision=precision)
    asked = parser.asked(**options)
    if explain:
        for line in explain_texts(parser, texts, asked):
            print(line)
        return
    check_layers(format, asked.tasks)
    missed: list[Unparsed | DataError] = []
    counts: Counter[str] = Counter()
    on_screen = out == "-" and sys.stdout.isatty()
    with parsing(texts, quiet=quiet or on_screen) as done:  # a bar would stand among the trees
        if folder is not None:
            missed += parse_into(
                folder, parser, texts=texts, asked=asked, format=format, best=best, done=done
            )
        else:
            several = read_several(parser, texts, asked, best=best, done=done)
            found = _parsed(several, missed, counts)
            if out == "-" and format.name == "pretty":
                for number, readings in enumerate(found):
                    told = told_readings(readings, width=width_of(out))
                    print(("\n" if number else "") + told)
            else:
                parses = (parse for readings in found for parse in readings)
                write(parses, out, format=format.name)
    if folder is None and out != "-":
        tell(counts, quiet)
    for one in missed:
        print(f"fencepost: {one}", file=sys.stderr)
    if missed:
        raise typer.Exit(2)


def _refuse(options: Mapping[str, object], why: str) -> None:
    """Refuse options that mean nothing here."""
    for name, value in options.items():
        if value:
            raise ConfigError(f"{name} {why}")


def _folder(out: str, to: str | None) -> Path | None:
    """The folder for the output, if it is to be one."""
    from fencepost.formats.files import is_folder
    from fencepost.formats.registry import bare_suffix

    if out == "-":
        return None
    if is_folder(out):
        return Path(out)
    if to == "brat" and bare_suffix(out) not in (".ann", ".txt"):
        return Path(out)  # a pair of files for each input needs one
    if to is None and not bare_suffix(out):
        raise DataError(
            f"a folder that is not there yet ends with a slash, as in {out}/; for a file, name "
            "the format with --to",
            path=out,
        )
    return None


def _format(out: str, to: str | None, *, folder: Path | None, tasks: Sequence[str]) -> Format:
    """The format of the output: the one that is named, or that its suffix tells, or the usual."""
    from fencepost.formats.registry import FORMATS, written_format

    usual = "ptb" if "tree" in tasks and "entities" not in tasks else "jsonl"
    if folder is not None:
        return FORMATS[to or usual]
    if out == "-":
        return written_format(out, to or ("pretty" if sys.stdout.isatty() else usual))
    return written_format(out, to)


def _parsed(
    found: Iterable[tuple[Parse, ...] | Unparsed],
    missed: list[Unparsed | DataError],
    counts: Counter[str],
) -> Iterator[tuple[Parse, ...]]:
    """What was parsed, counted; what was not is kept apart."""
    from fencepost.run.parse import Unparsed

    for one in found:
        if isinstance(one, Unparsed):
            missed.append(one)
        elif one:
            counts["sentences"] += 1
            yield one


def _span(given: str) -> tuple[int, int, str | None]:
    """A span as it is written on the command line."""
    start, _, rest = given.partition(":")
    end, _, label = rest.partition(":")
    if not (start.isdecimal() and end.isdecimal()):
        raise ConfigError(f"{given!r} is no span; START:END or START:END:LABEL is, as in 0:2:NP")
    return int(start), int(end), label or None
