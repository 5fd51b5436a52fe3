"""Top-down splitting: what it is trained with, and what it finds."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from experiments.systems.binary import binarised
from experiments.systems.splitting import (
    Gold,
    Splits,
    Splitting,
    SplittingHead,
    best_labels,
    gold_of,
    head_of,
    search,
    splitting_loss,
)
from fencepost.batching.examples import Example
from fencepost.batching.steps import Numbered, places
from fencepost.batching.vocabulary import FILLER
from fencepost.checkpoints.trainable import TrainableModel
from fencepost.formats import read
from fencepost.model.head import PointingHead
from fencepost.model.stepper import stepper_of
from fencepost.run.training.train import prepare_training, recipe_of
from fencepost.structure import Parse, Sentence
from fencepost.training.device import accelerator_for
from fencepost.training.loop import Progress, Recipe, optimizer_for, train
from tests.eight import LINES, settings, write_eight

WIDTH, LABELS = 12, 5
ONE_WORD: tuple[str, list[list[Any]]] = ("(FRAG (INTJ (UH Yes)))", [])
FLAT: tuple[str, list[list[Any]]] = (
    "(NP (DT a) (JJ big) (JJ red) (JJ old) (NN house) (NNS dogs))",
    [],
)


@pytest.fixture
def head() -> SplittingHead:
    torch.manual_seed(3)
    made = SplittingHead(boundary_width=WIDTH, labels=LABELS, mlp=10, decoder=7, dropout=0.0)
    with torch.no_grad():  # small networks that have learned nothing hardly care where they point
        for weight in made.parameters():
            weight.add_(torch.randn_like(weight), alpha=0.5)
    return made.eval()


def drawn(lengths: Sequence[int], seed: int = 1) -> tuple[Tensor, Tensor]:
    """Random boundaries of sentences of these lengths; what is behind them is random, too."""
    torch.manual_seed(seed)
    return 2 * torch.randn(len(lengths), max(lengths) + 1, WIDTH), torch.tensor(lengths)


def one_by_one(head: SplittingHead, boundaries: Tensor, n: int) -> Iterator[tuple[int, int, int]]:
    """The splits of one sentence, with a stack of spans, and all read anew at each step."""
    waiting, read = [(0, n)], list[tuple[int, int]]()
    while waiting:
        start, end = waiting.pop()
        if end - start < 2:
            continue
        read.append((start, end))
        starts, ends = torch.tensor(read).T[:, None]
        scores = head(boundaries[None], starts, ends)[0, -1]
        split = max(range(start + 1, end), key=scores.tolist().__getitem__)
        yield start, split, end
        waiting += [(split, end), (start, split)]


def rows_of(found: Splits, lengths: Tensor) -> list[list[tuple[int, int, int]]]:
    """The splits of each row, without the padding."""
    columns = (each.tolist() for each in found)
    return [
        list(zip(*row, strict=True))[: n - 1]
        for *row, n in zip(*columns, lengths.tolist(), strict=True)
    ]


@pytest.mark.parametrize("seed", range(10))
def test_search_finds_what_a_stack_of_spans_finds(head: SplittingHead, seed: int) -> None:
    boundaries, lengths = drawn([3, 1, 9, 2, 14, 9, 5], seed)
    with torch.no_grad():
        wanted = [
            list(one_by_one(head, row[: n + 1], n))
            for row, n in zip(boundaries, lengths.tolist(), strict=True)
        ]
    found = search(head, boundaries, lengths)
    assert rows_of(found, lengths) == wanted
    for row, n in enumerate(lengths.tolist()):
        for each in found:
            assert not each[row, n - 1 :].any()


def test_search_in_words_alone_takes_no_step(head: SplittingHead) -> None:
    boundaries, lengths = drawn([1, 1])
    assert rows_of(search(head, boundaries, lengths), lengths) == [[], []]


def test_search_sees_new_weights(head: SplittingHead) -> None:
    boundaries, lengths = drawn([12])
    before, stepper = search(head, boundaries, lengths), stepper_of(head.pointer)
    assert stepper_of(head.pointer) is stepper
    with torch.no_grad():
        for weight in head.parameters():
            weight.copy_(-weight)
    after = search(head, boundaries, lengths)
    assert stepper_of(head.pointer) is not stepper
    with torch.no_grad():
        assert rows_of(after, lengths) == [list(one_by_one(head, boundaries[0], 12))]
    assert rows_of(after, lengths) != rows_of(before, lengths)


def test_weights_are_folded_anew_after_training(head: SplittingHead) -> None:
    stepper = stepper_of(head.pointer)
    head.train().eval()  # a fused optimiser may have been at work
    assert stepper_of(head.pointer) is not stepper


def test_labels_are_those_of_both_boundaries(head: SplittingHead) -> None:
    boundaries, _ = drawn([6, 4])
    starts, ends = torch.tensor([[0, 2], [1, 0]]), torch.tensor([[6, 3], [4, 1]])
    scores = head.label_scores(boundaries, starts, ends)
    for row in range(2):
        for span in range(2):
            start, end = boundaries[row, starts[row, span]], boundaries[row, ends[row, span]]
            both = torch.cat((start, end))[None, None]
            wanted = head.label(both)[0, 0] @ head.label_vectors.T
            assert torch.allclose(scores[row, span], wanted, atol=1e-5)


def test_the_best_labels_are_those_with_the_best_scores(head: SplittingHead) -> None:
    boundaries, lengths = drawn([7, 3, 1, 5])
    found = search(head, boundaries, lengths)
    inner, words = best_labels(head, boundaries, lengths, found)
    for row, n in enumerate(lengths.tolist()):
        places = [(start, end) for start, _, end in rows_of(found, lengths)[row]]
        places += ((start, start + 1) for start in range(n))
        chosen = [*inner[row, : n - 1].tolist(), *words[row, :n].tolist()]
        for (start, end), label in zip(places, chosen, strict=True):
            place = torch.tensor([[start]]), torch.tensor([[end]])
            scores = head.label_scores(boundaries[row : row + 1], *place)[0, 0].tolist()
            few = range(1 if (start, end) == (0, n) else 0, LABELS)
            assert label == max(few, key=scores.__getitem__)


def test_only_the_whole_sentence_has_to_have_a_label(head: SplittingHead) -> None:
    boundaries, lengths = drawn([5, 1, 3])
    with torch.no_grad():
        head.label.second.weight.zero_()
        head.label.second.bias.copy_(head.label_vectors[FILLER] * 100)
    found = search(head, boundaries, lengths)
    inner, words = best_labels(head, boundaries, lengths, found)
    assert inner[0, 0] != FILLER
    assert inner[2, 0] != FILLER
    assert words[1, 0] != FILLER
    assert not inner[0, 1:].any()
    assert inner[2, 1] == FILLER
    assert not words[0].any()
    assert not words[2, :3].any()


TREES: list[Numbered] = [
    ((2, 3), (4, 0), (0, 1)),
    ((1, 2),),
    ((1, 0), (2, 4), (5, 1), (1, 2), (0, 3)),
]
UNUSED = ("pointer.label.", "pointer.label_vectors")
SAME = "pointer.point.second.bias"  # adds the same to all scores of a step: its gradient is zero


def slow_loss(
    head: SplittingHead, boundaries: Tensor, steps: Numbered, *, within: bool, smoothing: float
) -> Tensor:
    """The loss of one sentence, step by step."""
    n = len(boundaries) - 1
    nodes = binarised(places(steps), n)
    loss = torch.zeros(())
    split = [node for node in nodes if node.split is not None]
    for step, node in enumerate(split):
        assert node.split is not None
        starts = torch.tensor([[one.start for one in split[: step + 1]]])
        ends = torch.tensor([[one.end for one in split[: step + 1]]])
        scores = head(boundaries[None], starts, ends)[0, -1]
        rivals = scores[node.start + 1 : node.end] if within else scores
        loss = loss + rivals.logsumexp(0) - scores[node.split]
    for node in nodes:
        place = torch.tensor([[node.start]]), torch.tensor([[node.end]])
        costs = -head.label_scores(boundaries[None], *place)[0, 0].log_softmax(0)
        loss = loss + (1 - smoothing) * costs[node.label] + smoothing * costs.mean()
    return loss


@pytest.mark.parametrize("within", [False, True], ids=["all boundaries", "candidates"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_loss_of_a_batch_is_that_of_each_step(
    head: SplittingHead, within: bool, smoothing: float
) -> None:
    boundaries, lengths = drawn([4, 1, 5])
    found = splitting_loss(
        head,
        boundaries,
        lengths,
        [gold_of(steps) for steps in TREES],
        over_candidates=within,
        label_smoothing=smoothing,
    )
    wanted = [
        slow_loss(head, row[: n + 1], steps, within=within, smoothing=smoothing)
        for row, n, steps in zip(boundaries, lengths.tolist(), TREES, strict=True)
    ]
    assert torch.allclose(found, torch.stack(wanted), rtol=1e-4)
    found.sum().backward()
    for name, weight in head.named_parameters():
        if name.startswith(UNUSED):
            assert weight.grad is None, name
            continue
        assert weight.grad is not None, name
        assert torch.isfinite(weight.grad).all(), name
        assert weight.grad.any() or name == SAME, name


@pytest.mark.parametrize("within", [False, True])
def test_words_alone_have_a_loss(head: SplittingHead, within: bool) -> None:
    boundaries, lengths = drawn([1, 1])
    gold = gold_of(TREES[1])
    found = splitting_loss(head, boundaries, lengths, [gold, gold], over_candidates=within)
    wanted = slow_loss(head, boundaries[0], TREES[1], within=within, smoothing=0.0)
    assert torch.allclose(found[0], wanted)
    found.sum().backward()
    assert all(
        weight.grad is None or torch.isfinite(weight.grad).all() for weight in head.parameters()
    )


def test_gold_is_split_from_the_last_child_and_in_pre_order() -> None:
    assert gold_of(TREES[2]) == Gold(
        starts=(0, 1, 2, 2),
        splits=(1, 2, 4, 3),
        ends=(5, 5, 5, 4),
        labels=(3, 2, 1, 0),
        words=(0, 4, 0, 0, 0),
    )
    assert gold_of(TREES[1]) == Gold((), (), (), (), words=(2,))


class Prepared:
    """A small model that splits, and what it can be trained on."""

    def __init__(self, path: Path, *, dropout: float = 0.0) -> None:
        data = write_eight(path, [*LINES, ONE_WORD, FLAT])
        chosen = settings(data, {"tree": {}})
        network = chosen.network.model_copy(update={"dropout": dropout})
        chosen = chosen.model_copy(update={"network": network})
        torch.manual_seed(1)
        self.parses = list(read(data))
        corpus = chosen.data.train[0]
        self.model: TrainableModel
        self.examples: list[Example]
        self.model, self.examples = prepare_training(
            chosen, [(corpus, parse) for parse in self.parses]
        )
        self.recipe: Recipe = recipe_of(chosen)
        self.rate = chosen.training.rate
        self.betas = chosen.training.betas
        self.system = Splitting()
        self.before = self.model.network.head("tree")
        self.system.fit(self.model)

    @property
    def sentences(self) -> list[Sentence]:
        return [parse.sentence for parse in self.parses]

    def learn(self, epochs: int) -> None:
        optimizer = optimizer_for(
            self.model.network,
            rate=self.rate,
            encoder_rate=self.rate,
            betas=self.betas,
            weight_decay=0.0,
        )
        progress = Progress()
        for _ in range(epochs):
            for _ in train(
                self.model.network,
                optimizer,
                self.examples,
                self.model.read,
                recipe=self.recipe,
                progress=progress,
                accelerator=accelerator_for("cpu", "fp32"),
                losses=self.system.losses,
            ):
                pass


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    return Prepared(tmp_path / "data.jsonl")


def trees_of(parses: Sequence[Parse]) -> list[str]:
    return [str(parse.tree) for parse in parses]


@pytest.mark.slow
def test_ten_trees_are_learned_by_heart(prepared: Prepared) -> None:
    gold = trees_of(prepared.parses)
    assert trees_of(prepared.system.predict(prepared.model, prepared.sentences)) != gold
    prepared.learn(100)
    found = prepared.system.predict(prepared.model, prepared.sentences)
    assert trees_of(found) == gold
    assert prepared.model.network.training
    for sentence, parse in zip(prepared.sentences, found, strict=True):
        assert prepared.system.predict(prepared.model, [sentence]) == [parse]


def test_a_sentence_is_parsed_alone_as_in_a_batch(prepared: Prepared) -> None:
    prepared.learn(2)
    sentences = prepared.sentences
    together = prepared.system.predict(prepared.model, sentences)
    alone = [prepared.system.predict(prepared.model, [sentence])[0] for sentence in sentences]
    assert together == alone
    assert [parse.sentence for parse in together] == sentences


def test_steps_are_counted(prepared: Prepared) -> None:
    prepared.system.predict(prepared.model, prepared.sentences)
    assert prepared.system.steps == sum(len(one) - 1 for one in prepared.sentences)


def test_nothing_is_found_in_no_words(prepared: Prepared) -> None:
    nothing, word = Sentence(()), Sentence(("Yes",))
    found = prepared.system.predict(prepared.model, [nothing, word, nothing])
    assert found[0] == found[2] == Parse(nothing)
    assert found[1].tree is not None
    assert prepared.system.predict(prepared.model, []) == []


@pytest.mark.parametrize("mode", [True, False])
def test_the_network_goes_on_as_it_was(tmp_path: Path, mode: bool) -> None:
    prepared = Prepared(tmp_path / "data.jsonl", dropout=0.5)
    prepared.model.network.train(mode)
    first = prepared.system.predict(prepared.model, prepared.sentences)
    assert prepared.model.network.training is mode
    assert head_of(prepared.model.network).training is mode
    assert prepared.system.predict(prepared.model, prepared.sentences) == first


def test_the_head_has_the_sizes_of_the_one_before(prepared: Prepared) -> None:
    new, old = head_of(prepared.model.network), prepared.before
    assert isinstance(old, PointingHead)
    shapes, before = ({n: w.shape for n, w in one.named_parameters()} for one in (new.pointer, old))
    differing = {name for name, shape in shapes.items() if before[name] != shape}
    assert differing == {"label_vectors"}
    assert new.label_vectors.shape == old.label_vectors.shape
    assert new.label.first.in_features == 2 * old.boundary_width
    assert new.label.second.weight.shape == old.label.second.weight.shape
    for dropout in (new.pointer.dropout, new.label.dropout):
        assert dropout.share == old.dropout.share


def test_a_sentence_counts_by_its_weight_and_one_without_a_tree_not_at_all(
    prepared: Prepared,
) -> None:
    one, other = prepared.examples[0], prepared.examples[3]
    heavy = Example(one.words, one.steps, weight=3.0)
    bare = Example(other.words, {})

    def loss(*batch: Example) -> float:
        inputs = prepared.model.read([example.words for example in batch])
        found = prepared.system.losses(prepared.model.network, batch, inputs, prepared.recipe)
        return float(found["tree"].detach())

    for batch in ((heavy, bare), (bare, heavy)):
        assert loss(*batch) == pytest.approx(3 * loss(one), rel=1e-4)
    assert loss(heavy, other) == pytest.approx(3 * loss(one) + loss(other), rel=1e-4)
    inputs = prepared.model.read([bare.words])
    assert prepared.system.losses(prepared.model.network, [bare], inputs, prepared.recipe) == {}
