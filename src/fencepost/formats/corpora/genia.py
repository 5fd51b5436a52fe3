"""GENIA 3.02: terms marked in XML, to the five types of nested entities, split in corpus order.

    <article><articleinfo><bibliomisc>MEDLINE:95369245</bibliomisc></articleinfo>
    <title><sentence><cons lex="IL-2_gene" sem="G#DNA_domain_or_region">IL-2 gene</cons> ...

The merged distribution has its words marked too, `<w c="NN">gene</w>`. Those are then the words;
otherwise they are those of `standoff`. Both are cut where a term begins or ends inside of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from fencepost.errors import DataError
from fencepost.formats.corpora.document import CorpusDocument, Split, document_of
from fencepost.formats.corpora.markup import events
from fencepost.formats.corpora.sources import files_below
from fencepost.formats.standoff import WORD, Mention, Passage, passages

TYPES = ("DNA", "RNA", "protein", "cell_line", "cell_type")
TRAIN, DEV = 15_022, 1_669  # sentences; all others are for testing

_NAMES = ("GENIAcorpus3.02.merged.xml", "GENIAcorpus3.02.xml")  # the one with words comes first
_NOT_BLANK = re.compile(r"\S+")


class Marked(NamedTuple):
    """A sentence with what is marked in it."""

    document: str
    id: str
    text: str
    mentions: tuple[Mention, ...]
    edges: tuple[int, ...]  # where a term or a word begins or ends, of whatever type
    has_words: bool  # whether words are marked
    line: int


def entity_type(sem: str) -> str | None:
    """The first of the five types that a term's `sem` holds, or None.

    >>> entity_type("G#protein_molecule"), entity_type("G#other_name")
    ('protein', None)
    >>> entity_type("(AND G#protein_molecule G#DNA_domain_or_region)")
    'DNA'
    """
    return next((name for name in TYPES if f"G#{name}" in sem), None)


def genia_documents(
    source: Path, *, train: int = TRAIN, dev: int = DEV
) -> Iterator[CorpusDocument]:
    """The abstracts of the corpus; one that a split ends in is yielded in two parts.

    Args:
        source: the XML file, which may be packed, or a folder with it.
        train: how many sentences from the beginning are for training.
        dev: how many after those are for development.
    """
    path = _corpus_file(source)

    def place(item: tuple[int, Marked]) -> tuple[Split, str]:
        index, marked = item
        split: Split = "train" if index < train else "dev" if index < train + dev else "test"
        return split, marked.document

    empty = True
    for (split, name), group in groupby(enumerate(_sentences(path)), place):
        empty = False
        found = [_passage(marked, path) for _, marked in group]
        kept = [passage for passage in found if passage is not None]
        yield document_of(kept, split=split, name=name, left_out=len(found) - len(kept))
    if empty:
        raise DataError("no <sentence> was found in this file", kind="empty", path=str(path))


def _corpus_file(source: Path) -> Path:
    if source.is_file():
        return source
    below = files_below(source)
    for name in _NAMES:
        for file in below:
            if file.name.removesuffix(".gz") == name:
                return file
    raise DataError(f"neither {' nor '.join(_NAMES)} is in this folder", path=str(source))


def _sentences(path: Path) -> Iterator[Marked]:
    """The sentences of the file with all that is marked in them."""
    document, articles, number = "", 0, 0
    seen: set[str] = set()
    naming = False  # whether the text is a document's name
    draft: _Draft | None = None
    for kind, value, attributes, line in events(path):
        if kind == "text":
            if draft is not None:
                draft.text(value)
            elif naming:
                document += value
        elif value == "article" and kind == "start":
            articles, number = articles + 1, 0
            document = f"article{articles}"
        elif value == "bibliomisc" and kind == "start":
            document, naming = "", True
        elif value == "bibliomisc":
            document, naming = document.strip().rpartition(":")[2], False
            while document in seen:  # one abstract is in the corpus twice
                document += "b"
            seen.add(document)
        elif value == "sentence" and kind == "start":
            number += 1
            draft = _Draft()
        elif value == "sentence" and draft is not None:
            yield draft.marked(document, f"{document}-{number}", line)
            draft = None
        elif draft is not None and value in ("cons", "w"):
            draft.edge(kind == "start", value, attributes.get("sem", ""))


class _Draft:
    """A sentence that is being read."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._open: list[tuple[int, str]] = []  # terms: where they begin and what they mean
        self._mentions: list[Mention] = []
        self._edges: list[int] = []
        self._has_words = False

    def text(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def edge(self, is_start: bool, name: str, sem: str) -> None:
        self._edges.append(self._length)
        if name == "w":
            self._has_words = True
        elif is_start:
            self._open.append((self._length, sem))
        else:
            start, meaning = self._open.pop()
            label = entity_type(meaning)
            if label is not None:
                self._mentions.append(Mention(start, self._length, label))

    def marked(self, document: str, id: str, line: int) -> Marked:
        return Marked(
            document,
            id,
            "".join(self._parts),
            tuple(self._mentions),
            tuple(self._edges),
            self._has_words,
            line,
        )


def _passage(marked: Marked, path: Path) -> Passage | None:
    """The words and entities of a sentence; None if it has no words."""
    try:
        found = list(
            passages(
                marked.text,
                marked.mentions,
                name=marked.document,
                breaks=lambda text: (),
                cuts=marked.edges,
                words=_NOT_BLANK if marked.has_words else WORD,
            )
        )
    except DataError as error:
        raise error.at(str(path), marked.line) from None
    if not found:
        return None
    return found[0]._replace(sentence=replace(found[0].sentence, id=marked.id))
