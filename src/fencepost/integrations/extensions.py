"""Extension attributes (`._.`) of spaCy's spans and tokens, with benepar's names.

They are empty for a span of only blanks, such as a sentence at the end of a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from spacy.tokens import Span, Token

from fencepost.integrations.span_groups import (
    NonConstituentError,
    above,
    below,
    directly_below,
    labels_of,
    node_of,
    tree_of,
)
from fencepost.structure import Tree


def register() -> None:
    """Register `._.parse_string`, `._.labels`, `._.tree` and so on for spans and tokens.

    A pipeline with fencepost does this itself; only programs that load Docs without one need to
    call it. Extensions of others with the same names are replaced.
    """
    for name, getter in _OF_SPANS.items():
        Span.set_extension(name, getter=getter, force=True)
    for name in _OF_TOKENS:
        Token.set_extension(name, getter=partial(_of_token, _OF_SPANS[name]), force=True)


def _of_token(getter: Callable[[Span], Any], token: Token) -> Any:
    """The attribute of the span over a token."""
    return getter(token.doc[token.i : token.i + 1])


def _labels(span: Span) -> tuple[str, ...]:
    """The labels of a constituent, outermost first; none for a word without a phrase."""
    node = node_of(span, inside=False)
    return () if node is None else labels_of(node)


def _parse_string(span: Span) -> str:
    """The tree of a constituent in brackets for display: a blank in a word becomes `_`."""
    node = node_of(span)
    return "" if node is None else str(tree_of(node))


def _tree(span: Span) -> Tree:
    """The tree of a constituent, whose characters slice the text of the Doc."""
    node = node_of(span)
    if node is None:
        raise NonConstituentError(f"{span.text!r} holds no word, so it has no tree")
    return tree_of(node, span.doc.text)


def _constituents(span: Span) -> Iterator[Span]:
    """A constituent and all in it, from the root down and left to right."""
    node = node_of(span)
    return iter(()) if node is None else below(node)


def _children(span: Span) -> Iterator[Span]:
    """The child constituents."""
    node = node_of(span)
    return iter(()) if node is None else directly_below(node)


def _parent(span: Span) -> Span | None:
    """The parent constituent; None for the whole sentence."""
    node = node_of(span, inside=False)
    return None if node is None else above(node)


_OF_SPANS: dict[str, Callable[[Span], Any]] = {
    "children": _children,
    "constituents": _constituents,
    "labels": _labels,
    "parent": _parent,
    "parse_string": _parse_string,
    "tree": _tree,
}
_OF_TOKENS = ("labels", "parent", "parse_string", "tree")
EXTENSIONS = (  # for spaCy's `nlp.analyze_pipes`
    *(f"span._.{name}" for name in _OF_SPANS),
    *(f"token._.{name}" for name in _OF_TOKENS),
)
