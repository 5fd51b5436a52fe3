"""Constituency trees and nested named entities, by bottom-up parsing with a pointer network.

    structure/    words, spans, trees, parses      tasks/      trees and entities as spans
    transition/   the pointing system              formats/    files to parses and back
    scoring/      EVALB, strict match              run/, cli/  the jobs, and the command line

>>> import fencepost
>>> tree = fencepost.Tree.from_brackets("(S (NP (DT The) (NN cat)) (VP (VBD sat)))")
>>> tree.children[0].words
('The', 'cat')
"""

from typing import TYPE_CHECKING, Any

from fencepost.errors import CrossingSpansError, DataError, FencepostError
from fencepost.structure import Document, Entity, Parse, Sentence, Span, Tree

if TYPE_CHECKING:
    from fencepost.formats import read, write
    from fencepost.parser.parser import Parser, load

__all__ = [
    "CrossingSpansError",
    "DataError",
    "Document",
    "Entity",
    "FencepostError",
    "Parse",
    "Parser",
    "Sentence",
    "Span",
    "Tree",
    "load",
    "read",
    "write",
]


def __getattr__(name: str) -> Any:
    # Loaded when they are first asked for, so that importing fencepost stays quick.
    if name in ("read", "write"):
        from fencepost import formats

        return getattr(formats, name)
    if name in ("Parser", "load"):
        from fencepost.parser import parser

        return getattr(parser, name)
    raise AttributeError(f"module 'fencepost' has no attribute {name!r}")
