"""Exported models, what Python finds with the same weights, and node to run tests with."""

import functools
import http.server
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from fencepost.batching.arrays import Floats
from fencepost.run.browser.export import Exported, export
from fencepost.run.browser.packing import packed
from fencepost.runtime.onnx import SCALE

WEB = Path(__file__).parents[1]
RUNTIME = WEB / "node_modules/onnxruntime-web"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no node")
needs_runtime = pytest.mark.skipif(
    not RUNTIME.is_dir(), reason="no onnxruntime-web: npm --prefix tests/web ci"
)


def exported(model: str | Path, folder: Path) -> Exported:
    return export(str(model), folder, runtime=RUNTIME, step=lambda _: None)


def unpacked(weights: Mapping[str, Any]) -> dict[str, Floats]:
    """The numbers that packed weights stand for, in 32 bits."""
    return {
        name: np.asarray(weight.astype(np.float32) * weights.get(name + SCALE, np.float32(1)))
        for name, weight in weights.items()
        if not name.endswith(SCALE)
    }


def as_packed(model: Path, folder: Path) -> Path:
    """The same model with the weights that a browser gets."""
    shutil.copytree(model, folder)
    (folder / "manifest.json").unlink()
    path = folder / "weights.safetensors"
    weights = {name: one.astype("float32") for name, one in load_file(path).items()}
    path.unlink()
    save_file(unpacked(packed(weights)), path)
    return folder


def node_test(name: str, cases: Any, folder: Path) -> None:
    """Run tests in JavaScript on cases from here."""
    (folder / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    ended = subprocess.run(
        ["node", "--test", str(WEB / "local" / name)],
        env={**os.environ, "FENCEPOST_CASES": str(folder / "cases.json")},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-2000:]


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A host of files like any other."""

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def hosted(folder: Path) -> Iterator[str]:
    """The address of a host of files, without any header of ours."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
