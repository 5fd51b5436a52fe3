"""A model from a folder, which is refused if it does not fit together.

Whoever made the folder, nothing in it is run or unpickled, nothing outside of it is read, and
sizes and shapes are compared before anything large is made of them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from fencepost.batching.numbers import Numbers
from fencepost.batching.vocabulary import Labels, Vocabulary
from fencepost.checkpoints.model import (
    CARD,
    CONFIG,
    FILES,
    LABELS,
    VERSION,
    VOCABULARIES,
    WEIGHTS,
    Model,
)
from fencepost.config import HeadsSettings, NetworkSettings, SearchSettings, checked
from fencepost.errors import ConfigError, ModelError, clipped
from fencepost.runtime.bert import BertSizes
from fencepost.runtime.kinds import EncoderKind, kind_of, reader_of
from fencepost.runtime.manifest import (
    MANIFEST,
    check_contents,
    check_sizes,
    read_bytes,
    read_json,
    read_manifest,
    size_of,
)
from fencepost.runtime.network import RuntimeNetwork, encoder_of
from fencepost.runtime.shapes import network_shapes
from fencepost.runtime.threads import threads_of
from fencepost.runtime.tokenizer import TOKENIZER, restore_cutter
from fencepost.runtime.weights import MOST_WEIGHTS, Weights
from fencepost.structure.tree import WRAPPERS
from fencepost.tasks.layers import POINTING
from fencepost.text.splitters import splitter_of

Backend = Literal["auto", "onnx", "torch"]
Precision = Literal["fp32", "bf16", "int8"]

# Bytes that are read at most. Labels have rows of weights: with many, weights are larger.
MOST_CONFIG, MOST_LABELS, MOST_CARD = 2**22, 2**26, 2**22
_FEW_LABELS = 2**20

_COLDEST, _HOTTEST = 1e-3, 1e3  # beyond these, probabilities would not be finite

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Described:
    """A model as its folder describes it; of its weights, names and shapes are known."""

    folder: Path
    network: NetworkSettings
    heads: HeadsSettings
    search: SearchSettings
    numbers: Numbers
    transformer: Mapping[str, Any] | None  # its settings; None: the encoder reads words
    pieces: Any  # what the folder says of them
    temperatures: Mapping[str, float]
    weights: Weights

    @property
    def sizes(self) -> BertSizes | None:
        """The sizes of a transformer that is built like BERT; None: there is none, or another."""
        return None if self.transformer is None else BertSizes.of(self.transformer)


def load_model(
    folder: Path,
    *,
    backend: Backend = "auto",
    device: str = "cpu",
    precision: Precision = "fp32",
    threads: int | None = None,
) -> Model:
    """The model in a folder, to parse with.

    Args:
        folder: of the model.
        backend: what computes the encoder; `auto`: onnxruntime if it can.
        device: `cpu`, or one of torch's.
        precision: of the encoder's numbers.
        threads: None: one for each processor that this process may use.

    Raises:
        ModelError: it is not there, not one of ours, or not whole; the message says which.
        ConfigError: this model cannot be computed in this way here.
    """
    for name, value, known in (("backend", backend, Backend), ("precision", precision, Precision)):
        if value not in get_args(known):
            names = ", ".join(get_args(known))
            raise ConfigError(f"{name}: {value!r} is unknown; known: {names}")
    if backend == "torch" and precision == "int8":
        raise ConfigError('precision: int8 needs backend = "onnx"; use bf16 with torch')
    wanted = Wanted(device, precision, threads_of(threads))
    with described(folder) as found:
        obstacles = ['backend = "torch"'] if backend == "torch" else []
        for name, runtime in RUNTIMES.items():
            if backend in ("auto", name):
                obstacle = runtime.obstacle(found, wanted)
                if obstacle is None:
                    return runtime.load(found, wanted)
                obstacles.append(obstacle)
        if backend == "onnx":
            obstacles.append('needs backend = "torch"')
        raise ConfigError(": ".join(obstacles))


class Wanted(NamedTuple):
    """How a model is to be computed."""

    device: str
    precision: Precision
    threads: int


class Runtime(NamedTuple):
    """Something that computes networks."""

    obstacle: Callable[[Described, Wanted], str | None]  # why it cannot compute a model; None: can
    load: Callable[[Described, Wanted], Model]


def _onnx_obstacle(found: Described, wanted: Wanted) -> str | None:
    if wanted.device != "cpu":
        return f"device {wanted.device!r}"
    if wanted.precision == "bf16":
        return "precision bf16"
    if found.transformer is None or found.sizes is not None:
        return None
    kind = found.transformer.get("model_type")
    return f"{found.folder}: a transformer of the kind {clipped(repr(kind))}"


def _torch_obstacle(found: Described, wanted: Wanted) -> str | None:
    there = find_spec("torch") is not None and find_spec("transformers") is not None
    return None if there else "needs torch: pip install 'fencepost[train]'"


def _torch_model(found: Described, wanted: Wanted) -> Model:
    from fencepost.checkpoints.trainable import parsing_model

    return parsing_model(found, **wanted._asdict())


def _onnx_model(found: Described, wanted: Wanted) -> Model:
    """A model that onnxruntime and numpy compute."""
    cutter, sizes = None, found.sizes
    if sizes is not None:
        cutter = restore_cutter(
            found.pieces, found.folder, vectors=sizes.vocab_size, window=sizes.window
        )
    try:
        shapes = network_shapes(found.network, found.heads, found.numbers, sizes)
    except ConfigError as error:
        raise ModelError(str(error)) from error
    found.weights.check(shapes)
    settings = (found.network, found.numbers, sizes, found.weights)
    network = RuntimeNetwork(
        encoder_of(*settings, precision=wanted.precision, threads=wanted.threads),
        found.weights,
        temperatures={
            layer: found.temperatures.get(layer, 1.0)
            for layer in POINTING
            if layer in found.heads.names
        },
        whole=found.network.boundary == "whole",
    )
    return Model(
        network,
        reader_of(found.network, found.numbers, cutter),
        found.numbers,
        found.network,
        found.heads,
        cutter,
        found.transformer,
        found.search,
    )


RUNTIMES = {  # `auto` takes the first that can compute a model
    "onnx": Runtime(_onnx_obstacle, _onnx_model),
    "torch": Runtime(_torch_obstacle, _torch_model),
}


@contextmanager
def described(folder: Path) -> Iterator[Described]:
    """A model as its folder describes it; the bytes of its files are checked meanwhile.

    Raises:
        ModelError: it is not there, not one of ours, or not whole; the message says which.
    """
    _check_links(folder)
    listed = read_manifest(folder, known=FILES)
    if listed is None:
        _log.info("%s: there is no %s, so its files were not compared with it", folder, MANIFEST)
        yield _described(folder, FILES)
        return
    check_sizes(folder, listed)
    with ThreadPoolExecutor(1) as pool:
        checking = pool.submit(check_contents, folder, listed)  # while the network is built
        try:
            yield _described(folder, tuple(listed))
        except ModelError:
            checking.result()  # which says better what is wrong, if files have changed
            raise
        checking.result()


def _check_links(folder: Path) -> None:
    """Refuse links that lead out of the folder: a file of another's choice would be read.

    A cache of the hub is no other place: there, all files of a folder are links into `blobs`.
    """
    here = folder.resolve()
    places = [here]
    if here.parent.name == "snapshots":
        places.append(here.parent.parent / "blobs")
    at = folder / CONFIG
    try:
        for at in [path for path in folder.iterdir() if path.is_symlink()]:
            if not any(at.resolve().is_relative_to(place) for place in places):
                raise ModelError(f"{at}: a link that leads out of the folder; copy the file itself")
    except (OSError, RuntimeError) as error:  # the latter: links in a circle
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"{at}: cannot be read: {reason}") from error


def read_card(folder: Path) -> str:
    """The text of a model card; empty if there is none.

    Raises:
        ModelError: it is no plain file, or too large.
    """
    card = folder / CARD
    if not os.path.lexists(card):
        return ""
    return read_bytes(card, most=MOST_CARD).decode(errors="replace")


def _read_config(folder: Path) -> dict[str, Any]:
    config = read_json(folder / CONFIG, most=MOST_CONFIG)
    if not isinstance(config, dict) or config.get("version") != VERSION:
        raise ModelError(f"{folder}/{CONFIG}: not of version {VERSION} of our layout")
    return config


def _described(folder: Path, files: tuple[str, ...]) -> Described:
    """A model as its folder describes it.

    Args:
        folder: of the model.
        files: that may be read.
    """
    for name in (CONFIG, LABELS, WEIGHTS):
        _check_listed(folder, name, files)
    config = _read_config(folder)
    bytes_of_weights = size_of(folder / WEIGHTS, most=MOST_WEIGHTS)
    try:
        network = checked(NetworkSettings, config.get("network"), where=f"{folder}/{CONFIG}")
        heads = checked(HeadsSettings, config.get("heads"), where=f"{folder}/{CONFIG}")
        splitter_of(network.splitter)
        search = checked(
            SearchSettings, config.get("search", {}), where=f"{folder}/{CONFIG}: search"
        )
    except ConfigError as error:
        raise ModelError(str(error)) from error
    kind = kind_of(network)
    room = _FEW_LABELS + (bytes_of_weights // 2 if kind.vocabularies else 0)
    labels = read_json(folder / LABELS, most=min(MOST_LABELS, room))
    try:
        numbers = _numbers(labels, kind)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ModelError(f"{folder}/{LABELS}: not what was expected: {error!r}") from error
    if kind.has_pieces:
        _check_listed(folder, TOKENIZER, files)
    lost = [name for name in heads.names if name not in numbers.labels]
    if lost:
        raise ModelError(f"{folder}/{LABELS}: there are no labels for the head {lost[0]}")
    transformer = config.get("transformer") if kind.has_pieces else None
    if kind.has_pieces and not isinstance(transformer, dict):
        raise ModelError(
            f"{folder}/{CONFIG}: transformer: not what was expected: {clipped(repr(transformer))}"
        )
    return Described(
        folder,
        network,
        heads,
        search,
        numbers,
        transformer,
        config.get("pieces"),
        _temperatures(config.get("temperatures", {}), heads, where=f"{folder}/{CONFIG}"),
        Weights(folder / WEIGHTS),
    )


def _check_listed(folder: Path, name: str, files: tuple[str, ...]) -> None:
    if name not in files:
        raise ModelError(f"{folder}/{MANIFEST}: {name} is not in this list, and is needed")


def _numbers(data: Any, encoder: EncoderKind) -> Numbers:
    """The labels and vocabularies in `labels.json`."""
    labels = {name: Labels(_strings(names)) for name, names in data["heads"].items()}
    vocabularies = {}
    for kind in VOCABULARIES:
        if kind in data or kind in encoder.vocabularies:
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


def _temperatures(data: Any, heads: HeadsSettings, *, where: str) -> Mapping[str, float]:
    """The temperatures; a model that was never calibrated has 1 everywhere."""
    if not isinstance(data, dict):
        raise ModelError(f"{where}: temperatures: not what was expected: {clipped(repr(data))}")
    for name, value in data.items():
        is_right = isinstance(value, float) and _COLDEST <= value <= _HOTTEST
        if name not in POINTING or name not in heads.names or not is_right:
            raise ModelError(
                f"{where}: temperatures: {name} = {clipped(repr(value))}; a number above 0 is "
                f"right, from {_COLDEST} to {_HOTTEST}, for a head that the model has"
            )
    return data
