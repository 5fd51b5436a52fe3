"""Reading: which format, which files, and what to do with what cannot be read."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fencepost.errors import ConfigError, DataError
from fencepost.formats.cleaning import clean_parse
from fencepost.formats.entries import Dropped
from fencepost.formats.files import STANDARD, Source, files_below
from fencepost.formats.registry import FORMATS, READABLE, Format, bare_suffix, files_of, format_of
from fencepost.formats.settings import ReadSettings
from fencepost.structure import Parse

_STAND_IN = re.compile(r"[\udc80-\udcff]")  # how Python keeps a byte that it cannot decode


def read(
    path: str | os.PathLike[str], *, format: str | None = None, **settings: Any
) -> ParseReader:
    """The parses of a file or a folder, one after the other.

    Args:
        path: a file, `-` for standard input, or a folder, whose files are read in order of name.
        format: one of `ptb data jsonl conll conllu brat spacy labelstudio doccano cas`; None: what
            the suffix tells.
        settings: those of `ReadSettings`.

    The result is read from as one goes through it, so files may be larger than memory.
    """
    try:
        return ParseReader(path, format=format, settings=ReadSettings(**settings))
    except TypeError as error:
        raise ConfigError(f"unknown setting for reading: {error}") from error


class ParseReader(Iterator[Parse]):
    """The parses of a file or a folder, and how the reading goes.

    Attributes:
        counts: what was left out so far, by reason.
        place: file and line of the parse that was read last.
        files: all that are read; none for standard input.
        bytes_read: how far the files have been read.
        bytes_total: how large they are, as they lie on the disk; 0 for standard input.
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
        """File and line of the parse that was read last."""
        return self._source.name, self._line

    @property
    def bytes_read(self) -> int:
        """How far the files have been read."""
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
                    parses = tuple(clean_parse(one, self.settings) for one in entry.read())
                    if self._source.stand_ins:
                        self._refuse_stand_ins(parses)
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
        self.counts += Counter()  # leaves out what was never seen

    def _open(self, path: Path) -> Source:
        return Source(path, encoding=self.settings.encoding, forgiving=self._forgiving)

    def _refuse_stand_ins(self, parses: tuple[Parse, ...]) -> None:
        for parse in parses:
            spans = (*(parse.tree.spans if parse.tree else ()), *(parse.entities or ()))
            labels = (label or "" for _, _, label in spans)
            if any(map(_STAND_IN.search, (*parse.words, *(parse.tags or ()), *labels))):
                raise DataError(f"not {self.settings.encoding}")

    def _problem(self, error: DataError) -> None:
        if self._on_problem is not None:
            self._on_problem(error)
        elif not self.settings.skip_bad:
            raise error
        self.counts["bad sentences"] += 1


def _files(path: str | os.PathLike[str], name: str | None) -> tuple[Format, list[Path]]:
    """The format of a file or folder, and the files to read."""
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
    found: dict[str, list[Path]] = {}
    for format in READABLE if name is None else [format_of(folder, name)]:
        for file in everything:
            if bare_suffix(file) in (format.own_suffixes if name else format.suffixes):
                found.setdefault(format.name, []).append(file)
    if len(found) > 1:
        raise DataError(
            f"this folder has files of several formats ({', '.join(found)}); name one with --from",
            path=str(folder),
        )
    for chosen, files in found.items():
        return FORMATS[chosen], files
    wanted = ", ".join(FORMATS[name].own_suffixes) if name else "a known suffix"
    raise DataError(f"no file with {wanted} in this folder", path=str(folder))
