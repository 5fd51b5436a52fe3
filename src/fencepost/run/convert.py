"""From one file format to another, and two files into one."""

from __future__ import annotations

import os
import pathlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from fencepost.errors import DataError
from fencepost.formats import ParseReader, write
from fencepost.formats.brat import pair_of
from fencepost.formats.files import check_not_read
from fencepost.formats.registry import Format, lost_fields, written_format
from fencepost.run.progress import Watch, unwatched
from fencepost.structure import Parse, Sentence, Tree

Path = str | os.PathLike[str]


def convert(
    reading: ParseReader,
    out: Path,
    *,
    to: str | None = None,
    watch: Watch = unwatched,
    **settings: Any,
) -> Counter[str]:
    """Write all that is read to a file, and return what there was and what was left out.

    The file may be the one that is read, since it appears when all is written; but brat, which
    writes a text anew, sentence by sentence, may not do so over a text that is read.
    """
    format = written_format(out, to)
    if format.name == "brat":
        _check_texts(reading, pathlib.Path(out))
    return _written(watch(reading), [reading], out, format, **settings)


def _written(
    parses: Iterable[Parse],
    readings: Sequence[ParseReader],
    out: Path,
    format: Format,
    **settings: Any,
) -> Counter[str]:
    """Write sentences, and count them, what was left out and what the format cannot say.

    Errors of writing a sentence name its place in the first file that is read.
    """
    lost: Counter[str] = Counter()
    try:
        count = write(_noting(parses, format, out, lost), out, format=format.name, **settings)
    except DataError as error:
        error.at(*readings[0].place)
        raise
    return sum((reading.counts for reading in readings), Counter(sentences=count)) + lost


def _noting(
    parses: Iterable[Parse], format: Format, out: Path, lost: Counter[str]
) -> Iterator[Parse]:
    """The same parses; what a file of this format does not give back of them is counted."""
    for parse in parses:
        lost.update(
            f"{name} that {format.name} cannot say" for name in lost_fields(parse, format, out)
        )
        yield parse


def _check_texts(reading: ParseReader, out: pathlib.Path) -> None:
    """Refuse to write brat's files, or a folder of them, over a text that is read."""
    pair = pair_of(out)
    texts = [read[0] for read in map(pair_of, reading.files) if read is not None]
    written = [out / text.name for text in texts] if pair is None else [pair[0]]
    check_not_read(written, reading.files)


def merge(
    first: ParseReader,
    second: ParseReader,
    out: Path,
    *,
    to: str | None = None,
    watch: Watch = unwatched,
) -> Counter[str]:
    """Write one file with the layers of two that hold the same sentences in the same order."""
    format = written_format(out, to)
    return _written(merged(first, second, watch=watch), [first, second], out, format)


def merged(first: ParseReader, second: ParseReader, *, watch: Watch = unwatched) -> Iterator[Parse]:
    """The layers of the same sentences from two files."""
    for one, other in zip_longest(watch(first), second):
        if one is None or other is None:
            shorter, longer = (first, second) if one is None else (second, first)
            raise DataError(
                f"{shorter.place[0]} ends here, but {longer.place[0]} goes on at line "
                f"{longer.place[1]}",
                path=shorter.place[0],
                line=shorter.place[1],
            )
        try:
            yield join_layers(one, other)
        except DataError as error:
            path, line = second.place
            where = f"{first.place[0]}:{first.place[1]}"
            raise DataError(
                f"{error.message} (the other is {where})", path=path, line=line
            ) from None


def join_layers(one: Parse, other: Parse) -> Parse:
    """One parse with the layers of two over the same words; no layer may be in both."""
    if one.words != other.words:
        index = next(k for k, (a, b) in enumerate(zip_longest(one.words, other.words)) if a != b)
        found, expected = (
            p.words[index] if index < len(p.words) else "the end" for p in (other, one)
        )
        raise DataError(f"word {index} differs: {found!r}, where the other file has {expected!r}")
    for layer in ("tree", "entities"):
        if getattr(one, layer) is not None and getattr(other, layer) is not None:
            raise DataError(f"both files say the {layer} of this sentence")
    a, b = one.sentence, other.sentence
    source = a if a.offsets is not None else b
    sentence = Sentence(
        a.words,
        b.tags if a.tags is None else a.tags,
        source.text,
        source.offsets,
        b.id if a.id is None else a.id,
    )
    drawn = one.tree or other.tree
    return Parse(
        sentence,
        None if drawn is None else Tree(sentence, drawn.spans),
        other.entities if one.entities is None else one.entities,
        one.dropped + other.dropped,
    )
