"""Batches of sentences of similar length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heapify, heapreplace
from random import Random
from typing import TypeVar

import numpy as np

from fencepost.batching.arrays import Ints
from fencepost.batching.examples import Example
from fencepost.batching.steps import Steps

T = TypeVar("T")


def by_words(lengths: Sequence[int], *, most: int) -> list[list[int]]:
    """Group sentences of similar length into batches of at most `most` words, with padding.

    A longer sentence is a batch by itself.

    Returns:
        The indices of the sentences of each batch.
    """
    return _packed(sorted(range(len(lengths)), key=lengths.__getitem__), lengths, most=most)


def _packed(order: Iterable[int], lengths: Sequence[int], *, most: int) -> list[list[int]]:
    """Fill batches with indices in this order."""
    batches: list[list[int]] = []
    longest = 0
    for index in order:
        longest = max(longest, lengths[index])
        if not batches or (len(batches[-1]) + 1) * longest > most:
            batches.append([])
            longest = lengths[index]
        batches[-1].append(index)
    return batches


def in_groups(items: Iterable[T], size: Callable[[T], int], *, most: int) -> Iterator[list[T]]:
    """Neighbours together, of at most this size altogether; a larger one is a group by itself."""
    group: list[T] = []
    total = 0
    for item in items:
        if group and total + size(item) > most:
            yield group
            group, total = [], 0
        group.append(item)
        total += size(item)
    if group:
        yield group


def shuffled(
    examples: Sequence[T], lengths: Sequence[int], *, most: int, seed: int
) -> list[list[T]]:
    """Random batches of sentences of similar length, in random order.

    Sorting is by lengths with a little noise, so that each seed gives other batches.
    """
    random = Random(seed)
    noisy = [round(length * random.uniform(0.95, 1.05) * 16) for length in lengths]
    order = sorted(range(len(examples)), key=lambda index: (noisy[index], random.random()))
    batches = _packed(order, lengths, most=most)
    random.shuffle(batches)
    return [[examples[index] for index in batch] for batch in batches]


def shares(lengths: Sequence[int], parts: int) -> list[list[int]]:
    """Divide sentences into parts with about as many words each, as sorted lists of indices.

    Two parts differ by at most the length of the longest sentence. With fewer sentences than
    parts, some parts are empty.

    >>> shares([5, 9, 4], 2)
    [[1], [0, 2]]
    """
    indices: list[list[int]] = [[] for _ in range(parts)]
    heap = [(0, 0, part) for part in range(parts)]  # (words, sentences, part): the least first
    heapify(heap)
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        words, sentences, part = heap[0]
        heapreplace(heap, (words + lengths[index], sentences + 1, part))
        indices[part].append(index)
    return [sorted(part) for part in indices]


def gold_steps(examples: Sequence[Example], layer: str) -> tuple[list[int], Steps]:
    """The rows of the examples that have a layer, and their gold steps."""
    rows = [row for row, example in enumerate(examples) if layer in example.steps]
    return rows, Steps.of([examples[row].steps[layer] for row in rows])


def padded(rows: Iterable[Sequence[int]], *, value: int = 0) -> Ints:
    """Pad rows of numbers to one array: (rows, longest)."""
    rows = list(rows)
    longest = max(map(len, rows), default=0)
    filled = [[*row, *([value] * (longest - len(row)))] for row in rows]
    return np.array(filled, dtype=np.intp).reshape(len(rows), longest)
