"""How a job lets somebody watch how far it is, without knowing who or how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

T = TypeVar("T")
Item = TypeVar("Item", covariant=True)


class Watched(Protocol[Item]):
    """Something that is gone through once, and knows how far it is."""

    @property
    def place(self) -> tuple[str, int]:
        """File and line of what came last."""

    @property
    def bytes_read(self) -> int:
        """How far the files have been read."""

    @property
    def bytes_total(self) -> int:
        """How large they are; 0 if that is not known."""

    def __iter__(self) -> Iterator[Item]: ...


class Watch(Protocol):
    """Goes through something, and shows how far it is."""

    def __call__(self, items: Watched[T], /) -> Iterable[T]:
        """Go through it."""


def unwatched(items: Watched[T], /) -> Iterable[T]:
    """Go through something that nobody watches."""
    return items
