"""The command that most people come for: text in, trees and entities out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Literal

import typer

from fencepost.cli import options as opt
from fencepost.cli.progress import parsing
from fencepost.cli.reports import told_parse
from fencepost.errors import ConfigError
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
    to: opt.To = None,
    out: Annotated[
        str, typer.Option("--out", "-o", help="A file, whose suffix tells the format.")
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
    threads: opt.Threads = None,
    max_words: Annotated[
        int | None, typer.Option(min=1, help="Refuse sentences that are longer.")
    ] = None,
    quiet: opt.Quiet = False,
) -> None:
    """Find the trees and entities of a text.

    An argument that names a file or folder is read, and anything else is text. On a terminal, or
    with --to pretty, trees and entities are laid out for reading; in a pipe, they are JSON lines,
    or brackets if only trees are asked for. Of annotated files (.ptb, .conll, .jsonl …) the words
    are taken as they are.

    Examples:
      fencepost parse "The cat sat on the mat. It slept."
      fencepost parse report.txt --task entities -o report.jsonl
      echo "Ann 's cat slept ." | fencepost parse - --words --task tree --to ptb
    """
    from fencepost.run.parse import Texts, Unparsed, parse_texts

    if words and lines:
        raise ConfigError("--words and --lines: one of them, not both")
    kind: Literal["text", "lines", "words"] = "words" if words else "lines" if lines else "text"
    texts = Texts(inputs, kind=kind, format=from_, encoding=encoding, is_text=text)
    from fencepost.formats import write
    from fencepost.parser.parser import MOST_WORDS, load

    parser = load(model, threads=threads, max_words=max_words or MOST_WORDS)
    tasks = tuple(map(str, task)) if task else parser.tasks
    missed: list[Unparsed] = []

    def parses() -> Iterator[Parse]:
        for found in parse_texts(parser, texts, tasks=tasks, beams=beams, done=done):
            if isinstance(found, Unparsed):
                missed.append(found)
            else:
                yield found

    on_screen = out == "-" and sys.stdout.isatty()
    only_trees = "tree" in tasks and "entities" not in tasks
    with parsing(texts, quiet=quiet or on_screen) as done:  # a bar would stand among the trees
        if (on_screen and to is None) or (out == "-" and to == "pretty"):
            for number, found in enumerate(parses()):
                print(("\n" if number else "") + told_parse(found))
        else:
            name = to or (None if out != "-" else "ptb" if only_trees else "jsonl")
            write(parses(), out, format=name)
    for one in missed:
        print(f"fencepost: {one}", file=sys.stderr)
    if missed:
        raise typer.Exit(2)
