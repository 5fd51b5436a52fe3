"""Patterns looked for in whatever people have: texts, annotated files, corpora parsed before."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fencepost.errors import DataError
from fencepost.formats import ParseReader, ReadSettings
from fencepost.formats.files import STANDARD, Source, files_below
from fencepost.formats.jsonl import object_in
from fencepost.formats.registry import FORMATS, bare_suffix
from fencepost.run.corpus.results import read_documents
from fencepost.run.corpus.store import is_remote
from fencepost.run.texts import (
    TABLE_SUFFIXES,
    TEXT_SUFFIXES,
    Item,
    Kind,
    Texts,
    names_a_file,
    suffixes_of,
)
from fencepost.search import Layer, Match, Node, Pattern
from fencepost.structure import Parse, Sentence

if TYPE_CHECKING:
    from fencepost.parser.parser import Parser


class Place(NamedTuple):
    """Where a sentence comes from."""

    path: str  # of a text that was given, nothing
    line: int | None  # of the file; None for rows of Parquet
    number: int  # of the sentence in its file or text, from 1


class Searched(NamedTuple):
    """A sentence that is searched."""

    parse: Parse
    place: Place


@dataclass(slots=True)
class Hit:
    """A match, and the sentences around it."""

    match: Match
    parse: Parse
    place: Place
    before: tuple[Searched, ...] = ()
    behind: list[Searched] = field(default_factory=list)


def tasks_of(pattern: Pattern, layer: Layer | None) -> list[str]:
    """The layers that a text is parsed for: the one that is searched, and what a pattern asks."""
    layers = ("tree", "entities") if pattern.asks_for_entities else ("tree",)
    return ["entities"] if layer == "entities" else [*layers]


class Inputs:
    """The sentences of inputs, as they are there or, of text, as a parser finds them.

    Args:
        inputs: texts, files, folders, or `-` for standard input.
        pattern: decides what is parsed: entities only if it asks for them.
        layer: `tree` or `entities`.
        load: makes the parser, when there is something to parse.
        kind: how files without annotation are read.
        format: of annotated files; None: what the suffix tells.
        encoding: of the files.
        is_text: whether the inputs are text, even if there are files with such names.
        entity_columns: of CoNLL files.

    Attributes:
        missed: what could not be parsed.
    """

    def __init__(
        self,
        inputs: Sequence[str],
        pattern: Pattern,
        *,
        layer: Layer | None = None,
        load: Callable[[], Parser],
        kind: Kind = "text",
        format: str | None = None,
        encoding: str = "utf-8",
        is_text: bool = False,
        entity_columns: tuple[int, ...] | None = None,
    ) -> None:
        self.missed: list[DataError] = []
        self._kind: Kind = kind
        self._format = format
        self._encoding = encoding
        self._columns = entity_columns
        self._load = load
        self._parser: Parser | None = None
        self._tasks = tasks_of(pattern, layer)
        self._inputs: list[tuple[str, bool]] = []  # each with whether it is a file
        for given in inputs:
            if is_text or not (is_remote(given) or names_a_file(given)):
                self._inputs.append((given, False))
            else:
                self._inputs += ((path, True) for path in self._files(given))

    def __iter__(self) -> Iterator[Searched]:
        for given, is_file in self._inputs:
            if not is_file:
                yield from self._parsed(given, is_text=True)
            elif self._is_text(given):
                yield from self._parsed(given, is_text=False)
            elif (
                is_remote(given)
                or bare_suffix(given) in TABLE_SUFFIXES
                or "sentences" in self._first_object(given)  # rows that `fencepost parse` wrote
            ):
                yield from _rows(given)
            else:
                yield from self._read(given)

    def _files(self, given: str) -> list[str]:
        """The files of a folder that can be searched, in order of name."""
        if given == STANDARD or is_remote(given) or not Path(given).is_dir():
            return [given]
        suffixes = suffixes_of(None, *TABLE_SUFFIXES)
        if self._format is not None:
            suffixes = set(FORMATS[self._format].suffixes)
        found = {str(path) for path in files_below(Path(given)) if bare_suffix(path) in suffixes}
        # The text of brat's annotations is read along with them.
        found -= {path.replace(".ann", ".txt") for path in found if ".ann" in path}
        if not found:
            raise DataError("no file that can be searched in this folder", path=given)
        return sorted(found)

    def _is_text(self, path: str) -> bool:
        if self._format is not None:
            return False
        return path == STANDARD or self._kind != "text" or bare_suffix(path) in TEXT_SUFFIXES

    def _first_object(self, path: str) -> dict[str, Any]:
        """The first line of a file of JSON lines; of any other file, nothing."""
        if path == STANDARD or bare_suffix(path) not in FORMATS["jsonl"].suffixes:
            return {}
        source = Source(path, encoding=self._encoding)
        first = next((line for line in source.lines() if line.strip()), "{}")
        try:
            data = object_in(first)
        except DataError as error:
            raise error.at(path, source.line) from None
        return data if isinstance(data, dict) else {}

    def _read(self, path: str) -> Iterator[Searched]:
        """The sentences of an annotated file; JSON lines without annotation are parsed."""
        first = self._first_object(path)
        if first and not any(first.get(layer) is not None for layer in ("tree", "entities")):
            yield from self._parsed(path, is_text=False)
            return
        settings = ReadSettings(
            encoding=self._encoding, on_crossing="drop-span", entity_columns=self._columns
        )
        reading = ParseReader(path, format=self._format, settings=settings)
        for number, parse in enumerate(reading, 1):
            yield Searched(parse, Place(*reading.place, number))

    def _parsed(self, given: str, *, is_text: bool) -> Iterator[Searched]:
        texts = Texts(
            [given],
            kind=self._kind,
            format=self._format,
            encoding=self._encoding,
            is_text=is_text,
            entity_columns=self._columns,
        )
        if self._parser is None:
            self._parser = self._load()
        items: deque[Item] = deque()

        def sentences() -> Iterator[Sentence]:
            for item in texts:
                for sentence in item.sentences:
                    items.append(item)
                    yield sentence

        asked = self._parser.check_options(tasks=self._tasks)
        for number, document in enumerate(self._parser.stream(sentences(), asked), 1):
            item = items.popleft()
            if document.is_ok:
                place = Place(item.path, item.line if item.path else None, number)
                yield Searched(document.only(), place)
            else:
                error = DataError(document.status, path=item.path or "text", line=item.line)
                self.missed.append(error)


def _rows(path: str) -> Iterator[Searched]:
    """The sentences of documents that `fencepost parse` wrote; those not parsed have none."""
    number = 0
    for document in read_documents(path):
        for parse in document.sentences:
            number += 1
            yield Searched(parse, Place(path, None, number))


def search(
    sentences: Iterable[Searched],
    pattern: Pattern,
    *,
    layer: Layer | None = None,
    context: int = 0,
    limit: int | None = None,
) -> Iterator[Hit]:
    """The matches in sentences, in order, as soon as the sentences around them are there.

    Args:
        sentences: gone through once.
        pattern: what is looked for.
        layer: as for `Parse.find`.
        context: sentences before and behind each match, of the same file.
        limit: how many matches at most.
    """
    return islice(_hits(sentences, pattern, layer, context), limit)


def _hits(
    sentences: Iterable[Searched], pattern: Pattern, layer: Layer | None, context: int
) -> Iterator[Hit]:
    before: deque[Searched] = deque(maxlen=context)
    waiting: deque[tuple[Hit, int]] = deque()  # with the number of the last sentence they want
    for one in sentences:
        if before and before[-1].place.path != one.place.path:
            before.clear()
        while waiting and (
            waiting[0][0].place.path != one.place.path or waiting[0][1] < one.place.number
        ):
            yield waiting.popleft()[0]
        for hit, _ in waiting:
            hit.behind.append(one)
        try:
            for match in one.parse.find(pattern, layer=layer):
                hit = Hit(match, *one, tuple(before))
                if context:
                    waiting.append((hit, one.place.number + context))
                else:
                    yield hit
        except DataError as error:
            raise error.at(one.place.path, one.place.line) from None
        before.append(one)
    yield from (hit for hit, _ in waiting)


def plain_hit(hit: Hit) -> dict[str, Any]:
    """A match as plain data.

    `start_char` and `end_char` slice `sentence`; where that starts in the text of its document is
    `offset`.
    """
    first = hit.parse.sentence.characters(0, len(hit.parse.sentence))
    offset = None if first is None else first[0]
    found: dict[str, Any] = {
        "path": hit.place.path or None,
        "line": hit.place.line,
        "number": hit.place.number,
        "id": hit.parse.id,
        **plain_node(hit.match.node, offset),
        "names": {name: plain_node(node, offset) for name, node in hit.match.names.items()} or None,
        "sentence": text_of(hit.parse),
        "offset": offset,
        "before": [text_of(one.parse) for one in hit.before] or None,
        "behind": [text_of(one.parse) for one in hit.behind] or None,
    }
    return {key: value for key, value in found.items() if value is not None}


def plain_node(node: Node, offset: int | None) -> dict[str, Any]:
    """A node as plain data.

    Args:
        node: the match.
        offset: from where characters are counted; None: words are joined by blanks.
    """
    sentence = node.source
    assert sentence is not None
    if offset is None:
        start = len(" ".join(sentence.words[: node.start])) + bool(node.start)
        end = start + len(node.text)
    else:
        start, end = (node.start_char or 0) - offset, (node.end_char or 0) - offset
    found = {
        "label": node.label,
        "text": node.text,
        "start": node.start,
        "end": node.end,
        "start_char": start,
        "end_char": end,
        "probability": node.probability,
    }
    return {key: value for key, value in found.items() if value is not None}


def text_of(parse: Parse) -> str:
    """A sentence's own part of the text."""
    return parse.sentence.text_between(0, len(parse.sentence))
