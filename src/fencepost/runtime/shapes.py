"""The names and shapes of a network's weights, from its settings alone.

What a folder says of itself is compared with these before anything large is made of it.
"""

from __future__ import annotations

from fencepost.batching.numbers import Numbers
from fencepost.config import HeadSettings, HeadsSettings, NetworkSettings
from fencepost.errors import ConfigError
from fencepost.runtime.bert import BertSizes
from fencepost.runtime.kinds import kind_of
from fencepost.runtime.layers import lstm_shapes
from fencepost.runtime.weights import Shapes

# Weights of a head with `context` that have a row for each label, behind one for no span at all.
LABEL_TABLES = ("newest_label", "stack_label", "label_newest", "label_child")
MOST_MERGED = 8  # spans of a merge that are told apart by number; more count as this many


def network_shapes(
    network: NetworkSettings, heads: HeadsSettings, numbers: Numbers, sizes: BertSizes | None
) -> Shapes:
    """The shapes of all weights of a network.

    Args:
        network: settings of the encoder.
        heads: settings of the heads.
        numbers: what the network's numbers stand for.
        sizes: of its transformer; None: it reads words and characters.
    """
    shapes, width = kind_of(network).shapes(network.encoder, numbers, sizes)
    whole = network.boundary == "whole"
    if network.lstm_layers == 0 and width % 2 and not whole:
        raise ConfigError(odd_width(width))
    for number in range(network.lstm_layers):
        shapes |= lstm_shapes(f"lstm.layers.{number}.", width, network.lstm_hidden)
        width = 2 * network.lstm_hidden
    for name, head in (("tree", heads.tree), ("entities", heads.entities)):
        if head is not None:
            shapes_of_head = head_shapes(
                head, labels=len(numbers.labels[name]), width=2 * width if whole else width
            )
            shapes |= {f"heads.{name}.{key}": shape for key, shape in shapes_of_head.items()}
    if heads.tags is not None:
        shapes |= _linear("tags", len(numbers.labels["tags"]), width)
    return shapes


def odd_width(width: int) -> str:
    """The message for vectors that cannot be halved."""
    return (
        f"network.lstm_layers: without any, vectors of words are halved, and {width} is odd; "
        '1 or more would do, or network.boundary = "whole"'
    )


def head_shapes(head: HeadSettings, *, labels: int, width: int) -> Shapes:
    """The shapes of a pointing head's weights.

    Args:
        head: its settings.
        labels: how many there are, the filler's included.
        width: of the vectors of boundaries.
    """
    m, d = head.mlp, head.decoder
    of_authors = head.perceptrons == "authors"

    def perceptron(name: str, width: int) -> Shapes:
        second = {} if of_authors else _linear(f"{name}.second", m, m)
        return _linear(f"{name}.first", m, width) | second

    two_ways = head.grid > 0 or head.pointing == "nearest-first"
    shapes: Shapes = {"label_vectors": (labels, m)} | perceptron("point", width)
    shapes["biaffine"] = (*[2][:two_ways], m + 1, m)
    if head.recurrent:
        read = 2 * m if head.previous_label else m
        shapes |= perceptron("span", width) | perceptron("cursor", d)
        shapes |= {"start": (read,), "first_hidden": (d,), "first_cell": (d,)}
        shapes |= lstm_shapes("lstm.", read, d, directions=("",))
    # Without a state to tell them, labels see both ends of a span.
    shapes |= _linear("label.first", m, d + width if head.recurrent else 2 * width)
    shapes |= _linear("label.second", m, m)
    if of_authors:
        shapes |= {"label.norm.weight": (m,), "label.norm.bias": (m,)}
    if two_ways:
        shapes["bias"] = (2,)
    if head.standing:
        shapes |= perceptron("standing", width)
    if head.context:
        shapes |= perceptron("newest_start", width)
        shapes |= {"merged": (MOST_MERGED + 1,)} | dict.fromkeys(LABEL_TABLES, (labels + 1, m))
    if head.grid:
        shapes |= _linear("grid.first", head.grid, 2 * width) | _linear("grid.out", 1, head.grid)
        shapes |= {"grid.norm.weight": (head.grid,), "grid.norm.bias": (head.grid,)}
        shapes["grid_weight"] = (2,)
    return shapes


def _linear(name: str, out: int, width: int) -> Shapes:
    return {f"{name}.weight": (out, width), f"{name}.bias": (out,)}
