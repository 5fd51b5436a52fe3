"""The formats by name and by suffix: the one list of them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
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
from fencepost.formats.entries import Attempt
from fencepost.formats.files import STANDARD, Source
from fencepost.formats.settings import ReadSettings, WriteSettings
from fencepost.structure import Parse, Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How one format is read and written; what it cannot do is None."""

    name: str
    layers: frozenset[str]  # what it can say of words; tags only where they need no tree
    # What else it gives back, of `_FIELDS`: everything, if it is for people and is not read back.
    fields: frozenset[str] = frozenset()
    gaps: str | None = None  # the text that it gives back: what may stand between words
    suffix: str  # of a new file
    suffixes: tuple[str, ...] = ()  # that tell this format; without any, it has to be named
    attempts: Callable[[Source, ReadSettings], Iterator[Attempt]] | None = None
    pieces: Callable[[Iterable[Parse], WriteSettings], Iterator[str]] | None = None  # of text
    save: Callable[[Iterable[Parse], Path, WriteSettings], None] | None = None  # not as one text

    @property
    def own_suffixes(self) -> tuple[str, ...]:
        """The suffixes of its files in a folder, if the format is named."""
        return self.suffixes or (self.suffix,)


_FIELDS: dict[str, Callable[[Parse], bool]] = {  # of a parse, by the names that people are told
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
_ANY = r"(?s).*"
_TREE, _ENTITIES, _TAGS = (frozenset({layer}) for layer in ("tree", "entities", "tags"))

FORMATS = {
    format.name: format
    for format in (
        Format(
            name="ptb",
            layers=_TREE,
            fields=frozenset({"tags layers"}),
            suffix=".ptb",
            # .fid, .nw and the others are what the Chinese Treebank calls its files.
            suffixes=(".ptb", ".mrg", ".brackets", ".fid", *(f".{kind}" for kind in ptb.CTB_KINDS)),
            attempts=ptb.attempts,
            pieces=ptb.pieces,
        ),
        Format(
            name="pretty",
            layers=_TREE | _ENTITIES | _TAGS,
            fields=frozenset(_FIELDS),
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
            fields=frozenset(_FIELDS),
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
            gaps=r"[^\S\n]*",
            suffix=".ann",
            suffixes=(".ann",),
            attempts=brat.attempts,
            save=brat.save,
        ),
        Format(
            name="tsv",
            layers=_ENTITIES,
            fields=frozenset({"ids", "probabilities"}),
            suffix=".tsv",
            pieces=tsv.pieces,
        ),
        Format(
            name="html",
            layers=_TREE | _ENTITIES,
            fields=frozenset(_FIELDS),
            suffix=".html",
            suffixes=(".html", ".htm"),
            pieces=html.pieces,
        ),
        Format(
            name="spacy",
            layers=_ENTITIES,
            fields=frozenset({"tags layers", "ids"}),
            gaps=r" ?",
            suffix=".spacy",
            suffixes=(".spacy",),
            attempts=docbin.attempts,
            save=docbin.save,
        ),
        Format(
            name="conllu",
            layers=_TREE | _ENTITIES | _TAGS,
            fields=frozenset({"ids"}),
            gaps=r" ?",
            suffix=".conllu",
            suffixes=(".conllu",),
            attempts=conllu.attempts,
            pieces=conllu.pieces,
        ),
        Format(
            name="labelstudio",
            layers=_TREE | _ENTITIES | _TAGS,
            fields=frozenset({"ids"}),
            gaps=_ANY,
            suffix=".json",
            attempts=labelstudio.attempts,
            pieces=labelstudio.pieces,
        ),
        Format(
            name="doccano",
            layers=_TREE | _ENTITIES | _TAGS,
            fields=frozenset({"ids"}),
            gaps=_ANY,
            suffix=".jsonl",
            attempts=doccano.attempts,
            pieces=doccano.pieces,
        ),
        Format(
            name="cas",
            layers=_ENTITIES | _TAGS,
            fields=frozenset({"ids"}),
            gaps=_ANY,
            suffix=".xmi",
            suffixes=(".xmi",),
            attempts=cas.attempts,
            pieces=cas.pieces,
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


def unsaid(parse: Parse, format: Format, path: str | os.PathLike[str]) -> list[str]:
    """What a parse has and a new file does not give back, by name."""
    held = format.fields | {f"{layer} layers" for layer in format.layers}
    if format.name == "brat" and brat.pair_of(Path(path)) is None:
        held |= {"ids"}  # they name the files of the folder
    if format.gaps is not None and _is_text_of(parse.sentence, format.gaps):
        held |= {"texts"}
    return [name for name, has in _FIELDS.items() if has(parse) and name not in held]


def _is_text_of(sentence: Sentence, gaps: str) -> bool:
    """Whether a text has its words, such gaps between them, and blanks at most around them."""
    *between, _ = sentence.whitespace or ("",)
    first, last = sentence.characters(0, len(sentence)) or (0, 0)
    text = sentence.text or ""
    return not (text[:first] + text[last:]).strip() and all(
        re.fullmatch(gaps, gap) for gap in between
    )


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
