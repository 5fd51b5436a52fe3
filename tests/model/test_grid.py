"""The scores of all spans, against writing all parses down."""

from itertools import product

import pytest
import torch

from fencepost.batching.steps import Steps, canonical_steps
from fencepost.model.grid import Grid, grid_loss, pointing_terms, span_scores
from fencepost.structure import Span
from fencepost.structure.span import by_place
from tests.transition.test_canonical import all_nested

LABELS = 3  # the filler's and two others


@pytest.mark.parametrize("open_root", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_grid_is_a_distribution_over_labelled_parses(n: int, open_root: bool) -> None:
    torch.manual_seed(n)
    whole = Span(0, n, "X")
    parses = []
    for spans in all_nested(n):
        if not open_root and whole not in spans:
            continue
        inner = [span for span in by_place(spans) if span != whole]
        for chosen in product(range(1, LABELS), repeat=len(spans)):
            of_whole = chosen[len(inner)] if whole in spans else 0
            labelled = zip(inner, chosen, strict=False)
            places = [(span.start, span.end, label) for span, label in labelled]
            parses.append(canonical_steps([*places, (0, n, of_whole)]))
    scores = torch.randn(1, n + 2, n + 2, LABELS).expand(len(parses), -1, -1, -1)  # with padding
    lengths = torch.full((len(parses),), n)
    loss = grid_loss(scores, lengths, Steps.of(parses), open_root=open_root)
    assert torch.exp(-loss).sum().item() == pytest.approx(1, abs=1e-5)


def test_a_span_is_scored_from_its_two_ends() -> None:
    torch.manual_seed(2)
    grid, boundaries = Grid(4, hidden=5, labels=LABELS), torch.randn(2, 6, 4)
    scores = grid(boundaries)
    ends = torch.cat((boundaries[1, 2], boundaries[1, 5]))
    plain = grid.out(grid.norm(grid.first(ends)).relu())
    torch.testing.assert_close(scores[1, 2, 5], plain)


def test_pointing_either_way_makes_the_same_span_and_wide_ones_are_out() -> None:
    torch.manual_seed(3)
    labels = torch.randn(1, 410, 410, LABELS)
    terms, scores = pointing_terms(labels)[0], span_scores(labels)[0]
    torch.testing.assert_close(terms[3, 9], scores[3, 9])
    torch.testing.assert_close(terms[9, 3], scores[3, 9])
    assert terms[0, 400] == scores[0, 400]
    assert terms[0, 401] == terms[401, 0] == -20
