"""Penn brackets: a tree on one line or on many; PTB's, CTB's and SPMRL's files as they come."""

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

_BETWEEN_TREES = ("<", "*x*")  # SGML in CTB's files, a notice of copyright in some of PTB's
_BROKEN_OFF = re.compile(r"\([^\s()]*\s*$")

CTB_KINDS = ("nw", "mz", "bn", "bc", "wb", "sn", "df", "cs", "sm")  # suffixes of CTB's files


def entries(source: Source, settings: ReadSettings) -> Iterator[Entry]:
    """The trees of a file, still to be read."""
    for line, text in chunks(source.lines()):
        yield Entry(line, partial(_read_chunk, text, line, settings))


def chunks(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Stretches of a file whose brackets balance, each with the number of its first line.

    A bracket in the first column begins a new tree, so that a tree which is never closed takes none
    of the following ones with it; only a tree that breaks off after its first label and goes on
    there is taken for one without indentation. Lines of SGML and of copyright notices between
    trees are passed over.
    """
    held: list[str] = []
    depth = first = size = 0
    goes_on = False  # whether a bracket in the first column goes on with the tree that is open
    for number, line in enumerate(lines, 1):
        if len(held) == 1:
            goes_on = line.startswith("(") and bool(_BROKEN_OFF.search(held[0]))
        if held and line.startswith(("<S", "</S") if goes_on else ("(", "<S", "</S")):
            yield first, "\n".join(held)
            held, depth, size = [], 0, 0
        if not held:
            if not line.strip() or line.startswith(_BETWEEN_TREES):
                continue
            first = number
        held.append(line)
        depth += line.count("(") - line.count(")")
        size += len(line) + 1
        if depth <= 0 or size > MOST_BYTES:  # no tree is so large: it is never closed
            yield first, "\n".join(held)
            held, depth, size = [], 0, 0
    if held:
        yield first, "\n".join(held)


def _read_chunk(text: str, line: int, settings: ReadSettings) -> Iterator[Parse]:
    try:
        for words, tags, spans in read_brackets(text, escapes=settings.escapes):
            sentence = Sentence(words, tags)
            yield Parse(sentence, Tree(sentence, spans))
    except DataError as error:
        error.line = line + (error.line or 1) - 1
        raise


def pieces(parses: Iterable[Parse], settings: WriteSettings) -> Iterator[str]:
    """The text of a file with one tree a line; with an indent, over as many as it takes."""
    for parse in parses:
        yield f"{tree_of(parse).to_brackets(indent=settings.indent)}\n"


def tree_of(parse: Parse) -> Tree:
    """The tree of a parse that has to have one."""
    if parse.tree is None:
        raise DataError("this sentence has no tree, and brackets say nothing else", kind="layer")
    return parse.tree
