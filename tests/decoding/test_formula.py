"""One formula: steps one by one, all at once in training, and summed over all parses."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fencepost.batching.arrays import Floats
from fencepost.batching.steps import Steps
from fencepost.config import HeadSettings
from fencepost.decoding.beam import beam
from fencepost.decoding.rules import Rules
from fencepost.decoding.walk import sample
from fencepost.model.head import PointingHead
from fencepost.model.loss import allowed_along, pointing_loss
from fencepost.model.stepper import HeadStepper, stepper_of
from tests.heads import SETTINGS, head_with, heads, vectors


def forced_log_probs(
    head: PointingHead, boundaries: Floats, lengths: Floats, steps: Steps
) -> Floats:
    """The log-probabilities of steps by teacher forcing: (rows, steps)."""
    starts, ends, labels = map(torch.from_numpy, (steps.starts, steps.ends, steps.labels))
    inside = torch.from_numpy(boundaries)
    states = head.states(inside, starts, ends, labels)
    points = head.pointing_scores(head.sides(inside), states).numpy() / head.temperature
    chains = head.label_scores(inside, states, starts, ends).numpy() / head.temperature
    allowed, fillers = allowed_along(
        steps, lengths, boundaries.shape[1], canonical=True, open_root=head.open_root
    )
    points = np.where(allowed, points, -np.inf)
    chains[~fillers, 0] = -np.inf
    each = [
        np.take_along_axis(logits, chosen[..., None], 2)[..., 0] - np.logaddexp.reduce(logits, 2)
        for logits, chosen in ((points, steps.boundaries), (chains, steps.labels))
    ]
    return np.where(steps.mask, sum(each), 0.0)


@pytest.mark.parametrize("stepper", [stepper_of, HeadStepper])
@given(head=heads(), lengths=st.lists(st.integers(1, 7), min_size=1, max_size=4))
def test_the_walk_gives_the_log_probabilities_of_teacher_forcing(
    stepper: type[HeadStepper], head: PointingHead, lengths: list[int]
) -> None:
    boundaries, sizes = vectors(*lengths)
    chances = np.random.default_rng(3).random((len(lengths), 1, 2 * (2 * max(lengths) - 1)))
    found = sample(stepper(head), boundaries, sizes, Rules(head.open_root), chances)
    steps = Steps(
        found.boundaries[:, 0].astype(np.intp),
        found.labels[:, 0].astype(np.intp),
        found.counts[:, 0],
    )
    forced = forced_log_probs(head, boundaries, sizes, steps)
    np.testing.assert_allclose(found.step_log_probs[:, 0], forced, atol=1e-5)


@given(head=heads(), lengths=st.lists(st.integers(1, 7), min_size=1, max_size=4))
def test_the_canonical_loss_is_minus_the_log_probability_of_the_parse(
    head: PointingHead, lengths: list[int]
) -> None:
    head.temperature = 1.0
    boundaries, sizes = vectors(*lengths)
    chances = np.random.default_rng(5).random((len(lengths), 1, 2 * (2 * max(lengths) - 1)))
    found = sample(stepper_of(head), boundaries, sizes, Rules(head.open_root), chances)
    steps = Steps(
        found.boundaries[:, 0].astype(np.intp),
        found.labels[:, 0].astype(np.intp),
        found.counts[:, 0],
    )
    loss = pointing_loss(
        head, torch.from_numpy(boundaries), torch.from_numpy(sizes), steps, over="canonical"
    )
    np.testing.assert_allclose(-loss.numpy(), found.log_probs[:, 0], atol=1e-5)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize("open_root", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_probabilities_of_all_parses_sum_to_one(
    settings: HeadSettings, canonical: bool, open_root: bool, n: int
) -> None:
    # Without the canonical rules it is all derivations that do, and there are more of them.
    head = head_with(1, settings, open_root=open_root, labels=2)
    boundaries, lengths = vectors(n)
    beams = 400 if canonical else [4, 12, 140, 2600][n - 1]
    found = beam(stepper_of(head), boundaries, lengths, Rules(open_root, canonical), beams=beams)
    assert found.log_probs[0, -1] == -np.inf, "there is room for all"
    assert np.exp(found.log_probs).sum() == pytest.approx(1, abs=1e-6)
