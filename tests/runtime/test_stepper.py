"""The fast steps are those that the head's own functions make."""

import gc
from typing import Any
from unittest.mock import patch
from weakref import ref

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from fencepost.batching.arrays import Floats
from fencepost.decoding.beam import beam
from fencepost.decoding.rules import Rules
from fencepost.decoding.walk import greedy, sample, walk
from fencepost.model.head import PointingHead
from fencepost.model.stepper import HeadStepper, stepper_of
from fencepost.runtime.stepper import FastStepper
from fencepost.transition import Constraints
from tests.decoding.searching import vectors
from tests.decoding.test_constraints import batches, resolved
from tests.heads import CHOICES, random_head


def fast_stepper(head: PointingHead) -> FastStepper:
    stepper = stepper_of(head)
    assert isinstance(stepper, FastStepper)
    return stepper


def doubles(lengths: list[int], seed: int) -> Floats:
    """Boundary vectors in 64 bits, so that no two steps are as good as equal."""
    return vectors(lengths, width=6, seed=seed)[0].astype(np.float64)


@given(
    seed=st.integers(0, 10_000),
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=5),
    choices=st.sampled_from(CHOICES),
    open_root=st.booleans(),
    canonical=st.booleans(),
    beams=st.integers(1, 4),
    table=st.sampled_from([1, 1024]),
    widest=st.sampled_from([2, 400]),
)
def test_both_steppers_find_the_same_parses(
    seed: int,
    lengths: list[int],
    choices: dict[str, Any],
    open_root: bool,
    canonical: bool,
    beams: int,
    table: int,
    widest: int,
) -> None:
    head = random_head(seed, open_root=open_root, **choices)
    boundaries, sizes = vectors(lengths, width=6, seed=seed)
    rules = Rules(open_root, nearest_first=head.nearest_first, canonical=canonical)
    with (
        patch("fencepost.runtime.grid._MOST_BOUNDARIES", table),  # all may be long sentences
        patch("fencepost.runtime.grid.WIDEST", widest),
        patch("fencepost.model.grid.WIDEST", widest),
    ):
        plain, fast = (
            beam(stepper, boundaries, sizes, rules, beams=beams)
            for stepper in (HeadStepper(head), fast_stepper(head))
        )
    assert np.allclose(plain.log_probs, fast.log_probs, atol=1e-4)
    first = plain.log_probs[:, 0]
    # Parses that are as good as equal may change places; the best one is seldom among them.
    clear = plain.log_probs.shape[1] == 1 or bool((first > plain.log_probs[:, 1] + 1e-4).all())
    if clear:
        assert np.array_equal(plain.boundaries[:, 0], fast.boundaries[:, 0])
        assert np.array_equal(plain.labels[:, 0], fast.labels[:, 0])
        assert np.allclose(plain.step_log_probs[:, 0], fast.step_log_probs[:, 0], atol=1e-4)


@given(
    batch=batches(),
    seed=st.integers(0, 10_000),
    choices=st.sampled_from(CHOICES),
    canonical=st.booleans(),
    beams=st.integers(1, 4),
)
def test_both_steppers_obey_with_the_same_parses(
    batch: tuple[bool, tuple[int, ...], tuple[Constraints | None, ...]],
    seed: int,
    choices: dict[str, Any],
    canonical: bool,
    beams: int,
) -> None:
    open_root, lengths, asked = batch
    head = random_head(seed, open_root=open_root, **choices).double()
    boundaries = doubles(list(lengths), seed)
    rules = Rules(
        open_root,
        nearest_first=head.nearest_first,
        canonical=canonical,
        limits=resolved(asked, lengths, open_root=open_root),
    )
    plain, fast = (
        beam(stepper, boundaries, np.array(lengths), rules, beams=beams)
        for stepper in (HeadStepper(head), fast_stepper(head))
    )
    is_parse = plain.log_probs > float("-inf")
    assert np.array_equal(is_parse, fast.log_probs > float("-inf"))
    assert np.array_equal(plain.boundaries[is_parse], fast.boundaries[is_parse])
    assert np.array_equal(plain.labels[is_parse], fast.labels[is_parse])
    assert np.array_equal(plain.counts[is_parse], fast.counts[is_parse])
    assert np.allclose(plain.step_log_probs[is_parse], fast.step_log_probs[is_parse])


