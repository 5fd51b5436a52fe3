"""The rows of a shard, as a parser takes them.

A row is a paragraph of a text, a line, an object of JSON lines, a row of Parquet, or a sentence of
an annotated file. It is part of the shard in which its first byte lies, so that a shard can be read
without those before it.
"""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, BinaryIO, Literal, cast

from fencepost.errors import DataError
from fencepost.formats import ParseReader, ReadSettings
from fencepost.formats.files import decoding_message, has_byte_lines
from fencepost.formats.jsonl import id_of, object_in
from fencepost.run.corpus.store import files_at, opened, pyarrow
from fencepost.run.texts import given_by, paragraphs
from fencepost.structure import Sentence
from fencepost.text.splitters import ENGLISH, Splitter

Kind = Literal["text", "lines", "words", "jsonl", "parquet", "annotated"]
Place = Literal["file", "given", "stdin"]

_SEARCHED = 1 << 20  # bytes in which a blank line is looked for, to begin a shard behind it
_PART = 1 << 16  # bytes of a line that are read at a time, where it may be too long
_BATCH = 256  # rows of Parquet that are unpacked at a time
_GZIP = b"\x1f\x8b"
_MARK = b"\xef\xbb\xbf"  # at the beginning of some UTF-8 files
_OF_WORDS = ("words", "tokens")
_WORDS_ONLY = ReadSettings(on_crossing="drop-span", drop_traces=True)
_REPLACED = "\ufffd"
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
    version: str | None = None  # of the file when it was divided; None: it may change


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSettings:
    """How rows are read."""

    encoding: str = "utf-8"
    format: str | None = None  # of annotated files
    text_column: str = "text"
    id_column: str = "id"
    most_bytes: int = 16 << 20  # of a line, or of the text in a row of Parquet

    def read_settings(self) -> ReadSettings:
        """How annotations are read, of which only the words are wanted."""
        return replace(_WORDS_ONLY, encoding=self.encoding)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the input, or the reason that it cannot be parsed."""

    id: str
    given: str | Sentence
    bytes: int  # that were read for it
    problem: str | None = None


def rows_of(shard: Shard, settings: RowSettings, splitter: Splitter = ENGLISH) -> Iterator[Row]:
    """The rows of a shard, in order.

    Raises:
        DataError: the file cannot be read, or not any further, or was changed meanwhile.
    """
    place = shard.source if shard.place == "file" else shard.label
    try:
        if shard.kind == "parquet":
            yield from _parquet_rows(shard, settings)
        elif shard.kind == "annotated":
            yield from _annotated_rows(shard, settings)
        else:
            yield from _line_rows(shard, settings, splitter)
        if shard.version is not None and files_at(shard.source)[0].version != shard.version:
            raise DataError("this file was changed while it was read")
    except DataError as error:
        raise error.at(place, None) from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot be read: {error}", path=place) from error


def is_packed(path: str) -> bool:
    """Whether a file is packed with gzip, so that one cannot begin in the middle of it."""
    with opened(path) as file:
        return file.read(2) == _GZIP


def _line_rows(shard: Shard, settings: RowSettings, splitter: Splitter) -> Iterator[Row]:
    """Rows of a file with lines, or of a text that was given as such."""
    if shard.place == "given" and shard.kind == "text":
        yield Row(shard.label, shard.source, shard.bytes)
        return
    problems: list[str] = []  # of lines that came after the last row
    before = shard.start
    with _file_of(shard) as file:
        can_tell = file.seekable()
        lines = _texts(shard, _unpacked(file), settings, problems)
        if shard.kind == "text":
            lines = paragraphs(lines)
        for place, text in lines:
            if shard.kind == "jsonl" and not text.strip():
                continue
            problem = problems[0] if problems else None
            problems.clear()
            read = file.tell() if can_tell else before
            row = Row(f"{shard.label}#{place}", "", read - before, problem)
            before = read
            if problem is None:
                row = _line_row(row, text, shard.kind, settings, splitter)
            yield row


def _line_row(row: Row, text: str, kind: Kind, settings: RowSettings, splitter: Splitter) -> Row:
    """The row with what its text says."""
    if kind == "text":
        return replace(row, given=text)
    if kind == "words":
        return replace(row, given=Sentence(tuple(text.split())))
    if kind == "lines":
        return replace(row, given=splitter.sentence(text))
    try:
        return _object_row(row, object_in(text), settings)
    except DataError as error:
        return replace(row, problem=str(error))


@contextmanager
def _file_of(shard: Shard) -> Iterator[io.BufferedReader]:
    """The bytes of a shard's input."""
    if shard.place == "file":
        with opened(shard.source) as file:
            yield cast("io.BufferedReader", file)
        return
    given = io.BytesIO(shard.source.encode("utf-8", "surrogatepass"))
    raw: Any = given if shard.place == "given" else sys.stdin.buffer
    file = io.BufferedReader(raw)
    try:
        yield file
    finally:
        file.detach()  # standard input is not ours to close


