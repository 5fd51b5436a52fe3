from collections.abc import Callable

import pytest
import torch

from fencepost.batching.batches import StepTensors, padded
from fencepost.model.head import PointingHead
from fencepost.model.loss import Over, allowed_along, pointing_loss
from fencepost.structure import Span
from fencepost.transition import Configuration, fill_gaps, pointings

MakeHead = Callable[..., PointingHead]
GOLD = [
    [Span(0, 4, "1"), Span(0, 2, "2"), Span(1, 2, "1")],
    [Span(0, 2, "2")],
    [Span(0, 5, "1"), Span(1, 5, "2"), Span(2, 5, "1"), Span(3, 5, "2")],
]


def gold_steps() -> tuple[StepTensors, torch.Tensor]:
    filled = [fill_gaps(spans) for spans in GOLD]
    return (
        StepTensors(
            torch.arange(len(GOLD)),
            padded([step.boundary for step in pointings(spans)] for spans in GOLD),
            padded([span.start for span in spans] for spans in filled),
            padded([span.end for span in spans] for spans in filled),
            padded([int(span.label or 0) for span in spans] for spans in filled),
            padded([1] * len(spans) for spans in filled).bool(),
            torch.ones(len(GOLD)),
        ),
        torch.tensor([4, 2, 5]),
    )


@pytest.mark.parametrize("previous_label", [True, False])
def test_stepwise_decoding_gives_the_scores_of_teacher_forcing(
    make_head: MakeHead, previous_label: bool
) -> None:
    head = make_head(previous_label=previous_label)
    gold, _ = gold_steps()
    boundaries = torch.randn(3, 6, 8, generator=torch.Generator().manual_seed(3))
    points, labels = head(boundaries, gold.starts, gold.ends, gold.labels)
    sides = head.sides(boundaries)
    state, inputs = head.first_state(3), head.first_inputs(3)
    for step in range(gold.starts.shape[1]):
        start, end = gold.starts[:, [step]], gold.ends[:, [step]]
        states, state = head.decode(inputs, state)
        one = head.pointing_scores(sides, states)[:, 0]
        other = head.label_scores(boundaries, states, start, end)[:, 0]
        assert float((one - points[:, step]).abs().max()) <= 1e-5
        assert float((other - labels[:, step]).abs().max()) <= 1e-5
        inputs = head.inputs(boundaries, start, end, gold.labels[:, [step]])


def test_the_pointing_score_is_the_papers_formula(make_head: MakeHead) -> None:
    head = make_head()
    boundaries = torch.randn(1, 4, 8, generator=torch.Generator().manual_seed(3))
    state = torch.randn(1, 1, 5, generator=torch.Generator().manual_seed(4))
    scores = head.pointing_scores(head.sides(boundaries), state)[0, 0]
    seen = head.cursor(state)[0, 0]
    for index in range(4):
        side = torch.cat((head.point(boundaries[:, [index]])[0, 0], torch.ones(1)))
        assert float(scores[index]) == pytest.approx(float(side @ head.biaffine @ seen), abs=1e-4)


def test_candidates_along_gold_are_those_of_the_reference() -> None:
    gold, lengths = gold_steps()
    allowed, _ = allowed_along(gold, lengths, 6)
    for row, n in enumerate(lengths.tolist()):
        configuration = Configuration(n)
        for step in range(int(gold.mask[row].sum())):
            found = tuple(allowed[row, step].nonzero()[:, 0].tolist())
            assert found == configuration.candidates()
            configuration = configuration.point(int(gold.boundaries[row, step]))


@pytest.mark.parametrize("over", ["all", "candidates", "canonical"])
def test_padding_does_not_change_the_loss(make_head: MakeHead, over: Over) -> None:
    head = make_head()
    gold, lengths = gold_steps()
    boundaries = torch.randn(3, 6, 8, generator=torch.Generator().manual_seed(3))
    together = pointing_loss(head, boundaries, lengths, gold, over=over)
    alone = 0.0
    for row, n in enumerate(lengths.tolist()):
        steps = int(gold.mask[row].sum())
        one = StepTensors(
            rows=torch.zeros(1, dtype=torch.long),
            boundaries=gold.boundaries[[row], :steps],
            starts=gold.starts[[row], :steps],
            ends=gold.ends[[row], :steps],
            labels=gold.labels[[row], :steps],
            mask=gold.mask[[row], :steps],
            weights=gold.weights[[row]],
        )
        loss = pointing_loss(head, boundaries[[row], : n + 1], lengths[[row]], one, over=over)
        alone += float(loss)
    assert float(together) == pytest.approx(alone, rel=1e-5)
    assert torch.isfinite(together)


def test_fewer_boundaries_to_choose_from_make_a_smaller_loss(make_head: MakeHead) -> None:
    head = make_head()
    gold, lengths = gold_steps()
    boundaries = torch.randn(3, 6, 8, generator=torch.Generator().manual_seed(3))
    over_all = pointing_loss(head, boundaries, lengths, gold)
    over_candidates = pointing_loss(head, boundaries, lengths, gold, over="candidates")
    canonical = pointing_loss(head, boundaries, lengths, gold, over="canonical")
    assert float(canonical) < float(over_candidates) < float(over_all)
