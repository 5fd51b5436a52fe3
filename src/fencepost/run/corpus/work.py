"""Parsing a portion: its rows in one stream through a parser, its shards written one by one.

Nothing here knows who runs it: this process, or one of many workers of a cluster. A portion that
has been done is not done again, and done twice it gives the same files, so that whoever lost a
worker just lets another one do it.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fencepost.errors import DataError, clipped
from fencepost.parser.documents import document_of
from fencepost.parser.inputs import PreparedInput, prepare_input
from fencepost.run.corpus.plan import Portion
from fencepost.run.corpus.results import SUFFIXES, Format, Hashed, results
from fencepost.run.corpus.rows import Row, RowSettings, Shard, rows_of
from fencepost.run.corpus.store import joined, read_whole, sha256_of, size_of, whole
from fencepost.run.texts import Ended
from fencepost.structure import Document, Parse, Sentence

if TYPE_CHECKING:
    from fencepost.parser.options import CheckedOptions
    from fencepost.parser.parser import Parser

WORK = "_work"  # below the folder of the output, as long as it is not complete
MOST_TRIES = 5  # of a portion whose workers die

Tell = Callable[[int, int], None]  # is told how many words and bytes are done

_BYTES_A_WORD = 6.0  # before any row has told
_NUMBERS = re.compile(r"(?<!\w)(?<!\w-)(?:0x[0-9a-f]+|\d+(?:,\d+)*)")  # but not those of utf-8


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Settings of all portions."""

    out: str
    format: Format
    rows: RowSettings

    @property
    def work(self) -> str:
        """The folder for what is under way."""
        return joined(self.out, WORK)

    def name(self, shard: Shard) -> str:
        """The file of a shard, below the folder."""
        return f"{shard.name}{SUFFIXES[self.format]}"

    def target(self, shard: Shard) -> str:
        """The file of a shard."""
        return joined(self.out, self.name(shard))

    def record(self, portion: Portion) -> str:
        """The file that says what came of a portion."""
        return joined(self.work, f"{portion.number:06}.json")


@dataclass(slots=True, kw_only=True)
class Record:
    """The outcome of a shard; with an error, nothing was written."""

    file: str
    source: str
    start: int
    end: int | None
    rows: int = 0
    sentences: int = 0
    words: int = 0
    failures: dict[str, int] = field(default_factory=dict)  # rows that were not parsed, by reason
    first: dict[str, str] = field(default_factory=dict)  # the id of the first one, by reason
    bytes: int = 0
    sha256: str = ""
    error: str | None = None


def record_of(data: Mapping[str, Any]) -> Record:
    """The record of a shard that was made, from plain data.

    Raises:
        TypeError: it is none.
    """
    record = Record(**data)
    counts = [record.rows, record.sentences, record.words, record.bytes]
    counts += record.failures.values() if isinstance(record.failures, dict) else [None]
    names = record.first.values() if isinstance(record.first, dict) else [None]
    is_wrong = any(type(count) is not int for count in counts)
    if record.error is not None or is_wrong or any(type(name) is not str for name in names):
        raise TypeError(f"a record with other data than expected: {record!r:.200}")
    return record


@dataclass(slots=True)
class Done:
    """The outcome of a portion, with the seconds of each stage."""

    number: int
    records: list[Record]
    seconds: dict[str, float] = field(default_factory=dict)


def done_before(job: Job, portion: Portion) -> Done | None:
    """The earlier outcome of a portion, if all of its files are still there."""
    path = job.record(portion)
    if size_of(path) is None:
        return None
    try:
        records = [record_of(data) for data in json.loads(read_whole(path))]
    except (ValueError, TypeError):
        return None
    return Done(portion.number, records) if are_there(job, portion, records) else None


def are_there(job: Job, portion: Portion, records: Sequence[Record]) -> bool:
    """Whether records are those of a portion, and its files are as they were written.

    Every byte is read: an accident, or a hand, can leave the size of a file and its time.
    """
    return len(records) == len(portion.shards) and all(
        (record.file, record.source, record.start, record.end)
        == (job.name(shard), shard.label, shard.start, shard.end)
        and size_of(job.target(shard)) == record.bytes
        and sha256_of(job.target(shard)) == record.sha256
        for record, shard in zip(records, portion.shards, strict=True)
    )


def parse_portion(
    parser: Parser, job: Job, portion: Portion, asked: CheckedOptions, *, tell: Tell | None = None
) -> Done:
    """Write the shards of a portion, each whole or not at all, and then what came of it.

    A shard whose input cannot be read gets no file and a record with the error; it takes no other
    down.

    Args:
        parser: with the model.
        job: where it goes, and how rows are read.
        portion: what is parsed.
        asked: what to find.
        tell: called with the words and bytes that are done.

    Raises:
        OutputError: a file cannot be written, whatever would be in it.
    """
    clock = _Clock()
    stream = _Stream(parser, job, portion, asked, clock, tell)
    records = [_written(job, shard, stream.documents(), clock) for shard in portion.shards]
    if not any(record.error for record in records):
        plain = json.dumps([asdict(record) for record in records])
        with whole(job.record(portion), job.work) as file:
            file.write(plain.encode("utf-8"))
    return Done(portion.number, records, clock.seconds())


