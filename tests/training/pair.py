"""Two processes that train together, as a launcher starts them: with the processor, by gloo."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import SystemRandom

ROOT = Path(__file__).parents[2]
SECONDS = 300  # after which a test has hung: on a busy machine, some take a minute


def free_port() -> int:
    """A port that nobody listens on, nor is given to anybody who asks for any."""
    while True:
        port = SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as found, suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port


def started(*arguments: Sequence[object]) -> list[subprocess.Popen[str]]:
    """Processes of Python that are to find each other, each with its arguments."""
    shared = {
        "WORLD_SIZE": str(len(arguments)),
        "LOCAL_WORLD_SIZE": str(len(arguments)),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "OMP_WAIT_POLICY": "PASSIVE",
    }
    return [
        subprocess.Popen(
            [sys.executable, *map(str, own)],
            env={**os.environ, **shared, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank, own in enumerate(arguments)
    ]


def ended(processes: Sequence[subprocess.Popen[str]]) -> list[tuple[int, str, str]]:
    """Status, output and errors of each; one that hangs is killed, and its status says so."""
    until = time.monotonic() + SECONDS
    found = []
    for process in processes:
        try:
            told = process.communicate(timeout=max(1.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            told = process.communicate()
        found.append((process.returncode, *told))
    return found


def run_pair(*arguments: object) -> list[tuple[int, str, str]]:
    """Status, output and errors of two processes with the same arguments."""
    return ended(started(arguments, arguments))
