"""Trees as they are compared, from files of any format."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from fencepost.errors import DataError
from fencepost.formats import ParseReader, ReadSettings
from fencepost.formats.cleaning import map_labels, rename_tags, without_function
from fencepost.formats.files import STANDARD, Source
from fencepost.formats.ptb import chunks
from fencepost.formats.registry import format_of
from fencepost.scoring import Side, side_of_line, side_of_tree
from fencepost.structure.brackets import escape_round
from fencepost.structure.span import spans_of

Placed = tuple[int, Side]  # the line, and what stands there


class Sides(Iterator[Placed]):
    """The trees of a file as they are compared, with their lines.

    A file of brackets with one tree a line is read line by line, as EVALB reads it, so that an
    empty line stands for a sentence that could not be parsed.
    """

    def __init__(
        self, path: str | os.PathLike[str], format: str | None, settings: ReadSettings
    ) -> None:
        if str(path) != STANDARD and not os.path.exists(path):
            raise DataError("there is no such file", path=str(path))
        if settings.maps_labels:  # EVALB cuts functions off, so labels are mapped without them
            settings = replace(settings, drop_functions=True)
        if os.path.isdir(path) or format_of(path, format).name != "ptb":
            reading = ParseReader(path, format=format, settings=settings)
            self._file: ParseReader | Source = reading
            self._sides = _sides_of_parses(reading)
            self.bytes_total = reading.bytes_total
        else:
            self._file = source = Source(path, encoding=settings.encoding)
            self._sides = _sides_of_lines(source, settings)
            self.bytes_total = 0 if str(path) == STANDARD else os.path.getsize(path)
        self._line = 0

    @property
    def place(self) -> tuple[str, int]:
        """File and line of what came last."""
        return (
            self._file.name if isinstance(self._file, Source) else self._file.place[0]
        ), self._line

    @property
    def bytes_read(self) -> int:
        """How far the file has been read."""
        return self._file.bytes_read

    def __next__(self) -> Placed:
        placed = next(self._sides)
        self._line = placed[0]
        return placed


def _sides_of_parses(reading: ParseReader) -> Iterator[Placed]:
    for parse in reading:
        if parse.tree is None:
            raise DataError("this sentence has no tree", kind="layer").at(*reading.place)
        side = side_of_tree(parse.tree)
        # As in brackets, so that files of different formats have the same words, as EVALB has them.
        yield reading.place[1], side._replace(words=list(map(escape_round, side.words)))


def _sides_of_lines(source: Source, settings: ReadSettings) -> Iterator[Placed]:
    is_piped = str(source.path) == STANDARD  # and can be read only once
    if is_piped or all(line.count("(") == line.count(")") for line in source.lines()):
        texts: Iterator[tuple[int, str]] = enumerate(source.lines(), 1)
    else:
        texts = chunks(source.lines())
    for line, text in texts:
        try:
            yield line, _mapped(side_of_line(text), settings)
        except DataError as error:
            raise error.at(source.name, line) from None


def _mapped(side: Side, settings: ReadSettings) -> Side:
    """The two sides of a comparison, with labels and tags mapped as the settings say."""
    if not settings.maps_labels:
        return side
    tags = rename_tags(side.tags, settings.rename_tags)
    plain = spans_of(
        (start, end, without_function(label or "")) for start, end, label in side.brackets
    )
    return Side(side.words, tags, map_labels(plain, tags, settings))
