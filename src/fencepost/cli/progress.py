"""A bar on standard error while files are read, if a person is looking at it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fencepost.formats import Reading
    from fencepost.structure import Parse

_EVERY = 200  # sentences between two looks at how far it is


def watcher(quiet: bool) -> Callable[[Reading], Iterable[Parse]]:
    """A function that goes through a reading and shows how far it is."""
    return iter if quiet or not sys.stderr.isatty() else _watch


def _watch(reading: Reading) -> Iterator[Parse]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        task = progress.add_task(reading.place[0], total=reading.bytes_total or None)
        for number, parse in enumerate(reading):
            if number % _EVERY == 0:
                progress.update(task, completed=reading.bytes_read, description=reading.place[0])
            yield parse
