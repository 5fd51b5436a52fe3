"""Models whose network is in torch: to be trained, for other devices, and for any transformer."""

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
from fencepost.checkpoints.loading import Described, described
from fencepost.checkpoints.model import CONFIG, Model
from fencepost.config import HeadsSettings, NetworkSettings, SearchSettings
from fencepost.errors import ConfigError, FencepostError, ModelError
from fencepost.model.network import Network
from fencepost.model.pretrained import Pretrained, restore_transformer
from fencepost.runtime.kinds import reader_of
from fencepost.runtime.tokenizer import brief, is_refusal, restore_cutter


@dataclass(frozen=True)
class TrainableModel(Model):
    """A model that can learn."""

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
    """A model with random weights, but for those of a pretrained transformer.

    Args:
        network: settings of the encoder.
        heads: settings of the heads.
        numbers: what the network's numbers stand for.
        pretrained: the transformer; None: the one that the settings name, if they name one.
        search: the width of the beam; None: greedy search.
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
    """The model in a folder, ready to be trained further.

    Raises:
        ModelError: it is not there, not one of ours, or not whole; the message says which.
    """
    with described(folder) as found:
        return _built(found)


def parsing_model(found: Described, *, device: str, precision: str, threads: int) -> TrainableModel:
    """A model to parse with on a device.

    Args:
        found: what its folder describes.
        device: `cpu`, `cuda`, `cuda:1` or `mps`.
        precision: `fp32` or `bf16`.
        threads: of the processor.

    Raises:
        ConfigError: the device cannot be used.
    """
    torch.set_num_threads(threads)
    model = _built(found)
    try:
        model.network.to(device)
    except (RuntimeError, AssertionError) as error:  # which one, depends on the build of torch
        raise ConfigError(f"device {device!r} cannot be used: {error}") from error
    if precision == "bf16":
        model.network.round()
    return model


def _built(found: Described) -> TrainableModel:
    where = f"{found.folder}/{CONFIG}"
    pretrained = None if found.transformer is None else _outlined(found, found.transformer)
    settings = (found.network, found.heads, found.numbers)
    with _told(where), _without_memory():
        outline = build_network(*settings, pretrained)
    found.weights.check({name: tuple(value.shape) for name, value in outline.state_dict().items()})
    if pretrained is not None:
        transformer = restore_transformer(found.transformer, found.folder)
        pretrained = replace(pretrained, transformer=transformer)
    with _told(where):
        model = new_model(*settings, pretrained, search=found.search)
    for layer, temperature in found.temperatures.items():
        model.network.head(layer).temperature = temperature
    model.network.load_state_dict(
        {name: torch.from_numpy(value) for name, value in found.weights.items()}
    )
    model.network.eval()
    return model


def _outlined(found: Described, config: Mapping[str, Any]) -> Pretrained:
    """The transformer of a model without any numbers in it, and what cuts words for it."""
    with _without_memory():
        transformer = restore_transformer(config, found.folder)
    vectors = transformer.get_input_embeddings()
    assert isinstance(vectors, nn.Embedding)
    cutter = restore_cutter(found.pieces, found.folder, vectors=vectors.num_embeddings)
    return Pretrained(transformer, cutter, dict(config))


@contextmanager
def _without_memory() -> Iterator[None]:
    """Networks that are built here have shapes and no numbers, however large they are."""
    with torch.device("meta"), torch.random.fork_rng(devices=[]):
        yield


@contextmanager
def _told(where: str) -> Iterator[None]:
    """Turn errors of libraries about settings into one of ours."""
    try:
        yield
    except FencepostError as error:
        raise ModelError(str(error)) from error
    except BaseException as error:
        if not is_refusal(error):
            raise
        raise ModelError(f"{where}: no network can be built from this: {brief(error)}") from error
