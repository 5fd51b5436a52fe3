"""The page that parses in the browser as a way in: damaged models to export, and texts to parse."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from fencepost.checkpoints.model import save_model
from fencepost.errors import FencepostError
from fencepost.run.browser import export as module
from fencepost.run.browser.export import export
from fencepost.structure import Document
from fencepost.text import split_text
from tests.models import transformer_model
from tests.reliability.routes import Route, Violation, check_document
from tests.reliability.strategies import hostile_text
from tests.tiny import tiny_transformer
from tests.web.local.helpers import WEB, exported

TOGETHER = 50  # texts of one process of node
LONGEST = 2_000  # characters of a text: no more words than a page takes
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**40,
    0.5,
    "",
    "<script>",
    "\x00",
    [],
    {},
    [[]],
    "../../x",
    "S+NP",
)


def browser_routes(folder: Path) -> list[Route]:
    """Those of damaged models and of texts; needs node and onnxruntime-web."""
    model, page = folder / "own", folder / "page"
    save_model(transformer_model(tiny_transformer(folder / "transformer")), model)
    exported(model, page)
    return [
        Route("export-web, a model", lambda random: _damage(model, random), _Exporting(folder)),
        Route("the page, texts", _texts, lambda texts: _parse(page, texts)),
    ]


def _damage(model: Path, random: Random) -> tuple[str, bytes]:
    """A file of a model, and what it holds instead."""
    path = random.choice(sorted(path for path in model.iterdir() if path.is_file()))
    data = path.read_bytes()
    if path.suffix == ".json" and random.random() < 0.7:
        plain = json.loads(data)
        _change(plain, random)
        return path.name, json.dumps(plain).encode()
    place, length = random.randrange(len(data) + 1), random.randrange(40)
    return path.name, data[:place] + random.randbytes(random.randrange(4)) + data[place + length :]


def _change(plain: Any, random: Random) -> None:
    """Put another value somewhere into plain data."""
    keys = list(plain) if isinstance(plain, dict) else list(range(len(plain)))
    if not keys:
        return
    key = random.choice(keys)
    if isinstance(plain[key], dict | list) and random.random() < 0.8:
        _change(plain[key], random)
    else:
        plain[key] = random.choice(VALUES)


class _Exporting:
    """Exports a damaged model."""

    def __init__(self, folder: Path) -> None:
        self.model, self.source, self.page = folder / "own", folder / "damaged", folder / "new page"
        self.index = (folder / "page" / "index.html").read_bytes()

    def __call__(self, damage: tuple[str, bytes]) -> Sequence[str]:
        name, data = damage
        for old in (self.source, self.page):
            shutil.rmtree(old, ignore_errors=True)
        shutil.copytree(self.model, self.source)
        (self.source / "manifest.json").unlink()  # which would tell of any damage
        (self.source / name).write_bytes(data)
        try:
            # The same two files every time: they are no part of what is damaged.
            with patch.object(module, "copy_runtime"):
                export(str(self.source), self.page, step=lambda _: None)
        except FencepostError as error:
            _hold(bool(str(error)), "an error without a message")
            _hold(not list(self.page.parent.glob("*new page*")), "something is left behind")
            return ["refused"]
        files = json.loads((self.page / "manifest.json").read_text())["files"]
        for file, listed in files.items():
            digest = hashlib.sha256((self.page / file).read_bytes()).hexdigest()
            _hold(digest == listed["sha256"], f"{file}: another checksum")
        _hold((self.page / "index.html").read_bytes() == self.index, "another page")
        return ["valid"]


def _texts(random: Random) -> list[str]:
    return [hostile_text(random)[:LONGEST] for _ in range(TOGETHER)]


def _parse(page: Path, texts: list[str]) -> Sequence[str]:
    """What the parser of a page finds in texts, under node."""
    cases = page.parent / "cases.json"
    cases.write_text(json.dumps({"folder": str(page), "texts": texts}))
    ended = subprocess.run(
        ["node", str(WEB / "local" / "texts.mjs")],
        env={**os.environ, "FENCEPOST_CASES": str(cases)},
        capture_output=True,
        text=True,
        check=False,
    )
    _hold(ended.returncode == 0, ended.stderr[-2000:])
    documents = [
        Document.from_dict({"version": 1, "status": "ok", **one})
        for one in json.loads(ended.stdout)
    ]
    for text, document in zip(texts, documents, strict=True):
        check_document(document, text)
        words = [sentence.words for sentence in split_text(text)]
        _hold([parse.words for parse in document.sentences] == words, f"other words: {text!r}")
    return ["valid"] * len(texts)


def _hold(promise: bool, otherwise: str) -> None:
    if not promise:
        raise Violation(otherwise)
