"""A classifier that looks at each span by itself."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from experiments.systems.classifier import ClassifierHead, best_spans, classifier_losses
from fencepost.batching.steps import numbered
from fencepost.batching.vocabulary import Labels
from fencepost.structure import Span
from fencepost.structure.span import first_crossing
from fencepost.tasks import entities

LABELS = Labels(("A", "B"))
GOLD = [  # spans, words
    ([Span(0, 3, "A"), Span(1, 2, "B")], 4),
    ([Span(2, 4, "B")], 5),
    ([], 2),
]


@pytest.mark.parametrize("of_authors", [True, False])
def test_a_handful_of_sentences_is_learned_by_heart(of_authors: bool) -> None:
    torch.manual_seed(1)
    head = ClassifierHead(boundary_width=8, labels=3, mlp=32, dropout=0.0, of_authors=of_authors)
    boundaries, lengths = torch.randn(3, 6, 8), torch.tensor([n for _, n in GOLD])
    steps = [numbered(entities.encode(tuple(spans), n), LABELS) for spans, n in GOLD]
    optimizer = torch.optim.Adam(head.parameters(), lr=0.01)
    for _ in range(400):
        optimizer.zero_grad()
        classifier_losses(head, boundaries, lengths, steps).sum().backward()
        optimizer.step()
    scores = head(boundaries).detach()
    for row, (spans, n) in enumerate(GOLD):
        found = {(s, e, LABELS.label(x)) for s, e, x in best_spans(scores[row], n)}
        assert found == {tuple(span) for span in spans}


def test_padding_does_not_change_the_loss() -> None:
    torch.manual_seed(1)
    head = ClassifierHead(boundary_width=8, labels=3, mlp=6, dropout=0.0, of_authors=False)
    torch.nn.init.normal_(head.biaffine)
    boundaries = torch.randn(3, 6, 8)
    steps = [numbered(entities.encode(tuple(spans), n), LABELS) for spans, n in GOLD]
    lengths = torch.tensor([n for _, n in GOLD])
    head.requires_grad_(False)
    together = classifier_losses(head, boundaries, lengths, steps)
    for row, (_, n) in enumerate(GOLD):
        one = boundaries[[row], : n + 1]
        alone = classifier_losses(head, one, lengths[[row]], [steps[row]])
        assert float(alone) == pytest.approx(float(together[row]), rel=1e-5)


@given(st.integers(1, 7), st.integers(0, 10_000))
def test_what_is_kept_does_not_cross_and_has_a_type(n: int, seed: int) -> None:
    scores = torch.from_numpy(np.random.default_rng(seed).normal(size=(3, n + 3, n + 3)))
    found = best_spans(scores, n)
    assert first_crossing([Span(start, end) for start, end, _ in found]) is None
    assert all(0 <= start < end <= n and label in (1, 2) for start, end, label in found)
