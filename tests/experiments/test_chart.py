"""All trees are counted, the best is found, and a handful is learned by heart."""

from dataclasses import replace
from functools import cache
from math import comb
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from experiments.systems.chart import Chart, ChartHead, Gold, best_trees, chart_losses
from experiments.systems.inside import best_splits, log_sum
from fencepost.batching.examples import Example, collect_labels, example
from fencepost.batching.steps import Numbered
from fencepost.batching.vocabulary import FILLER
from fencepost.checkpoints.trainable import TrainableModel
from fencepost.config import Corpus, Settings
from fencepost.model.boundaries import at
from fencepost.model.layers import Perceptron
from fencepost.run.training.train import prepare_training, recipe_of
from fencepost.structure import Parse, Sentence, Tree
from fencepost.training.device import accelerator_for
from fencepost.training.loop import Progress, optimizer_for, train
from tests.eight import settings
from tests.strategies import trees

Places = tuple[tuple[int, int], ...]

TREES = [
    "(S (NP (DT The) (JJ old) (NN dog)) (VP (VBD slept)) (. .))",
    "(S (VP (VB Run)))",
    "(NP (NP (DT a) (NN cup)) (PP (IN of) (NP (JJ hot) (NN tea))))",
    "(S (NP (PRP She)) (VP (VBD gave) (NP (PRP him)) (NP (DT a) (NN book)) (ADVP (RB today))))",
    "(FRAG (RB Not) (ADVP (RB here)) (, ,) (INTJ (UH please)) (. !))",
    "(S (S (NP (PRP We)) (VP (VBD sang))) (CC but) (S (NP (NN nobody)) (VP (VBD came))))",
]


@cache
def all_trees(start: int, end: int) -> tuple[Places, ...]:
    """The spans of every binary tree over some words."""
    if end - start == 1:
        return (((start, end),),)
    return tuple(
        ((start, end), *left, *right)
        for split in range(start + 1, end)
        for left in all_trees(start, split)
        for right in all_trees(split, end)
    )


def totals(scores: Tensor, n: int) -> Tensor:
    """The score of every binary tree over `n` words, in the order of `all_trees`."""
    return torch.stack(
        [torch.stack([scores[place] for place in tree]).sum() for tree in all_trees(0, n)]
    )


def random_scores(rows: int, n: int, seed: int, *, scale: float = 2.0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, n + 1, n + 1, generator=generator, dtype=torch.float64) * scale


def make_head(*, labels: int = 6) -> ChartHead:
    torch.manual_seed(1)
    head = ChartHead(boundary_width=8, labels=labels, mlp=6, dropout=0.3)
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, std=0.6)  # so that choices are far from even
    return head.eval().requires_grad_(False)


def random_boundaries(rows: int, n: int, *, seed: int = 3) -> Tensor:
    return torch.randn(rows, n + 1, 8, generator=torch.Generator().manual_seed(seed))


def places_of(splits: Tensor, start: int, end: int) -> Places:
    """The spans below one, from where each is split."""
    if end - start == 1:
        return ((start, end),)
    split = int(splits[start, end])
    assert start < split < end
    return ((start, end), *places_of(splits, start, split), *places_of(splits, split, end))


def steps_of(text: str) -> tuple[Numbered, int]:
    """The gold steps of a tree, and how many words it has."""
    parse = parse_of(text)
    found = example(parse, collect_labels([parse], ["tree"]))
    assert found is not None
    return found.steps["tree"], len(parse.words)


def parse_of(text: str) -> Parse:
    tree = Tree.from_brackets(text)
    return Parse(tree.sentence, tree)


seeds = st.integers(0, 2**31)
few_lengths = st.lists(st.integers(1, 6), min_size=1, max_size=4)


@pytest.mark.parametrize("n", range(1, 7))
def test_the_reference_knows_as_many_trees_as_there_are(n: int) -> None:
    assert len(set(all_trees(0, n))) == comb(2 * n - 2, n - 1) // n  # Catalan's numbers


@given(few_lengths, seeds)
def test_the_sum_is_that_over_all_trees(lengths: list[int], seed: int) -> None:
    scores = random_scores(len(lengths), max(lengths), seed)
    found = log_sum(scores, torch.tensor(lengths))
    expected = [torch.logsumexp(totals(row, n), 0) for row, n in zip(scores, lengths, strict=True)]
    assert torch.allclose(found, torch.stack(expected))


