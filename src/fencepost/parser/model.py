"""A network with what its numbers stand for, and the folder that it is kept in.

    config.json          the network's settings, its transformer's, the version of this layout
    labels.json          the labels of each head, and the words and characters if it reads these
    weights.safetensors  the weights
    tokenizer.json       the tokenizer, if the encoder is a transformer
    README.md            the model card

Nothing in it is code, and nothing of it is ever unpickled.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from fencepost.batching.inputs import Reader
from fencepost.batching.vocabulary import Labels, Vocabulary
from fencepost.build import Numbers, build_network, build_pretrained, build_reader
from fencepost.config import HeadsSettings, NetworkSettings, checked
from fencepost.errors import ConfigError, ModelError
from fencepost.model.network import Network
from fencepost.model.pretrained import (
    Pretrained,
    plain_pieces,
    restore_pretrained,
    save_tokenizer,
)

VERSION = 1

_VOCABULARIES = ("words", "characters", "static")  # of a network that reads words


@dataclass(frozen=True, slots=True)
class Model:
    """A network, its settings and what its numbers stand for."""

    network: Network
    read: Reader
    numbers: Numbers
    network_settings: NetworkSettings
    heads: HeadsSettings
    pretrained: Pretrained | None = None  # the transformer in the network, with its tokenizer


def new_model(
    network: NetworkSettings,
    heads: HeadsSettings,
    numbers: Numbers,
    pretrained: Pretrained | None = None,
) -> Model:
    """A model with random weights, but for those of a pretrained transformer.

    Args:
        network: settings of the encoder.
        heads: settings of the heads.
        numbers: what the network's numbers stand for.
        pretrained: the transformer; None: the one that the settings name, if they name one.
    """
    pretrained = pretrained or build_pretrained(network)
    return Model(
        build_network(network, heads, numbers, pretrained),
        build_reader(network, numbers, pretrained),
        numbers,
        network,
        heads,
        pretrained,
    )


def save_model(model: Model, folder: Path, *, card: str = "", half: bool = False) -> None:
    """Write a model into a folder, each file whole or not at all; the weights last.

    Args:
        model: its network, settings, labels and tokenizer.
        folder: it is made if it is not there.
        card: the model card.
        half: whether weights are rounded to 16 bits; in memory they have 32 again.

    Raises:
        ConfigError: the network has been rounded for parsing; nothing is written.
    """
    weights = {
        name: (value.half() if half and value.is_floating_point() else value).contiguous()
        for name, value in model.network.state_dict().items()
    }
    folder.mkdir(parents=True, exist_ok=True)
    network = model.network_settings.model_dump()
    if (
        "model" in network["encoder"]
    ):  # a folder is one of this machine, and means nothing elsewhere
        source = Path(network["encoder"]["model"])
        network["encoder"]["model"] = source.name if source.is_dir() else str(source)
    config: dict[str, Any] = {
        "version": VERSION,
        "network": network,
        "heads": model.heads.model_dump(exclude_none=True),
        "temperatures": {name: head.temperature for name, head in model.network.named_heads()},
    }
    numbers = model.numbers
    labels: dict[str, Any] = {
        "heads": {name: labels.names for name, labels in numbers.labels.items()}
    }
    for kind in _VOCABULARIES:
        items: Vocabulary | None = getattr(numbers, kind)
        if items is not None:
            labels[kind] = [items.items, items.counts]
    if model.pretrained is not None:
        config["transformer"] = dict(model.pretrained.config)
        config["pieces"] = plain_pieces(model.pretrained.cutter)
        save_tokenizer(model.pretrained.cutter, folder)
    _write_json(folder / "config.json", config)
    _write_json(folder / "labels.json", labels)
    (folder / "README.md").write_text(card or "# A fencepost model\n", encoding="utf-8")
    temporary = folder / ".weights.safetensors"
    save_file(weights, temporary)
    shutil.copymode(folder / "config.json", temporary)  # safetensors lets only the owner read
    os.replace(temporary, folder / "weights.safetensors")


def _write_json(path: Path, data: Any) -> None:
    temporary = path.with_name(f".{path.name}")
    temporary.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
    os.replace(temporary, path)


def load_model(folder: Path) -> Model:
    """The model in a folder.

    Raises:
        ModelError: it is not there, not one of ours, or not whole; the message says which.
    """
    config, labels = (_read_json(folder / name) for name in ("config.json", "labels.json"))
    if not isinstance(config, dict) or config.get("version") != VERSION:
        raise ModelError(f"{folder}/config.json: not of version {VERSION} of our layout")
    try:
        network = checked(NetworkSettings, config.get("network"), where=f"{folder}/config.json")
        heads = checked(HeadsSettings, config.get("heads"), where=f"{folder}/config.json")
        numbers = Numbers(
            {name: Labels(tuple(names)) for name, names in labels["heads"].items()},
            **{
                kind: Vocabulary(*map(tuple, labels[kind]))
                for kind in _VOCABULARIES
                if kind in labels or (kind != "static" and network.encoder.kind == "words")
            },
        )
        pretrained = None
        if network.encoder.kind == "transformer":
            pretrained = restore_pretrained(config.get("transformer"), config.get("pieces"), folder)
        model = new_model(network, heads, numbers, pretrained)
        _set_temperatures(model, config.get("temperatures", {}), where=f"{folder}/config.json")
    except ConfigError as error:
        raise ModelError(str(error)) from error
    except (KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{folder}/labels.json: not what was expected: {error!r}") from error
    path = folder / "weights.safetensors"
    try:
        model.network.load_state_dict(load_file(path))
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from error
    except SafetensorError as error:
        raise ModelError(f"{path}: damaged, or no safetensors file: {error}") from error
    except RuntimeError as error:
        raise ModelError(f"{path}: the weights do not fit the settings: {error}") from error
    model.network.eval()
    return model


def _set_temperatures(model: Model, temperatures: Any, *, where: str) -> None:
    """Set what calibration found; a model that was never calibrated has 1 everywhere."""
    for name, value in temperatures.items():
        if name not in model.network.heads or not isinstance(value, float) or not value > 0:
            raise ModelError(
                f"{where}: temperatures: {name} = {value!r}; a number above 0 is right"
            )
        model.network.head(name).temperature = value


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: no JSON: {error}") from error
