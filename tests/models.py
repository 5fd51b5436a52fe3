"""Small models with random weights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

from fencepost.batching.numbers import Numbers
from fencepost.batching.vocabulary import Labels, Vocabulary
from fencepost.checkpoints.model import Model, save_model
from fencepost.checkpoints.trainable import TrainableModel, new_model
from fencepost.config import HeadsSettings, NetworkSettings, checked
from fencepost.runtime.manifest import MANIFEST


def small_model(*heads: str, labels: Mapping[str, tuple[str, ...]] | None = None) -> TrainableModel:
    """A model that reads words, with its initial weights."""
    torch.manual_seed(1)
    encoder = {"kind": "words", "word_width": 8, "character_width": 4, "character_hidden": 6}
    network = {"encoder": encoder, "lstm_layers": 1, "lstm_hidden": 8}
    head_settings = {name: {} if name == "tags" else {"mlp": 8, "decoder": 8} for name in heads}
    numbers = Numbers(
        {name: Labels((labels or {}).get(name, ("S", "NP+VP"))) for name in heads},
        Vocabulary(("a", "b"), (2, 2)),
        Vocabulary(("a", "b", "c"), (2, 2, 2)),
    )
    return new_model(
        checked(NetworkSettings, network, where="test"),
        checked(HeadsSettings, head_settings, where="test"),
        numbers,
    )


def lively_model(
    *heads: str, labels: Mapping[str, tuple[str, ...]] | None = None, seed: int = 3
) -> TrainableModel:
    """A model that reads words, with weights by which it finds some of everything."""
    model = small_model(*heads, labels=labels)
    torch.manual_seed(seed)
    for parameter in model.network.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    return model


def transformer_model(source: str, *, lstm_layers: int = 0, **encoder: object) -> TrainableModel:
    """A model with all heads on the transformer in a folder."""
    torch.manual_seed(1)
    network = {
        "encoder": {"kind": "transformer", "model": source, **encoder},
        "lstm_layers": lstm_layers,
        "lstm_hidden": 8,
    }
    heads = {"tree": {"mlp": 8, "decoder": 8}, "entities": {"mlp": 8, "decoder": 8}, "tags": {}}
    return new_model(
        checked(NetworkSettings, network, where="test"),
        checked(HeadsSettings, heads, where="test"),
        Numbers({name: Labels(("S", "NP+VP")) for name in heads}),
    )


def save_unlisted(model: Model, folder: Path) -> None:
    """Write a model without the list of its files, by which any change would be found."""
    save_model(model, folder)
    (folder / MANIFEST).unlink()
