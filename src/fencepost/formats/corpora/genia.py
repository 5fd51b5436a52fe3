"""GENIA 3.02: the five types of nested entities from XML, split in corpus order.

    <article><articleinfo><bibliomisc>MEDLINE:95369245</bibliomisc></articleinfo>
    <title><sentence><cons lex="IL-2_gene" sem="G#DNA_domain_or_region">IL-2 gene</cons> ...

The merged distribution also marks words, `<w c="NN">gene</w>`; otherwise `standoff` splits words.
Either are cut where a term begins or ends inside of them.
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
from fencepost.formats.corpora.sources import corpus_files
from fencepost.formats.standoff import WORD, Mention, Passage, passages

TYPES = ("DNA", "RNA", "protein", "cell_line", "cell_type")
TRAIN, DEV = 15_022, 1_669  # sentences; all others are the test set

_NAMES = ("GENIAcorpus3.02.merged.xml", "GENIAcorpus3.02.xml")  # the one with words first
_NOT_BLANK = re.compile(r"\S+")


class TermSentence(NamedTuple):
    """A sentence with its terms."""

    document: str
    id: str
    text: str
    mentions: tuple[Mention, ...]
    edges: tuple[int, ...]  # starts and ends of words and of terms of any type
    has_words: bool  # whether words are marked
    line: int


def entity_type(sem: str) -> str | None:
    """The first of the five types in a term's `sem`, or None.

    >>> entity_type("G#protein_molecule"), entity_type("G#other_name")
    ('protein', None)
    >>> entity_type("(AND G#protein_molecule G#DNA_domain_or_region)")
    'DNA'
    """
    return next((name for name in TYPES if f"G#{name}" in sem), None)


def genia_documents(
    source: Path, *, train: int = TRAIN, dev: int = DEV
) -> Iterator[CorpusDocument]:
    """The abstracts of the corpus; one that two splits share is yielded in two parts.

    Args:
        source: the XML file, possibly compressed, or a folder with it.
        train: the number of sentences for training.
        dev: the number of sentences after those for development.
    """
    path = _corpus_file(source)

    def place(item: tuple[int, TermSentence]) -> tuple[Split, str]:
        index, sentence = item
        split: Split = "train" if index < train else "dev" if index < train + dev else "test"
        return split, sentence.document

    empty = True
    for (split, name), group in groupby(enumerate(_sentences(path)), place):
        empty = False
        results = [_passage(sentence, path) for _, sentence in group]
        nonempty = [passage for passage in results if passage is not None]
        yield document_of(nonempty, split=split, name=name, left_out=len(results) - len(nonempty))
    if empty:
        raise DataError("no <sentence> was found in this file", kind="empty", path=str(path))


def _corpus_file(source: Path) -> Path:
    if source.is_file():
        return source
    below = corpus_files(source)
    for name in _NAMES:
        for file in below:
            if file.name.removesuffix(".gz") == name:
                return file
    raise DataError(f"neither {' nor '.join(_NAMES)} is in this folder", path=str(source))


def _sentences(path: Path) -> Iterator[TermSentence]:
    """The sentences of the file with their terms."""
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
            yield draft.finish(document, f"{document}-{number}", line)
            draft = None
        elif draft is not None and value in ("cons", "w"):
            draft.edge(kind == "start", value, attributes.get("sem", ""))


class _Draft:
    """A sentence under construction."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._open: list[tuple[int, str]] = []  # start and `sem` of open terms
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

    def finish(self, document: str, id: str, line: int) -> TermSentence:
        return TermSentence(
            document,
            id,
            "".join(self._parts),
            tuple(self._mentions),
            tuple(self._edges),
            self._has_words,
            line,
        )


def _passage(sentence: TermSentence, path: Path) -> Passage | None:
    """The words and entities of a sentence; None without words."""
    try:
        sentences = list(
            passages(
                sentence.text,
                sentence.mentions,
                name=sentence.document,
                breaks=lambda text: (),
                cuts=sentence.edges,
                words=_NOT_BLANK if sentence.has_words else WORD,
            )
        )
    except DataError as error:
        raise error.at(str(path), sentence.line) from None
    if not sentences:
        return None
    return sentences[0]._replace(sentence=replace(sentences[0].sentence, id=sentence.id))
