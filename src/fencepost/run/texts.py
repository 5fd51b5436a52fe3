"""The inputs to parse: a text, files of text or of words, whole folders."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count as counting
from pathlib import Path, PurePath
from typing import Any, Literal

from fencepost.errors import DataError
from fencepost.formats import ParseReader, ReadSettings
from fencepost.formats.files import STANDARD, Source, files_below
from fencepost.formats.jsonl import id_of, object_in, parse_of
from fencepost.formats.registry import FORMATS, READABLE, bare_suffix, format_of
from fencepost.structure import Sentence
from fencepost.text.splitters import ENGLISH, Splitter

Kind = Literal["text", "lines", "words"]
KINDS = ("text", "lines", "words")  # how files without annotation are read

TEXT_SUFFIXES = (".txt", ".text", ".md")
TABLE_SUFFIXES = (".parquet", ".pq")
_PATH_LIKE = re.compile(
    r"(?=\S*[/\\])\S++|[^\s.]\S*\.[A-Za-z][A-Za-z0-9]{1,5}|(?:~|\.{0,2})/.*\.[A-Za-z][A-Za-z0-9]{1,5}"
)
_MOST = 100_000  # characters of a paragraph that are read before it is cut at the end of a line


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of the input, as sentences, and where it came from."""

    sentences: tuple[Sentence, ...]
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of an input, or an error that ended it."""

    error: DataError | None = None
    sentences: tuple[()] = ()


class Texts:
    """The inputs to parse, read piece by piece, so that files may be larger than memory.

    Args:
        inputs: texts, files, folders, or `-` for standard input.
        kind: how files without annotation are read: `text` is split into sentences and words;
            `lines` are sentences, split into words; `words` are lines of words between blanks.
        format: of annotated files, of which the words are taken; None: what the suffix tells.
        encoding: of the files.
        is_text: whether the inputs are text, even if there are files with such names.
        without: a folder whose files are not read if it lies inside of one that is.
        entity_columns: of CoNLL files.

    Attributes:
        names: of what each of the inputs gives, as paths without a suffix: below a folder that was
            given, those of its files; else the name of a file, `text` or `stdin`.
        paths: of the inputs; of a text, None.
        files: all that are read; none for texts and standard input.
    """

    def __init__(
        self,
        inputs: Sequence[str],
        *,
        kind: Kind = "text",
        format: str | None = None,
        encoding: str = "utf-8",
        is_text: bool = False,
        without: Path | None = None,
        entity_columns: tuple[int, ...] | None = None,
    ) -> None:
        self.kind = kind
        self.format = format
        # Only the words are wanted: that entities cross is no reason to stop.
        self.settings = ReadSettings(
            encoding=encoding,
            on_crossing="drop-span",
            drop_traces=True,
            entity_columns=entity_columns,
        )
        self.words_read = 0
        self.place = ("", 0)
        self.names: list[str] = []
        self.paths: list[str | None] = []
        self._sources: list[str | Source | ParseReader] = []
        self._before = 0
        self._current: Source | ParseReader | None = None
        texts = counting(1)
        for given in inputs:
            if is_text or not names_a_file(given):
                number = next(texts)
                self._add(given, "text" if number == 1 else f"text-{number}", None)
                continue
            for path in _files(given, format, without):
                self._add(self._source(path), _name(path, given), path)
        self.files: list[str | os.PathLike[str]] = []
        self.bytes_total = 0
        for source in self._sources:
            if isinstance(source, ParseReader):
                self.files += source.files
                self.bytes_total += source.bytes_total
            elif isinstance(source, Source) and str(source.path) != STANDARD:
                self.files.append(source.path)
                self.bytes_total += os.path.getsize(source.path)

    @property
    def bytes_read(self) -> int:
        """How far the files have been read."""
        return self._before + (self._current.bytes_read if self._current else 0)

    def __iter__(self) -> Iterator[Item]:
        return (piece for piece in self.pieces() if isinstance(piece, Item))

    def pieces(
        self, splitter: Splitter = ENGLISH, *, forgiving: bool = False
    ) -> Iterator[Item | Ended]:
        """The pieces of all inputs, with a mark at the end of each.

        Args:
            splitter: of text, by the rules of a language.
            forgiving: whether an input that cannot be read ends there, and the next one follows.
        """
        for source in self._sources:
            error: DataError | None = None
            try:
                for item in self._read(source, splitter):
                    self.words_read += sum(map(len, item.sentences))
                    self.place = (item.path, item.line)
                    yield item
            except DataError as raised:
                if not forgiving:
                    raise
                error = raised
            if not isinstance(source, str):
                self._before += source.bytes_read
                self._current = None
            yield Ended(error)

    def _add(self, source: str | Source | ParseReader, name: str, path: str | None) -> None:
        self._sources.append(source)
        self.names.append(name)
        self.paths.append(path)

    def _source(self, path: str) -> Source | ParseReader:
        suffix = bare_suffix(path)
        is_json = self.format == "jsonl" if self.format else suffix in FORMATS["jsonl"].suffixes
        known = any(suffix in format.suffixes for format in READABLE)
        if is_json or (self.format is None and (self.kind != "text" or not known)):
            return Source(path, encoding=self.settings.encoding)
        return ParseReader(path, format=self.format, settings=self.settings)

    def _read(self, source: str | Source | ParseReader, splitter: Splitter) -> Iterator[Item]:
        if isinstance(source, str):
            for number, text in enumerate([source] if self.kind == "text" else source.split("\n")):
                yield Item(self._sentences(text, splitter), "", number + 1)
            return
        self._current = source
        if isinstance(source, ParseReader):
            for parse in source:
                yield Item((parse.sentence,), *source.place)
            return
        suffix = bare_suffix(source.name)
        if self.format == "jsonl" or (
            self.format is None and suffix in FORMATS["jsonl"].suffixes and self.kind == "text"
        ):
            pieces = self._objects(source, splitter)
        elif self.kind == "text":
            lines = ((source.line, line) for line in source.lines())
            pieces = ((first, splitter.split(text)) for first, text in paragraphs(lines))
        else:
            pieces = ((source.line, self._sentences(line, splitter)) for line in source.lines())
        for line, sentences in pieces:
            yield Item(sentences, source.name, line)

    def _sentences(self, text: str, splitter: Splitter) -> tuple[Sentence, ...]:
        if self.kind == "text":
            return splitter.split(text)
        is_split = self.kind == "words"
        sentence = Sentence(tuple(text.split())) if is_split else splitter.sentence(text)
        return (sentence,) if sentence.words else ()

    def _objects(
        self, source: Source, splitter: Splitter
    ) -> Iterator[tuple[int, tuple[Sentence, ...]]]:
        """JSON lines: words stay as they are, and text without words is split."""
        for line in source.lines():
            if not line.strip():
                continue
            try:
                data = object_in(line)
                given = given_by(data, self.settings)
                if isinstance(given, str):
                    yield source.line, _named(splitter.split(given), id_of(data))
                else:
                    yield source.line, (given,)
            except DataError as error:
                raise error.at(source.name, source.line) from None


def paragraphs(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Text as far as the next blank line, which always ends a sentence.

    Args:
        lines: with a number each.

    Returns:
        Each paragraph with the number of its first line. A very long one is cut after a line.
    """
    waiting: list[str] = []
    size = first = 0
    for number, line in lines:
        if line.strip():
            if not waiting:
                first = number
            waiting.append(line)
            size += len(line)
        if waiting and (not line.strip() or size > _MOST):
            yield first, "\n".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield first, "\n".join(waiting)


