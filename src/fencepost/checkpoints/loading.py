"""Loading of models from folders that anybody may have made.

Nothing in a folder is run or unpickled, nothing outside of it is read, and sizes and shapes are
checked before anything large is allocated.
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
    LICENCE,
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

# Maximal bytes. Vocabularies have rows of weights, so a large labels.json needs large weights.
MOST_CONFIG, MOST_LABELS, MOST_CARD = 2**22, 2**26, 2**22
_MOST_LABELS_WITHOUT_ROWS = 2**20

_COLDEST, _HOTTEST = 1e-3, 1e3  # beyond these, probabilities would not be finite

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The content of a model's folder; of the weights, only names and shapes are read."""

    path: Path
    network: NetworkSettings
    heads: HeadsSettings
    search: SearchSettings
    numbers: Numbers
    transformer: Mapping[str, Any] | None  # its settings; None: the encoder reads words
    pieces: Any  # unchecked settings of the tokenizer's special pieces
    temperatures: Mapping[str, float]
    weights: Weights

    @property
    def sizes(self) -> BertSizes | None:
        """The sizes of a transformer that is built like BERT; None: there is no such."""
        return None if self.transformer is None else BertSizes.of(self.transformer)


def load_model(
    folder: Path,
    *,
    backend: Backend = "auto",
    device: str = "cpu",
    precision: Precision = "fp32",
    threads: int | None = None,
) -> Model:
    """Load the model in a folder, to parse with.

    Args:
        folder: the folder of the model.
        backend: runs the encoder; `auto`: onnxruntime if it can.
        device: `cpu`, or one of torch's devices.
        precision: the precision of the encoder.
        threads: CPU threads; None: one for each processor that this process may use.

    Raises:
        ModelError: the folder does not exist, holds no model or is damaged; the message says which.
        ConfigError: this model cannot run with these arguments here.
    """
    for name, value, kind in (("backend", backend, Backend), ("precision", precision, Precision)):
        if value not in get_args(kind):
            names = ", ".join(get_args(kind))
            raise ConfigError(f"{name}: {value!r} is unknown; known: {names}")
    if backend == "torch" and precision == "int8":
        raise ConfigError('precision: int8 needs backend = "onnx"; use bf16 with torch')
    target = Target(device, precision, threads_of(threads))
    with open_model(folder) as model:
        obstacles = ['backend = "torch"'] if backend == "torch" else []
        for name, runtime in RUNTIMES.items():
            if backend in ("auto", name):
                obstacle = runtime.obstacle(model, target)
                if obstacle is None:
                    return runtime.load(model, target)
                obstacles.append(obstacle)
        if backend == "onnx":
            obstacles.append('needs backend = "torch"')
        raise ConfigError(": ".join(obstacles))


class Target(NamedTuple):
    """The hardware and precision to run a model with."""

    device: str
    precision: Precision
    threads: int


class Runtime(NamedTuple):
    """A library that runs networks."""

    obstacle: Callable[[ModelFolder, Target], str | None]  # None: it can run the model
    load: Callable[[ModelFolder, Target], Model]


def _onnx_obstacle(folder: ModelFolder, target: Target) -> str | None:
    if target.device != "cpu":
        return f"device {target.device!r}"
    if target.precision == "bf16":
        return "precision bf16"
    if folder.transformer is None or folder.sizes is not None:
        return None
    kind = folder.transformer.get("model_type")
    return f"{folder.path}: a transformer of the kind {clipped(repr(kind))}"


def _torch_obstacle(folder: ModelFolder, target: Target) -> str | None:
    is_installed = find_spec("torch") is not None and find_spec("transformers") is not None
    return None if is_installed else "needs torch: pip install 'fencepost[train]'"


def _torch_model(folder: ModelFolder, target: Target) -> Model:
    from fencepost.checkpoints.trainable import parsing_model

    return parsing_model(folder, **target._asdict())


def _onnx_model(folder: ModelFolder, target: Target) -> Model:
    """A model that runs in onnxruntime and numpy."""
    network, heads, numbers, sizes = folder.network, folder.heads, folder.numbers, folder.sizes
    cutter = (
        None
        if sizes is None
        else restore_cutter(
            folder.pieces, folder.path, vectors=sizes.vocab_size, window=sizes.window
        )
    )
    try:
        folder.weights.check(network_shapes(network, heads, numbers, sizes))
    except ConfigError as error:
        raise ModelError(str(error)) from error
    encoder = encoder_of(
        network,
        numbers,
        sizes,
        folder.weights,
        precision=target.precision,
        threads=target.threads,
    )
    return Model(
        RuntimeNetwork(
            encoder,
            folder.weights,
            temperatures={
                layer: folder.temperatures.get(layer, 1.0)
                for layer in POINTING
                if layer in heads.names
            },
            whole=network.boundary == "whole",
        ),
        reader_of(network, numbers, cutter),
        numbers,
        network,
        heads,
        cutter,
        folder.transformer,
        folder.search,
    )


