"""What spans and tokens of spaCy have below `._.`, by the names that benepar gave them.

A stretch of only blanks, such as a sentence that spaCy has made of the end of a text, has nothing,
and that is no error.
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
    """Let spans and tokens of spaCy have `._.parse_string`, `._.labels`, `._.tree` and so on.

    A pipeline with fencepost in it does that itself. It needs to be called only by a program that
    loads Docs without such a pipeline. What others have registered by the same names is replaced.
    """
    for name, getter in _OF_SPANS.items():
        Span.set_extension(name, getter=getter, force=True)
    for name in _OF_TOKENS:
        Token.set_extension(name, getter=partial(_of_token, _OF_SPANS[name]), force=True)


def _of_token(getter: Callable[[Span], Any], token: Token) -> Any:
    """What a token has is what the span over it alone has."""
    return getter(token.doc[token.i : token.i + 1])


def _labels(span: Span) -> tuple[str, ...]:
    """The labels of a constituent, outermost first; none for a word that is a child of its own."""
    node = node_of(span, inside=False)
    return () if node is None else labels_of(node)


def _parse_string(span: Span) -> str:
    """The tree of a constituent in brackets, to look at: a blank in a word is shown as `_`."""
    node = node_of(span)
    return "" if node is None else str(tree_of(node))


def _tree(span: Span) -> Tree:
    """The tree of a constituent, whose characters slice the text of the Doc."""
    node = node_of(span)
    if node is None:
        raise NonConstituentError(f"{span.text!r} holds no word, so it has no tree")
    return tree_of(node, span.doc.text)


def _constituents(span: Span) -> Iterator[Span]:
    """A constituent and all in it, from the root down and from left to right."""
    node = node_of(span)
    return iter(()) if node is None else below(node)


def _children(span: Span) -> Iterator[Span]:
    """The constituents directly below one."""
    node = node_of(span)
    return iter(()) if node is None else directly_below(node)


def _parent(span: Span) -> Span | None:
    """The constituent directly above one; None for that of the whole sentence."""
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
EXTENSIONS = (  # as spaCy's `nlp.analyze_pipes` tells them
    *(f"span._.{name}" for name in _OF_SPANS),
    *(f"token._.{name}" for name in _OF_TOKENS),
)
