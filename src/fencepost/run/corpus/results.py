"""The rows that are written: a document each, as JSON lines or Parquet.

A line of JSON is what `Document.from_dict` takes. A row of Parquet says the same in columns:

    id         string
    status     string                        "ok", or why it was not parsed
    text       string                        null if words were given
    sentences  list of structs
      words, tags                            lists of strings
      offsets                                list of {start, end}: characters of the text
      tree, entities                         lists of {start, end, label, probability}
      log_probs                              {tree, entities}
      text                                   null unless it is not the row's
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal

from fencepost.errors import ConfigError, DataError
from fencepost.formats.files import without_surrogates
from fencepost.formats.jsonl import line_of, object_in
from fencepost.run.corpus.store import File, files_at, opened, pyarrow
from fencepost.structure import Document
from fencepost.structure.serialization import DIGITS

Format = Literal["jsonl", "parquet"]
SUFFIXES: Mapping[Format, str] = {"jsonl": ".jsonl", "parquet": ".parquet"}

_GROUP = 20_000  # words in a row group of Parquet, and rows
_LETTERS = 8  # of a text that take as much memory as a word with all that is found


class Hashed:
    """A file to write to, with how much and what was written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self.bytes = 0

    def write(self, data: Any) -> int:
        """Write bytes."""
        self._hash.update(data)
        self._file.write(data)
        written = len(memoryview(data).cast("B"))
        self.bytes += written
        return written

    @property
    def sha256(self) -> str:
        """The checksum of all that was written."""
        return self._hash.hexdigest()

    closed = False

    def close(self) -> None:
        """The file is closed by whoever opened it."""


@contextmanager
def results(file: Hashed, format: Format) -> Iterator[Callable[[Document], object]]:
    """A writer of documents to a file, which is complete when the block ends."""
    if format == "jsonl":
        yield lambda row: file.write(line_of(row.to_dict(digits=DIGITS)).encode("utf-8"))
        return
    with pyarrow().parquet.ParquetWriter(file, schema(), compression="zstd") as writer:
        table = _Table(writer)
        yield table.add
        table.flush()


class _Table:
    """Collects rows until they are worth a row group."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._rows: list[dict[str, Any]] = []
        self._size = 0

    def add(self, document: Document) -> None:
        self._rows.append(_columns(document.to_dict(digits=DIGITS)))
        words = sum(len(parse.words) for parse in document.sentences)
        self._size += 1 + max(words, len(document.text or "") // _LETTERS)
        if self._size >= _GROUP:
            self.flush()

    def flush(self) -> None:
        if self._rows:
            self._writer.write_table(pyarrow().Table.from_pylist(self._rows, schema=schema()))
        self._rows, self._size = [], 0


def schema() -> Any:
    """The columns of a table of documents."""
    arrow = pyarrow()
    span = arrow.struct(
        [
            ("start", arrow.int32()),
            ("end", arrow.int32()),
            ("label", arrow.string()),
            ("probability", arrow.float64()),
        ]
    )
    sentence = arrow.struct(
        [
            ("words", arrow.list_(arrow.string())),
            ("tags", arrow.list_(arrow.string())),
            (
                "offsets",
                arrow.list_(arrow.struct([("start", arrow.int32()), ("end", arrow.int32())])),
            ),
            ("tree", arrow.list_(span)),
            ("entities", arrow.list_(span)),
            ("log_probs", arrow.struct([(name, arrow.float64()) for name in _LAYERS])),
            ("text", arrow.string()),
        ]
    )
    return arrow.schema(
        [
            ("id", arrow.string()),
            ("status", arrow.string()),
            ("text", arrow.string()),
            ("sentences", arrow.list_(sentence)),
        ]
    )


_LAYERS = ("tree", "entities")


def _columns(row: dict[str, Any]) -> dict[str, Any]:
    """Plain data of a document as a row of a table, which can say no half of a surrogate pair."""
    return {
        "id": _said(row.get("id")),
        "status": _said(row["status"]),
        "text": _said(row["text"]),
        "sentences": [_sentence_columns(sentence) for sentence in row["sentences"]],
    }


def _sentence_columns(sentence: dict[str, Any]) -> dict[str, Any]:
    offsets, log_probs = sentence.get("offsets"), sentence.get("log_probs")
    tags = sentence.get("tags")
    spans = {
        layer: None
        if sentence.get(layer) is None
        else [
            {"start": start, "end": end, "label": _said(label), "probability": (*more, None)[0]}
            for start, end, label, *more in sentence[layer]
        ]
        for layer in _LAYERS
    }
    return {
        "words": [_said(word) for word in sentence["words"]],
        "tags": tags and [_said(tag) for tag in tags],
        "offsets": offsets and [{"start": start, "end": end} for start, end in offsets],
        "log_probs": log_probs and {layer: log_probs.get(layer) for layer in _LAYERS},
        "text": _said(sentence.get("text")),
        **spans,
    }


def _said(text: str | None) -> str | None:
    return None if text is None else without_surrogates(text)


def read_documents(path: str | Path) -> Iterator[Document]:
    """The documents of a folder or a file that `fencepost parse` wrote as rows, in order.

    Args:
        path: of JSON lines or Parquet; also one that pyarrow opens, as in `s3://bucket/folder`.

    Raises:
        DataError: a file holds something else.
        ConfigError: there is no such file here.
    """
    files = [file for file in files_at(str(path)) if file.path.endswith(tuple(SUFFIXES.values()))]
    if not files:
        raise ConfigError(f"{path}: no .jsonl or .parquet here")
    for file in files:
        try:
            yield from map(Document.from_dict, _plain_rows(file))
        except DataError as error:
            raise error.at(file.path, None) from None
        except ValueError as error:  # of Parquet or UTF-8
            raise DataError(f"no rows that we wrote: {error}", path=file.path) from error


def _plain_rows(file: File) -> Iterator[dict[str, Any]]:
    with opened(file.path) as source:
        if file.path.endswith(SUFFIXES["jsonl"]):
            yield from (object_in(line.decode("utf-8")) for line in source)
            return
        for batch in pyarrow().parquet.ParquetFile(source).iter_batches(256):
            yield from map(_plain, batch.to_pylist())


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """The opposite of `_columns`."""
    sentences = []
    for sentence in row["sentences"]:
        plain = {key: value for key, value in sentence.items() if value is not None}
        for layer in _LAYERS:
            if layer in plain:
                plain[layer] = [
                    [value for value in span.values() if value is not None] for span in plain[layer]
                ]
        if "offsets" in plain:
            plain["offsets"] = [[*pair.values()] for pair in plain["offsets"]]
        if "log_probs" in plain:
            found = plain["log_probs"].items()
            plain["log_probs"] = {layer: value for layer, value in found if value is not None}
        sentences.append(plain)
    return {"version": 1, **row, "sentences": sentences}
