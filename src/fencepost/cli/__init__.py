"""The command line: options in, text out. What it does is in `fencepost.run`."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from fencepost.errors import ConfigError, FencepostError


def main() -> None:
    """Run `fencepost`; an error of the user's is printed as text and ends it with status 2."""
    try:
        _check_streams()
        with _interruptible():
            _run()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
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


def _check_streams() -> None:
    """Refuse a closed standard output, and discard messages if standard error is closed.

    The next file that is opened would take the number of a closed stream, and its output with it.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (open to the end)
    if sys.stdout is None:
        raise ConfigError(
            f"standard output is closed; to discard the output, write to {os.devnull}"
        )


def _run() -> None:
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
    app(prog_name="fencepost")


@contextmanager
def _interruptible() -> Iterator[None]:
    """Whatever comes of Ctrl-C is a `KeyboardInterrupt` in the end.

    A module that is interrupted while it is loaded may pass over that and fail later, in a way of
    its own; and what interrupts a destructor would be printed and forgotten.
    """
    interrupts: list[int] = []
    timers: list[threading.Timer] = []
    told = sys.unraisablehook

    def interrupt(number: int, _: object) -> NoReturn:
        interrupts.append(number)
        raise KeyboardInterrupt

    def again(unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_type is KeyboardInterrupt:  # once more, when the destructor is left
            timers.append(threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)))
            timers[-1].start()
        else:
            told(unraisable)

    # Who starts a command in the background may have chosen that Ctrl-C does not reach it.
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not is_usual or threading.current_thread() is not threading.main_thread():
        yield
        return
    try:
        sys.unraisablehook = again
        signal.signal(signal.SIGINT, interrupt)
        yield
    except Exception:
        if interrupts:
            raise KeyboardInterrupt from None
        raise
    finally:
        for timer in timers:
            timer.cancel()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = told


def _end(number: int, _: object) -> NoReturn:
    """Leave with the status of a process that a signal ended."""
    sys.exit(128 + number)
