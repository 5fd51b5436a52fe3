from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.decoding.beam import beam
from fencepost.decoding.walk import greedy, likeliest
from fencepost.structure.span import first_crossing
from fencepost.transition import Pointing, replay
from tests.decoding.plain_search import derivations
from tests.decoding.searching import KINDS, search, steps_of, vectors
from tests.heads import make_head


@pytest.mark.parametrize("kind", KINDS)
def test_a_beam_of_one_is_greedy(kind: dict[str, Any]) -> None:
    arguments = search(make_head(**kind), *vectors([6, 2, 9, 1]))
    one, other = greedy(*arguments, likeliest), beam(*arguments, beams=1)
    for row in range(4):
        assert steps_of(one, row) == steps_of(other, row)
    assert np.allclose(one.log_probs, other.log_probs, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_beam_as_wide_as_the_space_finds_all_parses_in_order(
    kind: dict[str, Any], n: int
) -> None:
    head = make_head(labels=2, **kind)
    boundaries, lengths = vectors([n])
    everything = derivations(head, boundaries[0])
    found = beam(*search(head, boundaries, lengths), beams=max(len(everything), 8))
    scores = [score for score, _ in everything]
    assert found.log_probs[0, : len(scores)].tolist() == pytest.approx(scores, abs=1e-4)
    assert float(np.exp(scores).sum()) == pytest.approx(1, abs=1e-4)
    assert {steps_of(found, 0, rank) for rank in range(len(scores))} == {
        steps for _, steps in everything
    }
    assert bool((found.log_probs[0, len(scores) :] == float("-inf")).all())


@pytest.mark.slow
def test_a_beam_as_wide_as_the_space_finds_all_parses_of_four_words() -> None:
    head = make_head(labels=2)
    boundaries, lengths = vectors([4])
    everything = derivations(head, boundaries[0])
    assert len(everything) == 176
    found = beam(*search(head, boundaries, lengths), beams=176)
    assert found.log_probs[0].tolist() == pytest.approx([s for s, _ in everything], abs=1e-4)


@given(
    kind=st.sampled_from(KINDS),
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    seed=st.integers(0, 10_000),
    canonical=st.booleans(),
)
def test_a_beam_is_never_worse_than_greedy_search(
    kind: dict[str, Any], lengths: list[int], seed: int, canonical: bool
) -> None:
    head = make_head(seed=seed, **kind)
    arguments = search(head, *vectors(lengths, seed=seed), canonical=canonical)
    first, likely = (greedy(*arguments, policy).log_probs[:, 0] for policy in (None, likeliest))
    for beams in (1, 2, 4, 8):
        found = beam(*arguments, beams=beams)
        # A beam of 1 takes the most probable steps, whatever the rules take.
        least = likely if beams == 1 else np.maximum(first, likely)
        assert bool((found.log_probs[:, 0] >= least - 1e-4).all())
        for row, log_probs in enumerate(found.log_probs.tolist()):
            alive = [rank for rank, value in enumerate(log_probs) if value > float("-inf")]
            assert len({steps_of(found, row, rank) for rank in alive}) == len(alive)
            assert log_probs == sorted(log_probs, reverse=True)


@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize("open_root", [True, False])
def test_what_is_found_is_a_parse(canonical: bool, open_root: bool) -> None:
    head = make_head(open_root=open_root)
    boundaries, lengths = vectors(range(1, 12))
    arguments = search(head, boundaries, lengths, canonical=canonical)
    for found in (greedy(*arguments), beam(*arguments, beams=3)):
        for row, n in enumerate(lengths.tolist()):
            spans = replay([Pointing(b, str(x) if x else None) for b, x in steps_of(found, row)])
            assert (spans[-1].start, spans[-1].end) == (0, n)
            assert first_crossing(spans) is None
            assert open_root or spans[-1].label


@pytest.mark.parametrize("kind", KINDS)
def test_batch_mates_and_padding_change_nothing(kind: dict[str, Any]) -> None:
    head = make_head(**kind)
    boundaries, lengths = vectors([4, 9, 2, 6])
    together = beam(*search(head, boundaries, lengths), beams=3)
    for row, n in enumerate(lengths.tolist()):
        own = search(head, boundaries[row : row + 1, : n + 1], lengths[row : row + 1])
        alone = beam(*own, beams=3)
        assert np.allclose(alone.log_probs[0], together.log_probs[row], atol=1e-5)
        assert steps_of(alone, 0) == steps_of(together, row)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("canonical", [True, False])
def test_the_steps_make_up_the_log_probability(kind: dict[str, Any], canonical: bool) -> None:
    arguments = search(make_head(**kind), *vectors([5, 1, 12, 3]), canonical=canonical)
    one = greedy(*arguments, likeliest)
    # Twelve are more than there are parses of one word.
    for found in (one, beam(*arguments, beams=1), beam(*arguments, beams=12)):
        steps = found.step_log_probs
        assert steps.shape == found.boundaries.shape
        assert bool((steps <= 0).all())  # so none is NaN
        assert np.allclose(steps.sum(-1), found.log_probs, atol=1e-4)
        behind = np.arange(steps.shape[-1]) >= found.counts[:, :, None]
        alive = (found.log_probs > float("-inf"))[:, :, None]
        assert not steps[behind & alive].any()
    # Each is the step's own, however much was lost before it.
    same = beam(*arguments, beams=1)
    assert np.allclose(same.step_log_probs, one.step_log_probs, atol=1e-5)


def test_steps_of_a_beam_are_those_of_the_plain_search() -> None:
    head = make_head(labels=2)
    boundaries, lengths = vectors([3])
    found = beam(*search(head, boundaries, lengths), beams=8)
    for rank in range(8):
        made = steps_of(found, 0, rank)
        (score,) = (score for score, steps in derivations(head, boundaries[0]) if steps == made)
        own = found.step_log_probs[0, rank, : len(made)]
        assert float(own.sum()) == pytest.approx(score, abs=1e-4)
