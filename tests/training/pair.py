"""Two processes that train together, as a launcher starts them: with the processor, by gloo.

They are copies of one that has loaded all that they need, which takes longer than most tests.
"""

import os
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from random import SystemRandom
from tempfile import NamedTemporaryFile
from typing import IO

SECONDS = 300  # after which a test has hung: on a busy machine, some take a minute

forking = get_context("forkserver")
forking.set_forkserver_preload(
    [
        *("fencepost.cli.app", "fencepost.run.training.seeds", "fencepost.run.training.train"),
        *("accelerate.commands.launch", "torch.distributed.run", "torch._dynamo"),
        *("matplotlib.figure", "matplotlib.backends.backend_agg"),
    ]
)

Function = Callable[..., object]


@dataclass(frozen=True, slots=True)
class Started:
    """A process, and the files with what it prints."""

    process: ForkServerProcess
    output: IO[str]
    errors: IO[str]

    def ended(self, seconds: float = SECONDS) -> tuple[int | None, str, str]:
        """Status, output and errors; one that hangs is killed, and its status says so."""
        self.process.join(seconds)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        with self.output, self.errors:
            return self.process.exitcode, self.output.read(), self.errors.read()


def start(function: Function, *arguments: object, **environment: str) -> Started:
    """A process that calls a function, which has to be one that can be imported."""
    output = NamedTemporaryFile("r")  # noqa: SIM115  (closed when the process has ended)
    errors = NamedTemporaryFile("r")  # noqa: SIM115
    process = forking.Process(
        target=_call,
        args=(function, arguments, environment, (output.name, errors.name)),
        daemon=True,  # so that it does not outlive a test that fails
    )
    process.start()
    return Started(process, output, errors)


def _call(
    function: Function,
    arguments: Sequence[object],
    environment: Mapping[str, str],
    files: Sequence[str],
) -> None:
    os.environ.update(environment)
    for stream, name in zip((sys.stdout, sys.stderr), files, strict=True):
        with open(name, "w") as file:
            os.dup2(file.fileno(), stream.fileno())
    function(*arguments)


def started(function: Function, *arguments: Sequence[object]) -> list[Started]:
    """Processes that are to find each other, each of which calls a function with its arguments."""
    shared = {
        "WORLD_SIZE": str(len(arguments)),
        "LOCAL_WORLD_SIZE": str(len(arguments)),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
    }
    return [
        start(function, *own, **shared, RANK=str(rank), LOCAL_RANK=str(rank))
        for rank, own in enumerate(arguments)
    ]


def free_port() -> int:
    """A port that nobody listens on, nor is given to anybody who asks for any."""
    while True:
        port = SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as found, suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port


def ended(processes: Sequence[Started]) -> list[tuple[int | None, str, str]]:
    """Status, output and errors of each."""
    until = time.monotonic() + SECONDS
    return [process.ended(max(1.0, until - time.monotonic())) for process in processes]


def run_pair(function: Function, *arguments: object) -> list[tuple[int | None, str, str]]:
    """Status, output and errors of two processes that do the same."""
    return ended(started(function, arguments, arguments))


def fencepost(*arguments: object) -> None:
    """What the command does."""
    from fencepost.cli import main

    sys.argv = ["fencepost", *map(str, arguments)]
    main()


def accelerate_launch(*arguments: object) -> None:
    """What the command of accelerate does; those that it starts are no copies."""
    from accelerate.commands.launch import main

    sys.argv = ["accelerate launch", *map(str, arguments)]
    main()
