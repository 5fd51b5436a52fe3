"""The command that looks for patterns in trees and entities."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fencepost.cli import options as opt
from fencepost.cli.reports import tell_missed
from fencepost.errors import ConfigError

if TYPE_CHECKING:
    from rich.text import Text

    from fencepost.run.search import Hit, Searched

COLUMNS = (
    *("path", "line", "number", "label", "start", "end", "start_char", "end_char"),
    *("probability", "text", "names", "sentence"),
)


@dataclass(frozen=True, slots=True)
class Looking:
    """What is searched, and how matches are shown."""

    layer: Annotated[
        Literal["tree", "entities"] | None,
        typer.Option("--layer", help="What to search; without it, the tree, or else the entities."),
    ] = None
    to: Annotated[
        Literal["pretty", "tsv", "jsonl", "ptb"] | None,
        typer.Option("--to", help="Form of the matches; ptb: the trees that match."),
    ] = None
    count: Annotated[bool, typer.Option("--count", help="Only count the matches.")] = False
    context: Annotated[
        int,
        typer.Option(
            "--context", "-C", min=0, max=100, help="Sentences before and behind each match."
        ),
    ] = 0
    limit: Annotated[int | None, typer.Option(min=1, help="Stop after so many matches.")] = None
    quiet: opt.Quiet = False

    def __post_init__(self) -> None:
        if self.count and (self.to is not None or self.context):
            raise ConfigError(f"--count: leave out {'--context' if self.to is None else '--to'}")
        if self.context and self.form not in ("pretty", "jsonl"):
            raise ConfigError(
                f"--context: sentences around a match are for pretty and jsonl, not {self.form}"
            )

    @property
    def form(self) -> Literal["pretty", "tsv", "jsonl", "ptb"]:
        """The form of the matches: the one that is named, or the usual."""
        return self.to or ("pretty" if sys.stdout.isatty() else "jsonl")


@opt.command_of
def search(
    pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="What to look for.")],
    inputs: Annotated[
        list[str], typer.Argument(metavar="TEXT|FILE|-", help="Texts, files, folders, or - .")
    ],
    source: opt.Source,
    machine: opt.Machine,
    options: Looking,
) -> None:
    """Find nodes of trees that match a pattern, as Tregex does.

    Texts are parsed first. Annotated files (.ptb, .conll, .jsonl …) and folders that fencepost
    parse has filled are searched as they are. On a terminal, or with --to pretty, matches stand out
    in their sentences; in a pipe, they are JSON lines. docs/reference/patterns.md has all that may
    stand in a pattern.

    Examples:
      fencepost search "NP < NNP" "Ann met Bo in Oslo."
      fencepost search "VP < (VBD=verb $+ NP=object)" examples/garden.ptb --to tsv
      fencepost search "NP{is person} $+ VP" report.txt --context 1
      fencepost search "PP < (IN < of)" parsed/ --count
      fencepost search "ORG << GPE" examples/museum.data
    """
    from fencepost.run.search import Inputs
    from fencepost.run.search import search as run
    from fencepost.search import Pattern

    if not options.quiet and os.path.isfile(pattern):
        told = f"note: {pattern} is a file, and is taken for the pattern, which comes first"
        print(told, file=sys.stderr)
    known = Pattern(pattern)
    sentences = Inputs(
        inputs,
        known,
        layer=options.layer,
        load=machine.load,
        kind=source.kind,
        format=source.from_,
        encoding=source.encoding,
        is_text=source.text,
        entity_columns=opt.columns(source.entity_columns),
    )
    hits = run(sentences, known, layer=options.layer, context=options.context, limit=options.limit)
    if options.count:
        print(sum(1 for _ in hits))
    else:
        first = tuple(islice(hits, 1))
        _print(chain(first, hits), options.form)
        if not first and not options.quiet:
            print("no match", file=sys.stderr)
    tell_missed(sentences.missed)


def _print(hits: Iterable[Hit], form: str) -> None:
    if form == "pretty":
        _show(hits)
    else:
        for line in {"tsv": _rows, "jsonl": _lines, "ptb": _trees}[form](hits):
            print(line, end="")


def _lines(hits: Iterable[Hit]) -> Iterator[str]:
    from fencepost.formats.jsonl import line_of
    from fencepost.run.search import plain_hit

    return (line_of(plain_hit(hit)) for hit in hits)


def _rows(hits: Iterable[Hit]) -> Iterator[str]:
    from fencepost.formats.tsv import row_of
    from fencepost.run.search import plain_hit

    yield row_of(COLUMNS)
    for hit in hits:
        data = plain_hit(hit)
        data["names"] = " ".join(f"{name}={node.text}" for name, node in hit.match.names.items())
        yield row_of([data.get(column) for column in COLUMNS])


def _trees(hits: Iterable[Hit]) -> Iterator[str]:
    for hit in hits:
        tree, node = hit.match.tree, hit.match.node
        if tree is not None:
            yield f"{tree.to_brackets()}\n"
        else:
            from fencepost.structure.brackets import NO_TAG, escape

            sentence = hit.match.source
            tag = (node.label if node.kind == "tag" else None) or NO_TAG
            yield f"({tag} {escape(sentence.words[node.start])})\n"


def _show(hits: Iterable[Hit]) -> None:
    """Print matches with their words marked."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    for count, hit in enumerate(hits):
        around = bool(hit.before or hit.behind)
        if count and around:
            console.print("--", style="dim")
        for one in hit.before:
            console.print(_plain(one), style="dim")
        console.print(_marked(hit))
        for one in hit.behind:
            console.print(_plain(one), style="dim")


def _where(path: str, line: int | None, number: int) -> str:
    from fencepost.drawing.terminal import printable

    if not path:
        return ""
    return f"{printable(path)}:{number if line is None else line}: "


def _plain(one: Searched) -> Text:
    from rich.text import Text

    from fencepost.run.search import text_of

    return Text(_where(*one.place) + _flat(text_of(one.parse)))


def _marked(hit: Hit) -> Text:
    """A line with a sentence in which a match stands out, and below it the nodes with names."""
    from rich.text import Text

    from fencepost.run.search import plain_hit

    data = plain_hit(hit)
    sentence = str(data["sentence"])
    first, last = int(data["start_char"]), int(data["end_char"])
    line = Text.assemble(
        (_where(*hit.place), "dim"),
        _flat(sentence[:first]),
        ("[", "dim"),
        (_flat(hit.match.label), "cyan"),
        (" ", ""),
        (_flat(sentence[first:last]), "bold red"),
        ("]", "dim"),
        _flat(sentence[last:]),
    )
    for name, node in hit.match.names.items():
        line.append(f"\n    {name} = ", style="dim")
        line.append(_flat(node.label or ""), style="cyan")
        line.append(f" {_flat(node.text)}", style="green")
    return line


def _flat(text: str) -> str:
    """A text on one line, with signs for what would do something to a terminal."""
    from fencepost.drawing.terminal import left_to_right, printable

    return left_to_right(printable(" ".join(text.split("\n"))))
