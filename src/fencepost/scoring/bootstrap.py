"""Significance of the difference between systems, by paired bootstrap resampling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import ceil
from random import Random
from typing import Any

from fencepost.errors import ConfigError, DataError
from fencepost.scoring.totals import per_cent

Counts = tuple[int, int, int]  # of a sentence: matched, gold and predicted spans


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two systems and its significance.

    Attributes:
        f1: the difference of F1 in points; negative if the second system is better.
        low: the lower end of the 95 % interval of the difference.
        high: the upper end.
        p: the share of samples in which the better system is not better.
        samples: the number of samples.
    """

    f1: float
    low: float
    high: float
    p: float
    samples: int

    @property
    def told_p(self) -> str:
        """`p` as text; without any such sample, as less than one in all."""
        if not self.p:
            return f"< {1 / self.samples:.4g}"
        return f"{self.p:.4f}" if self.p >= 0.0001 else f"{self.p:.1g}"

    def to_dict(self) -> dict[str, Any]:
        """The attributes as a dictionary."""
        return asdict(self)


def paired_bootstrap(
    first: Sequence[Counts], second: Sequence[Counts], *, samples: int = 10_000, seed: int = 1
) -> Difference:
    """The difference between two systems, by paired bootstrap resampling (Koehn, 2004).

    A sample draws as many sentences as there are, with replacement; both systems are scored on each
    sample.

    Args:
        first: the counts of each sentence for one system.
        second: the counts for the other system, in the same order.
        samples: the number of samples.
        seed: the random seed.

    >>> better, worse = [(4, 5, 5)] * 50, [(4, 5, 5), (3, 5, 5)] * 25
    >>> difference = paired_bootstrap(better, worse, samples=1000)
    >>> round(difference.f1, 2), difference.low > 0, difference.p
    (10.0, True, 0.0)
    """
    ((_, _, difference),) = compared([first, second], samples=samples, seed=seed)
    return difference


def compared(
    systems: Sequence[Sequence[Counts]], *, samples: int = 10_000, seed: int = 1
) -> list[tuple[int, int, Difference]]:
    """The differences between all pairs of systems, from the same samples.

    Returns:
        The indices of each pair, and by how much the first is better.
    """
    sizes = {len(counts) for counts in systems}
    if len(sizes) != 1 or sizes == {0}:
        raise DataError("every system needs the counts of the same sentences, of one at least")
    if samples < 1:
        raise ConfigError(f"at least one sample is needed, not {samples}")
    whole = _scores([sum(column) for counts in systems for column in zip(*counts, strict=True)])
    drawn = list(_resampled(systems, samples, seed))
    differences_of = []
    for one, other in combinations(range(len(systems)), 2):
        difference = whole[one] - whole[other]
        differences = sorted(scores[one] - scores[other] for scores in drawn)
        better = 1 if difference >= 0 else -1
        p = sum(better * sampled <= 0 for sampled in differences) / samples
        low, high = differences[int(0.025 * samples)], differences[ceil(0.975 * samples) - 1]
        differences_of.append((one, other, Difference(difference, low, high, p, samples)))
    return differences_of


def _resampled(
    systems: Sequence[Sequence[Counts]], samples: int, seed: int
) -> Iterator[list[float]]:
    """The F1 of every system on each sample."""
    rows = [[count for counts in row for count in counts] for row in zip(*systems, strict=True)]
    # The counts of a sentence are packed into one integer. The sum of such integers contains the
    # sum of each count, so a sentence takes one addition instead of six.
    bits = (len(rows) * max(map(max, rows))).bit_length()
    packed = [sum(count << bits * place for place, count in enumerate(row)) for row in rows]
    field = (1 << bits) - 1
    random = Random(seed)
    for _ in range(samples):
        total = sum(random.choices(packed, k=len(packed)))
        yield _scores([total >> bits * place & field for place in range(len(rows[0]))])


def _scores(sums: Sequence[int]) -> list[float]:
    """The F1 of every system: matched, gold and predicted spans of one after the other."""
    # Computed from precision and recall, equal systems would differ by a rounding error, and one of
    # them would be better in every sample.
    return [
        per_cent(2 * matched, gold + predicted)
        for matched, gold, predicted in zip(sums[::3], sums[1::3], sums[2::3], strict=True)
    ]
