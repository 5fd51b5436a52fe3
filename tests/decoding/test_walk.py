"""One walk: greedy, by chance, or along given steps."""

from collections import Counter
from collections.abc import Callable
from math import exp, pi, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.batching.steps import Steps
from fencepost.decoding.rules import Rules
from fencepost.decoding.stepper import Stepper
from fencepost.decoding.walk import (
    Choice,
    Given,
    greedy,
    likeliest,
    probability_of,
    sample,
    score,
    walk,
)
from fencepost.errors import TransitionError
from fencepost.model.head import PointingHead
from fencepost.model.stepper import HeadStepper, stepper_of
from tests.decoding.plain_search import derivations
from tests.decoding.searching import KINDS, search, steps_of, vectors
from tests.heads import make_head, random_head


class TestGreedy:
    @pytest.mark.parametrize("kind", KINDS)
    def test_takes_the_steps_of_the_plain_search(self, kind: dict[str, Any]) -> None:
        head = make_head(**kind)
        boundaries, lengths = vectors([5, 1, 3, 7])
        found = greedy(*search(head, boundaries, lengths), likeliest)
        for row, n in enumerate(lengths.tolist()):
            ((log_prob, steps),) = derivations(head, boundaries[row, : n + 1], first_only=True)
            assert steps_of(found, row) == steps
            assert float(found.log_probs[row, 0]) == pytest.approx(log_prob, abs=1e-4)

    @pytest.mark.parametrize("kind", KINDS)
    def test_batch_mates_and_padding_change_nothing(self, kind: dict[str, Any]) -> None:
        head = make_head(**kind)
        boundaries, lengths = vectors([4, 9, 2, 6])
        together = greedy(*search(head, boundaries, lengths))
        for row, n in enumerate(lengths.tolist()):
            alone = greedy(
                *search(head, boundaries[row : row + 1, : n + 1], lengths[row : row + 1])
            )
            assert steps_of(alone, 0) == steps_of(together, row)
            assert np.allclose(alone.log_probs[0], together.log_probs[row], atol=1e-5)

    @given(seed=st.integers(0, 10_000), n=st.integers(1, 9), open_root=st.booleans())
    def test_makes_the_best_choices_of_a_walk(self, seed: int, n: int, open_root: bool) -> None:
        head = random_head(seed, previous_label=True, open_root=open_root)
        arguments = search(head, *vectors([n], width=6, seed=seed))
        found = greedy(*arguments)
        choices = list(walk(*arguments))
        count = int(found.counts[0, 0])
        assert tuple((int(x.boundary[0]), int(x.label[0])) for x in choices) == steps_of(found, 0)
        costs = [float(x.points[0].max() + x.labels[0].max()) for x in choices]
        assert np.allclose(costs, found.step_log_probs[0, 0, :count], atol=1e-4)
        assert all(abs(float(np.exp(x.points).sum()) - 1) < 1e-4 for x in choices)
        assert all(abs(float(np.exp(x.labels).sum()) - 1) < 1e-4 for x in choices)


class TestSamples:
    @pytest.mark.parametrize("kind", KINDS)
    def test_parses_are_drawn_as_often_as_they_are_probable(self, kind: dict[str, Any]) -> None:
        head = make_head(**kind)
        head.temperature = 1.5
        boundaries, lengths = vectors([2, 3])
        samples = 4000
        chances = np.random.default_rng(3).random((2, samples, 2 * 5), dtype=np.float32)
        found = sample(*search(head, boundaries, lengths), chances)
        for row, n in enumerate(lengths.tolist()):
            drawn = Counter(steps_of(found, row, rank) for rank in range(samples))
            expected = derivations(head, boundaries[row, : n + 1])
            assert set(drawn) <= {steps for _, steps in expected}
            distance = sum(abs(drawn[steps] / samples - exp(score)) for score, steps in expected)
            # Were the shares those of an ideal draw, this is what would be expected of it.
            usual = sum(sqrt(2 / pi * exp(score) / samples) for score, _ in expected)
            assert distance < 1.5 * usual
            scores = {steps: score for score, steps in expected}
            for rank in range(10):
                log_prob = scores[steps_of(found, row, rank)]
                assert float(found.log_probs[row, rank]) == pytest.approx(log_prob, abs=1e-4)


