"""A bar on standard error while files are read, if a person is looking at it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from fencepost.run.watching import Watch, Watched

T = TypeVar("T")

_EVERY = 200  # sentences between two looks at how far it is


def watcher(quiet: bool) -> Watch:
    """A function that goes through files and shows how far it is."""
    from fencepost.run.watching import unwatched

    return unwatched if quiet or not sys.stderr.isatty() else _watch


def _watch(items: Watched[T], /) -> Iterator[T]:
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
        task = progress.add_task(items.place[0], total=items.bytes_total or None)
        for number, item in enumerate(items):
            if number % _EVERY == 0:
                progress.update(task, completed=items.bytes_read, description=items.place[0])
            yield item
