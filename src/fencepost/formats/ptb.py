"""Penn brackets: trees on one or many lines, as in the files of PTB, CTB and SPMRL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial

from fencepost.errors import DataError
from fencepost.formats.entries import Entry
from fencepost.formats.files import MOST_BYTES, Source
from fencepost.formats.settings import ReadSettings, WriteSettings
from fencepost.structure import Parse, Sentence, Tree
from fencepost.structure.brackets import read_brackets

_BETWEEN_TREES = ("<", "*x*")  # SGML in CTB's files, copyright notices in PTB's
_BROKEN_OFF = re.compile(r"\([^\s()]*\s*$")

CTB_KINDS = ("nw", "mz", "bn", "bc", "wb", "sn", "df", "cs", "sm")  # suffixes of CTB's files


def entries(source: Source, settings: ReadSettings) -> Iterator[Entry]:
    """The trees of a file."""
    for line, text in chunks(source.lines()):
        yield Entry(line, partial(_read_chunk, text, line, settings))


def chunks(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Stretches of a file whose brackets balance, each with the number of its first line.

    A bracket in the first column begins a new tree, so that an unclosed tree does not affect the
    following ones; only a tree that breaks off after its first label continues there. SGML and
    copyright notices between trees are ignored.
    """
    block: list[str] = []
    depth = first = size = 0
    continues = False  # whether a bracket in the first column continues the open tree
    for number, line in enumerate(lines, 1):
        if len(block) == 1:
            continues = line.startswith("(") and bool(_BROKEN_OFF.search(block[0]))
        if block and line.startswith(("<S", "</S") if continues else ("(", "<S", "</S")):
            yield first, "\n".join(block)
            block, depth, size = [], 0, 0
        if not block:
            if not line.strip() or line.startswith(_BETWEEN_TREES):
                continue
            first = number
        block.append(line)
        depth += line.count("(") - line.count(")")
        size += len(line) + 1
        if depth <= 0 or size > MOST_BYTES:  # no tree is so large: this one is never closed
            yield first, "\n".join(block)
            block, depth, size = [], 0, 0
    if block:
        yield first, "\n".join(block)


def _read_chunk(text: str, line: int, settings: ReadSettings) -> Iterator[Parse]:
    try:
        for words, tags, spans in read_brackets(text, escapes=settings.escapes):
            sentence = Sentence(words, tags)
            yield Parse(sentence, Tree(sentence, spans))
    except DataError as error:
        error.line = line + (error.line or 1) - 1
        raise


def pieces(parses: Iterable[Parse], settings: WriteSettings) -> Iterator[str]:
    """The text of a file: one tree per line, or over several lines with an indent."""
    for parse in parses:
        yield f"{tree_of(parse).to_brackets(indent=settings.indent)}\n"


def tree_of(parse: Parse) -> Tree:
    """The tree of a parse; a parse without one is an error."""
    if parse.tree is None:
        raise DataError("this sentence has no tree, and brackets say nothing else", kind="layer")
    return parse.tree