def given_by(data: Any, settings: ReadSettings) -> str | Sentence:
    """The input of a parser in an object: its words, or its text if it has nothing but that."""
    if isinstance(data, dict) and isinstance(data.get("text"), str):
        told = [data.get(key) for key in ("words", "tokens", "offsets", "tree")]
        if not any(value is not None for value in told):
            return str(data["text"])
    return parse_of(data, settings).sentence


def _named(sentences: tuple[Sentence, ...], id: str | None) -> tuple[Sentence, ...]:
    """Sentences with the name of their text; several are numbered."""
    if id is None:
        return sentences
    if len(sentences) == 1:
        return (replace(sentences[0], id=id),)
    return tuple(replace(one, id=f"{id}-{k}") for k, one in enumerate(sentences, 1))


def names_a_file(given: str) -> bool:
    """Whether an input is a file or folder; what only looks like one is an error."""
    if given == STANDARD or os.path.exists(given):
        return True
    if os.path.lexists(given):
        raise DataError("this link leads to no file; pass --text if this is a text", path=given)
    if _PATH_LIKE.fullmatch(given):
        raise DataError("there is no such file; pass --text if this is a text", path=given)
    return False


def _name(path: str, given: str) -> str:
    """The name of a file's result, without a suffix."""
    if path == STANDARD:
        return "stdin"
    name = PurePath(os.path.relpath(path, given) if path != given else os.path.basename(path))
    packed = name.suffix.lower() == ".gz"
    return (name.with_suffix("") if packed else name).with_suffix("").as_posix()


def suffixes_of(format: str | None, *others: str) -> set[str]:
    """The suffixes of the files that are read in a folder: a format's, or all that are known."""
    if format is not None:
        return set(format_of(STANDARD, format).own_suffixes)
    return {suffix for known in READABLE for suffix in known.suffixes} | {*TEXT_SUFFIXES, *others}


def _files(given: str, format: str | None, without: Path | None) -> list[str]:
    """The files that an input stands for, in order of name."""
    folder = Path(given)
    if given == STANDARD or not folder.is_dir():
        return [given]
    suffixes = suffixes_of(format)
    found = {str(path) for path in files_below(folder) if bare_suffix(path) in suffixes}
    hidden = None if without is None else without.resolve()
    if hidden is not None and folder.resolve() in hidden.parents:
        found = {path for path in found if hidden not in Path(path).resolve().parents}
    # The text of brat's annotations is read along with them.
    found -= {re.sub(r"\.ann(?=(\.gz)?$)", ".txt", path) for path in found if ".ann" in path}
    if not found:
        wanted = ", ".join(sorted(suffixes)) if format else ".txt, .md, .jsonl …"
        raise DataError(f"no file of text in this folder ({wanted})", path=given)
    return sorted(found)
