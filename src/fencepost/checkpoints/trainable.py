"""Models whose network is in torch: for training, other devices, and any transformer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from fencepost.batching.numbers import Numbers
from fencepost.build import build_network, build_pretrained
from fencepost.checkpoints.loading import ModelFolder, open_model
from fencepost.checkpoints.model import CONFIG, Model
from fencepost.config import HeadsSettings, NetworkSettings, SearchSettings
from fencepost.errors import ConfigError, FencepostError, ModelError
from fencepost.model.network import Network
from fencepost.model.pretrained import Pretrained, restore_transformer
from fencepost.runtime.kinds import reader_of
from fencepost.runtime.tokenizer import brief, is_refusal, restore_cutter


@dataclass(frozen=True)
class TrainableModel(Model):
    """A model that can be trained."""

    network: Network
    pretrained: Pretrained | None = None  # the transformer in the network, with its tokenizer


def new_model(
    network: NetworkSettings,
    heads: HeadsSettings,
    numbers: Numbers,
    pretrained: Pretrained | None = None,
    *,
    search: SearchSettings | None = None,
) -> TrainableModel:
    """Build a model with random weights, except for those of a pretrained transformer.

    Args:
        network: the settings of the encoder.
        heads: the settings of the heads.
        numbers: the labels and vocabularies.
        pretrained: the transformer; None: it is fetched, if the settings name one.
        search: the settings of search; None: greedy search.
    """
    pretrained = pretrained or build_pretrained(network)
    cutter = None if pretrained is None else pretrained.cutter
    return TrainableModel(
        build_network(network, heads, numbers, pretrained),
        reader_of(network, numbers, cutter),
        numbers,
        network,
        heads,
        cutter,
        None if pretrained is None else pretrained.config,
        search or SearchSettings(),
        pretrained,
    )


def load_trainable(folder: Path) -> TrainableModel:
    """Load the model in a folder, to train it further.

    Raises:
        ModelError: the folder does not exist, holds no model or is damaged; the message says which.
    """
    with open_model(folder) as model:
        return _load(model)


def parsing_model(
    folder: ModelFolder, *, device: str, precision: str, threads: int
) -> TrainableModel:
    """Load a model to parse with on a device.

    Args:
        folder: the folder of the model.
        device: `cpu`, `cuda`, `cuda:1` or `mps`.
        precision: `fp32` or `bf16`.
        threads: CPU threads.

    Raises:
        ConfigError: the device cannot be used.
    """
    torch.set_num_threads(threads)
    model = _load(folder)
    try:
        model.network.to(device)
    except (RuntimeError, AssertionError) as error:  # depending on the build of torch
        raise ConfigError(f"device {device!r} cannot be used: {error}") from error
    if precision == "bf16":
        model.network.round()
    return model


def _load(folder: ModelFolder) -> TrainableModel:
    """Build the network and load its weights.

    It is built on the meta device first: the shapes of the weights are checked before memory is
    allocated for sizes that a stranger's folder names. That leaves the random state as it is.
    """
    where = f"{folder.path}/{CONFIG}"
    settings = (folder.network, folder.heads, folder.numbers)
    pretrained = None
    with torch.device("meta"), torch.random.fork_rng(devices=[]), _as_model_errors(where):
        if folder.transformer is not None:
            pretrained = _restore_pretrained(folder, folder.transformer)
        outline = build_network(*settings, pretrained)
    folder.weights.check({name: tuple(value.shape) for name, value in outline.state_dict().items()})
    if pretrained is not None:
        transformer = restore_transformer(folder.transformer, folder.path)
        pretrained = replace(pretrained, transformer=transformer)
    with _as_model_errors(where):
        model = new_model(*settings, pretrained, search=folder.search)
    for layer, temperature in folder.temperatures.items():
        model.network.head(layer).temperature = temperature
    model.network.load_state_dict(
        {name: torch.from_numpy(value) for name, value in folder.weights.items()}
    )
    model.network.eval()
    return model


def _restore_pretrained(folder: ModelFolder, config: Mapping[str, Any]) -> Pretrained:
    transformer = restore_transformer(config, folder.path)
    vectors = transformer.get_input_embeddings()
    assert isinstance(vectors, nn.Embedding)
    cutter = restore_cutter(folder.pieces, folder.path, vectors=vectors.num_embeddings)
    return Pretrained(transformer, cutter, dict(config))


@contextmanager
def _as_model_errors(where: str) -> Iterator[None]:
    """Turn errors of libraries about settings into a ModelError."""
    try:
        yield
    except FencepostError as error:
        raise ModelError(str(error)) from error
    except BaseException as error:
        if not is_refusal(error):
            raise
        raise ModelError(f"{where}: no network can be built from this: {brief(error)}") from error