@given(few_lengths, seeds)
def test_the_gradient_is_how_likely_each_span_is(lengths: list[int], seed: int) -> None:
    scores = random_scores(len(lengths), max(lengths), seed).requires_grad_()
    log_sum(scores, torch.tensor(lengths)).sum().backward()
    expected = torch.zeros_like(scores)
    for row, n in enumerate(lengths):
        shares = torch.softmax(totals(scores[row].detach(), n), 0)
        for tree, share in zip(all_trees(0, n), shares, strict=True):
            for start, end in tree:
                expected[row, start, end] += share
    assert scores.grad is not None
    assert torch.allclose(scores.grad, expected)


def test_each_row_has_its_own_gradient() -> None:
    scores = random_scores(3, 5, 1).requires_grad_()
    weights = torch.tensor([0.5, 0.0, -2.0], dtype=torch.float64)
    (log_sum(scores, torch.tensor([5, 3, 4])) * weights).sum().backward()
    assert scores.grad is not None
    sizes = torch.tensor([9, 5, 7])  # spans of a binary tree
    assert torch.allclose(scores.grad.sum((1, 2)), weights * sizes)


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_two_hundred_words_keep_their_precision(scale: float) -> None:
    exact = random_scores(2, 200, 3, scale=scale)
    lengths = torch.tensor([200, 171])
    found, gradients = [], []
    for scores in (exact.clone(), exact.float()):
        total = log_sum(scores.requires_grad_(), lengths)
        total.sum().backward()
        assert scores.grad is not None
        found.append(total.detach().double())
        gradients.append(scores.grad.double())
    assert torch.allclose(found[0], found[1], rtol=1e-6)
    assert float((gradients[0] - gradients[1]).abs().max()) < 1e-3
    for row, n in enumerate(lengths.tolist()):
        marginals = gradients[1][row]
        assert float(marginals.sum()) == pytest.approx(2 * n - 1, rel=1e-5)
        words = marginals.diagonal(1)[:n]
        assert torch.allclose(words, torch.ones_like(words), atol=1e-4)  # in every tree
        assert not marginals[:, n + 1 :].any()
        assert not marginals.tril().any()


@given(few_lengths, seeds)
def test_the_best_tree_is_found(lengths: list[int], seed: int) -> None:
    scores = random_scores(len(lengths), max(lengths), seed)
    splits = best_splits(scores)
    for row, n in enumerate(lengths):
        best = all_trees(0, n)[int(totals(scores[row], n).argmax())]
        assert set(places_of(splits[row], 0, n)) == set(best)


def test_span_scores_are_biaffine_in_both_boundaries() -> None:
    head = make_head()
    boundaries = random_boundaries(2, 4)
    scores = head.span_scores(boundaries)
    starts, ends = head.start(boundaries), head.end(boundaries)
    for i, j in ((0, 1), (2, 4)):
        left = torch.cat((starts[1, i], torch.ones(1)))
        right = torch.cat((ends[1, j], torch.ones(1)))
        assert float(scores[1, i, j]) == pytest.approx(
            float(left @ head.biaffine @ right), abs=1e-4
        )


def test_labels_are_scored_by_a_perceptron_on_the_difference_of_boundaries() -> None:
    head = make_head()
    boundaries = random_boundaries(2, 4)
    starts, ends = torch.tensor([[0, 1], [2, 0]]), torch.tensor([[4, 2], [3, 3]])
    plain = head.label(at(boundaries, ends) - at(boundaries, starts)) @ head.label_vectors.T
    assert torch.allclose(head.label_scores(boundaries, starts, ends), plain, atol=1e-5)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_the_loss_is_that_of_the_gold_brackets_and_labels(label_smoothing: float) -> None:
    head = make_head()
    steps, n = steps_of("(S (NP (A a) (B b) (C c)) (VP (D d) (X (E e))))")
    boundaries = random_boundaries(1, n)
    found = chart_losses(
        head,
        boundaries,
        torch.tensor([n]),
        Gold.of([steps], torch.device("cpu")),
        label_smoothing=label_smoothing,
    )
    # Its labels are numbered by the alphabet: NP, S, VP, X. NP is split after b.
    tree = {(0, 5): 2, (0, 3): 1, (0, 2): 0, (0, 1): 0, (1, 2): 0, (2, 3): 0}
    tree |= {(3, 5): 3, (3, 4): 0, (4, 5): 4}
    scores = head.span_scores(boundaries)[0]
    brackets = totals(scores, n).logsumexp(0) - sum(scores[place] for place in tree)
    labels = sum(
        functional.cross_entropy(
            head.label_scores(boundaries, torch.tensor([[start]]), torch.tensor([[end]]))[0],
            torch.tensor([number]),
            label_smoothing=label_smoothing,
        )
        for (start, end), number in tree.items()
    )
    assert float(found) == pytest.approx(float(brackets + labels), rel=1e-5)


