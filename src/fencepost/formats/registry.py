"""The table of formats, and the lookup of a format by name or suffix."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from fencepost.errors import DataError
from fencepost.formats import (
    brat,
    cas,
    conll,
    conllu,
    data,
    docbin,
    doccano,
    html,
    jsonl,
    labelstudio,
    pretty,
    ptb,
    tsv,
)
from fencepost.formats.entries import Entry
from fencepost.formats.files import STANDARD, Source, is_folder
from fencepost.formats.settings import ReadSettings, WriteSettings
from fencepost.structure import Parse, Sentence


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its suffixes, the parts of a parse that it holds, reader and writer."""

    name: str
    suffix: str  # of a new file
    layers: frozenset[str]  # that it holds; tags only if it holds them without a tree
    _: KW_ONLY
    fields: Collection[
        str
    ] = ()  # of `_FIELDS`, that it holds besides; all, if nobody reads it back
    gaps: str | None = None  # pattern of the gaps between words in a text that it holds
    others: tuple[str, ...] = ()  # more suffixes
    is_ambiguous: bool = False  # its suffix is another format's, too: it has to be named
    entries: Callable[[Source, ReadSettings], Iterator[Entry]] | None = None
    pieces: Callable[[Iterable[Parse], WriteSettings], Iterator[str]] | None = None  # of text
    save: Callable[[Iterable[Parse], Path, WriteSettings], None] | None = None  # instead of pieces
    pair_of: Callable[[Path], tuple[Path, Path] | None] | None = None  # None: a folder of pairs

    @property
    def own_suffixes(self) -> tuple[str, ...]:
        """The suffixes of its files in a folder, if the format is named."""
        return (self.suffix, *self.others)

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes that tell this format; none: it has to be named."""
        return () if self.is_ambiguous else self.own_suffixes


_FIELDS: dict[str, Callable[[Parse], bool]] = {  # of a parse, by their names in messages
    "tree layers": lambda parse: parse.tree is not None,
    "entities layers": lambda parse: parse.entities is not None,
    "tags layers": lambda parse: parse.tags is not None,
    "ids": lambda parse: parse.id is not None,
    "texts": lambda parse: parse.sentence.text is not None,
    "probabilities": lambda parse: any(
        span.probability is not None
        for span in (*(parse.tree.spans if parse.tree else ()), *(parse.entities or ()))
    ),
}
_TREE, _ENTITIES, _TAGS = (frozenset({layer}) for layer in ("tree", "entities", "tags"))
_ALL = _TREE | _ENTITIES | _TAGS
_ANY = r"(?s).*"

_TABLE = (
    Format(
        "ptb",
        ".ptb",
        _TREE,
        fields=["tags layers"],
        # .fid, .nw and the others are the Chinese Treebank's.
        others=(".mrg", ".brackets", ".fid", *(f".{kind}" for kind in ptb.CTB_KINDS)),
        entries=ptb.entries,
        pieces=ptb.pieces,
    ),
    Format("pretty", ".txt", _ALL, fields=_FIELDS, is_ambiguous=True, pieces=pretty.pieces),
    Format("data", ".data", _ENTITIES, entries=data.entries, pieces=data.pieces),
    Format(
        "jsonl",
        ".jsonl",
        _ALL,
        fields=_FIELDS,
        others=(".ndjson",),
        entries=jsonl.entries,
        pieces=jsonl.pieces,
    ),
    Format(
        "conll",
        ".conll",
        _ENTITIES,
        others=(".bio", ".iob", ".tsv"),
        entries=conll.entries,
        pieces=conll.pieces,
    ),
    Format(
        "brat",
        ".ann",
        _ENTITIES,
        gaps=r"[^\S\n]*",
        entries=brat.entries,
        save=brat.save,
        pair_of=brat.pair_of,
    ),
    Format(
        "tsv",
        ".tsv",
        _ENTITIES,
        fields=["ids", "probabilities"],
        is_ambiguous=True,
        pieces=tsv.pieces,
    ),
    Format(
        "html", ".html", _TREE | _ENTITIES, fields=_FIELDS, others=(".htm",), pieces=html.pieces
    ),
    Format(
        "spacy",
        ".spacy",
        _ENTITIES,
        fields=["tags layers", "ids"],
        gaps=" ?",
        entries=docbin.entries,
        save=docbin.save,
    ),
    Format(
        "conllu",
        ".conllu",
        _ALL,
        fields=["ids"],
        gaps=" ?",
        entries=conllu.entries,
        pieces=conllu.pieces,
    ),
    Format(
        "labelstudio",
        ".json",
        _ALL,
        fields=["ids"],
        gaps=_ANY,
        is_ambiguous=True,
        entries=labelstudio.entries,
        pieces=labelstudio.pieces,
    ),
    Format(
        "doccano",
        ".jsonl",
        _ALL,
        fields=["ids"],
        gaps=_ANY,
        is_ambiguous=True,
        entries=doccano.entries,
        pieces=doccano.pieces,
    ),
    Format(
        "cas",
        ".xmi",
        _ENTITIES | _TAGS,
        fields=["ids"],
        gaps=_ANY,
        entries=cas.entries,
        pieces=cas.pieces,
    ),
)
FORMATS = {format.name: format for format in _TABLE}
READABLE = tuple(format for format in FORMATS.values() if format.entries is not None)


def bare_suffix(path: str | os.PathLike[str]) -> str:
    """The suffix of a file in lower case, without `.gz`."""
    return Path(str(path).lower().removesuffix(".gz")).suffix


def files_of(path: str | os.PathLike[str], format: Format) -> tuple[Path, ...]:
    """The files that a path stands for: itself, or the pair of a format that has pairs."""
    pair = format.pair_of(Path(path)) if format.pair_of else None
    return pair or (Path(path),)


def lost_fields(parse: Parse, format: Format, path: str | os.PathLike[str]) -> list[str]:
    """The parts of a parse, by name, that a new file cannot give back."""
    held = {*format.fields, *(f"{layer} layers" for layer in format.layers)}
    if format.pair_of and format.pair_of(Path(path)) is None:
        held.add("ids")  # they name the files of the folder
    if format.gaps is not None and _is_text_of(parse.sentence, format.gaps):
        held.add("texts")
    return [name for name, has in _FIELDS.items() if has(parse) and name not in held]


def _is_text_of(sentence: Sentence, gaps: str) -> bool:
    """Whether the gaps between its words match a pattern, and only blanks surround them."""
    *between, _ = sentence.whitespace or ("",)
    first, last = sentence.characters(0, len(sentence)) or (0, 0)
    text = sentence.text or ""
    return not (text[:first] + text[last:]).strip() and all(
        re.fullmatch(gaps, gap) for gap in between
    )


def written_format(path: str | os.PathLike[str], name: str | None = None) -> Format:
    """The format of a new file, by name or else by suffix."""
    if name is None and bare_suffix(path) == ".tsv":
        raise DataError(
            "'.tsv' may be tsv (a table of entities) or conll (columns): "
            "name it with format= (--to)",
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
    """The format of a file, by name or else by suffix.

    Args:
        path: a file, or `-`.
        name: the format's name, if it is known.
        writing: whether the file will be written; this only changes the error messages.
    """
    if name is not None:
        if name not in FORMATS:
            raise DataError(f"the format {name!r} is unknown; known are {', '.join(FORMATS)}")
        return FORMATS[name]
    suffix = bare_suffix(path)
    for format in FORMATS.values():
        if suffix in format.suffixes:
            return format
    if writing:
        _check_written_suffix(path, suffix)
    formats = tuple(FORMATS.values()) if writing else READABLE
    known = ", ".join(suffix for format in formats for suffix in format.suffixes[:4])
    stream = "standard output" if writing else "standard input"
    what = f"the suffix {suffix!r}" if suffix else "a name without a suffix"
    option = "--to" if writing else "--from"
    raise DataError(
        f"{stream if str(path) == STANDARD else what} does not tell the format (known suffixes: "
        f"{known}); name it with format= ({option})",
        path="" if str(path) == STANDARD else str(path),
    )


def _check_written_suffix(path: str | os.PathLike[str], suffix: str) -> None:
    """Refuse names for which there is something better to say than which suffixes are known."""
    if is_folder(str(path)):
        message = (
            "a folder does not tell the format; brat has a pair of files for each document in it: "
            "format='brat' (--to brat); for others, name a file"
        )
    elif suffix in (".parquet", ".pq"):
        message = (
            "Parquet is written to a folder of many files: -o FOLDER/ --to parquet, with "
            "fencepost parse"
        )
    elif suffix in (".svg", ".pdf", ".png"):
        message = (
            "fencepost draw makes pictures of annotated files; -o x.html of fencepost parse is a "
            "page of them"
        )
    elif suffix == ".json":
        message = "'.json' may be labelstudio: name it with format= (--to); JSON lines are .jsonl"
    else:
        return
    raise DataError(message, path=str(path))
