"""What the tests of annotation formats have in common."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fencepost.formats import read, write
from fencepost.formats.annotations import with_text
from fencepost.structure import Parse, Sentence, Span, Tree

SENTENCE = Sentence.from_whitespace(
    ("Ann", "'s", "😀", "Bank", "(", "Oslo", ")", "."),
    ("", " ", " ", " ", "", "", "", "  "),
    tags=("NNP", "POS", "SYM", "NNP", "-LRB-", "NNP", "-RRB-", "."),
    id="doc-7",
)
TREE = Tree(SENTENCE, (Span(0, 8, "S"), Span(0, 7, "NP"), Span(0, 2, "NP"), Span(4, 7, "PRN")))
ENTITIES = (Span(0, 7, "ORG"), Span(0, 2, "PER"), Span(3, 7, "ORG"), Span(5, 6, "GPE"))
PARSE = Parse(SENTENCE, TREE, ENTITIES)


def through(parses: Sequence[Parse], path: Path, format: str, **settings: Any) -> list[Parse]:
    """Parses that were written and read again."""
    assert write(parses, path, format=format) == len(parses)
    return list(read(path, format=format, **settings))


def said(parse: Parse) -> tuple[Any, ...]:
    """All that annotation formats give back: words in their text, tags, layers, the id."""
    sentence = with_text(parse.sentence)
    return sentence, None if parse.tree is None else parse.tree.spans, parse.entities
