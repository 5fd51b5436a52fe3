"""Servers to be treated badly, each in a process of its own, and ways to ask them.

All of them are children of one process that has everything loaded already, since each would else
take seconds to begin.
"""

import json
import multiprocessing
import os
import re
import socket
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import torch

from fencepost.checkpoints.loading import load_model
from fencepost.parser.options import CheckedOptions
from fencepost.parser.parser import Parser
from fencepost.parser.predict import Done
from fencepost.structure import Document
from fencepost.web.app import make_app
from fencepost.web.server import address_of, listen, serve
from fencepost.web.settings import Settings

PATIENCE = 60  # seconds, for machines that have much else to do

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__])


class Slow(Parser):
    """A parser whose worker takes its time for each batch, as with a very long text."""

    seconds = 0.0

    def stream(
        self,
        xs: Iterable[Any],
        options: CheckedOptions,
        *,
        done: Done | None = None,
        **others: Any,
    ) -> Iterator[Document]:
        with ThreadPoolExecutor(1) as worker:
            worker.submit(time.sleep, self.seconds).result()
        return super().stream(xs, options, done=done, **others)


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    address: str
    process: ForkServerProcess
    said: Path

    @property
    def number(self) -> int:
        """Of its process."""
        assert self.process.pid is not None
        return self.process.pid

    def send(self, signal: int) -> None:
        os.kill(self.number, signal)

    def ended(self) -> tuple[int | None, str]:
        """The status that it has left with, and all that it has said."""
        self.process.join(PATIENCE)
        return self.process.exitcode, self.said.read_text()


@contextmanager
def running(
    model: Path, *, port: int = 0, slow: float = 0.0, **settings: float
) -> Iterator[Server]:
    """A server, as long as the context is there.

    Args:
        model: its folder, since to make one takes longer than to load it.
        port: where it listens; 0: anywhere.
        slow: seconds that each batch takes.
        settings: its limits.
    """
    here, there = _CONTEXT.Pipe(duplex=False)
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder) / "said"
        limits: dict[str, Any] = settings
        process = _CONTEXT.Process(
            target=_serve, args=(model, Settings(**limits), port, slow, said, there)
        )
        process.start()
        try:
            assert here.poll(PATIENCE), said.read_text()
            yield Server(here.recv(), process, said)
        finally:
            process.kill()
            process.join()


def _serve(
    model: Path, settings: Settings, port: int, slow: float, said: Path, listens: Connection
) -> None:
    """Serve, over sockets that keep little of an answer that nobody reads."""
    with said.open("wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    torch.set_num_threads(1)
    Slow.seconds = slow
    app = make_app(Slow(load_model(model)), settings)
    with listen("127.0.0.1", port) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
        listens.send(address_of(listening, "127.0.0.1"))
        serve(app, listening, closing=settings.closing)


def until(is_so: Callable[[], bool], *, seconds: float = PATIENCE) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def asked(url: str, body: Any, **headers: str) -> tuple[int, Any]:
    """The status and the answer."""
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers}
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def health(address: str) -> Any:
    with urllib.request.urlopen(f"{address}/health", timeout=PATIENCE) as response:
        return json.load(response)


def words_begun(address: str, **headers: str) -> float:
    """How many words the server has begun to parse; it tells also while it does."""
    request = urllib.request.Request(f"{address}/metrics", headers=headers)
    with urllib.request.urlopen(request, timeout=PATIENCE) as response:
        found = re.search(r"^fencepost_words_total (\S+)$", response.read().decode(), re.MULTILINE)
    assert found
    return float(found[1])


def waiting(address: str, requests: int) -> None:
    """Wait until the server parses one request, and so many others wait for it."""
    until(lambda: words_begun(address) > 0 and health(address)["waiting"] == requests)
