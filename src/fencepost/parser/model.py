"""A network with what its numbers stand for, and the folder that it is kept in.

    config.json          the network's settings, its transformer's, the version of this layout
    labels.json          the labels of each head, and the words and characters if it reads these
    weights.safetensors  the weights
    tokenizer.json       the tokenizer, if the encoder is a transformer
    manifest.json        the sizes and checksums of all these
    README.md            the model card, which is for people, and may be changed

Nothing in it is code. What `load_model` makes of it is in `loading.py`.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import save_file

from fencepost.batching.inputs import Reader
from fencepost.batching.vocabulary import Vocabulary
from fencepost.build import Numbers, build_network, build_pretrained, build_reader
from fencepost.config import HeadsSettings, NetworkSettings
from fencepost.decoding.constraints import RowLimits
from fencepost.decoding.rules import Rules
from fencepost.decoding.stepper import Stepper
from fencepost.errors import ModelError
from fencepost.model.manifest import MANIFEST, write_manifest
from fencepost.model.network import Network
from fencepost.model.pretrained import TOKENIZER, Pretrained, plain_pieces, save_tokenizer
from fencepost.model.stepper import stepper_of

VERSION = 1
CONFIG, LABELS, WEIGHTS = "config.json", "labels.json", "weights.safetensors"
FILES = (TOKENIZER, CONFIG, LABELS, WEIGHTS)  # in the order in which they are replaced

VOCABULARIES = ("words", "characters", "static")  # of a network that reads words
_DRAFT = ".saving"


@dataclass(frozen=True, slots=True)
class Model:
    """A network, its settings and what its numbers stand for."""

    network: Network
    read: Reader
    numbers: Numbers
    network_settings: NetworkSettings
    heads: HeadsSettings
    pretrained: Pretrained | None = None  # the transformer in the network, with its tokenizer

    def stepper(self, layer: str) -> Stepper[Any]:
        """Scores the steps of a layer."""
        return stepper_of(self.network.head(layer))

    def rules(
        self, layer: str, *, canonical: bool = True, limits: RowLimits | None = None
    ) -> Rules:
        """The rules for the steps of a layer."""
        head = self.network.head(layer)
        return Rules(
            head.open_root,
            bare=head.bare,
            nearest_first=head.nearest_first,
            canonical=canonical,
            limits=limits,
            temperature=head.temperature,
        )


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
    """Write a model into a folder; nothing there is replaced before all is written.

    Args:
        model: its network, settings, labels and tokenizer.
        folder: it is made if it is not there.
        card: the model card.
        half: whether weights are rounded to 16 bits; in memory they have 32 again.

    Raises:
        ConfigError: the network has been rounded for parsing; nothing is written.
        ModelError: it cannot be written; what was there before is intact.
    """
    weights = {
        name: (value.half() if half and value.is_floating_point() else value).contiguous()
        for name, value in model.network.state_dict().items()
    }
    network = model.network_settings.model_dump()
    if "model" in network["encoder"]:  # a folder of this machine means nothing on another
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
    if not numbers.wrapper_is_label:
        labels["wrapper"] = numbers.wrapper
    for kind in VOCABULARIES:
        items: Vocabulary | None = getattr(numbers, kind)
        if items is not None:
            labels[kind] = [items.items, items.counts]
    if model.pretrained is not None:
        config["transformer"] = dict(model.pretrained.config)
        config["pieces"] = plain_pieces(model.pretrained.cutter)
    draft = folder / _DRAFT
    try:
        shutil.rmtree(draft, ignore_errors=True)  # of a run that was killed
        draft.mkdir(parents=True)
        if model.pretrained is not None:
            save_tokenizer(model.pretrained.cutter, draft)
        _write_json(draft / CONFIG, config)
        _write_json(draft / LABELS, labels)
        (draft / "README.md").write_text(card or "# A fencepost model\n", encoding="utf-8")
        save_file(weights, draft / WEIGHTS)
        shutil.copymode(draft / CONFIG, draft / WEIGHTS)  # safetensors lets only the owner read
        written = [name for name in FILES if (draft / name).exists()]
        write_manifest(draft, written)
        for name in ("README.md", *written, MANIFEST):
            os.replace(draft / name, folder / name)
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(
            f"{folder}: the model cannot be written ({reason}); what was there is as before"
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _write_json(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
