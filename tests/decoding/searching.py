"""Searches with small heads over random vectors, and the steps that they find."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fencepost.batching.arrays import Floats, Ints
from fencepost.decoding.constraints import RowLimits
from fencepost.decoding.derivations import Derivations
from fencepost.decoding.rules import Rules
from fencepost.decoding.stepper import Stepper
from fencepost.model.head import PointingHead
from fencepost.model.stepper import stepper_of
from tests.heads import CHOICES

KINDS: list[dict[str, Any]] = [  # the paper's head, and some that go beyond it
    {"previous_label": previous, "open_root": open_root}
    for previous in (False, True)
    for open_root in (False, True)
] + [{**choices, "open_root": number % 2 == 0} for number, choices in enumerate(CHOICES[::9])]

Search = tuple[Stepper[Any], Floats, Ints, Rules]


def vectors(lengths: Sequence[int], *, width: int = 8, seed: int = 7) -> tuple[Floats, Ints]:
    """Boundary vectors of sentences, padded with noise that must not matter."""
    size = (len(lengths), max(lengths) + 1, width)
    return np.random.default_rng(seed).standard_normal(size, dtype=np.float32), np.array(lengths)


def search(
    head: PointingHead,
    boundaries: Floats,
    lengths: Ints,
    *,
    canonical: bool = True,
    limits: RowLimits | None = None,
) -> Search:
    """The arguments of `greedy`, `beam` and others, with the stepper that parsers take."""
    rules = Rules(
        head.open_root, nearest_first=head.nearest_first, canonical=canonical, limits=limits
    )
    return stepper_of(head), boundaries, lengths, rules


def steps_of(found: Derivations, row: int, rank: int = 0) -> tuple[tuple[int, int], ...]:
    """Boundaries and labels of a derivation."""
    count = int(found.counts[row, rank])
    columns = (found.boundaries[row, rank, :count], found.labels[row, rank, :count])
    return tuple(zip(*(column.tolist() for column in columns), strict=True))
