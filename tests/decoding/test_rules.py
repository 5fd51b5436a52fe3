"""Candidates that are asked in order."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.decoding.configurations import Configurations
from fencepost.decoding.rules import Rules, asked_before, nearest_first
from tests.decoding.test_configurations import walks

RULES = Rules(True, nearest_first=True)
Walk = tuple[int, list[tuple[int, bool]]]


def configurations(walk: Walk) -> list[Configurations]:
    """The configurations that a walk goes through, but the last."""
    n, steps = walk
    where, passed = Configurations.first(np.array([n])), []
    for boundary, filler in steps:
        passed.append(where)
        where = where.point(np.array([boundary]), np.array([int(not filler)]))
    return passed


def order(where: Configurations) -> list[int]:
    """The candidates of one row in the order in which they are asked."""
    cursor, allowed = int(where.cursor[0]), where.canonical_candidates()[0]
    every = (*range(cursor - 1, -1, -1), *range(cursor + 1, len(allowed)))
    return [boundary for boundary in every if allowed[boundary]]


@given(walks(), st.integers(0, 1000))
def test_probabilities_are_those_of_asking_one_after_the_other(walk: Walk, seed: int) -> None:
    for where in configurations(walk):
        logits = np.random.default_rng(seed).normal(scale=2, size=(1, walk[0] + 1))
        log_probs = nearest_first(where, where.canonical_candidates(), logits)[0]
        left = 1.0
        candidates = order(where)
        for boundary in candidates:
            yes = 1 / (1 + np.exp(-logits[0, boundary])) if boundary != candidates[-1] else 1.0
            assert np.exp(log_probs[boundary]) == pytest.approx(left * yes)
            left *= 1 - yes
        assert np.exp(log_probs).sum() == pytest.approx(1)


@given(walks(), st.integers(0, 1000))
def test_greedy_search_takes_the_first_yes_or_else_the_most_probable(walk: Walk, seed: int) -> None:
    for where in configurations(walk):
        logits = np.random.default_rng(seed).normal(loc=-1, size=(1, walk[0] + 1))
        log_probs = RULES.points(where, logits)
        yes = [boundary for boundary in order(where) if logits[0, boundary] > 0]
        expected = yes[0] if yes else log_probs[0].argmax()
        assert RULES.best_point(where, logits, log_probs)[0] == expected


@given(walks(), st.integers(0, 1000), st.sampled_from([0.3, 1.7, 6.0]))
def test_greedy_search_goes_the_same_way_at_any_temperature(
    walk: Walk, seed: int, temperature: float
) -> None:
    tempered = replace(RULES, temperature=temperature)
    for where in configurations(walk):
        logits = np.random.default_rng(seed).normal(loc=-1, size=(1, walk[0] + 1))
        best = RULES.best_point(where, logits, RULES.points(where, logits))
        logits = logits / temperature
        assert tempered.best_point(where, logits, tempered.points(where, logits)) == best


@given(walks())
def test_what_is_asked_before_a_candidate_stands_before_it_in_order(walk: Walk) -> None:
    for where in configurations(walk):
        candidates, allowed = order(where), where.canonical_candidates()
        for number, boundary in enumerate(candidates):
            earlier, is_last = asked_before(where, allowed, np.array([boundary]))
            assert set(earlier[0].nonzero()[0].tolist()) == set(candidates[:number])
            assert bool(is_last[0]) == (number == len(candidates) - 1)


def test_a_head_without_labels_makes_fillers() -> None:
    where = Configurations.first(np.array([3]))
    log_probs = Rules(True).labels(where, np.array([1]), np.array([[0.3]]))
    assert log_probs.tolist() == [[0.0]]
