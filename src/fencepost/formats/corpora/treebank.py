"""The Penn Treebank and the Chinese Treebank, from the folders that the LDC distributes.

Traces, nodes that this leaves empty, function tags and indices are dropped. The unlabelled bracket
around each tree becomes TOP, which EVALB ignores. Words and their tags stay.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fencepost.errors import DataError
from fencepost.formats.cleaning import TRACE, clean
from fencepost.formats.corpora.document import CorpusDocument, Split
from fencepost.formats.corpora.sources import best_of, corpus_files, listed, text_of
from fencepost.formats.ptb import chunks
from fencepost.formats.settings import ReadSettings
from fencepost.structure import Parse, Sentence, Span, Tree
from fencepost.structure.brackets import read_brackets

TOP = "TOP"
PTB_SECTIONS: dict[Split, range] = {
    "train": range(2, 22),
    "dev": range(22, 23),
    "test": range(23, 24),
}
CTB_ENCODINGS = ("utf-8", "gb18030")  # tried in this order, file by file

_CLEANING = ReadSettings(drop_traces=True, drop_functions=True)
_WSJ_FILE = re.compile(r"(wsj_[0-9]{4})\.mrg(?:\.gz)?", re.IGNORECASE)
_CTB_FILE = re.compile(r"chtb_([0-9]{1,9})\.(?!pos|seg|raw|sgm)\w+(?:\.gz)?", re.IGNORECASE)
_CTB_ID = r"(?:chtb_)?([0-9]{1,9})(?:\.\w+)*"
_CTB_RANGE = re.compile(rf"{_CTB_ID}(?:\s*-\s*{_CTB_ID})?", re.IGNORECASE)


def ptb_documents(source: Path, *, encoding: str = "utf-8") -> Iterator[CorpusDocument]:
    """The files of sections 02-21, 22 and 23 of the Wall Street Journal.

    Args:
        source: the folder with the sections, or any folder above it.
        encoding: the encoding of the files.
    """
    sections = _wsj_sections(source)
    for split, numbers in PTB_SECTIONS.items():
        for number in numbers:
            for name, file in sections[number].items():
                yield _document(file, split=split, name=name, encodings=(encoding,))


def _wsj_sections(source: Path) -> Mapping[int, dict[str, Path]]:
    """The files of each section by name, from the only folder with all sections."""
    roots: dict[Path, dict[int, dict[str, Path]]] = {}
    for file in corpus_files(source):
        match = _WSJ_FILE.fullmatch(file.name)
        if match and re.fullmatch("[0-9][0-9]", file.parent.name):
            sections = roots.setdefault(file.parent.parent, defaultdict(dict))
            # wsj_0200.mrg takes precedence over wsj_0200.mrg.gz.
            sections[int(file.parent.name)].setdefault(match[1].lower(), file)
    if not roots:
        raise DataError(
            "no sections of the Wall Street Journal here or in any folder below; looked for "
            "files such as 02/wsj_0200.mrg",
            path=str(source),
        )
    needed = [number for numbers in PTB_SECTIONS.values() for number in numbers]
    missing = {folder: [n for n in needed if n not in roots[folder]] for folder in roots}
    folder, *others = sorted(roots, key=lambda folder: len(missing[folder]))
    if missing[folder]:
        names = ", ".join(f"{number:02}" for number in missing[folder])
        raise DataError(
            f"missing sections: {names}; looked for files such as "
            f"{missing[folder][0]:02}/wsj_{missing[folder][0]:02}00.mrg",
            path=str(folder),
        )
    if others and not missing[others[0]]:
        raise DataError(f"{others[0]} has the same sections; give one of the two", path=str(folder))
    return roots[folder]


def ctb_documents(
    source: Path, ids: Mapping[str, Path], *, encoding: str | None = None
) -> Iterator[CorpusDocument]:
    """The bracketed files of the Chinese Treebank in three lists.

    Args:
        source: a folder with files such as `chtb_0001.nw` anywhere below it.
        ids: the list of each split: `1`, `0001`, `chtb_0001`, `chtb_0001.nw` or `0001-0040`. A
            range means its existing files, since the numbers have gaps.
        encoding: the encoding of the files; by default UTF-8 where it works, else GB18030.
    """
    files: dict[int, list[Path]] = defaultdict(list)
    for file in corpus_files(source):
        match = _CTB_FILE.fullmatch(file.name)
        if match:
            files[int(match[1])].append(file)
    numbers = sorted(files)

    def find(entry: str) -> Sequence[str]:
        match = _CTB_RANGE.fullmatch(entry)
        if not match:
            return ()
        first, last = int(match[1]), int(match[2] or match[1])
        inside = numbers[bisect_left(numbers, first) : bisect_right(numbers, last)]
        return [f"{number:04}" for number in inside]

    def rank(file: Path) -> tuple[bool, ...]:
        # The treebank also comes as raw text, and in more than one encoding.
        folders = {part.lower() for part in file.relative_to(source).parts[:-1]}
        return (
            "bracketed" not in folders,
            folders.isdisjoint({"utf-8", "utf8"}),
            file.suffix == ".gz",
        )

    encodings = CTB_ENCODINGS if encoding is None else (encoding,)
    looked_for = f"chtb_NNNN.* below {source}"
    for split, names in listed(ids, find, looked_for=looked_for).items():
        for name in names:
            file = best_of(files[int(name)], rank)
            yield _document(file, split=split, name=f"chtb_{name}", encodings=encodings)


def _document(path: Path, *, split: Split, name: str, encodings: Sequence[str]) -> CorpusDocument:
    parses: list[Parse] = []
    left_out = 0
    for number, tree in enumerate(_trees(path, encodings), 1):
        if set(tree.tags) == {TRACE}:
            left_out += 1
            continue
        cleaned = clean(tree, _CLEANING)
        sentence = replace(cleaned.sentence, id=f"{name}-{number}")
        parses.append(Parse(sentence, Tree(sentence, _with_top(cleaned.spans))))
    return CorpusDocument(split, name, tuple(parses), left_out)


def _trees(path: Path, encodings: Sequence[str]) -> Iterator[Tree]:
    lines = text_of(path, encodings).replace("\r\n", "\n").split("\n")
    for line, text in chunks(lines):
        if "(" not in text and ")" not in text:
            continue  # a heading between lines of SGML
        try:
            for words, tags, spans in read_brackets(text):
                yield Tree(Sentence(words, tags), spans)
        except DataError as error:
            error.line = line + (error.line or 1) - 1
            raise error.at(str(path), None) from None


def _with_top(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    if spans and not spans[0].label:
        return (spans[0]._replace(label=TOP), *spans[1:])
    return spans
