"""The formats by name and by suffix: the one list of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fencepost.errors import DataError
from fencepost.formats import brat, conll, data, docbin, html, jsonl, pretty, ptb, tsv
from fencepost.formats.attempt import Attempt
from fencepost.formats.files import STANDARD, Source
from fencepost.formats.settings import ReadSettings, WriteSettings
from fencepost.structure import Parse


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How one format is read and written; what it cannot do is None."""

    name: str
    layers: frozenset[str]  # what it can say of words; tags only where they need no tree
    suffix: str  # of a new file
    suffixes: tuple[str, ...] = ()  # that tell this format
    attempts: Callable[[Source, ReadSettings], Iterator[Attempt]] | None = None
    pieces: Callable[[Iterable[Parse], WriteSettings], Iterator[str]] | None = None  # of text
    save: Callable[[Iterable[Parse], Path, WriteSettings], None] | None = None  # not as one text


_TREE, _ENTITIES, _TAGS = (frozenset({layer}) for layer in ("tree", "entities", "tags"))

FORMATS = {
    format.name: format
    for format in (
        Format(
            name="ptb",
            layers=_TREE,
            suffix=".ptb",
            # .fid, .nw and the others are what the Chinese Treebank calls its files.
            suffixes=(".ptb", ".mrg", ".brackets", ".fid", *(f".{kind}" for kind in ptb.CTB_KINDS)),
            attempts=ptb.attempts,
            pieces=ptb.pieces,
        ),
        Format(
            name="pretty",
            layers=_TREE | _ENTITIES | _TAGS,
            suffix=".txt",
            pieces=pretty.pieces,
        ),
        Format(
            name="data",
            layers=_ENTITIES,
            suffix=".data",
            suffixes=(".data",),
            attempts=data.attempts,
            pieces=data.pieces,
        ),
        Format(
            name="jsonl",
            layers=_TREE | _ENTITIES | _TAGS,
            suffix=".jsonl",
            suffixes=(".jsonl", ".ndjson"),
            attempts=jsonl.attempts,
            pieces=jsonl.pieces,
        ),
        Format(
            name="conll",
            layers=_ENTITIES,
            suffix=".conll",
            suffixes=(".conll", ".bio", ".iob", ".tsv"),
            attempts=conll.attempts,
            pieces=conll.pieces,
        ),
        Format(
            name="brat",
            layers=_ENTITIES,
            suffix=".ann",
            suffixes=(".ann",),
            attempts=brat.attempts,
            save=brat.save,
        ),
        Format(name="tsv", layers=_ENTITIES, suffix=".tsv", pieces=tsv.pieces),
        Format(
            name="html",
            layers=_TREE | _ENTITIES,
            suffix=".html",
            suffixes=(".html", ".htm"),
            pieces=html.pieces,
        ),
        Format(
            name="spacy",
            layers=_ENTITIES,
            suffix=".spacy",
            suffixes=(".spacy",),
            attempts=docbin.attempts,
            save=docbin.save,
        ),
    )
}


READABLE = tuple(format for format in FORMATS.values() if format.attempts is not None)


def bare_suffix(path: str | os.PathLike[str]) -> str:
    """The suffix that tells what is in a file, packed or not, in small letters."""
    return Path(str(path).lower().removesuffix(".gz")).suffix


def files_of(path: str | os.PathLike[str], format: Format) -> tuple[Path, ...]:
    """The files that a name stands for: itself, or the two of brat."""
    pair = brat.pair_of(Path(path)) if format.name == "brat" else None
    return pair or (Path(path),)


def written_format(path: str | os.PathLike[str], name: str | None = None) -> Format:
    """The format of a new file: the one that is named, or the one that its suffix tells."""
    if name is None and bare_suffix(path) == ".tsv":
        raise DataError(
            "'.tsv' may be tsv (a table of entities) or conll (columns): name it with --to",
            path=str(path),
        )
    format = format_of(path, name, writing=True)
    if format.save is not None and str(path) == STANDARD:
        raise DataError(
            f"{format.name} cannot be written to standard output; name a file or a folder, as in "
            f"-o {format.name}{format.suffix}"
        )
    return format


def format_of(
    path: str | os.PathLike[str], name: str | None = None, *, writing: bool = False
) -> Format:
    """The format that is named, or the one that a file's suffix tells.

    Args:
        path: a file, or `-`.
        name: of the format, if it is known.
        writing: whether it is to be written; else it is read. The errors say what helps.
    """
    if name is not None:
        if name not in FORMATS:
            raise DataError(f"the format {name!r} is unknown; known are {', '.join(FORMATS)}")
        return FORMATS[name]
    suffix = bare_suffix(path)
    for format in FORMATS.values():
        if suffix in format.suffixes:
            return format
    formats = tuple(FORMATS.values()) if writing else READABLE
    known = ", ".join(suffix for format in formats for suffix in format.suffixes[:4])
    stream = "standard output" if writing else "standard input"
    what = stream if str(path) == STANDARD else f"the suffix {suffix!r}"
    option = "--to" if writing else "--from"
    raise DataError(
        f"{what} does not tell the format (known suffixes: {known}); name it with {option}",
        path="" if str(path) == STANDARD else str(path),
    )
