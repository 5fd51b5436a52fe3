from collections import Counter
from collections.abc import Callable
from math import exp, pi, sqrt

import pytest
import torch

from fencepost.model.found import Found
from fencepost.model.head import PointingHead
from fencepost.model.search import beam, greedy, sample
from fencepost.structure.span import first_crossing
from fencepost.transition import Pointing, replay
from tests.model.plain_search import derivations

MakeHead = Callable[..., PointingHead]
KINDS = [
    {"previous_label": previous, "open_root": open_root}
    for previous in (False, True)
    for open_root in (False, True)
]


def vectors(*lengths: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Boundary vectors of sentences, padded with noise that must not matter."""
    generator = torch.Generator().manual_seed(7)
    longest = max(lengths)
    return (
        torch.randn(len(lengths), longest + 1, 8, generator=generator),
        torch.tensor(lengths),
    )


def steps_of(found: Found, row: int, rank: int = 0) -> tuple[tuple[int, int], ...]:
    count = int(found.steps[row, rank])
    return tuple(
        zip(
            found.boundaries[row, rank, :count].tolist(),
            found.labels[row, rank, :count].tolist(),
            strict=True,
        )
    )


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_takes_the_steps_of_the_plain_search(
    make_head: MakeHead, kind: dict[str, bool]
) -> None:
    head = make_head(**kind)
    boundaries, lengths = vectors(5, 1, 3, 7)
    found = greedy(head, boundaries, lengths)
    for row, n in enumerate(lengths.tolist()):
        ((score, steps),) = derivations(head, boundaries[row, : n + 1], first_only=True)
        assert steps_of(found, row) == steps
        assert float(found.log_probs[row, 0]) == pytest.approx(score, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_beam_of_one_is_greedy(make_head: MakeHead, kind: dict[str, bool]) -> None:
    head = make_head(**kind)
    boundaries, lengths = vectors(6, 2, 9, 1)
    one, other = greedy(head, boundaries, lengths), beam(head, boundaries, lengths, beams=1)
    for row in range(4):
        assert steps_of(one, row) == steps_of(other, row)
    assert torch.allclose(one.log_probs, other.log_probs, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_beam_as_wide_as_the_space_finds_all_parses_in_order(
    make_head: MakeHead, kind: dict[str, bool], n: int
) -> None:
    head = make_head(labels=2, **kind)
    boundaries, lengths = vectors(n)
    everything = derivations(head, boundaries[0])
    found = beam(head, boundaries, lengths, beams=max(len(everything), 8))
    scores = [score for score, _ in everything]
    assert found.log_probs[0, : len(scores)].tolist() == pytest.approx(scores, abs=1e-4)
    assert sum(torch.tensor(scores).exp().tolist()) == pytest.approx(1, abs=1e-4)
    assert {steps_of(found, 0, rank) for rank in range(len(scores))} == {
        steps for _, steps in everything
    }
    assert bool((found.log_probs[0, len(scores) :] == float("-inf")).all())


@pytest.mark.slow
def test_a_beam_as_wide_as_the_space_finds_all_parses_of_four_words(make_head: MakeHead) -> None:
    head = make_head(labels=2)
    boundaries, lengths = vectors(4)
    everything = derivations(head, boundaries[0])
    assert len(everything) == 176
    found = beam(head, boundaries, lengths, beams=176)
    assert found.log_probs[0].tolist() == pytest.approx([s for s, _ in everything], abs=1e-4)


def test_a_wider_beam_never_finds_worse(make_head: MakeHead) -> None:
    head = make_head()
    boundaries, lengths = vectors(8, 5, 6)
    scores = [beam(head, boundaries, lengths, beams=k).log_probs[:, 0] for k in (1, 4, 32)]
    assert bool((scores[2] >= scores[0] - 1e-4).all())


@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize("open_root", [True, False])
def test_what_is_found_is_a_parse(make_head: MakeHead, canonical: bool, open_root: bool) -> None:
    head = make_head(open_root=open_root)
    boundaries, lengths = vectors(*range(1, 12))
    for found in (
        greedy(head, boundaries, lengths, canonical=canonical),
        beam(head, boundaries, lengths, beams=3, canonical=canonical),
    ):
        for row, n in enumerate(lengths.tolist()):
            spans = replay([Pointing(b, str(x) if x else None) for b, x in steps_of(found, row)])
            assert (spans[-1].start, spans[-1].end) == (0, n)
            assert first_crossing(spans) is None
            assert open_root or spans[-1].label


@pytest.mark.parametrize("kind", KINDS)
def test_batch_mates_and_padding_change_nothing(make_head: MakeHead, kind: dict[str, bool]) -> None:
    head = make_head(**kind)
    boundaries, lengths = vectors(4, 9, 2, 6)
    together = greedy(head, boundaries, lengths)
    for row, n in enumerate(lengths.tolist()):
        alone = greedy(head, boundaries[row : row + 1, : n + 1], lengths[row : row + 1])
        assert steps_of(alone, 0) == steps_of(together, row)
        assert torch.allclose(alone.log_probs[0], together.log_probs[row], atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("canonical", [True, False])
def test_the_steps_make_up_the_log_probability(
    make_head: MakeHead, kind: dict[str, bool], canonical: bool
) -> None:
    head = make_head(**kind)
    boundaries, lengths = vectors(5, 1, 12, 3)
    one = greedy(head, boundaries, lengths, canonical=canonical)
    for found in (
        one,
        beam(head, boundaries, lengths, beams=1, canonical=canonical),
        # More than there are parses of one word.
        beam(head, boundaries, lengths, beams=12, canonical=canonical),
    ):
        steps = found.step_log_probs
        assert steps.shape == found.boundaries.shape
        assert bool((steps <= 0).all())  # so none is NaN
        assert torch.allclose(steps.sum(-1), found.log_probs, atol=1e-4)
        behind = torch.arange(steps.shape[-1]) >= found.steps[:, :, None]
        alive = (found.log_probs > float("-inf"))[:, :, None]
        assert not steps[behind & alive].any()
    # Each is the step's own, however much was lost before it.
    same = beam(head, boundaries, lengths, beams=1, canonical=canonical)
    assert torch.allclose(same.step_log_probs, one.step_log_probs, atol=1e-5)


def test_steps_of_a_beam_are_those_of_the_plain_search(make_head: MakeHead) -> None:
    head = make_head(labels=2)
    boundaries, lengths = vectors(3)
    found = beam(head, boundaries, lengths, beams=8)
    for rank in range(8):
        made = steps_of(found, 0, rank)
        (score,) = (score for score, steps in derivations(head, boundaries[0]) if steps == made)
        own = found.step_log_probs[0, rank, : len(made)]
        assert float(own.sum()) == pytest.approx(score, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_parses_are_drawn_as_often_as_they_are_probable(
    make_head: MakeHead, kind: dict[str, bool]
) -> None:
    head = make_head(**kind)
    head.temperature = 1.5
    boundaries, lengths = vectors(2, 3)
    samples = 4000
    chances = torch.rand(2, samples, 2 * 5, generator=torch.Generator().manual_seed(3))
    found = sample(head, boundaries, lengths, chances)
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
            score = scores[steps_of(found, row, rank)]
            assert float(found.log_probs[row, rank]) == pytest.approx(score, abs=1e-4)
