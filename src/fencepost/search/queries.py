"""Patterns looked for in trees, parses and documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Literal

from fencepost.errors import DataError
from fencepost.search.index import Index
from fencepost.search.matches import Match
from fencepost.search.pattern import Pattern, pattern_of
from fencepost.structure import Document, Parse, Span, Tree

Layer = Literal["tree", "entities"]

_LABEL = itemgetter(2)
_latest: tuple[Tree, object, Index] | None = None  # since people look for several things in a tree


def find(
    tree: Tree,
    pattern: str | Pattern,
    entities: Iterable[Span] | None = None,
) -> Iterator[Match]:
    """The matches in a tree, from the root down and from left to right.

    Args:
        tree: with its words and tags.
        pattern: in the language of Tregex.
        entities: of the sentence; None: they are not known.

    Raises:
        PatternError: the text is no pattern.
        DataError: it asks for entities, and they are not known.
    """
    known = pattern if isinstance(pattern, Pattern) else pattern_of(pattern)
    if known.asks_for_entities and entities is None:
        raise DataError("this pattern asks for entities; a parse that has them was expected")
    return _found(tree, known, entities)


def _found(tree: Tree, pattern: Pattern, entities: Iterable[Span] | None) -> Iterator[Match]:
    global _latest
    latest = _latest
    if latest is not None and latest[0] is tree and latest[1] is entities:
        index = latest[2]
        if not pattern.can_match(index.by_label):
            return
    else:
        if not pattern.can_match({*tree.words, *tree.tags, *map(_LABEL, tree.spans)}):
            return
        index = Index(tree, entities)
        _latest = tree, entities, index
    for node, names in pattern.matches(index):
        yield Match(index, node, names)


def find_in_parse(
    parse: Parse, pattern: str | Pattern, *, layer: Layer | None = None
) -> Iterator[Match]:
    """The matches in a parse.

    Args:
        parse: a sentence with its layers.
        pattern: in the language of Tregex.
        layer: the tree, or the entities as if they were one: phrases labelled with their types,
            below a root without a label. None: the tree if there is one, else the entities.

    Raises:
        PatternError: the text is no pattern.
        DataError: there is no such layer.
    """
    known = pattern if isinstance(pattern, Pattern) else pattern_of(pattern)
    if layer is None:
        layer = "entities" if parse.tree is None and parse.entities is not None else "tree"
    if not len(parse.sentence):
        return iter(())
    if layer == "tree" and parse.tree is not None:
        return find(parse.tree, known, parse.entities)
    if layer == "entities" and parse.entities is not None:
        return find(entity_tree(parse), known, parse.entities)
    name = "a tree" if layer == "tree" else "entities"
    raise DataError(f"a sentence with {name} was expected to search in; this has none")


def entity_tree(parse: Parse) -> Tree:
    """The entities of a parse as a tree, below a root without a label."""
    root = Span(0, len(parse.sentence), "")
    return Tree(parse.sentence, (root, *(parse.entities or ())))


def find_in_document(
    document: Document, pattern: str | Pattern, *, layer: Layer | None = None
) -> Iterator[Match]:
    """The matches in all sentences of a document, in order.

    Raises:
        PatternError: the text is no pattern.
        DataError: the document was not parsed, or a sentence has no such layer.
    """
    if not document.is_ok:
        raise DataError(f"this document was not parsed: {document.status}")
    known = pattern if isinstance(pattern, Pattern) else pattern_of(pattern)
    return (
        match for parse in document.sentences for match in find_in_parse(parse, known, layer=layer)
    )
