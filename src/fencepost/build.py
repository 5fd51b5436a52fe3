"""Builds torch networks from settings: the only module that knows both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from fencepost.batching.numbers import Numbers
from fencepost.config import HeadsSettings, NetworkSettings, TransformerSettings, WordsSettings
from fencepost.errors import ConfigError
from fencepost.model.encoder import Encoder, WordEncoder
from fencepost.model.head import PointingHead
from fencepost.model.layers import TwoWayLSTM
from fencepost.model.network import Network
from fencepost.model.pretrained import Pretrained, fetch_pretrained
from fencepost.model.transformer import TransformerEncoder
from fencepost.runtime.shapes import odd_width
from fencepost.tasks.labels import NO_LABELS
from fencepost.text.splitters import splitter_of


def build_pretrained(settings: NetworkSettings) -> Pretrained | None:
    """Fetch the transformer that the settings name, from the hub or a folder, if there is one."""
    encoder = settings.encoder
    return fetch_pretrained(encoder.model) if isinstance(encoder, TransformerSettings) else None


def _transformer(
    settings: TransformerSettings, numbers: Numbers, pretrained: Pretrained | None
) -> Encoder:
    assert pretrained is not None
    return TransformerEncoder(
        pretrained.transformer,
        layers=settings.layers,
        case=settings.case,
        piece_dropout=settings.piece_dropout,
        frozen=settings.frozen,
    )


def _words(settings: WordsSettings, numbers: Numbers, pretrained: Pretrained | None) -> Encoder:
    assert numbers.words is not None
    assert numbers.characters is not None
    return WordEncoder(
        counts=numbers.words.counts,
        characters=len(numbers.characters),
        word_width=settings.word_width,
        character_width=settings.character_width,
        character_hidden=settings.character_hidden,
        unknown=settings.unknown,
        static=len(numbers.static.items) if numbers.static else 0,
    )


# By `kind` in the settings; `runtime.kinds` has what parsing needs of each kind.
ENCODERS: dict[str, Callable[[Any, Numbers, Pretrained | None], Encoder]] = {
    "words": _words,
    "transformer": _transformer,
}


def build_network(
    settings: NetworkSettings,
    heads: HeadsSettings,
    numbers: Numbers,
    pretrained: Pretrained | None = None,
) -> Network:
    """Build a network with random weights, except for those of a pretrained transformer."""
    splitter_of(settings.splitter)  # refuses an unknown one before training
    encoder = ENCODERS[settings.encoder.kind](settings.encoder, numbers, pretrained)
    whole = settings.boundary == "whole"
    if settings.lstm_layers == 0 and encoder.width % 2 and not whole:
        raise ConfigError(odd_width(encoder.width))
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
                boundary_width=2 * lstm.width if whole else lstm.width,
                labels=len(numbers.labels[name]),
                open_root=name == "entities",
                bare=numbers.labels[name].number(NO_LABELS),
                dropout=settings.dropout,
                **head.model_dump(exclude={"weight"}),  # which belongs to the loss
            )
    tags = None if heads.tags is None else nn.Linear(lstm.width, len(numbers.labels["tags"]))
    return Network(
        encoder=encoder,
        lstm=lstm,
        heads=pointing,
        tags=tags,
        dropout=settings.dropout,
        whole=whole,
    )
