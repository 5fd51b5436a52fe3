"""The command that most people come for: text in, trees and entities out."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fencepost.cli import options as opt
from fencepost.cli.corpus import Corpus, is_corpus, parse_corpus
from fencepost.cli.files import tell
from fencepost.cli.progress import parsing
from fencepost.cli.reports import tell_missed, told_readings, width_of
from fencepost.errors import ConfigError, ConstraintError, DataError
from fencepost.parser.options import OPTIONS, ParseOptions

if TYPE_CHECKING:
    from fencepost.formats.registry import Format
    from fencepost.parser.options import CheckedOptions
    from fencepost.parser.parser import Parser
    from fencepost.run.texts import Ended
    from fencepost.structure import Parse


@opt.command_of
def parse(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="TEXT|FILE|-", help="Texts, files, folders, or - ."),
    ],
    options: ParseOptions,
    source: opt.Source,
    target: opt.Target,
    machine: opt.Machine,
    corpus: Corpus,
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
      fencepost parse report.txt --task entities -o report.jsonl
      fencepost parse report.txt -o report.html
      fencepost parse articles/ -o parsed/ --to jsonl
      fencepost parse corpus.parquet -o parsed/ --to parquet --engine ray
      echo "Ann 's cat slept ." | fencepost parse - --words --task tree --to ptb
      fencepost parse "I saw men with dogs." --task tree --n-best 2 --to pretty
      fencepost parse "I saw men with dogs." --task tree --must 1:3:VP
      fencepost parse "The cat sat." --explain
      fencepost parse news.txt --least-certain 100 --to labelstudio -o tasks.json
    """
    tasks = tuple(options.get("tasks") or ())
    if is_corpus(target.out, target.to, engine=corpus.engine, tasks=tasks):
        placed = {f"--{name}": name in options for name, one in OPTIONS.items() if one.placed}
        alone = {
            "--n-best": target.best != 1,
            "--explain": target.explain,
            "--least-certain": target.least_certain,
            **placed,
        }
        _refuse(alone, "is for single sentences, not for a corpus")
        columns = {"--entity-columns": source.entity_columns}
        _refuse(columns, "is for CoNLL files, and a corpus is of text, JSON lines or Parquet")
        parse_corpus(inputs, options, source=source, target=target, machine=machine, corpus=corpus)
        return
    scale = {f"--{name.replace('_', '-')}": value for name, value in asdict(corpus).items()}
    _refuse(scale, "is for a folder of JSON lines or Parquet: -o FOLDER/ --to jsonl")
    if target.explain:
        wider = {"--beam": "beams" in options, "--n-best": target.best != 1}
        _refuse(wider, "does not go with --explain, which shows the steps of greedy search")
        whole = {
            "--least-certain": target.least_certain is not None,
            **{
                f"--{name.replace('_', '-')}": bool(options.get(name))
                for name, one in OPTIONS.items()
                if one.filters
            },
        }
        _refuse(whole, "does not go with --explain, which shows every step")
        formatted = {"--to": target.to, "--out": target.out != "-"}
        _refuse(formatted, "does not go with --explain, which prints a table of steps")
    _parse_texts(inputs, options, source=source, target=target, machine=machine)