class TestScores:
    @pytest.mark.parametrize("open_root", [False, True])
    @pytest.mark.parametrize("n", [1, 2, 3])
    @pytest.mark.parametrize("make_stepper", [HeadStepper, stepper_of])
    def test_the_probabilities_of_all_parses_sum_to_one(
        self, open_root: bool, n: int, make_stepper: Callable[[PointingHead], Stepper[Any]]
    ) -> None:
        head = make_head(labels=3, open_root=open_root, previous_label=True)
        boundaries, lengths = vectors([n + 1, n], seed=5)
        everything = derivations(head, boundaries[1, : n + 1])
        each = score(
            make_stepper(head),
            boundaries,
            lengths,
            Rules(open_root),
            Steps.of([steps for _, steps in everything]),
            sentence=np.ones(len(everything), dtype=np.intp),
        )
        log_probs = each.sum(1)
        assert log_probs.tolist() == pytest.approx([x for x, _ in everything], abs=1e-4)
        assert float(np.exp(log_probs).sum()) == pytest.approx(1, abs=1e-4)

    def test_a_greedy_parse_scores_its_log_probability(self) -> None:
        arguments = search(make_head(), *vectors([4, 9, 1, 6], seed=5))
        found = greedy(*arguments)
        steps = Steps(found.boundaries[:, 0], found.labels[:, 0], found.counts[:, 0])
        assert np.allclose(score(*arguments, steps), found.step_log_probs[:, 0], atol=1e-5)

    @pytest.mark.parametrize(
        ("steps", "lost"),
        [
            ([(1, 0), (2, 0), (3, 1), (0, 1)], 3),  # rule 1
            ([(1, 0), (3, 0), (0, 1)], 1),  # rule 2
            ([(1, 1), (3, 1), (0, 0)], 2),  # the root of a tree is no filler
            ([(0, 1), (3, 1)], 0),  # no step at all
            ([(4, 1)], 0),  # among the padding
            ([(5, 1)], 0),
            ([(-1, 1)], 0),
            ([(3, -1)], 0),  # labels that there are not
            ([(3, 3)], 0),
            ([(3, 1), (0, 1), (0, 0)], 1),  # it is complete already
        ],
    )
    def test_from_a_step_on_that_is_not_allowed_nothing_is_possible(
        self, steps: list[tuple[int, int]], lost: int
    ) -> None:
        beside = [(2, 1), (4, 2), (0, 1)]
        each = score(*search(make_head(), *vectors([3, 4], seed=5)), Steps.of([steps, beside]))
        assert bool(np.isfinite(each[0, :lost]).all())
        assert bool((each[0, lost : len(steps)] == float("-inf")).all())
        assert bool(np.isfinite(each[1]).all())
        assert not each[1, 3:].any()

    def test_no_parses_have_no_scores(self) -> None:
        none = np.zeros(0, dtype=np.intp)
        each = score(*search(make_head(), *vectors([2])), Steps.of([]), sentence=none)
        assert each.shape == (0, 0)


def test_fast_and_plain_steps_meet_the_same_along_given_ones() -> None:
    head = random_head(4, previous_label=True, open_root=True)
    boundaries, lengths = vectors([4], width=6)
    given = Steps.of([[(1, 0), (3, 2), (4, -1), (0, 0)], [(4, 1)]])

    def choices(stepper: Stepper[Any]) -> list[Choice]:
        rules, rows = Rules(head.open_root), np.array([0, 0])
        return list(walk(stepper, boundaries, lengths, rules, Given(given), sentence=rows))

    fast, plain = choices(stepper_of(head)), choices(HeadStepper(head))
    assert [choice.rows.tolist() for choice in fast] == [[0, 1], [0], [0], [0]]
    for one, other in zip(fast, plain, strict=True):
        assert np.array_equal(one.boundary, other.boundary)
        assert np.array_equal(one.label, other.label)
        assert np.allclose(one.points, other.points, atol=1e-4)
        assert np.allclose(one.labels, other.labels, atol=1e-4)
        there = one.points.argmax(-1)
        assert np.allclose(one.labels_at(there), other.labels_at(there), atol=1e-4)
    own = [
        float(probability_of(choice.points, given.boundaries[choice.rows, number])[0])
        + float(probability_of(choice.labels, given.labels[choice.rows, number])[0])
        for number, choice in enumerate(fast)
    ]
    assert np.isinf(own).tolist() == [False, False, True, False]


def test_a_network_whose_scores_are_no_numbers_is_told() -> None:
    boundaries = np.full((1, 5, 8), np.nan, dtype=np.float32)
    with pytest.raises(TransitionError, match="the network's scores are no numbers"):
        greedy(stepper_of(make_head()), boundaries, np.array([4]), Rules(False))
