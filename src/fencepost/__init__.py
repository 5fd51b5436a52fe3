"""Constituency trees and nested named entities, by bottom-up parsing with a pointer network.

    structure/    words, spans, trees, parses      tasks/      trees and entities as spans
    transition/   the pointing system              formats/    files to parses and back
    drawing/      SVG, HTML, the terminal          scoring/    EVALB, strict match
    parser/       text in, parses out              run/, cli/  the jobs, and the command line
    web/          a server and its page            integrations/  spaCy, NLTK, Ray

>>> import fencepost
>>> tree = fencepost.Tree.from_brackets("(S (NP (DT The) (NN cat)) (VP (VBD sat)))")
>>> tree.children[0].words
('The', 'cat')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fencepost.errors import (
    ConstraintError,
    CrossingSpansError,
    DataError,
    FencepostError,
    PatternError,
)
from fencepost.structure import Document, Entity, Parse, Sentence, Span, Tree

if TYPE_CHECKING:
    from fencepost.formats import read, write
    from fencepost.parser.parser import Parser, load
    from fencepost.run.corpus.results import read_documents
    from fencepost.scoring.differences import differences
    from fencepost.search import Match, Pattern
    from fencepost.structure.table import entity_rows
    from fencepost.text.gazetteer import Gazetteer

__all__ = [
    "ConstraintError",
    "CrossingSpansError",
    "DataError",
    "Document",
    "Entity",
    "FencepostError",
    "Gazetteer",
    "Match",
    "Parse",
    "Parser",
    "Pattern",
    "PatternError",
    "Sentence",
    "Span",
    "Tree",
    "differences",
    "entity_rows",
    "load",
    "read",
    "read_documents",
    "write",
]


_MODULES = {  # loaded when they are first asked for, so that importing fencepost stays quick
    "Gazetteer": "fencepost.text.gazetteer",
    "Match": "fencepost.search",
    "Parser": "fencepost.parser.parser",
    "Pattern": "fencepost.search",
    "differences": "fencepost.scoring.differences",
    "entity_rows": "fencepost.structure.table",
    "load": "fencepost.parser.parser",
    "read": "fencepost.formats",
    "read_documents": "fencepost.run.corpus.results",
    "write": "fencepost.formats",
}


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("fencepost")
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'fencepost' has no attribute {name!r}")
