"""CoNLL columns: one word per line with a label for each layer of entities; then an empty line.

    Bank    B-ORG   O
    of      I-ORG   O
    Oslo    I-ORG   B-LOC

Layers nest as in GermEval, outermost first. A first pass over a file finds its columns and scheme.
Chunks look like entities with other types: columns of chunks before the entities, as in CoNLL-2003,
are ignored if there is also a column of tags; else `entity_columns` has to name the columns.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from fencepost.errors import DataError
from fencepost.formats.data import entities_of
from fencepost.formats.entries import Entry, parse_with_entities
from fencepost.formats.files import STANDARD, Source, check_beginning, scratch_errors
from fencepost.formats.schemes import evidence, label_of, labels_for, spans_in
from fencepost.formats.settings import ReadSettings, Scheme, WriteSettings
from fencepost.structure import Parse, Sentence, Span

_COMMENT = re.compile(r"#(?:[ \t]|$)")
_DOCUMENT = re.compile(r"-DOCSTART-(?:\s|$)")
_CHUNKS = frozenset(  # CoNLL-2000's types
    ("NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP")
)


class _Row(NamedTuple):
    line: int
    columns: list[str]
    doubtful: bool  # it may be a comment, or a row of the word `#`


class _Layout(NamedTuple):
    word: int
    entities: tuple[int, ...]  # the column of each layer
    scheme: Scheme


def entries(source: Source, settings: ReadSettings) -> Iterator[Entry]:
    """The sentences of a file."""
    with _readable_twice(source) as (first, second):
        layout = _layout(first, settings)
        for rows in _sentences(second, settings):
            yield Entry(rows[0].line, partial(_read, rows, layout, settings))


@contextmanager
def _readable_twice(source: Source) -> Iterator[tuple[Source, Source]]:
    """Two sources of the same lines; the lines of a pipe are copied to a temporary file."""
    with tempfile.TemporaryDirectory() as folder:
        if str(source.path) == STANDARD or not os.path.isfile(source.path):
            path = Path(folder, "lines")
            with scratch_errors(), source.open() as piped, open(path, "wb") as copy:
                copy.writelines(source.byte_lines(piped))
            source.path = path
        first = Source(source.path, encoding=source.encoding, forgiving=source.forgiving)
        first.name = source.name
        yield first, source


def _sentences(source: Source, settings: ReadSettings) -> Iterator[list[_Row]]:
    """The rows of each sentence, without comments."""
    rows: list[_Row] = []
    for number, line in enumerate(chain(source.lines(), [""]), 1):
        if _DOCUMENT.match(line):
            continue
        if line.strip():
            # In columns separated by tabs, words may contain blanks.
            columns = line.split("\t") if "\t" in line else [c for c in line.split(" ") if c]
            rows.append(_Row(number, columns, bool(_COMMENT.match(line))))
            continue
        if rows and settings.entity_columns is None:
            _drop_empty_ends(rows)
        if any(row.doubtful for row in rows):
            rows = _without_comments(rows, (settings.entity_columns or (-1,))[-1])
        if rows:
            yield rows
        rows = []


def _drop_empty_ends(rows: list[_Row]) -> None:
    """Remove empty last columns of all rows: rows of LitBank end with a tab."""
    sure = [row for row in rows if not row.doubtful] or rows
    while not any(row.columns[-1] for row in sure):
        for row in rows:
            if not row.columns[-1]:
                row.columns.pop()


def _without_comments(rows: list[_Row], column: int) -> list[_Row]:
    """The rows that cannot be comments, and doubtful ones of the same width with a label."""
    sure = [row for row in rows if not row.doubtful]
    widths = {_width(sure)} if sure else {len(row.columns) for row in rows} - {1}
    return [
        row
        for row in rows
        if not row.doubtful
        or (len(row.columns) in widths and label_of(row.columns[column % len(row.columns)]))
    ]


def _width(rows: Sequence[_Row]) -> int:
    """The most frequent number of columns."""
    return Counter(len(row.columns) for row in rows).most_common(1)[0][0]


def _layout(source: Source, settings: ReadSettings) -> _Layout:
    """The columns and the scheme, from the settings or else from most rows.

    Requiring a column to be right in every row would let one slip hide a whole layer.
    """
    reserved = {0, settings.word_column, settings.tag_column}  # these are never labels
    runs: Counter[int] = Counter()  # numbers of labels at the end of rows
    numbered = 0
    shown: dict[tuple[int, Scheme], int] = {}  # column and scheme to the first line with evidence
    chunks: set[int] = set()  # columns with types of chunks
    others: set[int] = set()  # columns with other types
    narrowest = sys.maxsize
    for rows in _sentences(source, settings):
        width = _width(rows)
        if any(len(row.columns) != width for row in rows):
            continue  # an error when it is read
        narrowest = min(narrowest, width)
        taken = {column for column in range(width) if reserved & {column, column - width}}
        here = [_labels_at_end(row.columns, taken) for row in rows]
        runs.update(here)
        for number, (row, run) in enumerate(zip(rows, here, strict=True), 1):
            numbered += row.columns[0] == str(number) and width - run > 1
        for column in settings.entity_columns or range(-max(here), 0):
            labels = [row.columns[column] for row in rows] if -width <= column < width else []
            for _, kind in filter(None, map(label_of, labels)):
                if kind is not None:
                    (chunks if kind in _CHUNKS else others).add(column)
            if all(map(label_of, labels)):  # next to a slip, labels are no evidence
                for index, scheme in evidence(labels):
                    shown.setdefault((column, scheme), rows[index].line)
    half = max(1, runs.total()) / 2
    layers = 0
    while sum(count for run, count in runs.items() if run > layers) >= half:
        layers += 1
    if runs and not layers and settings.entity_columns is None:
        raise DataError(
            "no column at the end of the rows has labels of entities (O, B-X, I-X, ...); "
            "pass entity_columns to tell which have",
            path=source.name,
        )
    word = int(numbered > half) if settings.word_column is None else settings.word_column
    columns = settings.entity_columns
    if columns is None:
        columns = tuple(range(-max(1, layers), 0))
        spare = narrowest - layers - (1 + int(numbered > half))  # columns of neither word nor label
        columns = _behind_chunks(columns, chunks - others, spare, source.name)
    return _Layout(
        word,
        columns,
        _scheme(columns, shown, source.name) if settings.scheme == "auto" else settings.scheme,
    )


def _behind_chunks(
    columns: tuple[int, ...], chunks: set[int], spare: int, name: str
) -> tuple[int, ...]:
    """The columns after the last one of chunks that is followed by others.

    If all columns are of chunks, these are the annotation.
    """
    last = max((c for c in columns if c in chunks and c + 1 in {*columns} - chunks), default=None)
    if last is None:
        return columns
    if spare < 1:
        raise DataError(
            f"column {last} has the types of chunks (NP, VP, ...), and those behind it have not; "
            f"pass entity_columns ({_option(last + 1)} for those behind it, "
            f"{_option(columns[0])} for all) to tell which have entities",
            path=name,
        )
    return tuple(range(last + 1, 0))


def _option(first: int) -> str:
    return f"--entity-columns={','.join(map(str, range(first, 0)))}"


def _labels_at_end(columns: list[str], taken: set[int]) -> int:
    run = 0
    while len(columns) - 1 - run not in taken and label_of(columns[-1 - run]):
        run += 1
    return run


def _scheme(columns: Sequence[int], shown: dict[tuple[int, Scheme], int], name: str) -> Scheme:
    """The scheme with evidence in the columns; BIO without any."""
    lines: dict[Scheme, int] = {}
    for (column, scheme), line in shown.items():
        if column in columns:
            lines[scheme] = min(line, lines.get(scheme, line))
    if "bioes" in lines:
        return "bioes"
    if "iob1" in lines and "bio" in lines:
        raise DataError(
            f"I- begins an entity here, as in IOB1, but on line {lines['bio']} B- begins one that "
            'IOB1 would begin with I-.\n  Pass scheme="bio" or "iob1" (--scheme) to say which it '
            "is.",
            line=lines["iob1"],
            path=name,
        )
    return "iob1" if "iob1" in lines else "bio"


def _read(rows: list[_Row], layout: _Layout, settings: ReadSettings) -> Iterator[Parse]:
    word, tag, width = layout.word, settings.tag_column, _width(rows)
    for column in (word, *layout.entities, *(() if tag is None else (tag,))):
        if not -width <= column < width:
            raise DataError(f"there is no column {column} in a row of {width} columns")
    if word % width in {column % width for column in layout.entities}:
        raise DataError(f"{width} columns are too few for a word and its labels")
    for line, columns, _ in rows:
        if len(columns) != width:
            raise DataError(f"{len(columns)} columns, where the sentence has {width}", line=line)
        if not columns[word]:
            raise DataError("the word is empty", kind="empty", line=line)
    entities: list[Span] = []
    for column in layout.entities:
        try:
            entities += spans_in([row.columns[column] for row in rows], layout.scheme)
        except DataError as error:
            error.line = rows[(error.line or 1) - 1].line
            raise
    sentence = Sentence(
        tuple(row.columns[word] for row in rows),
        None if tag is None else tuple(row.columns[tag] for row in rows),
    )
    yield parse_with_entities(sentence, entities, on_crossing=settings.on_crossing)


def pieces(parses: Iterable[Parse], settings: WriteSettings) -> Iterator[str]:
    """The text of a file: words with as many columns of labels as entities nest deep.

    This depth is known only at the end, so rows are written to a temporary file first.
    """
    layers = 1
    with (
        scratch_errors(),
        tempfile.TemporaryFile("w+", encoding=settings.encoding, newline="\n") as scratch,
    ):
        for number, parse in enumerate(parses):
            entities = entities_of(parse)
            _check(parse.words, entities)
            if number == 0:
                check_beginning(parse.words[0])
            labels = labels_for(len(parse.words), entities, settings.scheme)
            for word, around in zip(parse.words, labels, strict=True):
                layers = max(layers, len(around))
                scratch.write("\t".join((word, *around)) + "\n")
            scratch.write("\n")
        scratch.seek(0)
        for line in scratch:
            outside = "\tO" * (layers - line.count("\t"))
            yield line if line == "\n" else f"{line[:-1]}{outside}\n"


def _check(words: Sequence[str], entities: Sequence[Span]) -> None:
    """Refuse what would be read differently."""
    if not words:
        raise DataError("a sentence without words cannot be said in columns", kind="empty")
    for word in words:
        if re.search(r"[\t\n\r]", word) or _DOCUMENT.match(word):
            raise DataError(f"the word {word!r} cannot be said in columns")
    for span in entities:
        if not label_of(f"B-{span.label or ''}"):
            raise DataError(f"the label {span.label!r} is empty or holds a blank")
