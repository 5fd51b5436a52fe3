"""Batches of similar length, and their tensors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heapreplace
from random import Random
from typing import TypeVar

import numpy as np

from fencepost.batching.arrays import Ints
from fencepost.batching.examples import Example
from fencepost.batching.steps import Steps

T = TypeVar("T")


def by_words(lengths: Sequence[int], *, most: int) -> list[list[int]]:
    """Batches as lists of indices: of similar length, and of at most so many words with padding.

    A sentence that is longer than that is a batch by itself.
    """
    order = sorted(range(len(lengths)), key=lambda index: lengths[index])
    batches: list[list[int]] = []
    current: list[int] = []
    for index in order:
        if current and (len(current) + 1) * lengths[index] > most:
            batches.append(current)
            current = []
        current.append(index)
    if current:
        batches.append(current)
    return batches


def shuffled(
    examples: Sequence[T], lengths: Sequence[int], *, most: int, seed: int
) -> list[list[T]]:
    """Batches in random order, put together anew for each seed.

    Lengths are blurred a little before sorting, so that sentences meet others each time.
    """
    random = Random(seed)
    blurred = [round(length * random.uniform(0.95, 1.05) * 16) for length in lengths]
    order = sorted(range(len(examples)), key=lambda index: (blurred[index], random.random()))
    batches: list[list[T]] = []
    current: list[T] = []
    longest = 0
    for index in order:
        longest_then = max(longest, lengths[index])
        if current and (len(current) + 1) * longest_then > most:
            batches.append(current)
            current, longest_then = [], lengths[index]
        current.append(examples[index])
        longest = longest_then
    if current:
        batches.append(current)
    random.shuffle(batches)
    return batches


def shares(lengths: Sequence[int], parts: int) -> list[list[int]]:
    """Sentences dealt out by words, as lists of indices in order, so that all have as much to do.

    Two shares differ by no more words than the longest sentence has. Where there are fewer
    sentences than parts, some are empty.

    >>> shares([5, 9, 4], 2)
    [[1], [0, 2]]
    """
    dealt: list[list[int]] = [[] for _ in range(parts)]
    heap = [(0, 0, part) for part in range(parts)]  # words, sentences: who has least comes first
    heapify(heap)
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        words, sentences, part = heap[0]
        heapreplace(heap, (words + lengths[index], sentences + 1, part))
        dealt[part].append(index)
    return [sorted(share) for share in dealt]


def gold_steps(examples: Sequence[Example], layer: str) -> tuple[list[int], Steps]:
    """The rows of the examples that have a layer, and their gold steps."""
    rows = [row for row, example in enumerate(examples) if layer in example.steps]
    return rows, Steps.of([examples[row].steps[layer] for row in rows])


def padded(rows: Iterable[Sequence[int]], *, value: int = 0) -> Ints:
    """Rows of numbers as one array: (rows, longest)."""
    rows = list(rows)
    longest = max(map(len, rows), default=0)
    filled = [[*row, *([value] * (longest - len(row)))] for row in rows]
    return np.array(filled, dtype=np.intp).reshape(len(rows), longest)
