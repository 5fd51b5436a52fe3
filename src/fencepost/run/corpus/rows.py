"""The rows of a shard, as a parser takes them.

A row is a paragraph of a text, a line, an object of JSON lines, a row of Parquet, or a sentence of
an annotated file. It is part of the shard in which its first byte lies, so that a shard can be read
without those before it.
"""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal, cast

from fencepost.errors import DataError
from fencepost.formats import Reading, ReadSettings
from fencepost.formats.files import has_byte_lines, undecodable
from fencepost.formats.jsonl import id_of
from fencepost.run.corpus.store import opened, pyarrow
from fencepost.run.texts import given_by, object_in, paragraphs
from fencepost.structure import Sentence
from fencepost.text import split_words

Kind = Literal["text", "lines", "words", "jsonl", "parquet", "annotated"]
Place = Literal["file", "given", "stdin"]

_SEARCHED = 1 << 20  # bytes in which a blank line is looked for, to begin a shard behind it
_BATCH = 256  # rows of Parquet that are unpacked at a time
_GZIP = b"\x1f\x8b"
_MARK = b"\xef\xbb\xbf"  # at the beginning of some UTF-8 files
_COLUMNS = ("id", "text", "words", "tokens", "offsets")
_END = sys.maxsize


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A part of an input, and the file that its rows are written to."""

    name: str  # of the file that is written, without a suffix
    source: str  # the path that is read, or the text itself
    label: str  # what the ids of rows begin with that have none
    kind: Kind
    place: Place = "file"
    start: int = 0  # the first byte, or the first row group
    end: int | None = None  # the byte or row group behind the last; None: all
    bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSettings:
    """How rows are read."""

    encoding: str = "utf-8"
    format: str | None = None  # of annotated files
    text_column: str = "text"
    id_column: str = "id"
    most_bytes: int = 16 << 20  # of one row of text or JSON lines

    def read_settings(self) -> ReadSettings:
        """How annotations are read, of which only the words are wanted."""
        return ReadSettings(encoding=self.encoding, on_crossing="drop-span", drop_traces=True)


@dataclass(frozen=True, slots=True)
class Row:
    """What is to be parsed, or why it cannot be."""

    id: str
    given: str | Sentence
    bytes: int
    problem: str | None = None


def rows_of(shard: Shard, settings: RowSettings) -> Iterator[Row]:
    """The rows of a shard, in order.

    Raises:
        DataError: the file cannot be read, or not any further.
    """
    try:
        if shard.kind == "parquet":
            yield from _parquet_rows(shard, settings)
        elif shard.kind == "annotated":
            yield from _annotated_rows(shard, settings)
        else:
            yield from _line_rows(shard, settings)
    except DataError as error:
        raise error.at(shard.source if shard.place == "file" else shard.label, None) from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot be read: {error}", path=shard.source) from error


def is_packed(path: str) -> bool:
    """Whether a file is packed with gzip, so that one cannot begin in the middle of it."""
    with opened(path) as file:
        return file.read(2) == _GZIP


def _line_rows(shard: Shard, settings: RowSettings) -> Iterator[Row]:
    """Rows of a file with lines, or of a text that was given as such."""
    if shard.place == "given" and shard.kind == "text":
        yield Row(shard.label, shard.source, shard.bytes)
        return
    problems: list[str] = []  # of lines that came after the last row
    with _file_of(shard) as file:
        lines = _texts(_line_starts(shard, file, settings), settings, problems)
        if shard.kind == "text":
            lines = paragraphs(lines)
        for place, text in lines:
            problem = problems[0] if problems else None
            problems.clear()
            id = f"{shard.label}#{place}"
            size = len(text.encode("utf-8", "surrogatepass")) + 1
            if problem is not None:
                yield Row(id, "", size, problem)
            elif shard.kind == "jsonl":
                if text.strip():
                    yield _json_row(text, id, size, settings)
            elif shard.kind == "text":
                yield Row(id, text, size)
            else:
                yield Row(id, _sentence(text, shard.kind), size)


@contextmanager
def _file_of(shard: Shard) -> Iterator[BinaryIO]:
    """The bytes of a shard's input, unpacked."""
    if shard.place == "given":
        yield io.BytesIO(shard.source.encode("utf-8", "surrogatepass"))
    elif shard.place == "stdin":
        yield _unpacked(cast("io.BufferedReader", sys.stdin.buffer))
    else:
        with opened(shard.source) as file:
            yield file if shard.start else _unpacked(cast("io.BufferedReader", file))