RUNTIMES = {  # `auto` takes the first that can run the model
    "onnx": Runtime(_onnx_obstacle, _onnx_model),
    "torch": Runtime(_torch_obstacle, _torch_model),
}


@contextmanager
def open_model(folder: Path) -> Iterator[ModelFolder]:
    """Read a model's folder; its checksums are compared in a thread until the block ends.

    Raises:
        ModelError: the folder does not exist, holds no model or is damaged; the message says which.
    """
    _check_links(folder)
    listed = read_manifest(folder, known=FILES)
    if listed is None:
        _log.info("%s: there is no %s, so its files were not compared with it", folder, MANIFEST)
        yield _read_folder(folder, FILES)
        return
    check_sizes(folder, listed)
    with ThreadPoolExecutor(1) as pool:
        checking = pool.submit(check_contents, folder, listed)
        try:
            yield _read_folder(folder, tuple(listed))
        except ModelError:
            checking.result()  # a changed file is the better explanation
            raise
        checking.result()


def _check_links(folder: Path) -> None:
    """Refuse links that lead out of the folder: they may point to any file of the machine.

    In the hub's cache, all files of a folder are links into `blobs`, which is allowed.
    """
    resolved = folder.resolve()
    allowed = [resolved]
    if resolved.parent.name == "snapshots":
        allowed.append(resolved.parent.parent / "blobs")
    path = folder / CONFIG
    try:
        for path in [entry for entry in folder.iterdir() if entry.is_symlink()]:
            if not any(path.resolve().is_relative_to(place) for place in allowed):
                raise ModelError(
                    f"{path}: a link that leads out of the folder; copy the file itself"
                )
    except (OSError, RuntimeError) as error:  # the latter: a cycle of links
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"{path}: cannot be read: {reason}") from error


def read_card(folder: Path) -> str:
    """The text of a model card; empty if there is none.

    Raises:
        ModelError: it is no plain file, or too large.
    """
    card = folder / CARD
    if not os.path.lexists(card):
        return ""
    return read_bytes(card, most=MOST_CARD).decode(errors="replace")


def read_licence(folder: Path) -> bytes | None:
    """The text of the licence of a model's weights; None if there is none.

    Raises:
        ModelError: it is too large.
    """
    path = folder / LICENCE
    return read_bytes(path, most=MOST_CARD) if path.is_file() else None


def _read_config(folder: Path) -> dict[str, Any]:
    config = read_json(folder / CONFIG, most=MOST_CONFIG)
    if not isinstance(config, dict) or config.get("version") != VERSION:
        raise ModelError(f"{folder}/{CONFIG}: not of version {VERSION} of our layout")
    return config


def _read_folder(folder: Path, files: tuple[str, ...]) -> ModelFolder:
    """Read and check all but the weights.

    Args:
        folder: the folder of the model.
        files: the files that may be read.
    """
    for name in (CONFIG, LABELS, WEIGHTS):
        _check_listed(folder, name, files)
    config = _read_config(folder)
    weights_size = size_of(folder / WEIGHTS, most=MOST_WEIGHTS)
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
    most = _MOST_LABELS_WITHOUT_ROWS + (weights_size // 2 if kind.vocabularies else 0)
    labels = read_json(folder / LABELS, most=min(MOST_LABELS, most))
    try:
        numbers = _numbers(labels, kind)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ModelError(f"{folder}/{LABELS}: not what was expected: {error!r}") from error
    if kind.has_pieces:
        _check_listed(folder, TOKENIZER, files)
    missing = [name for name in heads.names if name not in numbers.labels]
    if missing:
        raise ModelError(f"{folder}/{LABELS}: there are no labels for the head {missing[0]}")
    transformer = config.get("transformer") if kind.has_pieces else None
    if kind.has_pieces and not isinstance(transformer, dict):
        raise ModelError(
            f"{folder}/{CONFIG}: transformer: not what was expected: {clipped(repr(transformer))}"
        )
    return ModelFolder(
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
    # Models from before 0.2 have no such entry: they predict the wrapper like other labels.
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
    """Check the temperatures; a head without one has 1."""
    if not isinstance(data, dict):
        raise ModelError(f"{where}: temperatures: not what was expected: {clipped(repr(data))}")
    for name, value in data.items():
        is_temperature = isinstance(value, float) and _COLDEST <= value <= _HOTTEST
        if name not in POINTING or name not in heads.names or not is_temperature:
            raise ModelError(
                f"{where}: temperatures: {name} = {clipped(repr(value))}; a number above 0 is "
                f"right, from {_COLDEST} to {_HOTTEST}, for a head that the model has"
            )
    return data
