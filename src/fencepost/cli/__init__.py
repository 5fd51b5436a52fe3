"""The command line: options in, text out. What it does is in `fencepost.run`."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from typing import NoReturn

from fencepost.errors import FencepostError


def main() -> None:
    """Run `fencepost`; an error of the user's is printed as text and ends it with status 2."""
    # Threads that spin while they wait make a busy machine many times slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # Whoever is told to end still takes away the files that are half written. `serve` has its own
    # way to end, and sets it when it begins to listen.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _end)
    from fencepost.cli.app import app

    # Half a character that a file held, or a terminal without ∅, is no reason to stop printing.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="fencepost")
    except FencepostError as error:
        print(f"fencepost: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.filename is not None:  # then it is none of the streams
            raise
        print(f"fencepost: cannot be written: {error.strerror}", file=sys.stderr)
        # What is left in the buffer cannot be written either, and would be tried again at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(2)


def _end(number: int, _: object) -> NoReturn:
    """Leave with the status of a process that a signal ended."""
    sys.exit(128 + number)
