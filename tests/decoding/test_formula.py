"""One formula: steps one by one, all at once in training, and summed over all parses."""

from collections.abc import Callable
from math import exp, log
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fencepost.batching.arrays import Floats, Ints
from fencepost.batching.steps import Steps
from fencepost.config import HeadSettings
from fencepost.decoding.beam import beam
from fencepost.decoding.configurations import along
from fencepost.decoding.derivations import Derivations
from fencepost.decoding.rules import Rules
from fencepost.decoding.stepper import Stepper
from fencepost.decoding.walk import sample
from fencepost.model.grid import grid_loss
from fencepost.model.head import PointingHead, Where
from fencepost.model.loss import allowed_along, pointing_loss
from fencepost.model.stepper import HeadStepper, stepper_of
from tests.heads import SETTINGS, head_with, heads, vectors


def in_order(logits: Floats, allowed: Floats, cursor: int, target: int) -> float:
    """The log-probability of a candidate if each is asked after the other, written out."""
    left, right = range(cursor - 1, -1, -1), range(cursor + 1, len(logits))
    candidates = [boundary for boundary in (*left, *right) if allowed[boundary]]
    log_prob = 0.0
    for boundary in candidates:
        yes = 1 / (1 + exp(-logits[boundary]))
        if boundary == target:
            return log_prob + (0.0 if boundary == candidates[-1] else log(yes))
        log_prob += log(1 - yes)
    raise AssertionError("no candidate")


def forced_log_probs(head: PointingHead, boundaries: Floats, lengths: Ints, steps: Steps) -> Floats:
    """The log-probabilities of steps by teacher forcing: (rows, steps)."""
    starts, ends, labels = map(torch.from_numpy, (steps.starts, steps.ends, steps.labels))
    inside = torch.from_numpy(boundaries)
    where = along(steps, lengths, boundaries.shape[1], stack=True)
    places = Where.of(where, inside.device)
    states = head.states(inside, starts, ends, labels)
    points = head.pointing_scores(head.read(inside), states, places).numpy() / head.temperature
    chains = head.label_scores(inside, states, starts, ends, places).numpy() / head.temperature
    allowed, fillers = allowed_along(where, steps, over="canonical", open_root=head.open_root)
    chains[~fillers, 0] = -np.inf
    log_probs = np.zeros(steps.mask.shape)
    for row, step in np.argwhere(steps.mask):
        logits, chain = points[row, step], chains[row, step]
        target, cursor = steps.boundaries[row, step], int(where.cursor[row, step])
        if head.nearest_first:
            pointing = in_order(logits, allowed[row, step], cursor, target)
        else:
            pointing = logits[target] - np.logaddexp.reduce(logits[allowed[row, step]])
        labelling = chain[steps.labels[row, step]] - np.logaddexp.reduce(chain)
        log_probs[row, step] = pointing + labelling
    return log_probs


def drawn(
    stepper: Stepper[Any], head: PointingHead, lengths: list[int]
) -> tuple[Derivations, Steps]:
    """Parses drawn by their probability, and their steps."""
    boundaries, sizes = vectors(*lengths)
    chances = np.random.default_rng(3).random((len(lengths), 1, 2 * (2 * max(lengths) - 1)))
    found = sample(
        stepper, boundaries, sizes, Rules(head.open_root, nearest_first=head.nearest_first), chances
    )
    columns = (found.boundaries[:, 0], found.labels[:, 0], found.counts[:, 0])
    return found, Steps(*(column.astype(np.intp) for column in columns))


@pytest.mark.parametrize("stepper", [stepper_of, HeadStepper])
@given(head=heads(), lengths=st.lists(st.integers(1, 7), min_size=1, max_size=4))
def test_the_walk_gives_the_log_probabilities_of_teacher_forcing(
    stepper: Callable[[PointingHead], Stepper[Any]], head: PointingHead, lengths: list[int]
) -> None:
    found, steps = drawn(stepper(head), head, lengths)
    forced = forced_log_probs(head, *vectors(*lengths), steps)
    np.testing.assert_allclose(found.step_log_probs[:, 0], forced, atol=1e-5)


@given(head=heads(), lengths=st.lists(st.integers(1, 7), min_size=1, max_size=4))
def test_the_canonical_loss_is_minus_the_log_probability_of_the_parse(
    head: PointingHead, lengths: list[int]
) -> None:
    head.temperature = 1.0
    found, steps = drawn(stepper_of(head), head, lengths)
    boundaries, sizes = map(torch.from_numpy, vectors(*lengths))
    loss = pointing_loss(head, boundaries, sizes, steps, over="canonical")
    if head.grid is not None:
        loss -= grid_loss(head.grid(boundaries), sizes, steps, open_root=head.open_root)
    np.testing.assert_allclose(-loss.numpy(), found.log_probs[:, 0], atol=1e-5)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("open_root", [True, False])
def test_the_probabilities_of_all_parses_sum_to_one(
    settings: HeadSettings, open_root: bool
) -> None:
    head = head_with(1, settings, open_root=open_root, labels=2)
    # Without the canonical rules it is all derivations that do, and there are more of them.
    room = {True: (4, 12, 60, 400), False: (4, 12, 200, 1400)}
    for canonical, beams in room.items():
        rules = Rules(open_root, nearest_first=head.nearest_first, canonical=canonical)
        for n, wide in enumerate(beams, 1):
            found = beam(stepper_of(head), *vectors(n), rules, beams=wide)
            assert found.log_probs[0, -1] == -np.inf, "there is room for all"
            assert np.exp(found.log_probs).sum() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("settings", SETTINGS[:: len(SETTINGS) // 4], ids=str)
def test_only_a_whole_sentence_is_bare(settings: HeadSettings) -> None:
    head = head_with(2, settings, open_root=False, labels=3)
    head.bare = 2
    rules = Rules(False, nearest_first=head.nearest_first, bare=head.bare)
    boundaries, lengths = vectors(3)
    found = beam(stepper_of(head), boundaries, lengths, rules, beams=100)
    assert found.log_probs[0, -1] == -np.inf, "there is room for all"
    assert np.exp(found.log_probs).sum() == pytest.approx(1, abs=1e-6)
    count = int(np.isfinite(found.log_probs).sum())
    columns = (found.boundaries, found.labels, found.counts)
    steps = Steps(*(column[0, :count].astype(np.intp) for column in columns))
    is_bare = steps.labels == head.bare
    assert set(zip(steps.starts[is_bare], steps.ends[is_bare], strict=True)) == {(0, 3)}
    inside = torch.from_numpy(boundaries).expand(count, -1, -1)
    sizes = torch.from_numpy(lengths).expand(count)
    loss = pointing_loss(head, inside, sizes, steps, over="canonical")
    if head.grid is not None:
        loss -= grid_loss(head.grid(inside), sizes, steps, open_root=head.open_root)
    np.testing.assert_allclose(-loss.numpy(), found.log_probs[0, :count], atol=1e-5)
