"""The scores of all spans, against writing all parses down."""

import pytest
import torch

from fencepost.batching.steps import Steps, canonical_steps
from fencepost.model.grid import Grid, grid_loss, pointing_terms
from fencepost.structure import Span
from fencepost.structure.span import by_place
from tests.transition.test_canonical import all_nested


@pytest.mark.parametrize("open_root", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_grid_is_a_distribution_over_parses(n: int, open_root: bool) -> None:
    torch.manual_seed(n)
    whole = Span(0, n, "X")
    parses = [spans for spans in all_nested(n) if open_root or whole in spans]
    steps = Steps.of(
        [
            canonical_steps(
                [
                    *((span.start, span.end, 1) for span in by_place(spans) if span != whole),
                    (0, n, int(whole in spans)),
                ]
            )
            for spans in parses
        ]
    )
    grid = torch.randn(1, n + 2, n + 2).expand(len(parses), -1, -1)  # the last one is padding
    loss = grid_loss(grid, torch.full((len(parses),), n), steps, open_root=open_root)
    assert torch.exp(-loss).sum().item() == pytest.approx(1, abs=1e-5)


def test_a_span_is_scored_from_its_two_ends() -> None:
    torch.manual_seed(2)
    grid, boundaries = Grid(4, hidden=5), torch.randn(2, 6, 4)
    ends = torch.cat((boundaries[1, 2], boundaries[1, 5]))
    plain = grid.out(grid.norm(grid.first(ends)).relu())
    torch.testing.assert_close(grid(boundaries)[1, 2, 5], plain[0])


def test_pointing_either_way_makes_the_same_span_and_wide_ones_are_out() -> None:
    torch.manual_seed(3)
    spans = torch.randn(1, 410, 410)
    terms = pointing_terms(spans)
    assert terms[0, 3, 9] == terms[0, 9, 3] == spans[0, 3, 9]
    assert terms[0, 0, 400] == spans[0, 0, 400]
    assert terms[0, 0, 401] == terms[0, 401, 0] == -20
