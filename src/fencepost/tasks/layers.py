"""The spans of a parse's layers, by name."""

from __future__ import annotations

from fencepost.structure import Parse, Span
from fencepost.tasks import constituency, entities

POINTING = ("tree", "entities")  # layers predicted by pointing


def layer_spans(parse: Parse, layer: str, *, with_wrapper: bool = False) -> tuple[Span, ...] | None:
    """The spans that the pointing system makes for a layer; None if the parse lacks the layer.

    Args:
        parse: the gold parse.
        layer: `tree` or `entities`.
        with_wrapper: whether a tree's wrapper is part of its labels.
    """
    if layer == "tree":
        tree = parse.tree
        return None if tree is None else constituency.encode(tree, with_wrapper=with_wrapper)
    return None if parse.entities is None else entities.encode(parse.entities, len(parse.words))
