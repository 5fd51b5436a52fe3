"""Write a page that parses in the visitor's own browser, with a model, as a folder of files.

index.html           the page
service-worker.js    keeps the files for use without a network
manifest.json        sizes and SHA-256 of all files
static/              scripts and styles of the page
runtime/             onnxruntime-web
model/               the graphs, weights, labels and tables of a model, and its card
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from safetensors.numpy import save_file

from fencepost.batching.vocabulary import Labels
from fencepost.checkpoints.loading import ModelFolder, open_model
from fencepost.checkpoints.model import CARD, WEIGHTS
from fencepost.checkpoints.shipped import find_model
from fencepost.config import TransformerSettings
from fencepost.drawing.style import STYLE
from fencepost.errors import ConfigError, ModelError
from fencepost.run.browser import POLICY, WORKER, is_page
from fencepost.run.browser.packing import packed
from fencepost.run.browser.runtime import copy_runtime
from fencepost.run.browser.tables import splitter_tables, tokenizer_tables
from fencepost.runtime.bert import BertSizes
from fencepost.runtime.graphs import bert_graph, boundary_graph, lstm_graph
from fencepost.runtime.manifest import MANIFEST, write_manifest
from fencepost.runtime.onnx import Graph
from fencepost.runtime.shapes import network_shapes
from fencepost.runtime.step_graphs import step_graphs
from fencepost.runtime.tokenizer import restore_cutter
from fencepost.runtime.weights import Weights
from fencepost.tasks.labels import NO_LABELS, split
from fencepost.tasks.layers import POINTING
from fencepost.text.splitters import ENGLISH, splitter_of

STATIC = Path(__file__).parents[2] / "web" / "static"
MOST_WORDS = 2_000  # of a sentence, as a parser takes them


@dataclass(frozen=True, slots=True)
class Exported:
    """A folder that was written."""

    folder: Path
    bytes: Mapping[str, int]  # by file


def export(
    model: str, folder: Path, *, runtime: Path | None = None, step: Callable[[str], None]
) -> Exported:
    """Write the page with a model into a folder, whole or not at all.

    Args:
        model: one that ships, or a folder.
        folder: it is made; a page that is there already is replaced.
        runtime: the package onnxruntime-web; None: npm gets it.
        step: is called with what is done next.

    Raises:
        ConfigError: the folder holds something else, or onnxruntime-web is not to be had.
        ModelError: it cannot be loaded, or is of a kind that does not work in a browser.
    """
    source = find_model(model)
    _check_target(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            draft.chmod(0o755)  # a web server has to read it
            for part in ("runtime", "model"):
                (draft / part).mkdir()
            step("Get onnxruntime-web")
            copy_runtime(runtime, draft / "runtime")
            step("Write the model")
            _write_model(source, draft / "model", name=source.name)
            step("Write the page")
            _write_page(draft)
            sizes = _seal(draft)
            _replace(folder, draft)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return Exported(folder, sizes)


def _check_target(folder: Path) -> None:
    """Refuse to replace what is no page of ours."""
    if not os.path.lexists(folder) or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not is_page(folder):
        raise ConfigError(f"{folder}: holds something else; name a new folder")


def _replace(folder: Path, draft: Path) -> None:
    """Put a draft in the place of a folder."""
    if folder.is_dir():
        old = draft.with_name(f"{draft.name}-old")
        os.replace(folder, old)
        os.replace(draft, folder)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.replace(draft, folder)


def _write_model(source: Path, folder: Path, *, name: str) -> None:
    with open_model(source) as model:
        sizes = model.sizes
        if sizes is None or not isinstance(model.network.encoder, TransformerSettings):
            raise ModelError(
                f"{source}: in a browser, only models with a transformer like BERT work"
            )
        if splitter_of(model.network.splitter) is not ENGLISH:
            raise ModelError(
                f"{source}: in a browser, texts are split by the rules for English, not by those "
                f"for {model.network.splitter!r}"
            )
        cutter = restore_cutter(
            model.pieces, model.path, vectors=sizes.vocab_size, window=sizes.window
        )
        tokenizer = tokenizer_tables(cutter.tokenizer, path=source / "tokenizer.json")
        model.weights.check(network_shapes(model.network, model.heads, model.numbers, sizes))
        save_file(packed(model.weights), folder / WEIGHTS)
        (folder / WEIGHTS).chmod(0o644)  # safetensors lets only the owner read
        graphs = _graphs(model, model.network.encoder, sizes, Weights(folder / WEIGHTS))
        for file, graph in graphs.items():
            (folder / file).write_bytes(graph)
        _write_json(folder / "tables.json", {"splitter": splitter_tables(), "tokenizer": tokenizer})
        settings = _settings(model, name=name)
        pieces = ("before", "after", "nothing", "window")
        settings["pieces"] = {part: getattr(cutter, part) for part in pieces}
        settings["pieces"]["which"] = model.network.encoder.pieces
        settings["graphs"] = list(graphs)
        _write_json(folder / "model.json", settings)
        for card in (CARD, "LICENSE.md"):
            if (source / card).is_file():
                shutil.copyfile(source / card, folder / card)


def _graphs(
    model: ModelFolder, encoder: TransformerSettings, sizes: BertSizes, weights: Weights
) -> dict[str, bytes]:
    """The graphs by their files; they name weights that have been packed."""

    def graph() -> Graph:
        return Graph(WEIGHTS, weights.stored)

    network, width = model.network, sizes.hidden_size
    graphs = {"encoder.onnx": bert_graph(graph(), sizes, layers=encoder.layers, case=encoder.case)}
    if network.lstm_layers:
        layers, hidden = network.lstm_layers, network.lstm_hidden
        graphs["lstm.onnx"] = lstm_graph(graph(), width=width, layers=layers, hidden=hidden)
        width = 2 * hidden
    tags = len(model.numbers.labels["tags"]) if "tags" in model.heads.names else 0
    whole = network.boundary == "whole"
    graphs["words.onnx"] = boundary_graph(graph(), width=width, whole=whole, tags=tags)
    for layer in _layers(model):
        parts = step_graphs(weights.stored, f"heads.{layer}.", file=WEIGHTS)
        graphs |= {f"{layer}-{part}.onnx": one for part, one in parts.items()}
    return graphs


def _layers(model: ModelFolder) -> list[str]:
    return [layer for layer in POINTING if layer in model.heads.names]


def _settings(model: ModelFolder, *, name: str) -> dict[str, Any]:
    """What the page has to know of a model."""
    numbers, heads = model.numbers, {}
    for layer in _layers(model):
        labels = numbers.labels[layer]
        heads[layer] = {
            "names": [None, *labels.names],
            "parts": [[], *map(split, labels.names)],
            "openRoot": layer == "entities",
            "bare": labels.number(NO_LABELS),
            "nearestFirst": getattr(model.heads, layer).pointing == "nearest-first",
            "temperature": model.temperatures.get(layer, 1.0),
        }
    return {
        "name": name,
        "tasks": list(model.heads.names),
        "heads": heads,
        "tags": ["", *numbers.labels.get("tags", Labels(())).names],
        "wrapper": numbers.wrapper,
        "maxWords": MOST_WORDS,
    }


def _write_page(folder: Path) -> None:
    """The page itself: that of the server, with another way to find parses."""
    shutil.copytree(STATIC, folder / "static", ignore=shutil.ignore_patterns(WORKER))
    (folder / "static" / "drawing.css").write_text(STYLE, encoding="utf-8")
    index = folder / "static" / "index.html"
    text = index.read_text(encoding="utf-8")
    for pattern, new in (
        (
            r'(?=<meta name="viewport")',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n    ',
        ),
        (r"static/main\.js", "static/local/main.js"),
        (r'<p><a href="docs">[^<]*</a></p>', '<p id="offline"></p>'),
        (r"to ask the server and to draw", "to parse and to draw"),
    ):
        text, count = re.subn(pattern, new, text)
        assert count == 1, pattern
    (folder / "index.html").write_text(text, encoding="utf-8")
    for name in ("index.html", "main.js", "server.js", "docs.html", "docs.js"):
        (folder / "static" / name).unlink()  # of the server


def _seal(folder: Path) -> dict[str, int]:
    """Write the list of files, and the worker that keeps them; the sizes of all files."""
    names = sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )
    write_manifest(folder, names)
    version = hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    worker = (STATIC / "local" / WORKER).read_text(encoding="utf-8")
    for name, value in (("VERSION", version), ("POLICY", POLICY)):
        worker = worker.replace(f'"{name}"', f'"{value}"')
    (folder / WORKER).write_text(worker, encoding="utf-8")
    return {name: (folder / name).stat().st_size for name in (*names, MANIFEST, WORKER)}


def _write_json(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, ensure_ascii=False, allow_nan=False), encoding="utf-8")
