"""A parser that only splits, and can be stopped at any row; and what is done with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from fencepost.parser.inputs import PreparedInput
from fencepost.parser.options import CheckedOptions
from fencepost.run.corpus.plan import Plan, make_plan
from fencepost.run.corpus.rows import Row, RowSettings, rows_of
from fencepost.run.corpus.run import Run, Summary, absorbed, parse_here
from fencepost.run.corpus.work import Job
from fencepost.structure import Document, Parse, Sentence
from fencepost.text import split_text
from fencepost.text.splitters import ENGLISH

if TYPE_CHECKING:
    from fencepost.parser.parser import Parser
    from fencepost.run.corpus.results import Format

ASKED = CheckedOptions(tasks=("tree",))


class Splitter:
    """Gives the words of each input, in chunks, as the real one does.

    Args:
        chunk: how many inputs are read before any document is given out.
        stop: the row, counted from 0 over all calls, at which `error` is raised instead.
        error: what is raised.
        heard: is told the sentences of each input.
        parse: makes a document of an input.
    """

    def __init__(
        self,
        *,
        chunk: int = 3,
        stop: int | None = None,
        error: BaseException | None = None,
        heard: Callable[[tuple[Sentence, ...]], None] | None = None,
        parse: Callable[[Any], Document] | None = None,
    ) -> None:
        self.chunk, self.stop, self.heard = chunk, stop, heard
        self.parse = parse or document_of
        self.error = error or KeyboardInterrupt()
        self.rows = 0
        self.model = SimpleNamespace(splitter=ENGLISH)

    def stream_items(
        self,
        items: Iterable[Any],
        options: CheckedOptions,
        *,
        done: Callable[[int], None] | None = None,
    ) -> Iterator[tuple[Any, list[Parse]]]:
        chunk: list[Any] = []
        for item in items:
            chunk.append(item)
            if len(chunk) == self.chunk:
                yield from self._parsed(chunk, done)
                chunk = []
        yield from self._parsed(chunk, done)

    def _parsed(
        self, chunk: list[Any], done: Callable[[int], None] | None
    ) -> Iterator[tuple[Any, list[Parse]]]:
        documents = [self.parse(item.row.given) if hasattr(item, "row") else None for item in chunk]
        if done is not None:
            done(sum(len(one.words) for each in documents if each for one in each.sentences))
        for item, document in zip(chunk, documents, strict=True):
            if document is None:  # the end of a shard
                yield item, []
                continue
            if self.rows == self.stop:
                raise self.error
            self.rows += 1
            if self.heard is not None:
                self.heard(item.input.sentences)
            status = item.row.problem or (None if document.is_ok else document.status)
            yield (
                replace(item, input=PreparedInput((), document.text, status)),
                list(document.sentences),
            )


def document_of(x: str | Sentence) -> Document:
    if isinstance(x, Sentence):
        return Document((Parse(x),) if x.words else (), None)
    return Document(tuple(Parse(sentence) for sentence in split_text(x)), x)


def as_parser(splitter: Splitter) -> Parser:
    return cast("Parser", splitter)


def planned(*inputs: object, rows: RowSettings | None = None, **options: Any) -> Plan:
    return make_plan([str(one) for one in inputs], settings=rows or RowSettings(), **options)


def rows_in(plan: Plan, rows: RowSettings | None = None) -> list[Row]:
    """The rows of all shards, one after the other."""
    shards = [shard for portion in plan.portions for shard in portion.shards]
    return [row for shard in shards for row in rows_of(shard, rows or RowSettings())]


def run_of(
    plan: Plan,
    out: object,
    *,
    format: Format = "jsonl",
    rows: RowSettings | None = None,
    settings: dict[str, Any] | None = None,
    resume: bool = False,
) -> Run:
    job = Job(out=str(out), format=format, rows=rows or RowSettings())
    return Run(job, plan, settings or {"model": "fake"}, resume=resume)


def parsed(
    plan: Plan,
    out: object,
    *,
    splitter: Splitter | None = None,
    tell: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Summary:
    """Parse all of a plan into a folder."""
    run = run_of(plan, out, **options)
    found = parse_here(run, as_parser(splitter or Splitter()), ASKED, tell=tell)
    return absorbed(run, found)


def files_in(folder: Path) -> dict[str, bytes]:
    """All files below a folder, by name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
