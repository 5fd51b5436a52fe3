"""Search for patterns in trees, parses and documents."""

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
_latest: tuple[Tree, object, Index] | None = None  # cache: a tree is often searched repeatedly


def find(
    tree: Tree,
    pattern: str | Pattern,
    entities: Iterable[Span] | None = None,
) -> Iterator[Match]:
    """The matches in a tree, from the root down and from left to right.

    Args:
        tree: a tree.
        pattern: a Tregex pattern.
        entities: the entities of the sentence, if known.

    Raises:
        PatternError: the pattern cannot be read.
        DataError: the pattern has a condition on entities, which are unknown.
    """
    compiled = pattern if isinstance(pattern, Pattern) else pattern_of(pattern)
    if compiled.asks_for_entities and entities is None:
        raise DataError("this pattern asks for entities; a parse that has them was expected")
    return _matches(tree, compiled, entities)


def _matches(tree: Tree, pattern: Pattern, entities: Iterable[Span] | None) -> Iterator[Match]:
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
        parse: a parse.
        pattern: a Tregex pattern.
        layer: `tree`, or `entities` for a tree of the entities below a root without a label. By
            default the tree if there is one, else the entities.

    Raises:
        PatternError: the pattern cannot be read.
        DataError: the parse lacks the layer.
    """
    compiled = pattern if isinstance(pattern, Pattern) else pattern_of(pattern)
    if layer is None:
        layer = "entities" if parse.tree is None and parse.entities is not None else "tree"
    if not len(parse.sentence):
        return iter(())
    if layer == "tree" and parse.tree is not None:
        return find(parse.tree, compiled, parse.entities)
    if layer == "entities" and parse.entities is not None:
        root = Span(0, len(parse.sentence), "")
        return find(Tree(parse.sentence, (root, *parse.entities)), compiled, parse.entities)
    name = "a tree" if layer == "tree" else "entities"
    raise DataError(f"a sentence with {name} was expected to search in; this has none")


def find_in_document(
    document: Document, pattern: str | Pattern, *, layer: Layer | None = None
) -> Iterator[Match]:
    """The matches in all sentences of a document, in order.

    Raises:
        PatternError: the pattern cannot be read.
        DataError: the document was not parsed, or a sentence lacks the layer.
    """
    if not document.is_ok:
        raise DataError(f"this document was not parsed: {document.status}")
    compiled = pattern if isinstance(pattern, Pattern) else pattern_of(pattern)
    return (
        match
        for parse in document.sentences
        for match in find_in_parse(parse, compiled, layer=layer)
    )
