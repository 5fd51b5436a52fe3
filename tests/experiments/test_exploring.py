"""Training along own paths: the usual loss on gold ones, the oracle's steps off them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import Accelerator
from torch import Tensor
from torch.nn import functional

from experiments.systems.dynamic_oracle import best_step
from experiments.systems.exploring import Exploring, best_along, own_paths, path_losses
from fencepost.batching.batches import gold_steps
from fencepost.batching.examples import Example
from fencepost.batching.steps import Numbered
from fencepost.checkpoints.trainable import TrainableModel
from fencepost.decoding.rules import Rules
from fencepost.decoding.walk import greedy
from fencepost.errors import ConfigError
from fencepost.formats import ParseReader
from fencepost.model.head import PointingHead
from fencepost.model.loss import Over, pointing_loss
from fencepost.model.stepper import stepper_of
from fencepost.parser.predict import predict
from fencepost.run.evaluate import compared, main_figure
from fencepost.run.training.train import prepare_training, recipe_of
from fencepost.structure import Parse, Span
from fencepost.training.loop import Progress, Recipe, batch_losses, optimizer_for, train
from fencepost.transition import Configuration, pointings
from tests.eight import settings, write_eight
from tests.heads import nowhere

# Labels are numbers; the last one is an entity parse, whose root has none.
GOLD = [
    [Span(0, 4, "1"), Span(0, 2, "2"), Span(1, 2, "1")],
    [Span(0, 1, "2")],
    [Span(0, 5, "1"), Span(1, 5, "2"), Span(2, 5, "1"), Span(3, 5, "2")],
    [Span(0, 4, None), Span(1, 3, "1")],
]
PATHS: list[Numbered] = [  # boundaries and labels of steps that leave the gold path
    ((1, 0), (3, 2), (4, 0), (1, 1), (0, 2)),
    ((1, 1),),
    ((2, 1), (5, 2), (0, 1)),
    ((2, 1), (3, 2), (0, 1), (4, 0), (0, 2)),
]


def small_head(*, previous_label: bool = False, dropout: float = 0.0) -> PointingHead:
    torch.manual_seed(1)
    head = PointingHead(
        boundary_width=8,
        labels=3,
        mlp=6,
        decoder=5,
        previous_label=previous_label,
        open_root=True,
        dropout=dropout,
    )
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, std=0.4)  # so that choices are far from even
    return head


def gold_examples() -> list[Example]:
    found: list[Example] = []
    for gold in GOLD:
        steps = tuple((boundary, int(label or 0)) for boundary, label in pointings(gold))
        words = ("word",) * gold[0].end
        found.append(Example(words, {"tree": steps}, weight=1.0 + len(found) / 4))
    return found


def sentence_vectors(examples: Sequence[Example]) -> tuple[Tensor, Tensor]:
    lengths = torch.tensor([len(example.words) for example in examples])
    generator = torch.Generator().manual_seed(3)
    return torch.randn(len(examples), int(lengths.max()) + 1, 8, generator=generator), lengths


@pytest.mark.parametrize("over", ["candidates", "all"])
@pytest.mark.parametrize("previous_label", [True, False])
def test_on_the_gold_path_the_loss_is_the_usual_one(over: Over, previous_label: bool) -> None:
    head = small_head(previous_label=previous_label, dropout=0.3)
    examples = gold_examples()
    boundaries, lengths = sentence_vectors(examples)
    _, gold = gold_steps(examples, "tree")
    steps = [example.steps["tree"] for example in examples]
    losses, gradients = [], []
    for usual in (True, False):
        torch.manual_seed(4)  # the same dropout
        if usual:
            loss = pointing_loss(head, boundaries, lengths, gold, over=over, label_smoothing=0.1)
        else:
            loss = path_losses(
                head, boundaries, lengths, steps, steps, over=over, label_smoothing=0.1
            )
        losses.append(loss)
        gradients.append(torch.autograd.grad(loss.sum(), list(head.parameters())))
    assert torch.equal(*losses)
    assert all(map(torch.equal, *gradients))


def plain_loss(
    head: PointingHead,
    boundaries: Tensor,
    gold: Sequence[Span],
    path: Sequence[tuple[int, int]],
    *,
    over_candidates: bool,
) -> Tensor:
    """The loss along a path, one step after the other with the reference of the oracle.

    Args:
        head: whose loss it is.
        boundaries: of one sentence, (1, n + 1, width)
        gold: spans
        path: boundaries and labels
        over_candidates: or over all boundaries
    """
    here = Configuration(boundaries.shape[1] - 1)
    state, inputs = head.first_state(1), head.first_inputs(1)
    total = torch.zeros(())
    for boundary, label in path:
        states, state = head.decode(inputs, state)
        best = best_step(here, gold)
        among = here.candidates() if over_candidates else range(here.n + 1)
        points = head.pointing_scores(head.read(boundaries), states, nowhere(1))[0, 0, list(among)]
        total = total - points.log_softmax(0)[list(among).index(best.boundary)]
        start, end = sorted((here.cursor, best.boundary))
        places = torch.tensor([[start]]), torch.tensor([[end]])
        labels = head.label_scores(boundaries, states, *places, nowhere(1))[0, 0]
        total = total + functional.cross_entropy(labels, torch.tensor(int(best.label or 0)))
        start, end = sorted((here.cursor, boundary))
        inputs = head.inputs(
            boundaries, torch.tensor([[start]]), torch.tensor([[end]]), torch.tensor([[label]])
        )
        here = here.point(boundary)
    assert here.is_final
    return total


@pytest.mark.parametrize("over", ["candidates", "all"])
@pytest.mark.parametrize("previous_label", [True, False])
@pytest.mark.parametrize("rows", [[0], [1], [2], [3], [0, 1, 2, 3]], ids=str)
def test_off_the_gold_path_each_step_learns_the_best_one(
    over: Over, previous_label: bool, rows: list[int]
) -> None:
    head = small_head(previous_label=previous_label)
    every, lengths = sentence_vectors(gold_examples())
    gold = [gold_examples()[row].steps["tree"] for row in rows]
    paths = [PATHS[row] for row in rows]
    longest = int(lengths[rows].max())
    together = path_losses(head, every[rows, : longest + 1], lengths[rows], paths, gold, over=over)
    for row, loss, steps, path in zip(rows, together, gold, paths, strict=True):
        one = plain_loss(
            head,
            every[[row], : int(lengths[row]) + 1],
            GOLD[row],
            path,
            over_candidates=over == "candidates",
        )
        # A sentence counts as much as by the usual loss, however long its path is.
        expected = one * len(steps) / len(path)
        assert float((loss - expected).detach().abs()) <= 1e-4
    together.sum().backward()
    for name, parameter in head.named_parameters():
        assert parameter.grad is not None, name
        assert bool(torch.isfinite(parameter.grad).all()), name


def test_sentences_count_by_their_weights_off_the_gold_path(tmp_path: Path) -> None:
    model, examples, _, recipe = eight(tmp_path, {"tree": {}})

    def loss(*batch: Example) -> float:
        inputs = model.read([example.words for example in batch])
        losses = Exploring(share=1.0).losses(model.network, batch, inputs, recipe)
        return float(losses["tree"].detach())

    one, other = examples[:2]
    expected = 3 * loss(one) + loss(other)
    assert loss(replace(one, weight=3.0), other) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("row", range(len(GOLD)))
def test_fillers_of_gold_are_no_spans_that_can_be_lost(row: int) -> None:
    best = best_along(PATHS[row], gold_examples()[row].steps["tree"])
    here = Configuration(GOLD[row][0].end)
    for (boundary, _), step in zip(PATHS[row], best, strict=True):
        expected = best_step(here, GOLD[row])
        assert step == (expected.boundary, int(expected.label or 0))
        here = here.point(boundary)


@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize("rows", [1, 2, 7])
def test_own_paths_are_those_of_greedy_search(rows: int, canonical: bool) -> None:
    head = small_head(previous_label=True, dropout=0.5).train()
    lengths = torch.tensor([5, 1, 3, 2, 4, 5, 6][:rows])
    boundaries = torch.randn(rows, 7, 8, generator=torch.Generator().manual_seed(6))
    paths = own_paths(head, boundaries.requires_grad_(), lengths, canonical=canonical)
    assert head.training
    rules = Rules(head.open_root, canonical=canonical)
    stepper = stepper_of(head.eval())
    found = greedy(stepper, boundaries.detach().numpy(), lengths.numpy(), rules)
    for row, path in enumerate(paths):
        here = Configuration(int(lengths[row]))
        for number, (boundary, label) in enumerate(path):
            assert boundary == int(found.boundaries[row, 0, number])
            assert label == int(found.labels[row, 0, number])
            here = here.point(boundary)
        assert here.is_final


def test_own_paths_follow_weights_that_a_fused_optimiser_changes() -> None:
    head = small_head().train()
    boundaries, lengths = sentence_vectors(gold_examples())
    optimizer = torch.optim.AdamW(head.parameters(), lr=0.5, fused=True)
    own_paths(head, boundaries, lengths, canonical=True)
    for _ in range(3):
        loss = sum((parameter.sin().sum() for parameter in head.parameters()), torch.zeros(()))
        loss.backward()
        optimizer.step()
        paths = own_paths(head, boundaries, lengths, canonical=True)
        fresh = small_head()
        fresh.load_state_dict(head.state_dict())
        assert paths == own_paths(fresh.eval(), boundaries, lengths, canonical=True)


def eight(
    folder: Path, heads: dict[str, Any], **training: Any
) -> tuple[TrainableModel, list[Example], list[Parse], Recipe]:
    """A small model, what it learns from, and how."""
    data = write_eight(folder / "data.jsonl")
    chosen = settings(data, heads, **training)
    torch.manual_seed(chosen.seed)
    parses = list(ParseReader(data))
    [corpus] = chosen.data.train
    model, examples = prepare_training(chosen, [(corpus, parse) for parse in parses])
    return model, examples, parses, recipe_of(chosen)


@pytest.mark.parametrize("over", ["all", "candidates"])
def test_without_a_share_training_is_the_usual_one(tmp_path: Path, over: str) -> None:
    model, examples, _, recipe = eight(
        tmp_path, {"tree": {}, "entities": {}}, pointing_loss=over, label_smoothing=0.1
    )
    examples[3] = replace(examples[3], steps={"tree": examples[3].steps["tree"]})
    inputs = model.read([example.words for example in examples])
    usual = batch_losses(model.network, examples, inputs, recipe)
    ours = Exploring(share=0.0).losses(model.network, examples, inputs, recipe)
    assert set(ours) == set(usual) == {"tree", "entities"}
    for name, loss in ours.items():
        assert torch.equal(loss, usual[name])


def test_a_layer_that_no_sentence_has_is_left_out(tmp_path: Path) -> None:
    model, examples, _, recipe = eight(tmp_path, {"tree": {}, "entities": {}})
    batch = [replace(one, steps={"tree": one.steps["tree"]}) for one in examples]
    inputs = model.read([example.words for example in batch])
    assert set(Exploring().losses(model.network, batch, inputs, recipe)) == {"tree"}


def test_a_sentence_has_the_same_loss_alone_and_in_a_batch(tmp_path: Path) -> None:
    model, examples, _, recipe = eight(tmp_path, {"tree": {}, "entities": {}})

    def losses(batch: Sequence[Example]) -> dict[str, Tensor]:
        inputs = model.read([example.words for example in batch])
        with torch.no_grad():
            return Exploring(share=1.0).losses(model.network, batch, inputs, recipe)

    together, alone = losses(examples), [losses([example]) for example in examples]
    for name, loss in together.items():
        assert float(loss) == pytest.approx(float(sum(one[name] for one in alone)), rel=1e-4)


def test_the_share_of_sentences_is_drawn_by_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, examples, _, recipe = eight(tmp_path, {"tree": {}})
    inputs = model.read([example.words for example in examples])
    explored: list[int] = []

    def counted(
        head: PointingHead, boundaries: Tensor, lengths: Tensor, *, canonical: bool
    ) -> list[Numbered]:
        explored.append(len(lengths))
        return own_paths(head, boundaries, lengths, canonical=canonical)

    monkeypatch.setattr("experiments.systems.exploring.own_paths", counted)

    def drawn() -> Iterator[float]:
        torch.manual_seed(5)
        for _ in range(50):
            losses = Exploring(share=0.25).losses(model.network, examples, inputs, recipe)
            yield float(losses["tree"].detach())

    first = list(drawn())
    # Of 400 draws by a quarter, 100 are expected, and the deviation is 9.
    assert 60 < sum(explored) < 140
    assert first[:5] == list(islice(drawn(), 5))
    assert len(set(first)) > 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("heads", "share"),
    [({"tree": {}, "entities": {}}, 0.5), ({"tree": {}}, 1.0)],
    ids=["half", "all"],
)
def test_eight_sentences_are_learned_by_heart(
    tmp_path: Path, heads: dict[str, Any], share: float
) -> None:
    model, examples, parses, recipe = eight(tmp_path, heads, epochs=70)
    system = Exploring(share)
    system.fit(model)
    optimizer = optimizer_for(
        model.network, rate=1e-2, encoder_rate=1e-2, betas=(0.9, 0.9), weight_decay=0.0
    )
    progress = Progress()
    while progress.epoch < recipe.epochs:
        for _ in train(
            model.network,
            optimizer,
            examples,
            model.read,
            recipe=recipe,
            progress=progress,
            accelerator=Accelerator(cpu=True),
            losses=system.losses,
        ):
            pass
    assert progress.skipped == 0
    predicted = system.predict(model, [replace(parse.sentence, tags=None) for parse in parses])
    reports = compared(parses, predicted)
    assert {name: main_figure(report) for name, report in reports.items()} == dict.fromkeys(
        heads, 100.0
    )


def test_a_new_model_goes_other_ways_without_canonical_rules(tmp_path: Path) -> None:
    model, examples, parses, recipe = eight(tmp_path, {"tree": {}})
    with torch.no_grad():  # so that fillers are what it likes best
        model.network.head("tree").label_vectors[1:] *= 0.1
    sentences = [parse.sentence for parse in parses]
    inputs = model.read([example.words for example in examples])
    systems = [Exploring(1.0), Exploring(1.0, canonical=False)]
    losses = [system.losses(model.network, examples, inputs, recipe) for system in systems]
    assert not torch.equal(losses[0]["tree"], losses[1]["tree"])
    assert systems[0].predict(model, sentences) == predict(model, sentences)
    assert systems[1].predict(model, sentences) == predict(model, sentences, canonical=False)
    assert predict(model, sentences) != predict(model, sentences, canonical=False)


def test_a_model_with_tags_is_refused(tmp_path: Path) -> None:
    model, *_ = eight(tmp_path, {"tree": {}, "tags": {}})
    with pytest.raises(ConfigError, match="leave tags out"):
        Exploring().fit(model)