def _unpacked(file: io.BufferedReader) -> BinaryIO:
    packed = file.peek(2)[:2] == _GZIP
    return cast("BinaryIO", gzip.GzipFile(fileobj=file)) if packed else file


def _line_starts(
    shard: Shard, file: BinaryIO, settings: RowSettings
) -> Iterator[tuple[int, bytes | int]]:
    """The lines of a shard, each with its first byte; of one that is too long, its length."""
    start, end = shard.start, _END if shard.end is None else shard.end
    if shard.kind == "text" and (start or shard.end is not None):
        # Each shard finds both of its ends by the same rule, so none is lost between two.
        start, end = (
            byte if byte in (0, _END) else _paragraph_start(file, byte, settings)
            for byte in (start, end)
        )
        file.seek(0)
    return _lines(file, start, end, most=settings.most_bytes)


def _lines(file: BinaryIO, start: int, end: int, *, most: int) -> Iterator[tuple[int, bytes | int]]:
    """The lines that begin between two bytes; of one that is too long, only its length."""
    position = start
    if start:
        file.seek(start - 1)  # perhaps the end of the line before
        position += _pass_line(file) - 1
    while position < end:
        line = file.readline(most + 1)
        if not line:
            return
        if len(line) > most and not line.endswith(b"\n"):
            length = len(line) + _pass_line(file)
            yield position, length
            position += length
        else:
            yield position, line.removeprefix(_MARK) if position == 0 else line
            position += len(line)


def _pass_line(file: BinaryIO) -> int:
    """Go on behind the end of the line, and return how many bytes that was."""
    passed = 0
    while part := file.readline(_SEARCHED):
        passed += len(part)
        if part.endswith(b"\n"):
            break
    return passed


def _paragraph_start(file: BinaryIO, byte: int, settings: RowSettings) -> int:
    """Where the first paragraph begins from some byte on; a line, if there is no blank one soon."""
    first: int | None = None
    for position, line in _lines(file, byte, _END, most=settings.most_bytes):
        first = position if first is None else first
        if isinstance(line, bytes) and not line.strip():
            return position + len(line)
        if position - byte > _SEARCHED:
            return first
    return _END


def _texts(
    lines: Iterator[tuple[int, bytes | int]], settings: RowSettings, problems: list[str]
) -> Iterator[tuple[int, str]]:
    """Lines as text without their ends; what is wrong with them is put down."""
    if not has_byte_lines(settings.encoding):
        yield from _wide_texts(lines, settings, problems)
        return
    for place, raw in lines:
        if isinstance(raw, int):
            problems.append(
                f"a line of {raw:,} bytes is longer than {settings.most_bytes:,}; "
                "--max-row-size would allow it"
            )
            yield place, "\ufffd"
            continue
        try:
            yield place, raw.decode(settings.encoding).rstrip("\r\n")
        except UnicodeDecodeError as error:
            problems.append(undecodable(error, settings.encoding))
            yield place, raw.decode(settings.encoding, "replace").rstrip("\r\n")


def _wide_texts(
    lines: Iterator[tuple[int, bytes | int]], settings: RowSettings, problems: list[str]
) -> Iterator[tuple[int, str]]:
    """The lines of UTF-16 and its like, where an end of line is more than one byte: by number."""
    joined = io.BufferedReader(_Joined(lines))
    number = 0
    try:
        for number, text in enumerate(io.TextIOWrapper(joined, settings.encoding, newline="\n"), 1):
            yield number, text.rstrip("\r\n")
    except UnicodeError as error:
        problems.append(f"not {settings.encoding}: {error}; nothing behind it was read")
        yield number + 1, "\ufffd"