def _unpacked(file: io.BufferedReader) -> BinaryIO:
    packed = file.peek(2)[:2] == _GZIP
    return cast("BinaryIO", gzip.GzipFile(fileobj=file)) if packed else file


def _texts(
    shard: Shard, file: BinaryIO, settings: RowSettings, problems: list[str]
) -> Iterator[tuple[int, str]]:
    """Lines as text without their ends, each with its first byte; what is wrong is put down."""
    if not has_byte_lines(settings.encoding):
        yield from _wide_texts(file, settings, problems)
        return
    for place, raw in _shard_lines(shard, file, settings):
        if isinstance(raw, int):
            problems.append(_too_long(f"a line of {raw:,} bytes", settings))
            yield place, _REPLACED
            continue
        try:
            yield place, raw.decode(settings.encoding).rstrip("\r\n")
        except UnicodeDecodeError as error:
            problems.append(decoding_message(error, settings.encoding))
            yield place, raw.decode(settings.encoding, "replace").rstrip("\r\n")


def _too_long(what: str, settings: RowSettings) -> str:
    return f"{what} is longer than {settings.most_bytes:,}; --max-row-size would allow it"


def _shard_lines(
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
    if start >= end:
        return
    position = start
    if start:
        file.seek(start - 1)  # perhaps the end of the line before
        position += _pass_line(file, most=end - start + 1) - 1
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


def _pass_line(file: BinaryIO, *, most: int = _END) -> int:
    """Go on behind the end of the line, or `most` bytes, and return how many bytes that was."""
    passed = 0
    while passed < most and (part := file.readline(_PART)):
        passed += len(part)
        if part.endswith(b"\n"):
            break
    return passed


def _paragraph_start(file: BinaryIO, byte: int, settings: RowSettings) -> int:
    """Where the first paragraph begins from some byte on; a line, if there is no blank one soon."""
    first: int | None = None
    end = byte + _SEARCHED + 1
    for position, line in _lines(file, byte, end, most=settings.most_bytes):
        first = position if first is None else first
        if isinstance(line, bytes) and not line.strip():
            return position + len(line)
    if not file.read(1):
        return _END
    # In a line without an end, each shard would have to look for it: any place in it does as well.
    return end if first is None else first


def _wide_texts(
    file: BinaryIO, settings: RowSettings, problems: list[str]
) -> Iterator[tuple[int, str]]:
    """The lines of UTF-16 and its like, where an end of line is more than one byte: by number."""
    number, size = 1, 0
    held: list[str] = []
    decoder = codecs.getincrementaldecoder(settings.encoding)()
    for part in chain(iter(lambda: file.readline(_PART), b""), (b"",)):
        text, error = _decoded(decoder, part)
        for is_next, more in enumerate(text.split("\n")):
            if is_next:
                yield number, "".join(held).rstrip("\r")
                number, size, held = number + 1, 0, []
            if error is not None and _REPLACED in more:
                problems.append(f"not {settings.encoding}: {error}")
            if size <= settings.most_bytes < size + len(more):
                problems.append(_too_long("a line", settings))
            size += len(more)
            held = [_REPLACED] if size > settings.most_bytes else [*held, more]
    if size:
        yield number, "".join(held).rstrip("\r")


def _decoded(decoder: codecs.IncrementalDecoder, part: bytes) -> tuple[str, str | None]:
    """More of a text, and what was wrong with it; no part is the end."""
    try:
        return decoder.decode(part, not part), None
    except UnicodeDecodeError as error:
        decoder.errors = "replace"
        text = decoder.decode(part, not part)
        decoder.errors = "strict"
        return text, error.reason
    except UnicodeError as error:
        raise DataError(str(error)) from error


def _object_row(row: Row, data: Any, settings: RowSettings) -> Row:
    """The row with what an object says: its name, and its words or its text."""
    try:
        if isinstance(data, dict):
            unreadable = next((one for one in data.values() if isinstance(one, DataError)), None)
            names = {"id": settings.id_column, "text": settings.text_column}
            named = {key: data.get(name) for key, name in names.items()}
            data = {**data, **named}
            if not isinstance(data["id"], DataError):
                row = replace(row, id=id_of(data) or row.id)
            if unreadable is not None:
                raise unreadable
            if all(data.get(key) is None for key in ("text", "tree", *_OF_WORDS)):
                raise DataError(f"this row has no {settings.text_column!r}, and no words")
        given = given_by(data, _WORDS_ONLY)
    except (DataError, RecursionError) as error:
        return replace(row, problem=str(error))
    if isinstance(given, Sentence):
        return replace(row, given=replace(given, id=None))  # the row has it
    if len(given) > settings.most_bytes:
        return replace(row, problem=_too_long(f"a text of {len(given):,} characters", settings))
    return replace(row, given=given)


def _parquet_rows(shard: Shard, settings: RowSettings) -> Iterator[Row]:
    with opened(shard.source) as source:
        try:
            file = pyarrow().parquet.ParquetFile(source)
            counts = [
                file.metadata.row_group(index).num_rows for index in range(file.num_row_groups)
            ]
            groups = range(shard.start, len(counts) if shard.end is None else shard.end)
            number = sum(counts[: shard.start])
            size = shard.bytes // max(1, sum(counts[index] for index in groups))
            names = wanted_columns(file.schema_arrow.names, settings)
            for batch in file.iter_batches(_BATCH, row_groups=list(groups), columns=names):
                columns = [_values(column) for column in batch.columns]
                for values in zip(*columns, strict=True):
                    row = Row(f"{shard.label}#{number}", "", size)
                    data = dict(zip(batch.schema.names, values, strict=True))
                    yield _object_row(row, data, settings)
                    number += 1
        except (pyarrow().ArrowException, UnicodeDecodeError) as error:  # the latter: of a name
            raise DataError(f"no Parquet that can be read: {error}") from error


def _values(column: Any) -> list[Any]:
    """The values of a column as JSON would have them; an error for one that cannot be read."""
    try:
        return [_plain(value) for value in column.to_pylist()]
    except (ValueError, OverflowError):  # of one of them, which takes no other down
        return [_value(one) for one in column]


def _value(scalar: Any) -> Any:
    try:
        return _plain(scalar.as_py())
    except (ValueError, OverflowError) as error:
        return DataError(f"this row cannot be read: {error}")


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return value if value is None or isinstance(value, str | int | float) else str(value)


def wanted_columns(names: list[str], settings: RowSettings) -> list[str]:
    """The columns of a table that a row is made of.

    Raises:
        DataError: it has neither text nor words.
    """
    known = {settings.id_column, settings.text_column, *_OF_WORDS, "offsets"}
    columns = [name for name in names if name in known]
    if not {settings.text_column, *_OF_WORDS} & set(columns):
        raise DataError(
            f"no column {settings.text_column!r}, and none of words; there are "
            f"{', '.join(names)}: name the one with the text (--text-column)"
        )
    return columns


def _annotated_rows(shard: Shard, settings: RowSettings) -> Iterator[Row]:
    problems: list[DataError] = []
    reading = ParseReader(
        shard.source,
        format=settings.format,
        settings=settings.read_settings(),
        on_problem=problems.append,
    )
    number = read = 0
    for parse in chain(reading, (None,)):  # the last has none, for problems behind all others
        for problem in problems:
            yield Row(f"{shard.label}#{number}", "", 0, str(problem))
            number += 1
        problems.clear()
        if parse is not None:
            id = parse.sentence.id or f"{shard.label}#{number}"
            yield Row(id, replace(parse.sentence, id=None), reading.bytes_read - read)
            number, read = number + 1, reading.bytes_read
