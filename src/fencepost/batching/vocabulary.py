"""Numbers of labels, and ids of words and characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

PADDING, UNKNOWN, BEGIN, END = range(4)  # the ids before those of words and of characters
RESERVED = 4

FILLER = 0  # the label number of fillers


@dataclass(frozen=True)
class Labels:
    """The labels of a head. Number 0 is the filler's; a head without fillers leaves it unused."""

    names: tuple[str, ...]

    @cached_property
    def _numbers(self) -> dict[str | None, int]:
        return {None: FILLER, **{name: number for number, name in enumerate(self.names, 1)}}

    def __len__(self) -> int:
        return len(self.names) + 1

    def number(self, label: str | None) -> int | None:
        """The number of a label; None if it is not one of these."""
        return self._numbers.get(label)

    def label(self, number: int) -> str | None:
        """The label with a number."""
        return None if number == FILLER else self.names[number - 1]

    @classmethod
    def collect(cls, labels: Iterable[str | None]) -> Labels:
        """Count labels and number them, the most frequent first."""
        counts = Counter(label for label in labels if label is not None)
        return cls(tuple(sorted(counts, key=lambda label: (-counts[label], label))))


@dataclass(frozen=True)
class Vocabulary:
    """Words, or characters, and their counts."""

    items: tuple[str, ...]
    counts: tuple[int, ...]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {item: number for number, item in enumerate(self.items, RESERVED)}

    def __len__(self) -> int:
        return len(self.items) + RESERVED

    def number(self, item: str) -> int:
        """The id of an item; `UNKNOWN` if it is not in the vocabulary."""
        return self._numbers.get(item, UNKNOWN)

    @classmethod
    def collect(cls, items: Iterable[str], *, min_count: int = 1) -> Vocabulary:
        """Collect the items that occur at least `min_count` times, the most frequent first."""
        counts = Counter(items)
        frequent = [item for item, count in counts.items() if count >= min_count]
        frequent.sort(key=lambda item: (-counts[item], item))
        return cls(tuple(frequent), tuple(counts[item] for item in frequent))
