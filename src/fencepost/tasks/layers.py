"""The layers of a parse by name."""

from __future__ import annotations

from fencepost.structure import Parse, Span
from fencepost.tasks import constituency, entities

POINTING = ("tree", "entities")  # the layers that are made of pointings


def layer_spans(parse: Parse, layer: str) -> tuple[Span, ...] | None:
    """The spans that the pointing system makes for a layer; None if the parse does not have it."""
    if layer == "tree":
        return None if parse.tree is None else constituency.encode(parse.tree)
    return None if parse.entities is None else entities.encode(parse.entities, len(parse.words))