def tries_of(job: Job, portion: Portion) -> int:
    """Count one more try of a portion, and return how many there were before.

    A portion that brings down whoever parses it would else be tried for ever.
    """
    before = 0
    while size_of(tried := joined(job.work, f"{portion.number:06}.try-{before}")) is not None:
        before += 1
    with whole(tried, job.work):
        pass
    return before


def given_up(job: Job, portion: Portion) -> Done:
    """The portion as one that cannot be parsed."""
    error = f"{MOST_TRIES} workers died while they parsed this; memory may be short"
    records = [replace(_record(job, shard), error=error) for shard in portion.shards]
    return Done(portion.number, records)


def reason_of(status: str) -> str:
    """A status without its numbers, so that those of a kind can be counted.

    >>> reason_of("a sentence of 25,117 words is longer than 20,000")
    'a sentence of … words is longer than …'
    """
    return _NUMBERS.sub("…", status)


def _record(job: Job, shard: Shard) -> Record:
    return Record(
        file=job.name(shard),
        source=shard.label,
        start=shard.start,
        end=shard.end,
    )


def _written(job: Job, shard: Shard, documents: Iterator[Document], clock: _Clock) -> Record:
    """Write a shard and return its record."""
    record = _record(job, shard)
    failures: Counter[str] = Counter()
    first: dict[str, str] = {}
    try:
        with whole(job.target(shard), job.work) as raw:
            file = Hashed(raw)
            with results(file, job.format) as write:
                for document in documents:
                    with clock.stage("writing"):
                        write(document)
                    record.rows += 1
                    record.sentences += len(document.sentences)
                    record.words += sum(len(parse.words) for parse in document.sentences)
                    if not document.is_ok:
                        reason = reason_of(document.status)
                        failures[reason] += 1
                        first.setdefault(reason, clipped(document.id or ""))
    except _UnreadableError as error:
        return replace(_record(job, shard), error=str(error.reason))
    return replace(
        record,
        failures=dict(sorted(failures.items())),
        first=dict(sorted(first.items())),
        bytes=file.bytes,
        sha256=file.sha256,
    )


class _UnreadableError(Exception):
    """The input of a shard that is being written cannot be read any further."""

    def __init__(self, reason: DataError) -> None:
        super().__init__(str(reason))
        self.reason = reason


@dataclass(frozen=True, slots=True)
class _Item:
    """A row, as sentences."""

    row: Row
    input: PreparedInput

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Those of the row."""
        return self.input.sentences


class _Stream:
    """The documents of a portion, in order, shard by shard."""

    def __init__(
        self,
        parser: Parser,
        job: Job,
        portion: Portion,
        asked: CheckedOptions,
        clock: _Clock,
        tell: Tell | None,
    ) -> None:
        self._job, self._portion, self._clock, self._tell = job, portion, clock, tell
        self._splitter = parser.model.splitter
        self._own_tags = "tags" in asked.tasks
        self._read = self._words = self._bytes = 0
        self._told_bytes = self._told_words = 0
        self._parsed = parser.stream_items(self._items(), asked, done=self._done)

    def documents(self) -> Iterator[Document]:
        """The documents of the next shard.

        Raises:
            _UnreadableError: when all that could be read has been given out.
        """
        for item, found in self._parsed:  # which reads ahead
            if isinstance(item, Ended):
                if item.error is not None:
                    raise _UnreadableError(item.error)
                return
            self._told_bytes += item.row.bytes
            self._told_words += sum(len(one.words) for one in found if isinstance(one, Parse))
            yield replace(document_of(item.input, found), id=item.row.id)

    def _items(self) -> Iterator[_Item | Ended]:
        """The rows of all shards as sentences, with a mark at the end of each shard."""
        for shard in self._portion.shards:
            error: DataError | None = None
            rows = rows_of(shard, self._job.rows, self._splitter)
            try:
                while True:
                    with self._clock.stage("reading"):
                        row = next(rows, None)
                    if row is None:
                        break
                    self._read += row.bytes
                    yield _Item(row, self._prepared(row))
            except DataError as raised:
                error = raised
            yield Ended(error)

    def _prepared(self, row: Row) -> PreparedInput:
        if row.problem is not None:
            return PreparedInput((), None, row.problem)
        given = row.given
        if self._own_tags and isinstance(given, Sentence):
            # Tags of a file are those of its annotators; the model has its own.
            given = replace(given, tags=None)
        return prepare_input(given, self._splitter)

    def _done(self, words: int) -> None:
        """Tell how far it is: in words, and in bytes as far as one can say."""
        self._words += words
        if self._tell is not None:
            size = self._told_bytes / self._told_words if self._told_words else _BYTES_A_WORD
            likely = min(self._read, round(self._words * size), self._portion.bytes)
            self._bytes = max(self._bytes, likely)  # it never goes back
            self._tell(self._words, self._bytes)


class _Clock:
    """Where the time goes; what is not reading or writing is parsing."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._stages: Counter[str] = Counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Counts the time in its block."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self._stages[name] += time.perf_counter() - started  # type: ignore[assignment]

    def seconds(self) -> dict[str, float]:
        """Of each stage, up to now."""
        total = time.perf_counter() - self._started
        known = {name: self._stages[name] for name in ("reading", "writing")}
        parsing = total - sum(known.values())
        return {"reading": known["reading"], "parsing": parsing, "writing": known["writing"]}
