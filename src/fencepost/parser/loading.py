"""A model from a folder, which is refused if it does not fit together.

Whoever made the folder, nothing in it is run or unpickled, nothing outside of it is read, and
sizes and shapes are compared before anything large is made of them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from fencepost.batching.vocabulary import Labels, Vocabulary
from fencepost.build import Numbers, build_network
from fencepost.config import HeadsSettings, NetworkSettings, checked
from fencepost.errors import ConfigError, FencepostError, ModelError
from fencepost.model.manifest import (
    MANIFEST,
    check_contents,
    check_sizes,
    read_json,
    read_manifest,
    size_of,
)
from fencepost.model.pretrained import (
    TOKENIZER,
    Pretrained,
    brief,
    is_refusal,
    restore_cutter,
    restore_transformer,
)
from fencepost.parser.model import (
    CONFIG,
    FILES,
    LABELS,
    VERSION,
    VOCABULARIES,
    WEIGHTS,
    Model,
    new_model,
)
from fencepost.structure.tree import WRAPPERS

# Bytes that are read at most. Labels have rows of weights: with many, weights are larger.
MOST_CONFIG, MOST_LABELS, MOST_WEIGHTS, MOST_HEADER = 2**22, 2**26, 2**34, 2**22
_FEW_LABELS = 2**20

_FLOATS = {"F16", "BF16", "F32", "F64"}  # what weights may be stored as
_COLDEST, _HOTTEST = 1e-3, 1e3  # beyond these, probabilities would not be finite

_log = logging.getLogger(__name__)


def load_model(folder: Path) -> Model:
    """The model in a folder.

    Raises:
        ModelError: it is not there, not one of ours, or not whole; the message says which.
    """
    _check_links(folder)
    listed = read_manifest(folder, known=FILES)
    if listed is None:
        _log.info("%s: there is no %s, so its files were not compared with it", folder, MANIFEST)
        return _loaded(folder, FILES)
    check_sizes(folder, listed)
    with ThreadPoolExecutor(1) as pool:
        checking = pool.submit(check_contents, folder, listed)  # while the network is built
        try:
            model = _loaded(folder, tuple(listed))
        except ModelError:
            checking.result()  # which says better what is wrong, if files have changed
            raise
        checking.result()
    return model


def _check_links(folder: Path) -> None:
    """Refuse links that lead out of the folder: a file of another's choice would be read.

    A cache of the hub is no other place: there, all files of a folder are links into `blobs`.
    """
    here = folder.resolve()
    places = [here]
    if here.parent.name == "snapshots":
        places.append(here.parent.parent / "blobs")
    try:
        links = [path for path in folder.iterdir() if path.is_symlink()]
        for path in links:
            if not any(path.resolve().is_relative_to(place) for place in places):
                raise ModelError(
                    f"{path}: a link that leads out of the folder; copy the file itself"
                )
    except (OSError, RuntimeError) as error:  # the latter: links in a circle
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"{folder}/{CONFIG}: cannot be read: {reason}") from error


def _loaded(folder: Path, files: tuple[str, ...]) -> Model:
    """The model in a folder.

    Args:
        folder: of the model.
        files: that may be read.
    """
    path = folder / WEIGHTS
    for name in (CONFIG, LABELS, WEIGHTS):
        _check_listed(folder, name, files)
    config = read_json(folder / CONFIG, most=MOST_CONFIG)
    if not isinstance(config, dict) or config.get("version") != VERSION:
        raise ModelError(f"{folder}/{CONFIG}: not of version {VERSION} of our layout")
    bytes_of_weights = size_of(path, most=MOST_WEIGHTS)
    try:
        network = checked(NetworkSettings, config.get("network"), where=f"{folder}/{CONFIG}")
        heads = checked(HeadsSettings, config.get("heads"), where=f"{folder}/{CONFIG}")
    except ConfigError as error:
        raise ModelError(str(error)) from error
    reads_words = network.encoder.kind == "words"
    room = _FEW_LABELS + (bytes_of_weights // 2 if reads_words else 0)
    labels = read_json(folder / LABELS, most=min(MOST_LABELS, room))
    try:
        numbers = _numbers(labels, reads_words=reads_words)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ModelError(f"{folder}/{LABELS}: not what was expected: {error!r}") from error
    if not reads_words:
        _check_listed(folder, TOKENIZER, files)
    lost = [name for name in heads.names if name not in numbers.labels]
    if lost:
        raise ModelError(f"{folder}/{LABELS}: there are no labels for the head {lost[0]}")
    stored = _header(path)
    where = f"{folder}/{CONFIG}"
    pretrained = None if reads_words else _outlined(config, folder)
    with _told(where), _without_memory():
        outline = build_network(network, heads, numbers, pretrained)
    _check_fit(outline.state_dict(), stored, path)
    if pretrained is not None:
        transformer = restore_transformer(config["transformer"], folder)
        pretrained = replace(pretrained, transformer=transformer)
    with _told(where):
        model = new_model(network, heads, numbers, pretrained)
    _set_temperatures(model, config.get("temperatures", {}), where=where)
    model.network.load_state_dict(_weights(path))
    model.network.eval()
    return model


def _check_listed(folder: Path, name: str, files: tuple[str, ...]) -> None:
    if name not in files:
        raise ModelError(f"{folder}/{MANIFEST}: {name} is not in this list, and is needed")


def _numbers(data: Any, *, reads_words: bool) -> Numbers:
    """What the numbers of a network stand for, by the file of labels."""
    labels = {name: Labels(_strings(names)) for name, names in data["heads"].items()}
    vocabularies = {}
    for kind in VOCABULARIES:
        if kind in data or (kind != "static" and reads_words):
            items, counts = data[kind]
            if len(items) != len(counts) or not all(type(c) is int and c > 0 for c in counts):
                raise ValueError(f"{kind}: a count above 0 is expected for each")
            vocabularies[kind] = Vocabulary(_strings(items), tuple(counts))
    # Models that do not say what their wrapper is have learned it as a label.
    wrapper = data.get("wrapper")
    if wrapper not in (None, *WRAPPERS):
        raise ValueError(f"wrapper: one of {sorted(WRAPPERS)} is expected, or null")
    is_label = "wrapper" not in data
    return Numbers(labels, **vocabularies, wrapper=wrapper, wrapper_is_label=is_label)


def _strings(data: Any) -> tuple[str, ...]:
    if not isinstance(data, list) or not all(isinstance(item, str) for item in data):
        raise TypeError("a list of strings is expected")
    return tuple(data)


def _outlined(config: Mapping[str, Any], folder: Path) -> Pretrained:
    """The transformer of a model without any numbers in it, and what cuts words for it."""
    with _without_memory():
        transformer = restore_transformer(config.get("transformer"), folder)
    cutter = restore_cutter(config.get("pieces"), folder, transformer)
    return Pretrained(transformer, cutter, dict(config["transformer"]))


@contextmanager
def _without_memory() -> Iterator[None]:
    """Networks that are built here have shapes and no numbers, however large they are."""
    with torch.device("meta"), torch.random.fork_rng(devices=[]):
        yield


@contextmanager
def _told(where: str) -> Iterator[None]:
    """What libraries say of settings that they cannot build from, as an error of ours."""
    try:
        yield
    except FencepostError as error:
        raise ModelError(str(error)) from error
    except BaseException as error:
        if not is_refusal(error):
            raise
        raise ModelError(f"{where}: no network can be built from this: {brief(error)}") from error


def _header(path: Path) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The kind and the shape of each weight in a file, of which nothing else is read."""
    with _readable(path):
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
        if length > MOST_HEADER:
            raise ModelError(
                f"{path}: damaged, or no safetensors file: {length:,} bytes of names and shapes"
            )
        with safe_open(path, "pt") as file:
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
            return {name: (one.get_dtype(), tuple(one.get_shape())) for name, one in slices.items()}