def test_rows_of_a_batch_do_not_touch_each_other() -> None:
    head = make_head()
    steps, lengths = zip(*map(steps_of, TREES), strict=True)
    boundaries = random_boundaries(len(TREES), max(lengths))
    here = torch.device("cpu")
    together = chart_losses(head, boundaries, torch.tensor(lengths), Gold.of(steps, here))
    trees = best_trees(head, boundaries, torch.tensor(lengths))
    for row, n in enumerate(lengths):
        own, length = boundaries[[row], : n + 1], torch.tensor([n])
        alone = chart_losses(head, own, length, Gold.of(steps[row : row + 1], here))
        assert float(together[row]) == pytest.approx(float(alone[0]), rel=1e-5)
        assert best_trees(head, own, length) == [trees[row]]


@given(st.integers(1, 6), seeds)
def test_search_finds_the_best_brackets_and_then_the_best_labels(n: int, seed: int) -> None:
    head = make_head()
    boundaries = random_boundaries(1, n, seed=seed)
    (nodes,) = best_trees(head, boundaries, torch.tensor([n]))
    brackets = head.span_scores(boundaries)[0]
    places = {(node.start, node.end) for node in nodes}
    assert places in map(set, all_trees(0, n))
    # Others may be as good up to rounding.
    best = pytest.approx(float(totals(brackets, n).max()), abs=1e-4)
    assert sum(float(brackets[place]) for place in places) == best
    for node in nodes:
        place = torch.tensor([[node.start]]), torch.tensor([[node.end]])
        scores = head.label_scores(boundaries, *place)[0, 0]
        if (node.start, node.end) == (0, n):
            assert node.label != FILLER
            scores = scores[FILLER + 1 :]
            assert scores[node.label - FILLER - 1] >= scores.max() - 1e-4
        else:
            assert scores[node.label] >= scores.max() - 1e-4
        assert (node.split is None) == (node.end - node.start == 1)


@given(trees())
def test_gold_brackets_that_score_best_are_found_again(tree: Tree) -> None:
    parse = Parse(tree.sentence, tree)
    numbers = collect_labels([parse], ["tree"])
    found = example(parse, numbers)
    assert found is not None
    gold, n = Gold.of([found.steps["tree"]], torch.device("cpu")), len(parse.words)
    scores = torch.zeros(1, n + 1, n + 1)
    scores[0, gold.starts, gold.ends] = 1.0
    places = {(start, end) for start, end in zip(gold.starts[0], gold.ends[0], strict=True)}
    assert set(places_of(best_splits(scores)[0], 0, n)) == {(int(a), int(b)) for a, b in places}
    assert len(places) == 2 * n - 1


def small_model(
    texts: list[str], **training: float
) -> tuple[TrainableModel, list[Example], Settings]:
    chosen = settings(Path("unused"), {"tree": {}}, **training)
    corpus = Corpus(path="unused")
    torch.manual_seed(chosen.seed)
    model, examples = prepare_training(chosen, [(corpus, parse_of(text)) for text in texts])
    return model, examples, chosen


def test_the_head_is_as_large_as_the_one_that_it_replaces() -> None:
    model, _, _ = small_model(TREES)
    before = model.network.head("tree")
    before.dropout.share = 0.25
    Chart().fit(model)
    head = model.network.heads["tree"]
    assert isinstance(head, ChartHead)
    assert list(model.network.heads) == ["tree"]
    assert head.start.first.weight.shape == (before.mlp, before.boundary_width)
    assert head.label_vectors.shape == before.label_vectors.shape
    parts = (head.start, head.end, head.label)
    assert {part.dropout.share for part in parts if isinstance(part, Perceptron)} == {0.25}