def _parse_texts(
    inputs: Sequence[str],
    options: ParseOptions,
    *,
    source: opt.Source,
    target: opt.Target,
    machine: opt.Machine,
) -> None:
    """Parse texts into one file or a file each, and exit with 2 if one could not be parsed."""
    from fencepost.run.parse import (
        check_layers,
        check_target,
        explain_texts,
        least_certain,
        parse_into,
        parse_texts,
        targets,
    )
    from fencepost.run.texts import Texts

    out, best, tasks = target.out, target.best, tuple(options.get("tasks") or ())
    folder = _folder(out, target.to)
    if folder is not None:
        _refuse({"--least-certain": target.least_certain}, "is for one output, not for a folder")
    format = _format(out, target.to, folder=folder, tasks=tasks)
    texts = Texts(
        inputs,
        kind=source.kind,
        format=source.from_,
        encoding=source.encoding,
        is_text=source.text,
        without=folder,
        entity_columns=opt.columns(source.entity_columns),
    )
    # What cannot be written is told before the model is loaded.
    if tasks:
        check_layers(format, tasks)
    if folder is not None:
        targets(texts, folder, format)
    else:
        check_target(texts, out, format)
    parser = machine.load()
    asked = parser.check_options(best=None if best == 1 else best, **options)
    if best != 1 and not tasks:
        asked = _only_written(parser, asked, format, best=best, options=options)
    if target.explain:
        for line in explain_texts(parser, texts, asked):
            print(line)
        return
    check_layers(format, asked.tasks)
    missed: list[DataError] = []
    counts: Counter[str] = Counter()
    on_screen = out == "-" and sys.stdout.isatty()
    # On the screen, a bar would stand among the trees.
    with parsing(texts, quiet=target.quiet or on_screen) as done:
        if folder is not None:
            missed += parse_into(
                folder, parser, texts=texts, asked=asked, format=format, best=best, done=done
            )
        else:
            parsed = _parsed(parse_texts(parser, texts, asked, best=best, done=done), missed)
            if target.least_certain is not None:
                parsed = least_certain(parsed, target.least_certain)
            _write(_counted(parsed, counts, format), out, format)
    if folder is None and out != "-":
        tell(counts, target.quiet)
    tell_missed(missed)


def _only_written(
    parser: Parser, asked: CheckedOptions, format: Format, *, best: int, options: ParseOptions
) -> CheckedOptions:
    """The options without the layers that a format leaves out.

    Readings that differ in nothing else would be written several times.
    """
    left_out = {"tree", "entities"} - format.layers
    tasks = [task for task in asked.tasks if task not in left_out]
    if len(tasks) == len(asked.tasks) or format.layers.isdisjoint(tasks):
        return asked
    narrower: ParseOptions = {**options, "tasks": tasks}
    with suppress(ConfigError, ConstraintError):  # an option such as --consistent needs the layer
        return parser.check_options(best=best, **narrower)
    return asked


def _write(found: Iterable[tuple[Parse, ...]], out: str, format: Format) -> None:
    """Write the readings of each sentence to a file, or lay them out for reading."""
    from fencepost.formats import write

    if out == "-" and format.name == "pretty":
        for number, readings in enumerate(found):
            print(("\n" if number else "") + told_readings(readings, width=width_of(out)))
    else:
        write((parse for readings in found for parse in readings), out, format=format.name)


def _refuse(options: Mapping[str, object], why: str) -> None:
    """Refuse options that mean nothing here."""
    for name, value in options.items():
        if value:
            raise ConfigError(f"{name} {why}")


def _folder(out: str, to: str | None) -> Path | None:
    """The folder for the output, if it is to be one."""
    from fencepost.formats.files import is_folder, is_stream
    from fencepost.formats.registry import bare_suffix

    if out == "-" or (is_stream(out) and to != "brat"):
        return None
    # Pairs of files for each input, as brat has them, need one.
    if is_folder(out) or (to == "brat" and bare_suffix(out) not in (".ann", ".txt")):
        return Path(out)
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
    parsed: Iterable[tuple[Parse, ...] | DataError | Ended], missed: list[DataError]
) -> Iterator[tuple[Parse, ...]]:
    """The readings of each sentence; sentences without any go to `missed`."""
    for one in parsed:
        if isinstance(one, DataError):
            missed.append(one)
        elif isinstance(one, tuple):
            yield one


def _counted(
    parsed: Iterable[tuple[Parse, ...]], counts: Counter[str], format: Format
) -> Iterator[tuple[Parse, ...]]:
    """The same sentences, counted, with the trees and entities that the format leaves out."""
    missing = [layer for layer in ("tree", "entities") if layer not in format.layers]
    for readings in parsed:
        counts["sentences"] += 1
        for layer in missing:
            if getattr(readings[0], layer) is not None:
                counts[f"{layer} layers that {format.name} cannot say"] += 1
        yield readings
