"""From settings to objects: the only module that knows both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from torch import nn

from fencepost.batching.inputs import Reader, word_inputs
from fencepost.batching.vocabulary import Labels, Vocabulary
from fencepost.config import HeadsSettings, NetworkSettings, WordsSettings
from fencepost.model.encoder import WordEncoder
from fencepost.model.head import PointingHead
from fencepost.model.layers import TwoWayLSTM
from fencepost.model.network import Network


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a network's numbers stand for: the labels of its heads, words and characters."""

    labels: Mapping[str, Labels]  # by head
    words: Vocabulary
    characters: Vocabulary


def build_reader(numbers: Numbers) -> Reader:
    """What turns sentences into inputs of the encoder."""
    return partial(word_inputs, words=numbers.words, characters=numbers.characters)


def build_network(settings: NetworkSettings, heads: HeadsSettings, numbers: Numbers) -> Network:
    """A network with random weights."""
    assert isinstance(settings.encoder, WordsSettings)
    encoder = WordEncoder(
        counts=numbers.words.counts,
        characters=len(numbers.characters),
        word_width=settings.encoder.word_width,
        character_width=settings.encoder.character_width,
        character_hidden=settings.encoder.character_hidden,
        unknown=settings.encoder.unknown,
    )
    lstm = TwoWayLSTM(
        encoder.width,
        hidden=settings.lstm_hidden,
        layers=settings.lstm_layers,
        dropout=settings.dropout,
    )
    pointing = {}
    for name, head in (("tree", heads.tree), ("entities", heads.entities)):
        if head is not None:
            pointing[name] = PointingHead(
                boundary_width=lstm.width,
                labels=len(numbers.labels[name]),
                mlp=head.mlp,
                decoder=head.decoder,
                previous_label=head.previous_label,
                open_root=name == "entities",
                dropout=settings.dropout,
            )
    tags = None if heads.tags is None else nn.Linear(lstm.width, len(numbers.labels["tags"]))
    return Network(encoder=encoder, lstm=lstm, heads=pointing, tags=tags, dropout=settings.dropout)
