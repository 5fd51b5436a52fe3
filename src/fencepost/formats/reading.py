"""Read files and folders of any format, and handle what cannot be read."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fencepost.errors import ConfigError, DataError
from fencepost.formats.cleaning import clean_parse, unmatched
from fencepost.formats.entries import Dropped
from fencepost.formats.files import STANDARD, Source, files_below
from fencepost.formats.registry import FORMATS, READABLE, Format, bare_suffix, files_of, format_of
from fencepost.formats.settings import ReadSettings
from fencepost.structure import Parse

_ESCAPED_BYTE = re.compile(r"[\udc80-\udcff]")  # a byte that Python could not decode


def read(
    path: str | os.PathLike[str], *, format: str | None = None, **settings: Any
) -> ParseReader:
    """Read the parses of a file or a folder, one after the other.

    Args:
        path: a file, `-` for standard input, or a folder, whose files are read in order of name.
        format: `ptb`, `data`, `jsonl`, `conll`, `conllu`, `brat`, `spacy`, `labelstudio`, `doccano`
            or `cas`; by default, the format of the suffix.
        settings: fields of `ReadSettings`.

    The file is read while you iterate, so it may be larger than memory.
    """
    try:
        return ParseReader(path, format=format, settings=ReadSettings(**settings))
    except TypeError as error:
        raise ConfigError(f"unknown setting for reading: {error}") from error


class ParseReader(Iterator[Parse]):
    """An iterator over the parses of a file or a folder, with counts and progress.

    Attributes:
        counts: the number of sentences and entities left out so far, by reason.
        place: file and line of the latest parse.
        files: all files to read; empty for standard input.
        bytes_read: bytes read so far.
        bytes_total: size of all files on disk; 0 for standard input.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        settings: ReadSettings | None = None,
        on_problem: Callable[[DataError], None] | None = None,
    ) -> None:
        self.settings = settings or ReadSettings()
        self.counts: Counter[str] = Counter()
        self._on_problem = on_problem
        self._unmapped = self.settings.unmapped if self.settings.maps_labels else None
        self._labels: set[str] = set()  # of phrases before they are mapped
        self._tags: set[str] = set()
        self._forgiving = on_problem is not None or self.settings.skip_bad
        self._format, self._paths = _files(path, format)
        on_disk = [path for path in self._paths if str(path) != STANDARD]
        self.files = tuple(file for path in on_disk for file in files_of(path, self._format))
        self.bytes_total = sum(map(os.path.getsize, on_disk))
        self._bytes_before = 0
        self._source = self._open(self._paths[0])
        self._line = 0
        self._parses = self._read()

    @property
    def place(self) -> tuple[str, int]:
        """File and line of the latest parse."""
        return self._source.name, self._line

    @property
    def unmatched(self) -> list[tuple[str, str]]:
        """What `rename`, `splice` and so on name and no parse so far had, with the setting."""
        return list(unmatched(self.settings, self._labels, self._tags))

    @property
    def bytes_read(self) -> int:
        """Bytes read so far."""
        return self._bytes_before + self._source.bytes_read

    def __iter__(self) -> Iterator[Parse]:
        return self

    def __next__(self) -> Parse:
        return next(self._parses)

    def _read(self) -> Iterator[Parse]:
        assert self._format.entries is not None
        for path in self._paths:
            self._bytes_before += self._source.bytes_read
            self._source = self._open(path)
            for entry in self._format.entries(self._source, self.settings):
                self._line = entry.line
                try:
                    parses = tuple(map(self._cleaned, entry.read()))
                    if self._source.has_escapes:
                        self._refuse_escapes(parses)
                except Dropped:
                    self.counts["sentences with crossing entities"] += 1
                    continue
                except DataError as error:
                    self._problem(error.at(self._source.name, entry.line))
                    continue
                self.counts["entities with a gap"] += entry.gaps
                for parse in parses:
                    self.counts["crossing entities"] += len(parse.dropped)
                    yield parse
        self.counts += Counter()  # removes counts of zero

    def _cleaned(self, parse: Parse) -> Parse:
        if self._unmapped is not None:
            parse = clean_parse(parse, self._unmapped)
            self._labels.update(
                span.label or "" for span in (parse.tree.spans if parse.tree else ())
            )
            self._tags.update(parse.tags or ())
        return clean_parse(parse, self.settings)

    def _open(self, path: Path) -> Source:
        return Source(path, encoding=self.settings.encoding, forgiving=self._forgiving)

    def _refuse_escapes(self, parses: tuple[Parse, ...]) -> None:
        for parse in parses:
            spans = (*(parse.tree.spans if parse.tree else ()), *(parse.entities or ()))
            labels = (label or "" for _, _, label in spans)
            if any(map(_ESCAPED_BYTE.search, (*parse.words, *(parse.tags or ()), *labels))):
                raise DataError(f"not {self.settings.encoding}")

    def _problem(self, error: DataError) -> None:
        if self._on_problem is not None:
            self._on_problem(error)
        elif not self.settings.skip_bad:
            raise error
        self.counts["bad sentences"] += 1


def _files(path: str | os.PathLike[str], name: str | None) -> tuple[Format, list[Path]]:
    """The format of a file or a folder, and its files."""
    folder = Path(path)
    if not os.path.isdir(path):
        if str(path) != STANDARD and not os.path.exists(path):
            raise DataError("there is no such file", path=str(path))
        format = format_of(path, name)
        files = [folder]
    else:
        format, files = _files_below(folder, name)
    if format.entries is None:
        readable = ", ".join(f.name for f in READABLE)
        raise DataError(f"{format.name} can only be written; readable are {readable}")
    return format, files


def _files_below(folder: Path, name: str | None) -> tuple[Format, list[Path]]:
    everything = files_below(folder)
    by_format: dict[str, list[Path]] = {}
    for format in READABLE if name is None else [format_of(folder, name)]:
        for file in everything:
            if bare_suffix(file) in (format.own_suffixes if name else format.suffixes):
                by_format.setdefault(format.name, []).append(file)
    if len(by_format) > 1:
        raise DataError(
            f"this folder has files of several formats ({', '.join(by_format)}); name one with "
            "format= (--from)",
            path=str(folder),
        )
    for chosen, files in by_format.items():
        return FORMATS[chosen], files
    wanted = ", ".join(FORMATS[name].own_suffixes) if name else "a known suffix"
    raise DataError(f"no file with {wanted} in this folder", path=str(folder))
