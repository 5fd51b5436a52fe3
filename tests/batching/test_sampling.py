"""Sentences that are seen more or less often than once an epoch."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.batching.examples import Example
from fencepost.batching.sampling import sampled


def corpus(size: int, sample: float, name: str = "w") -> list[Example]:
    return [Example((f"{name}{number}",), {}, None, 1.0, sample) for number in range(size)]


def times_of(found: Iterable[Example]) -> Counter[tuple[str, ...]]:
    return Counter(one.words for one in found)


def places(found: list[Example], examples: list[Example]) -> list[int]:
    return [examples.index(one) for one in found]


@given(st.integers(0, 30), st.floats(0.01, 4), st.integers(0, 99))
def test_the_size_is_right_and_nothing_is_favoured(size: int, sample: float, seed: int) -> None:
    examples = corpus(size, sample)
    found = sampled(examples, seed=seed)
    least = 1 if size else 0
    assert len(found) == max(least, int(sample) * size + round((sample - int(sample)) * size))
    times = times_of(found)
    assert all(int(sample) <= times[one.words] <= int(sample) + 1 for one in examples)
    assert sampled(examples, seed=seed) == found


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0]))))
def test_each_corpus_keeps_its_order(corpora: list[tuple[int, float]]) -> None:
    examples = [
        one
        for number, (size, sample) in enumerate(corpora)
        for one in corpus(size, sample, f"c{number}-")
    ]
    order = places(sampled(examples, seed=3), examples)
    turns = sum(later <= earlier for earlier, later in pairwise(order))
    assert turns <= 1, "each pass is in order"


def test_what_is_seen_once_stays_as_it_is() -> None:
    examples = corpus(5, 1.0)
    assert sampled(examples, seed=1) == examples


def test_another_quarter_comes_in_another_epoch() -> None:
    examples = corpus(40, 0.25)
    epochs = [sampled(examples, seed=seed) for seed in range(20)]
    assert {len(found) for found in epochs} == {10}
    assert len({tuple(times_of(found)) for found in epochs}) == 20
    assert len(times_of(one for found in epochs for one in found)) == 40


@pytest.mark.parametrize(("sample", "times"), [(2.0, {2: 8}), (1.5, {1: 4, 2: 4}), (0.01, {1: 1})])
def test_times_are_as_the_setting_says(sample: float, times: dict[int, int]) -> None:
    assert Counter(times_of(sampled(corpus(8, sample), seed=1)).values()) == times
