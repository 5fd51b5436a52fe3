"""The sum over all trees, against writing them all down."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from fencepost.model.inside import log_sum
from fencepost.structure import Span
from tests.transition.test_canonical import all_nested


def written_out(scores: torch.Tensor, n: int) -> torch.Tensor:
    """The same sum, tree by tree: all sets of spans that nest, but for the whole sentence."""
    sums = [
        sum((scores[span.start, span.end] for span in spans), scores.new_zeros(()))
        for spans in all_nested(n)
        if Span(0, n, "X") not in spans
    ]
    return torch.logsumexp(torch.stack(sums), 0)


@given(st.integers(0, 1000), st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_it_is_the_sum_over_all_trees(seed: int, lengths: list[int]) -> None:
    torch.manual_seed(seed)
    width = max(lengths) + 1
    scores = 2 * torch.randn(len(lengths), width, width)
    ours, theirs = scores.clone().requires_grad_(), scores.clone().requires_grad_()
    weights = torch.rand(len(lengths))
    found = log_sum(ours, torch.tensor(lengths))
    plain = torch.stack([written_out(theirs[row], n) for row, n in enumerate(lengths)])
    torch.testing.assert_close(found, plain, atol=1e-4, rtol=1e-4)
    (found * weights).sum().backward()
    (plain * weights + 0 * theirs.sum()).sum().backward()  # one word alone has nothing inside
    assert theirs.grad is not None
    torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-4, rtol=1e-4)


def test_long_sentences_stay_finite() -> None:
    scores = (50 * torch.randn(2, 121, 121)).requires_grad_()
    total = log_sum(scores, torch.tensor([120, 80]))
    total.sum().backward()
    assert torch.isfinite(total).all()
    assert scores.grad is not None
    assert torch.isfinite(scores.grad).all()
    assert float(scores.grad.min()) >= 0
    assert float(scores.grad.max()) <= 1 + 1e-5
