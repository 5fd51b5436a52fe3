"""From settings to objects: the only module that knows both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from torch import nn

from fencepost.batching.inputs import Reader, word_inputs
from fencepost.batching.pieces import piece_reader
from fencepost.batching.vocabulary import Labels, Vocabulary
from fencepost.config import HeadsSettings, NetworkSettings, TransformerSettings, WordsSettings
from fencepost.errors import ConfigError
from fencepost.model.encoder import Encoder, WordEncoder
from fencepost.model.head import PointingHead
from fencepost.model.layers import TwoWayLSTM
from fencepost.model.network import Network
from fencepost.model.pretrained import Pretrained, fetch_pretrained
from fencepost.model.transformer import TransformerEncoder
from fencepost.tasks.labels import NO_LABELS


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a network's numbers stand for: the labels of its heads, words and characters.

    A transformer has pieces in place of words and characters; its tokenizer numbers them.
    """

    labels: Mapping[str, Labels]  # by head
    words: Vocabulary | None = None
    characters: Vocabulary | None = None
    static: Vocabulary | None = None  # words with static vectors
    wrapper: str | None = None  # goes around each tree; None: there is none
    wrapper_is_label: bool = False  # whether the network has learned it as one: before 0.2


def build_pretrained(settings: NetworkSettings) -> Pretrained | None:
    """The transformer that the settings name, from the hub or a folder; None if they name none."""
    encoder = settings.encoder
    return fetch_pretrained(encoder.model) if isinstance(encoder, TransformerSettings) else None


def build_reader(
    settings: NetworkSettings, numbers: Numbers, pretrained: Pretrained | None = None
) -> Reader:
    """What turns sentences into inputs of the encoder."""
    if isinstance(settings.encoder, TransformerSettings):
        assert pretrained is not None
        return piece_reader(pretrained.cutter, which=settings.encoder.pieces)
    assert numbers.words is not None
    assert numbers.characters is not None
    return partial(
        word_inputs, words=numbers.words, characters=numbers.characters, static=numbers.static
    )


def _build_encoder(
    settings: WordsSettings | TransformerSettings, numbers: Numbers, pretrained: Pretrained | None
) -> Encoder:
    if isinstance(settings, TransformerSettings):
        assert pretrained is not None
        return TransformerEncoder(
            pretrained.transformer,
            layers=settings.layers,
            case=settings.case,
            piece_dropout=settings.piece_dropout,
            frozen=settings.frozen,
        )
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


def build_network(
    settings: NetworkSettings,
    heads: HeadsSettings,
    numbers: Numbers,
    pretrained: Pretrained | None = None,
) -> Network:
    """A network; its weights are random but for those of a pretrained transformer."""
    encoder = _build_encoder(settings.encoder, numbers, pretrained)
    whole = settings.boundary == "whole"
    if settings.lstm_layers == 0 and encoder.width % 2 and not whole:
        raise ConfigError(
            f"network.lstm_layers: without any, vectors of words are halved, and {encoder.width} "
            'is odd; 1 or more would do, or network.boundary = "whole"'
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
                boundary_width=2 * lstm.width if whole else lstm.width,
                labels=len(numbers.labels[name]),
                open_root=name == "entities",
                bare=numbers.labels[name].number(NO_LABELS),
                dropout=settings.dropout,
                **head.model_dump(exclude={"weight"}),  # that of its loss; all others are its own
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
