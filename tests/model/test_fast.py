"""The fast steps are those of the plain twin."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from fencepost.model.fast import FastStepping, folded
from fencepost.model.head import PointingHead
from fencepost.model.search import beam, greedy, sample, stream
from fencepost.model.stepping import PlainStepping


def random_head(seed: int, *, previous_label: bool, open_root: bool) -> PointingHead:
    torch.manual_seed(seed)
    head = PointingHead(
        boundary_width=6,
        labels=4,
        mlp=5,
        decoder=7,
        previous_label=previous_label,
        open_root=open_root,
        dropout=0.2,
    )
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    head.temperature = 0.5 + seed % 4 / 2
    return head.eval().requires_grad_(False)


@given(
    seed=st.integers(0, 10_000),
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=5),
    previous_label=st.booleans(),
    open_root=st.booleans(),
    canonical=st.booleans(),
    beams=st.integers(1, 4),
)
def test_both_twins_find_the_same_parses(
    seed: int,
    lengths: list[int],
    previous_label: bool,
    open_root: bool,
    canonical: bool,
    beams: int,
) -> None:
    head = random_head(seed, previous_label=previous_label, open_root=open_root)
    boundaries = torch.randn(len(lengths), max(lengths) + 1, 6)
    sizes = torch.tensor(lengths)
    plain, fast = (
        greedy(head, boundaries, sizes, canonical=canonical, first=first)
        if beams == 1
        else beam(head, boundaries, sizes, beams=beams, canonical=canonical, first=first)
        for first in (PlainStepping.first, FastStepping.first)
    )
    assert torch.allclose(plain.log_probs, fast.log_probs, atol=1e-4)
    best = plain.log_probs[:, 0]
    # Parses that are as good as equal may change places; the best one is seldom among them.
    clear = plain.log_probs.shape[1] == 1 or bool((best > plain.log_probs[:, 1] + 1e-4).all())
    if clear:
        assert torch.equal(plain.boundaries[:, 0], fast.boundaries[:, 0])
        assert torch.equal(plain.labels[:, 0], fast.labels[:, 0])
        assert torch.allclose(plain.step_log_probs[:, 0], fast.step_log_probs[:, 0], atol=1e-4)


def test_weights_that_change_are_folded_anew() -> None:
    head = random_head(1, previous_label=True, open_root=False)
    before = folded(head)
    assert folded(head) is before
    with torch.no_grad():
        head.biaffine.add_(1.0)
    assert folded(head) is not before
    head.load_state_dict(random_head(2, previous_label=True, open_root=False).state_dict())
    again = random_head(2, previous_label=True, open_root=False)
    before = folded(head)
    head.train().requires_grad_(True)
    optimizer = torch.optim.AdamW(head.parameters(), fused=True)
    head.biaffine.sum().backward()
    optimizer.step()
    head.eval().requires_grad_(False)
    assert folded(head) is not before
    head.load_state_dict(again.state_dict())
    assert torch.equal(folded(head).span, folded(again).span)


@given(
    seed=st.integers(0, 10_000),
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    previous_label=st.booleans(),
    open_root=st.booleans(),
)
def test_both_twins_draw_the_same_parses(
    seed: int, lengths: list[int], previous_label: bool, open_root: bool
) -> None:
    head = random_head(seed, previous_label=previous_label, open_root=open_root).double()
    boundaries = torch.randn(len(lengths), max(lengths) + 1, 6, dtype=torch.double)
    chances = torch.rand(len(lengths), 3, 2 * (2 * max(lengths) - 1))
    plain, fast = (
        sample(head, boundaries, torch.tensor(lengths), chances, first=first)
        for first in (PlainStepping.first, FastStepping.first)
    )
    assert torch.equal(plain.boundaries, fast.boundaries)
    assert torch.equal(plain.labels, fast.labels)
    assert torch.equal(plain.steps, fast.steps)
    assert torch.allclose(plain.step_log_probs, fast.step_log_probs)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 9), open_root=st.booleans())
def test_the_steps_of_a_stream_are_those_of_greedy_search(
    seed: int, n: int, open_root: bool
) -> None:
    head = random_head(seed, previous_label=True, open_root=open_root)
    boundaries = torch.randn(n + 1, 6)
    found = greedy(head, boundaries[None], torch.tensor([n]))
    taken = list(stream(head, boundaries))
    count = int(found.steps[0, 0])
    assert [step.boundary for step in taken] == found.boundaries[0, 0, :count].tolist()
    assert [step.label for step in taken] == found.labels[0, 0, :count].tolist()
    costs = [float(step.points[step.boundary] + step.labels[step.label]) for step in taken]
    assert torch.allclose(torch.tensor(costs), found.step_log_probs[0, 0, :count], atol=1e-4)
    assert all(abs(float(step.points.exp().sum()) - 1) < 1e-4 for step in taken)


def test_another_temperature_is_folded_anew() -> None:
    head = random_head(1, previous_label=True, open_root=False)
    before = folded(head)
    head.temperature = 3.0
    assert torch.allclose(folded(head).points * 3, before.points)
