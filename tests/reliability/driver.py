"""Runs commands and functions in children of one process that has everything loaded already.

Each would else take seconds to begin. A child can be disturbed: it runs out of room, gets a signal,
reads from a pipe that stays open, writes to one that nobody reads. And it may crash.

    python -m tests.reliability.driver MODEL

Each line of its input is a job, and each line of its output tells what came of one.
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import termios
import time
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
LOADED = (
    *("fencepost.cli.app", "fencepost.run.analysis.report", "fencepost.run.analysis.page"),
    *("fencepost.run.audit", "fencepost.run.convert", "fencepost.run.corpus.run"),
    *("fencepost.run.draw", "fencepost.run.inspection", "fencepost.run.parse"),
    *("fencepost.run.score", "fencepost.run.trace", "fencepost.run.training.train"),
    *("pytest", "tests.reliability.loading", "tests.tiny"),
)
OF_EXTRAS = ("matplotlib.backends.backend_svg", "matplotlib.figure", "spacy.tokens")


class Ended(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str
    seconds: float
    mebibytes: float  # that it had in use at most, with all that was loaded before


class Driver:
    """Runs commands and functions in children of a process."""

    def __init__(self, model: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.reliability.driver", str(model)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )

    def run(
        self,
        folder: Path,
        *arguments: object,
        call: str = "",
        fed: str = "",
        stdout: str = "",
        closed: bool = False,
        bound: int = 0,
        limit: int = 0,
        signal: int = 0,
        after: float = 0.0,
        most: float = 30.0,
    ) -> Ended:
        """Run a command.

        Args:
            folder: where it runs.
            arguments: of the command, or of the function.
            call: a function, as in `tests.module:name`; what it returns is written as JSON.
            fed: a file there that becomes a pipe, of what was in it, which is never closed.
            stdout: the file that it writes to; without it, what is written is returned.
            closed: whether nobody reads what it writes.
            bound: bytes that a line may have that is read; without it, as many as always.
            limit: bytes that any file may have.
            signal: that it gets.
            after: so many seconds; of what is fed, after all of it was read.
            most: seconds, after which it is ended.
        """
        job = {
            "folder": str(folder),
            "arguments": list(map(str, arguments)),
            "call": call,
            "fed": fed,
            "stdout": stdout,
            "closed": closed,
            "bound": bound,
            "limit": limit,
            "signal": int(signal),
            "after": after,
            "most": most,
        }
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return Ended(**json.loads(self.process.stdout.readline()))

    def call(self, function: str, *arguments: object, most: float = 120.0) -> Any:
        """What a function returns."""
        ended = self.run(ROOT, *arguments, call=function, most=most)
        assert ended.status == 0, ended.err[-2000:]
        return json.loads(ended.out)

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        assert self.process.wait(20) == 0
        self.process.stdout.close()


def _serve(model: str) -> None:
    """Do the jobs on standard input."""
    import torch

    from fencepost.parser.parser import load

    torch.set_num_threads(1)
    for name in LOADED:
        import_module(name)
    for name in OF_EXTRAS:
        with suppress(ModuleNotFoundError):
            import_module(name)
    load(model, threads=1).parse("a b")  # what is loaded only when it is needed is loaded now
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_done(json.loads(line))._asdict()) + "\n")
        sys.stdout.flush()


def _done(job: dict[str, Any]) -> Ended:
    (out_read, out), (err_read, err) = os.pipe(), os.pipe()
    for end in (out, err):
        fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, 1 << 20)
    if job["closed"]:
        os.close(out_read)
    pipe = _fed(Path(job["folder"], job["fed"])) if job["fed"] else None
    started = time.monotonic()
    number = os.fork()
    if not number:
        if pipe is not None:
            os.close(pipe)
        _child(job, out, err)
    os.close(out)
    os.close(err)
    told, is_sent, begun = "", not job["signal"], started
    while True:
        ended, code, used = os.wait4(number, os.WNOHANG)
        now = time.monotonic()
        if ended:
            break
        if pipe is not None and _waiting(pipe):
            begun = now
        if not is_sent and now - begun > job["after"]:
            os.kill(number, job["signal"])
            is_sent = True
        if now - started > job["most"]:
            os.kill(number, signal.SIGKILL)
            told = "took too long"
        time.sleep(0.002)
    if pipe is not None:
        os.close(pipe)
    return Ended(
        status=os.waitstatus_to_exitcode(code),
        out="" if job["closed"] else _text(out_read),
        err=told + _text(err_read),
        seconds=now - started,
        mebibytes=used.ru_maxrss / 1024,
    )


def _fed(path: Path) -> int:
    """Make a pipe of a file; as long as the end that is returned is open, there may come more."""
    data = path.read_bytes()
    path.unlink()
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR)
    os.write(pipe, data)
    return pipe


def _waiting(pipe: int) -> bool:
    """Whether there is something in a pipe that was not read yet."""
    size = fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4)
    return int.from_bytes(size, sys.byteorder) > 0


def _text(end: int) -> str:
    with open(end, "rb") as file:
        return file.read().decode("utf-8", "replace")


def _child(job: dict[str, Any], out: int, err: int) -> None:
    """Do a job, and leave."""
    os.chdir(job["folder"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(job["stdout"], os.O_WRONLY) if job["stdout"] else out, 1)
    os.dup2(err, 2)
    if job["bound"]:
        for name in ("files", "ptb"):
            vars(import_module(f"fencepost.formats.{name}"))["MOST_BYTES"] = job["bound"]
    if job["limit"]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (job["limit"], job["limit"]))
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, closefd=False) for number, mode in enumerate("rww")
    )
    status: Any = 0
    try:
        if job["call"]:
            _call(job["call"], job["arguments"], out)
        else:
            sys.argv = ["fencepost", *job["arguments"]]
            import_module("fencepost.cli").main()
    except SystemExit as left:
        status = left.code or 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        status = 120
    os._exit(status)


def _call(name: str, arguments: list[str], out: int) -> None:
    """Write what a function returns; what libraries print meanwhile goes to standard error."""
    os.dup2(2, 1)
    warnings.simplefilter("error")
    module, _, function = name.partition(":")
    found = getattr(import_module(module), function)(*arguments)
    with open(out, "w", encoding="utf-8") as file:
        json.dump(found, file)


if __name__ == "__main__":
    _serve(sys.argv[1])