class _Joined(io.RawIOBase):
    """Parts of a file as one again."""

    def __init__(self, parts: Iterator[tuple[int, bytes | int]]) -> None:
        self._parts = parts
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            found = next(self._parts, None)
            if found is None:
                return 0
            if isinstance(found[1], int):
                raise DataError(f"there is no end of a line in {found[1]:,} bytes")
            self._rest = found[1]
        part = self._rest[: len(buffer)]
        self._rest = self._rest[len(part) :]
        buffer[: len(part)] = part
        return len(part)


def _sentence(text: str, kind: Kind) -> Sentence:
    if kind == "words":
        return Sentence(tuple(text.split()))
    offsets = tuple(split_words(text))
    return Sentence(tuple(text[a:b] for a, b in offsets), None, text, offsets)


def _json_row(text: str, id: str, size: int, settings: RowSettings) -> Row:
    try:
        return _object_row(object_in(text), id, size, settings)
    except DataError as error:
        return Row(id, "", size, str(error))


def _object_row(data: Any, id: str, size: int, settings: RowSettings) -> Row:
    """The row that an object stands for."""
    if isinstance(data, dict):
        columns = {"id": settings.id_column, "text": settings.text_column}
        renamed = {key: data.get(name) for key, name in columns.items() if name != key}
        data = {**data, **renamed}
        try:
            id = id_of(data) or id
            if "text" in renamed and data["text"] is None:
                raise DataError(f"this row has no {settings.text_column!r}")
            return Row(id, given_by(data, settings.read_settings()), size)
        except DataError as error:
            return Row(id, "", size, str(error))
    return Row(id, given_by(data, settings.read_settings()), size)


def _parquet_rows(shard: Shard, settings: RowSettings) -> Iterator[Row]:
    with opened(shard.source) as source:
        try:
            file = pyarrow().parquet.ParquetFile(source)
            groups = range(shard.start, shard.end or file.num_row_groups)
            before = (file.metadata.row_group(index).num_rows for index in range(shard.start))
            number = sum(before)
            columns = wanted_columns(file.schema_arrow.names, settings)
            count = sum(file.metadata.row_group(index).num_rows for index in groups)
            size = shard.bytes // max(1, count)
            for batch in file.iter_batches(_BATCH, row_groups=list(groups), columns=columns):
                for data in batch.to_pylist():
                    yield _object_row(data, f"{shard.label}#{number}", size, settings)
                    number += 1
        except pyarrow().ArrowException as error:
            raise DataError(f"no Parquet that can be read: {error}") from error


def wanted_columns(names: list[str], settings: RowSettings) -> list[str]:
    """The columns of a table that a row is made of.

    Raises:
        DataError: it has neither text nor words.
    """
    known = {settings.id_column, settings.text_column, *_COLUMNS[2:]}
    columns = [name for name in names if name in known]
    if not {settings.text_column, "words", "tokens"} & set(columns):
        raise DataError(
            f"no column {settings.text_column!r}, and none of words; there are "
            f"{', '.join(names)}: name the one with the text (--text-column)"
        )
    return columns


def _annotated_rows(shard: Shard, settings: RowSettings) -> Iterator[Row]:
    reading = Reading(shard.source, format=settings.format, settings=settings.read_settings())
    number = read = 0
    try:
        for parse in reading:
            id = parse.sentence.id or f"{shard.label}#{number}"
            yield Row(id, parse.sentence, reading.bytes_read - read)
            number, read = number + 1, reading.bytes_read
    except DataError as error:
        problem = f"{error.at(shard.label, None)}; nothing behind it was read"
        yield Row(f"{shard.label}#{number}", "", 0, problem)
