import numpy as np
import pytest
import torch

from fencepost.batching.arrays import Ints
from fencepost.batching.steps import Steps, numbered
from fencepost.batching.vocabulary import Labels
from fencepost.decoding.configurations import along
from fencepost.model.loss import Over, allowed_along, pointing_loss
from fencepost.structure import Span
from fencepost.transition import Configuration
from tests.heads import make_head, nowhere

GOLD = [
    [Span(0, 4, "1"), Span(0, 2, "2"), Span(1, 2, "1")],
    [Span(0, 2, "2")],
    [Span(0, 5, "1"), Span(1, 5, "2"), Span(2, 5, "1"), Span(3, 5, "2")],
]


def gold_steps() -> tuple[Steps, Ints]:
    labels = Labels(("1", "2"))
    return Steps.of([numbered(spans, labels) for spans in GOLD]), np.array([4, 2, 5])


def vectors() -> torch.Tensor:
    return torch.randn(3, 6, 8, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("previous_label", [True, False])
def test_stepwise_decoding_gives_the_scores_of_teacher_forcing(previous_label: bool) -> None:
    head = make_head(previous_label=previous_label)
    gold, _ = gold_steps()
    starts, ends, numbers = map(torch.from_numpy, (gold.starts, gold.ends, gold.labels))
    boundaries = vectors()
    sentences, where = head.read(boundaries), nowhere(3)
    forced = head.states(boundaries, starts, ends, numbers)
    points = head.pointing_scores(sentences, forced, where)
    labels = head.label_scores(boundaries, forced, starts, ends, where)
    state, inputs = head.first_state(3), head.first_inputs(3)
    for step in range(starts.shape[1]):
        start, end = starts[:, [step]], ends[:, [step]]
        states, state = head.decode(inputs, state)
        one = head.pointing_scores(sentences, states, where)[:, 0]
        other = head.label_scores(boundaries, states, start, end, where)[:, 0]
        assert float((one - points[:, step]).abs().max()) <= 1e-5
        assert float((other - labels[:, step]).abs().max()) <= 1e-5
        inputs = head.inputs(boundaries, start, end, numbers[:, [step]])


def test_the_pointing_score_is_the_papers_formula() -> None:
    head = make_head()
    boundaries = torch.randn(1, 4, 8, generator=torch.Generator().manual_seed(3))
    state = torch.randn(1, 1, 5, generator=torch.Generator().manual_seed(4))
    scores = head.pointing_scores(head.read(boundaries), state, nowhere(1))[0, 0]
    seen = head.cursor(state)[0, 0]
    for index in range(4):
        side = torch.cat((head.point(boundaries[:, [index]])[0, 0], torch.ones(1)))
        assert float(scores[index]) == pytest.approx(float(side @ head.biaffine @ seen), abs=1e-4)


def test_candidates_along_gold_are_those_of_the_reference() -> None:
    gold, lengths = gold_steps()
    where = along(gold, lengths, 6)
    allowed, _ = allowed_along(where, gold, over="candidates", open_root=False)
    for row, n in enumerate(lengths.tolist()):
        configuration = Configuration(n)
        for step in range(int(gold.counts[row])):
            found = tuple(allowed[row, step].nonzero()[0].tolist())
            assert found == configuration.candidates()
            configuration = configuration.point(int(gold.boundaries[row, step]))


@pytest.mark.parametrize("over", ["all", "candidates", "canonical"])
def test_padding_does_not_change_the_loss(over: Over) -> None:
    head = make_head()
    gold, lengths = gold_steps()
    boundaries, sizes = vectors(), torch.from_numpy(lengths)
    together = pointing_loss(head, boundaries, sizes, gold, over=over)
    assert together.shape == (3,)
    for row, n in enumerate(lengths.tolist()):
        count = int(gold.counts[row])
        one = Steps(gold.boundaries[[row], :count], gold.labels[[row], :count], gold.counts[[row]])
        alone = pointing_loss(head, boundaries[[row], : n + 1], sizes[[row]], one, over=over)
        assert float(together[row]) == pytest.approx(float(alone), rel=1e-5)
    assert bool(torch.isfinite(together).all())


def test_fewer_boundaries_to_choose_from_make_a_smaller_loss() -> None:
    head = make_head()
    gold, lengths = gold_steps()
    boundaries, sizes = vectors(), torch.from_numpy(lengths)
    over_all = pointing_loss(head, boundaries, sizes, gold)
    over_candidates = pointing_loss(head, boundaries, sizes, gold, over="candidates")
    canonical = pointing_loss(head, boundaries, sizes, gold, over="canonical")
    assert float(canonical.sum()) < float(over_candidates.sum()) < float(over_all.sum())
