"""The layers of a parse by name."""

from __future__ import annotations

from fencepost.structure import Parse, Span
from fencepost.tasks import constituency, entities

POINTING = ("tree", "entities")  # the layers that are made of pointings


def layer_spans(parse: Parse, layer: str, *, with_wrapper: bool = False) -> tuple[Span, ...] | None:
    """The spans that the pointing system makes for a layer; None if the parse does not have it.

    Args:
        parse: of a sentence.
        layer: `tree` or `entities`.
        with_wrapper: whether the wrapper of a tree is a label like others.
    """
    if layer == "tree":
        tree = parse.tree
        return None if tree is None else constituency.encode(tree, with_wrapper=with_wrapper)
    return None if parse.entities is None else entities.encode(parse.entities, len(parse.words))
