from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import ConfigError, DataError
from fencepost.scoring.bootstrap import Counts, Difference, compared, paired_bootstrap
from fencepost.scoring.totals import f1, per_cent

COUNTS = st.tuples(st.integers(0, 5), st.integers(5, 9), st.integers(5, 9))


def score(counts: list[Counts]) -> float:
    matched, gold, predicted = map(sum, zip(*counts, strict=True))
    return per_cent(2 * matched, gold + predicted)


def plain(first: list[Counts], second: list[Counts], *, samples: int, seed: int) -> list[float]:
    """The differences, sample by sample, in the most obvious way."""

    random = Random(seed)
    places = range(len(first))
    found = []
    for _ in range(samples):
        drawn = random.choices(places, k=len(places))
        found.append(score([first[i] for i in drawn]) - score([second[i] for i in drawn]))
    return sorted(found)


@given(st.lists(st.tuples(COUNTS, COUNTS), min_size=1, max_size=6), st.integers(0, 3))
def test_it_is_what_resampling_one_by_one_gives(
    rows: list[tuple[Counts, Counts]], seed: int
) -> None:
    first, second = (list(side) for side in zip(*rows, strict=True))
    differences = plain(first, second, samples=40, seed=seed)
    found = paired_bootstrap(first, second, samples=40, seed=seed)
    assert (found.low, found.high) == (differences[1], differences[38])
    sign = 1 if found.f1 >= 0 else -1
    assert found.p == sum(sign * d <= 0 for d in differences) / 40


def test_the_same_system_is_never_better() -> None:
    counts = [(3, 5, 4), (1, 2, 2), (0, 3, 1)]
    found = paired_bootstrap(counts, counts, samples=200)
    assert found == Difference(0, 0, 0, 1, 200)
    assert found.told_p == "1.0000"


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 30))
def test_it_is_the_difference_of_f1(matched: int, missing: int, extra: int) -> None:
    counts = (matched, matched + missing, matched + extra)
    found = paired_bootstrap([counts], [(0, *counts[1:])], samples=2)
    assert found.f1 == pytest.approx(f1(per_cent(*counts[::2]), per_cent(*counts[:2])))


def test_systems_that_are_as_good_in_different_ways_do_not_differ_by_a_rounding_error() -> None:
    # From precision and recall, the second would be ahead by 1e-14, in every sample.
    found = paired_bootstrap([(6, 7, 11)], [(4, 7, 5)], samples=5)
    assert found == Difference(0, 0, 0, 1, 5)


def test_a_small_share_is_not_told_as_none() -> None:
    assert Difference(1, 0, 2, 0.0001, 100_000).told_p == "0.0001"
    assert Difference(1, 0, 2, 0.00003, 100_000).told_p == "3e-05"


def test_a_system_that_is_better_in_every_sentence_is_better_in_every_sample() -> None:
    better, worse = [(4, 5, 5)] * 30, [(3, 5, 5)] * 30
    found = paired_bootstrap(better, worse, samples=500)
    assert found.p == 0
    assert found.told_p == "< 0.002"
    assert 0 < found.low <= found.f1 <= found.high
    other = paired_bootstrap(worse, better, samples=500)
    assert (other.p, other.f1) == (0, -found.f1)


def test_a_difference_that_one_sentence_makes_is_chance() -> None:
    counts = [(3, 5, 5)] * 40
    found = paired_bootstrap([(5, 5, 5), *counts], [(3, 5, 5), *counts], samples=2000)
    assert 0.3 < found.p < 0.45  # that sentence is left out of a sample with probability 1/e
    assert found.low == 0


def test_the_seed_decides() -> None:
    random = Random(5)
    first, second = ([(random.randint(0, 5), 5, 6) for _ in range(30)] for _ in range(2))
    one = paired_bootstrap(first, second, samples=100)
    assert one == paired_bootstrap(first, second, samples=100, seed=1)
    assert one != paired_bootstrap(first, second, samples=100, seed=2)


def test_all_pairs_are_what_each_pair_is_alone() -> None:
    random = Random(7)
    systems = [[(random.randint(0, 5), 5, 6) for _ in range(20)] for _ in range(3)]
    found = compared(systems, samples=50)
    assert [(one, other) for one, other, _ in found] == [(0, 1), (0, 2), (1, 2)]
    for one, other, difference in found:
        assert difference == paired_bootstrap(systems[one], systems[other], samples=50)


def test_systems_without_any_span_do_no_harm() -> None:
    assert paired_bootstrap([(0, 0, 0)], [(0, 0, 0)], samples=3).p == 1


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(DataError, match="the same sentences"):
        paired_bootstrap([(1, 1, 1)], [])
    with pytest.raises(DataError, match="one at least"):
        paired_bootstrap([], [])
    with pytest.raises(ConfigError, match="not 0"):
        paired_bootstrap([(1, 1, 1)], [(1, 1, 1)], samples=0)


def test_it_is_plain_data() -> None:
    assert Difference(1.5, 1.0, 2.0, 0.01, 100).to_dict() == {
        "f1": 1.5,
        "low": 1.0,
        "high": 2.0,
        "p": 0.01,
        "samples": 100,
    }