@given(
    seed=st.integers(0, 10_000),
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    choices=st.sampled_from(CHOICES),
    open_root=st.booleans(),
)
def test_both_steppers_draw_the_same_parses(
    seed: int, lengths: list[int], choices: dict[str, Any], open_root: bool
) -> None:
    head = random_head(seed, open_root=open_root, **choices).double()
    boundaries = doubles(lengths, seed)
    chances = np.random.default_rng(seed).random(
        (len(lengths), 3, 2 * (2 * max(lengths) - 1)), dtype=np.float32
    )
    plain, fast = (
        sample(
            stepper,
            boundaries,
            np.array(lengths),
            Rules(open_root, nearest_first=head.nearest_first),
            chances,
        )
        for stepper in (HeadStepper(head), fast_stepper(head))
    )
    assert np.array_equal(plain.boundaries, fast.boundaries)
    assert np.array_equal(plain.labels, fast.labels)
    assert np.array_equal(plain.counts, fast.counts)
    assert np.allclose(plain.step_log_probs, fast.step_log_probs)


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 9),
    choices=st.sampled_from(CHOICES),
    open_root=st.booleans(),
)
def test_both_steppers_choose_from_the_same(
    seed: int, n: int, choices: dict[str, Any], open_root: bool
) -> None:
    head = random_head(seed, open_root=open_root, **choices).double()
    arguments = (
        doubles([n], seed),
        np.array([n]),
        Rules(open_root, nearest_first=head.nearest_first),
    )
    plain, fast = (
        list(walk(stepper, *arguments)) for stepper in (HeadStepper(head), fast_stepper(head))
    )
    for one, other in zip(plain, fast, strict=True):
        assert np.allclose(one.points, other.points)
        assert np.allclose(one.labels, other.labels)
        assert np.array_equal(one.boundary, other.boundary)
        assert np.array_equal(one.label, other.label)


class TestFolding:
    def test_weights_that_change_are_folded_anew(self) -> None:
        head = random_head(1, previous_label=True, open_root=False)
        before = fast_stepper(head)
        assert fast_stepper(head) is before
        with torch.no_grad():
            head.biaffine.add_(1.0)
        assert fast_stepper(head) is not before
        head.load_state_dict(random_head(2, previous_label=True, open_root=False).state_dict())
        again = random_head(2, previous_label=True, open_root=False)
        before = fast_stepper(head)
        head.train().requires_grad_(True)
        optimizer = torch.optim.AdamW(head.parameters(), fused=True)
        head.biaffine.sum().backward()
        optimizer.step()
        head.eval().requires_grad_(False)
        assert fast_stepper(head) is not before
        head.load_state_dict(again.state_dict())
        one, other = fast_stepper(head).weights, fast_stepper(again).weights
        assert np.array_equal(one.state, other.state)

    def test_another_temperature_is_folded_anew(self) -> None:
        head = random_head(1, previous_label=True, open_root=False)
        before = fast_stepper(head).weights
        head.temperature *= 3.0
        after = fast_stepper(head).weights
        assert np.allclose(after.sides * 3, before.sides)
        assert np.allclose(after.labels_out * 3, before.labels_out)

    def test_a_head_that_nobody_needs_is_not_kept(self) -> None:
        head = random_head(1, previous_label=True, open_root=False)
        assert fast_stepper(head)
        gone = ref(head)
        del head
        gc.collect()
        assert gone() is None

    def test_a_head_on_another_device_makes_its_own_steps(self) -> None:
        head = random_head(1, previous_label=True, open_root=False).to("meta")
        assert isinstance(stepper_of(head), HeadStepper)

    def test_parses_follow_weights_and_temperature(self) -> None:
        head = random_head(1, previous_label=True, open_root=False)
        boundaries, lengths = vectors([5, 3], width=6)
        for temperature, scale in ((1.0, 1.0), (2.5, 1.0), (2.5, 0.3)):
            head.temperature = temperature
            head.label_vectors.mul_(scale)
            plain, fast = (
                greedy(stepper, boundaries, lengths, Rules(False))
                for stepper in (HeadStepper(head), fast_stepper(head))
            )
            assert np.array_equal(plain.boundaries, fast.boundaries)
            assert np.allclose(plain.log_probs, fast.log_probs, atol=1e-4)
