"""Models, and the layout of their folders.

    config.json          the network's settings, its transformer's, the width of its beam, the
                         temperatures of its heads, the version of this layout
    labels.json          the labels of each head, and the words and characters if it reads these
    weights.safetensors  the weights
    tokenizer.json       the tokenizer, if the encoder is a transformer
    encoder.onnx         the encoder as a graph, whose weights are those of weights.safetensors
    lstm.onnx            the layers of LSTM above a transformer, if there are any
    tree-start.onnx      with -point and -label, and for entities too: the steps of a head as
                         graphs, if `save_model` has `with_steps`; see `runtime.step_graphs`
    manifest.json        the sizes and checksums of all these
    README.md            the model card, for people, who may edit it
    LICENSE.md           the licence of the weights, if one is known

Nothing in it is code. `loading.py` loads it. The graphs are for other programs: fencepost runs
graphs that it builds from the settings itself, since anybody may have made the folder.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save_file

from fencepost.batching.inputs import Reader
from fencepost.batching.numbers import Numbers
from fencepost.batching.pieces import Cutter
from fencepost.batching.vocabulary import Vocabulary
from fencepost.config import (
    HeadsSettings,
    NetworkSettings,
    SearchSettings,
)
from fencepost.decoding.constraints import RowLimits
from fencepost.decoding.network import Network
from fencepost.decoding.rules import Rules
from fencepost.errors import ModelError
from fencepost.runtime.bert import BertSizes
from fencepost.runtime.kinds import encoder_graphs
from fencepost.runtime.manifest import MANIFEST, write_manifest
from fencepost.runtime.step_graphs import PARTS, step_graphs
from fencepost.runtime.tokenizer import TOKENIZER, plain_pieces
from fencepost.runtime.weights import Weights
from fencepost.tasks.labels import NO_LABELS
from fencepost.tasks.layers import POINTING
from fencepost.text.splitters import Splitter, splitter_of

VERSION = 1
CONFIG, LABELS, WEIGHTS = "config.json", "labels.json", "weights.safetensors"
CARD, LICENCE = "README.md", "LICENSE.md"
STEP_GRAPHS = tuple(f"{layer}-{part}.onnx" for layer in POINTING for part in PARTS)
GRAPHS = ("encoder.onnx", "lstm.onnx", *STEP_GRAPHS)
FILES = (TOKENIZER, CONFIG, LABELS, WEIGHTS, *GRAPHS)  # in the order of replacement

VOCABULARIES = ("words", "characters", "static")  # of encoders that read words
_DRAFT = ".saving"


@dataclass(frozen=True)
class Model:
    """A network with its settings, labels and vocabularies."""

    network: Network
    read: Reader
    numbers: Numbers
    network_settings: NetworkSettings
    heads: HeadsSettings
    cutter: Cutter | None = None  # of a transformer
    transformer: Mapping[str, Any] | None = None  # settings of the transformer
    search: SearchSettings = field(default_factory=SearchSettings)  # the defaults of options

    @property
    def splitter(self) -> Splitter:
        """The rules that split text into sentences and words."""
        return splitter_of(self.network_settings.splitter)

    def rules(
        self, layer: str, *, canonical: bool = True, limits: RowLimits | None = None
    ) -> Rules:
        """The rules of search in a layer."""
        return Rules(
            self.open_root(layer),
            bare=self.numbers.labels[layer].number(NO_LABELS),
            nearest_first=getattr(self.heads, layer).pointing == "nearest-first",
            canonical=canonical,
            limits=limits,
            temperature=self.network.temperature(layer),
        )

    @staticmethod
    def open_root(layer: str) -> bool:
        """Whether the whole sentence may be a filler, as in the layer of entities."""
        return layer == "entities"


def save_model(
    model: Model,
    folder: Path,
    *,
    card: str = "",
    licence: bytes | None = None,
    half: bool = False,
    with_steps: bool = False,
) -> None:
    """Save a model to a folder; files there are replaced once all new ones are written.

    Args:
        model: the model to save.
        folder: the folder; it is created if it does not exist.
        card: the model card.
        licence: the text of `LICENSE.md`; None: none is written.
        half: round weights to 16 bits; they have 32 again in memory.
        with_steps: also write the steps of pointing heads as graphs, for programs in other
            languages.

    Raises:
        ConfigError: the network is rounded to bf16; nothing is written.
        ModelError: a file cannot be written; the model that was there before is intact.
    """
    dtype = np.float16 if half else np.float32
    weights = {
        name: np.asarray(value, dtype=dtype, order="C")
        for name, value in model.network.weights().items()
    }
    draft = folder / _DRAFT
    try:
        shutil.rmtree(draft, ignore_errors=True)  # of a run that was killed
        draft.mkdir(parents=True)
        if model.cutter is not None:
            model.cutter.tokenizer.save(str(draft / TOKENIZER), pretty=False)
        _write_json(draft / CONFIG, _config(model))
        _write_json(draft / LABELS, _labels(model.numbers))
        (draft / CARD).write_text(card or "# A fencepost model\n", encoding="utf-8")
        if licence is not None:
            (draft / LICENCE).write_bytes(licence)
        save_file(weights, draft / WEIGHTS)
        shutil.copymode(draft / CONFIG, draft / WEIGHTS)  # safetensors makes them private
        for name, graph in _graphs(model, draft / WEIGHTS, with_steps=with_steps).items():
            (draft / name).write_bytes(graph)
        written = [name for name in FILES if (draft / name).exists()]
        write_manifest(draft, written)
        for name in (CARD, *([LICENCE] if licence is not None else []), *written, MANIFEST):
            os.replace(draft / name, folder / name)
        for name in set(GRAPHS) - set(written):  # left from an earlier model
            (folder / name).unlink(missing_ok=True)
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(
            f"{folder}: the model cannot be written ({reason}); what was there is as before"
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _config(model: Model) -> dict[str, Any]:
    """The content of `config.json`."""
    network = model.network_settings.model_dump()
    if "model" in network["encoder"]:  # paths of this machine mean nothing on another
        source = Path(network["encoder"]["model"])
        network["encoder"]["model"] = source.name if source.is_dir() else str(source)
    config: dict[str, Any] = {
        "version": VERSION,
        "network": network,
        "heads": model.heads.model_dump(exclude_none=True),
        "search": model.search.model_dump(),
        "temperatures": {layer: model.network.temperature(layer) for layer in model.network.layers},
    }
    if model.cutter is not None and model.transformer is not None:
        config["transformer"] = dict(model.transformer)
        config["pieces"] = plain_pieces(model.cutter)
    return config


def _labels(numbers: Numbers) -> dict[str, Any]:
    """The content of `labels.json`."""
    labels: dict[str, Any] = {
        "heads": {name: labels.names for name, labels in numbers.labels.items()}
    }
    if not numbers.wrapper_is_label:
        labels["wrapper"] = numbers.wrapper
    for kind in VOCABULARIES:
        items: Vocabulary | None = getattr(numbers, kind)
        if items is not None:
            labels[kind] = [items.items, items.counts]
    return labels


def _graphs(model: Model, path: Path, *, with_steps: bool) -> dict[str, bytes]:
    """The graphs of a model by file name; for transformers, only those that are built like BERT."""
    weights, sizes = Weights(path), BertSizes.of(model.transformer)
    graphs = {}
    if sizes is not None or model.transformer is None:
        graphs = encoder_graphs(
            model.network_settings, model.numbers, sizes, weights, file=path.name
        )
    if with_steps:
        for layer in model.network.layers:
            parts = step_graphs(weights.stored, f"heads.{layer}.", file=path.name)
            graphs |= {f"{layer}-{part}.onnx": graph for part, graph in parts.items()}
    return graphs


def _write_json(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
