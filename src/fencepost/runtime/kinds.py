"""The kinds of encoders: one table of what reading, checking and computing need to know of each.

To add a kind, write its settings (`config.py`), its batches (`batching/`) and its network in torch
(`model/`), and add its line here and in `build.ENCODERS`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from fencepost.batching.inputs import Reader, word_inputs
from fencepost.batching.numbers import Numbers
from fencepost.batching.pieces import CASES, Cutter, piece_reader
from fencepost.config import NetworkSettings, TransformerSettings, WordsSettings
from fencepost.errors import ConfigError, ModelError
from fencepost.runtime.bert import BertSizes
from fencepost.runtime.encoder import Encoder, TransformerEncoder, WordEncoder
from fencepost.runtime.graphs import (
    TRANSFORMER,
    RoundedLinear,
    bert_graph,
    linear,
    lstm_graph,
    word_graph,
)
from fencepost.runtime.layers import lstm_shapes
from fencepost.runtime.onnx import Graph
from fencepost.runtime.weights import Shapes, Weights


class EncoderKind(NamedTuple):
    """A kind of encoder."""

    vocabularies: tuple[str, ...]  # that `labels.json` has to hold
    has_pieces: bool  # whether a tokenizer cuts words for a transformer
    reader: Callable[[Any, Numbers, Cutter | None], Reader]  # from sentences to arrays
    # The shapes of its weights, and the width of the vectors that it makes.
    shapes: Callable[[Any, Numbers, BertSizes | None], tuple[Shapes, int]]
    # Its graphs by the names of their files, and what runs them.
    graphs: Callable[
        [NetworkSettings, Numbers, BertSizes | None, Weights, str, str], dict[str, bytes]
    ]
    encoder: Callable[..., Encoder]


def _word_reader(settings: WordsSettings, numbers: Numbers, cutter: Cutter | None) -> Reader:
    assert numbers.words is not None
    assert numbers.characters is not None
    return partial(
        word_inputs, words=numbers.words, characters=numbers.characters, static=numbers.static
    )


def _word_shapes(
    settings: WordsSettings, numbers: Numbers, sizes: BertSizes | None
) -> tuple[Shapes, int]:
    assert numbers.words is not None
    assert numbers.characters is not None
    shapes: Shapes = {
        "encoder.words.weight": (len(numbers.words), settings.word_width),
        "encoder.characters.weight": (len(numbers.characters), settings.character_width),
    }
    if numbers.static is not None and numbers.static.items:
        shapes["encoder.static.weight"] = (len(numbers.static), settings.word_width)
    hidden = settings.character_hidden // 2
    shapes |= lstm_shapes("encoder.spelling.", settings.character_width, hidden)
    return shapes, settings.word_width + 2 * hidden


def _word_graphs(
    network: NetworkSettings,
    numbers: Numbers,
    sizes: BertSizes | None,
    weights: Weights,
    file: str,
    precision: str,
) -> dict[str, bytes]:
    assert isinstance(network.encoder, WordsSettings)
    if precision == "int8":
        raise ConfigError(
            "precision: int8 is for the linear layers of a transformer, "
            "and this encoder has none; use fp32"
        )
    graph = word_graph(
        Graph(file, weights.stored),
        static=numbers.static is not None and bool(numbers.static.items),
        layers=network.lstm_layers,
        hidden=network.lstm_hidden,
        characters=network.encoder.character_hidden // 2,
    )
    return {"encoder.onnx": graph}


def _piece_reader(settings: TransformerSettings, numbers: Numbers, cutter: Cutter | None) -> Reader:
    assert cutter is not None
    return piece_reader(cutter, which=settings.pieces)


def _transformer_shapes(
    settings: TransformerSettings, numbers: Numbers, sizes: BertSizes | None
) -> tuple[Shapes, int]:
    assert sizes is not None
    if settings.layers > sizes.num_hidden_layers:
        raise ModelError(
            f"network.encoder.layers: {settings.layers} of {sizes.num_hidden_layers} cannot be "
            "mixed"
        )
    shapes: Shapes = {TRANSFORMER + name: shape for name, shape in sizes.shapes().items()}
    if settings.layers > 1:
        shapes |= {"encoder.mix.weights": (settings.layers,), "encoder.mix.scale": ()}
    if settings.case:
        shapes["encoder.cases.weight"] = (CASES, sizes.hidden_size)
    return shapes, sizes.hidden_size


def _transformer_graphs(
    network: NetworkSettings,
    numbers: Numbers,
    sizes: BertSizes | None,
    weights: Weights,
    file: str,
    precision: str,
) -> dict[str, bytes]:
    """With layers of LSTM there are two graphs: it reads few windows at a time, they sentences."""
    assert isinstance(network.encoder, TransformerSettings)
    assert sizes is not None
    graphs = {
        "encoder.onnx": bert_graph(
            Graph(file, weights.stored),
            sizes,
            layers=network.encoder.layers,
            case=network.encoder.case,
            linear=RoundedLinear(weights) if precision == "int8" else linear,
        )
    }
    if network.lstm_layers:
        graphs["lstm.onnx"] = lstm_graph(
            Graph(file, weights.stored),
            width=sizes.hidden_size,
            layers=network.lstm_layers,
            hidden=network.lstm_hidden,
        )
    return graphs


KINDS = {
    "words": EncoderKind(
        ("words", "characters"), False, _word_reader, _word_shapes, _word_graphs, WordEncoder
    ),
    "transformer": EncoderKind(
        (), True, _piece_reader, _transformer_shapes, _transformer_graphs, TransformerEncoder
    ),
}


def kind_of(network: NetworkSettings) -> EncoderKind:
    """The kind of a network's encoder."""
    return KINDS[network.encoder.kind]


def reader_of(network: NetworkSettings, numbers: Numbers, cutter: Cutter | None) -> Reader:
    """The function that turns sentences into inputs of the encoder."""
    return kind_of(network).reader(network.encoder, numbers, cutter)


def encoder_graphs(
    network: NetworkSettings,
    numbers: Numbers,
    sizes: BertSizes | None,
    weights: Weights,
    *,
    file: str,
    precision: str = "fp32",
) -> dict[str, bytes]:
    """The graphs of an encoder by the names of their files.

    They name the file that holds their weights, which lies beside them.

    Args:
        network: its settings.
        numbers: of its labels and vocabularies.
        sizes: of its transformer; None: it has none.
        weights: of the network.
        file: the name of the file with the weights.
        precision: `fp32` or `int8`.
    """
    return kind_of(network).graphs(network, numbers, sizes, weights, file, precision)