def test_a_sentence_counts_as_much_as_its_weight_says() -> None:
    model, examples, chosen = small_model(TREES)
    system, recipe = Chart(), recipe_of(chosen)
    system.fit(model)

    def losses(*batch: Example) -> dict[str, Tensor]:
        return system.losses(model.network, batch, model.read([one.words for one in batch]), recipe)

    def loss(*batch: Example) -> float:
        return float(losses(*batch)["tree"].detach())

    each = [loss(one) for one in examples]
    other = Example(("no", "tree"), {})  # what it does not have is not learned from it
    assert loss(other, *examples) == pytest.approx(sum(each), rel=1e-5)
    assert losses(other) == {}
    weighted = (replace(one, weight=weight) for weight, one in enumerate(examples, 1))
    expected = sum(weight * one for weight, one in enumerate(each, 1))
    assert loss(*weighted) == pytest.approx(expected, rel=1e-5)


def test_labels_are_smoothed_as_the_recipe_says() -> None:
    model, examples, chosen = small_model(TREES)
    system = Chart()
    system.fit(model)
    head, inputs = model.network.heads["tree"], model.read([one.words for one in examples])
    assert isinstance(head, ChartHead)
    recipe = replace(recipe_of(chosen), label_smoothing=0.2)
    with torch.no_grad():
        found = system.losses(model.network, examples, inputs, recipe)["tree"]
        boundaries = model.network.boundaries(model.network.states(inputs))
        gold = Gold.of([one.steps["tree"] for one in examples], boundaries.device)
        lengths = torch.from_numpy(inputs.lengths)
        plain, smoothed = (
            chart_losses(head, boundaries, lengths, gold, label_smoothing=share).sum()
            for share in (0.0, 0.2)
        )
    assert float(found) == pytest.approx(float(smoothed), rel=1e-5)
    assert float(plain) != pytest.approx(float(smoothed), rel=1e-3)


def test_a_sentence_without_words_has_no_tree_and_the_root_always_a_label() -> None:
    model, _, _ = small_model(TREES)
    system = Chart()
    system.fit(model)
    head = model.network.heads["tree"]
    assert isinstance(head, ChartHead)
    with torch.no_grad():  # ∅ is best everywhere
        head.label_vectors.zero_()
        head.label_vectors[FILLER] = 1.0
        head.label.second.weight.zero_()
        head.label.second.bias.fill_(1.0)
    sentences = [Sentence(()), Sentence(("Run",)), Sentence(()), Sentence(("We", "sang", "today"))]
    model.network.train()
    nothing, one, empty, three = system.predict(model, sentences)
    assert model.network.training
    assert nothing == empty == Parse(Sentence(()))
    for parse, sentence in ((one, sentences[1]), (three, sentences[3])):
        assert parse.sentence is sentence
        assert parse.tree is not None
        assert {(span.start, span.end) for span in parse.tree.spans} == {(0, len(sentence))}


@pytest.mark.slow
def test_a_handful_of_trees_is_learned_by_heart() -> None:
    model, examples, chosen = small_model(TREES, epochs=30, batch_words=20)
    system, gold = Chart(), [parse_of(text) for text in TREES]
    sentences = [parse.sentence for parse in gold]
    system.fit(model)
    assert system.predict(model, sentences) != gold
    optimizer = optimizer_for(
        model.network, rate=5e-3, encoder_rate=5e-3, betas=(0.9, 0.9), weight_decay=0.0
    )
    progress, accelerator = Progress(), accelerator_for("cpu")
    for _ in range(chosen.training.epochs):
        steps = list(
            train(
                model.network,
                optimizer,
                examples,
                model.read,
                recipe=recipe_of(chosen),
                progress=progress,
                accelerator=accelerator,
                losses=system.losses,
            )
        )
    assert progress.skipped == 0
    assert max(step.loss for step in steps) < 0.5
    assert system.predict(model, sentences) == gold
    assert [system.predict(model, [sentence])[0] for sentence in sentences] == gold
