"""A bar on standard error while something takes its time, if a person is looking at it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

    from fencepost.run.progress import Watch, Watched
    from fencepost.run.texts import Texts
    from fencepost.training.loop import TrainingStep

T = TypeVar("T")

_EVERY = 200  # sentences between two looks at how far it is
_PARTS = 10_000  # of an epoch
_MINUTE = 60.0  # without a line, where no bar is seen


def watcher(quiet: bool) -> Watch:
    """A function that goes through files and shows how far it is."""
    from fencepost.run.progress import unwatched

    return unwatched if _unseen(quiet) else _watch


def _unseen(quiet: bool) -> bool:
    return quiet or not sys.stderr.isatty()


def _watch(items: Watched[T], /) -> Iterator[T]:
    from rich.progress import DownloadColumn

    with _bar(DownloadColumn()) as progress:
        task = progress.add_task(items.place[0], total=items.bytes_total or None)
        for number, item in enumerate(items):
            if number % _EVERY == 0:
                progress.update(task, completed=items.bytes_read, description=items.place[0])
            yield item


def _bar(*columns: ProgressColumn, period: float = 30.0) -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        *columns,
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,  # which may be a file, and would end up on the terminal
        speed_estimate_period=period,
    )


@contextmanager
def counting(what: str, total: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A function to be told how many words more are done."""
    if _unseen(quiet):
        yield lambda _: None
        return
    with _bar() as progress:
        task = progress.add_task(what, total=total)
        yield lambda words: progress.advance(task, words)


@contextmanager
def parsing(texts: Texts, *, quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """A function to be told how many words of some texts are parsed; None if nobody looks."""
    if _unseen(quiet) or not texts.bytes_total:
        yield None
        return
    done = 0
    with _bar() as progress:
        task = progress.add_task("parsing", total=texts.bytes_total or None)

        def show(words: int) -> None:
            nonlocal done
            done += words
            share = done / max(1, texts.words_read)  # reading runs ahead of parsing
            progress.update(
                task,
                completed=texts.bytes_read * share,
                description=f"{texts.place[0]} {done:,} words",
            )

        yield show


@contextmanager
def corpus(total: int, *, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A function to be told how many words and bytes of a corpus are done; None if nobody looks.

    Args:
        total: bytes of the corpus; 0 if that is not known.
        quiet: whether nothing is shown.
    """
    if _unseen(quiet):
        yield None
        return
    from rich.progress import DownloadColumn

    started = time.monotonic()
    with _bar(DownloadColumn(), period=300.0) as progress:
        task = progress.add_task("reading the model", total=total or None)

        def show(words: int, size: int) -> None:
            speed = words / max(time.monotonic() - started, 1e-9)
            told = f"{words:,} words, {speed:,.0f} words/s"
            progress.update(task, completed=size, description=told)

        yield show


class TrainingBar:
    """Shows how far training is, and when all of it will be done.

    Args:
        epochs: of each run.
        runs: how many there are, one after the other.
        quiet: whether it shows nothing.

    Where standard error is no terminal, it prints a line after each minute without one.
    """

    def __init__(self, epochs: int, *, runs: int = 1, quiet: bool) -> None:
        self.epochs = epochs
        self.runs = runs
        self.quiet = quiet
        self.run = 0  # the one under way
        self.words = 0
        self.seconds = 0.0
        # Long enough to have a few epochs with their dev sentences in the estimate.
        self.progress = None if _unseen(quiet) else _bar(period=1800.0)
        self._printed = time.monotonic()
        self._first: tuple[float, float] | None = None  # a time, and the epochs done by then

    def show(self, step: TrainingStep) -> None:
        """Show a step."""
        if self.quiet:
            return
        self.words += step.words
        self.seconds += step.seconds
        epochs = self.run * self.epochs + step.epoch + step.batch / step.batches
        if self.progress is None:
            self._print_a_line(step, epochs)
            return
        completed = round(epochs * _PARTS)
        told = (
            f"epoch {step.epoch + 1}, batch {step.batch} of {step.batches}, loss {step.loss:.3f}, "
            f"{self.words / max(self.seconds, 1e-9):,.0f} words/s"
        )
        if not self.progress.tasks:  # a resumed run starts where it was, not at zero
            self.progress.add_task(
                told, total=self.runs * self.epochs * _PARTS, completed=completed
            )
        self.progress.start()
        self.progress.update(self.progress.tasks[0].id, completed=completed, description=told)

    def _print_a_line(self, step: TrainingStep, epochs: float) -> None:
        """Print how far it is, if nothing was printed for a minute."""
        now = time.monotonic()
        if self._first is None:  # a resumed run starts where it was
            self._first = now, epochs
            return
        if now - self._printed < _MINUTE:
            return
        started, before = self._first
        total = self.runs * self.epochs
        left = (now - started) * (total - epochs) / max(epochs - before, 1e-9)
        hours, minutes = divmod(round(left / 60), 60)
        speed = f"{self.words / max(self.seconds, 1e-9):,.0f} words/s"
        self.print(
            f"epoch {step.epoch + 1} of {self.epochs}: {step.batch / step.batches:.0%} done, "
            f"loss {step.loss:.3f}, {speed}; {epochs / total:.0%} of all, "
            f"{hours}:{minutes:02} hours left",
            note=True,
        )

    def print(self, text: str, *, note: bool = False) -> None:
        """Print a line where the bar was; the next step brings it back."""
        self.stop()
        self._printed = time.monotonic()
        print(text, file=sys.stderr if note else sys.stdout, flush=True)

    def stop(self) -> None:
        """Take the bar away."""
        if self.progress is not None:
            self.progress.stop()