def _weights(path: Path) -> dict[str, Tensor]:
    """The weights in a file, each of them a finite number of 32 bits."""
    weights = {}
    with _readable(path), safe_open(path, "pt") as file:
        for name in file.keys():  # noqa: SIM118
            value = file.get_tensor(name)
            if value.is_floating_point():
                value = value.float()
                if value.numel() and not all(map(isfinite, torch.aminmax(value))):
                    raise ModelError(f"{path}: {name} has numbers that are not finite")
            weights[name] = value
    return weights


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from error
    except SafetensorError as error:
        raise ModelError(f"{path}: damaged, or no safetensors file: {error}") from error


def _check_fit(
    asked: Mapping[str, Tensor], stored: Mapping[str, tuple[str, tuple[int, ...]]], path: Path
) -> None:
    """Refuse weights that are not those of the network, by their names, shapes and kinds."""
    wrong = [f"{name} is missing" for name in asked if name not in stored]
    for name, (kind, shape) in stored.items():
        if name not in asked:
            wrong.append(f"{name[:100]} is too much")
        elif shape != asked[name].shape:
            wrong.append(f"{name} has {shape} and not {tuple(asked[name].shape)}")
        elif asked[name].is_floating_point() and kind not in _FLOATS:
            wrong.append(f"{name} has numbers of the kind {kind}")
    if wrong:
        more = f" and {len(wrong) - 3:,} more" if len(wrong) > 3 else ""
        raise ModelError(
            f"{path}: the weights do not fit the settings: {'; '.join(wrong[:3])}{more}"
        )


def _set_temperatures(model: Model, temperatures: Any, *, where: str) -> None:
    """Set what calibration found; a model that was never calibrated has 1 everywhere."""
    if not isinstance(temperatures, dict):
        raise ModelError(f"{where}: temperatures: not what was expected: {temperatures!r:.100}")
    for name, value in temperatures.items():
        is_right = isinstance(value, float) and _COLDEST <= value <= _HOTTEST
        if name not in model.network.heads or not is_right:
            raise ModelError(
                f"{where}: temperatures: {name} = {value!r:.100}; a number above 0 is right, from "
                f"{_COLDEST} to {_HOTTEST}, for a head that the model has"
            )
        model.network.head(name).temperature = value
