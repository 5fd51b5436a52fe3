"""Span scores and CKY, trained as a conditional random field over binary trees.

As Zhang, Zhou and Li do it ("Fast and Accurate Neural CRF Constituency Parsing", IJCAI 2020): first
the brackets, whose loss is that of the gold binary tree among all; then a label for each span of
the tree. Spans are scored by a biaffine function of their two boundaries. Trees are binarised to
the left, as theirs are.

Ours: a label is scored from `b_end - b_start` by a perceptron and the labels' vectors, which is
what the pointing head does but for its decoder (theirs: a second biaffine function); spans that
only binarisation made share the label ∅ (theirs keep the label of the span that they are in); the
tree is the one with the best score (their program can also take the one with the best marginals);
all sizes and dropout are the pointing head's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from experiments.systems.binary import Binary, binarised, restored
from experiments.systems.inside import best_splits, log_sum
from experiments.systems.system import layer_losses, predicted
from fencepost.batching.batches import padded
from fencepost.batching.examples import Example
from fencepost.batching.inputs import Inputs
from fencepost.batching.steps import Numbered, places
from fencepost.batching.vocabulary import FILLER
from fencepost.checkpoints.trainable import TrainableModel
from fencepost.model.boundaries import at
from fencepost.model.layers import LabelPerceptron, Layer, Perceptron
from fencepost.model.network import Network, device_of
from fencepost.structure import Parse, Sentence
from fencepost.tasks import constituency
from fencepost.training.loop import Recipe

Place = tuple[int, int | None, int]  # start, split and end of a span; a single word has no split


class ChartHead(nn.Module):
    """Scores all spans of a sentence, and the labels of some.

    Args:
        boundary_width: of the vectors of boundaries.
        labels: how many there are, that of ∅ included.
        mlp: hidden and output size of every perceptron; also that of the labels' vectors.
        dropout: in perceptrons.
        of_authors: whether perceptrons and their first weights are those of the authors' program.
    """

    def __init__(
        self,
        *,
        boundary_width: int,
        labels: int,
        mlp: int,
        dropout: float,
        of_authors: bool = False,
    ) -> None:
        super().__init__()
        kind = Layer if of_authors else Perceptron
        self.start = kind(boundary_width, hidden=mlp, dropout=dropout)
        self.end = kind(boundary_width, hidden=mlp, dropout=dropout)
        self.biaffine = nn.Parameter(torch.zeros(mlp + 1, mlp + 1))
        self.label: LabelPerceptron | Perceptron
        if of_authors:
            self.label = LabelPerceptron(boundary_width, hidden=mlp)
        else:
            self.label = Perceptron(boundary_width, hidden=mlp, dropout=dropout)
            nn.init.xavier_uniform_(self.biaffine)
        self.label_vectors = nn.Parameter(torch.empty(labels, mlp))
        nn.init.normal_(self.label_vectors, std=mlp**-0.5)

    def span_scores(self, boundaries: Tensor) -> Tensor:
        """How well (i, j) fits into a tree, at [i, j]; what is not i < j means nothing.

        Args:
            boundaries: (rows, n + 1, width)

        Returns:
            (rows, n + 1, n + 1)
        """
        starts = functional.pad(self.start(boundaries), (0, 1), value=1.0)
        ends = functional.pad(self.end(boundaries), (0, 1), value=1.0)
        return starts @ self.biaffine @ ends.transpose(1, 2)

    def label_scores(self, boundaries: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        """How well each label fits some spans.

        The first layer is linear in `b_end - b_start`: there are fewer boundaries than spans.

        Args:
            boundaries: (rows, n + 1, width)
            starts: (rows, spans)
            ends: (rows, spans)

        Returns:
            (rows, spans, labels)
        """
        label = self.label
        projected = functional.linear(boundaries, label.first.weight)
        spans = at(projected, ends) - at(projected, starts) + label.first.bias
        return label.after(spans) @ self.label_vectors.T


class Gold(NamedTuple):
    """The spans of binary trees, root first: (rows, 2 n - 1) each."""

    starts: Tensor
    ends: Tensor
    labels: Tensor
    mask: Tensor  # which are spans, and not padding

    @classmethod
    def of(cls, steps: Sequence[Numbered], device: torch.device) -> Gold:
        """The binary trees that gold steps stand for."""
        rows = [_binary(one) for one in steps]
        starts, ends, labels = (
            torch.from_numpy(padded(row[column] for row in rows)) for column in range(3)
        )
        # No span ends at 0, which is what padding has.
        return cls(starts.to(device), ends.to(device), labels.to(device), (ends > 0).to(device))


@cache  # equal steps have equal trees; and the same come in every epoch
def _binary(steps: Numbered) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Starts, ends and labels of the binary tree that gold steps stand for."""
    spans = places(steps)
    nodes = binarised(spans, spans[-1][1])
    return (
        tuple(node.start for node in nodes),
        tuple(node.end for node in nodes),
        tuple(node.label for node in nodes),
    )


def chart_losses(
    head: ChartHead,
    boundaries: Tensor,
    lengths: Tensor,
    gold: Gold,
    *,
    label_smoothing: float = 0.0,
) -> Tensor:
    """The loss of each row: -log p(brackets), and that of the labels of its 2 n - 1 spans.

    Args:
        head: whose scores are trained.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,)
        gold: the trees.
        label_smoothing: share of the target that all labels get.

    Returns:
        (rows,)
    """
    scores = head.span_scores(boundaries).float()  # sums over trees need all 32 bits
    rows = torch.arange(len(scores), device=scores.device)[:, None]
    ours = scores[rows, gold.starts, gold.ends].masked_fill(~gold.mask, 0.0).sum(1)
    labels = functional.cross_entropy(
        head.label_scores(boundaries, gold.starts, gold.ends).transpose(1, 2),
        gold.labels,
        reduction="none",
        label_smoothing=label_smoothing,
    )
    return log_sum(scores, lengths) - ours + labels.masked_fill(~gold.mask, 0.0).sum(1)


@torch.no_grad()
def best_trees(head: ChartHead, boundaries: Tensor, lengths: Tensor) -> list[list[Binary]]:
    """The binary tree of each row whose brackets score best, each with its best label.

    Args:
        head: which scores them.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,)
    """
    splits = best_splits(head.span_scores(boundaries).float())
    trees = [_places(row, n) for row, n in zip(splits.tolist(), lengths.tolist(), strict=True)]
    starts = torch.from_numpy(padded([start for start, _, _ in tree] for tree in trees))
    ends = torch.from_numpy(padded([end for _, _, end in tree] for tree in trees))
    starts, ends = starts.to(boundaries.device), ends.to(boundaries.device)
    scores = head.label_scores(boundaries, starts, ends)
    scores[:, 0, FILLER] = float("-inf")  # the root has a label
    return [
        [Binary(*place, label) for place, label in zip(tree, labels[: len(tree)], strict=True)]
        for tree, labels in zip(trees, scores.argmax(-1).tolist(), strict=True)
    ]


def _places(splits: list[list[int]], n: int) -> list[Place]:
    """The spans of a tree in pre-order, from where each would be split."""
    found: list[Place] = []
    waiting = [(0, n)]
    while waiting:
        start, end = waiting.pop()
        if end - start == 1:
            found.append((start, None, end))
            continue
        split = splits[start][end]
        found.append((start, split, end))
        waiting += ((split, end), (start, split))
    return found


class Chart:
    """Span scores, summed over all trees in training and searched with CKY."""

    def fit(self, model: TrainableModel) -> None:
        """Put a chart head on the network, of the sizes that its pointing head has."""
        network, before = model.network, model.network.head("tree")
        head = ChartHead(
            boundary_width=before.boundary_width,
            labels=len(model.numbers.labels["tree"]),
            mlp=before.mlp,
            dropout=before.dropout.share,
            of_authors=model.heads.tree is not None and model.heads.tree.perceptrons == "authors",
        )
        network.heads = nn.ModuleDict({"tree": head.to(device_of(network))})

    def losses(
        self, network: Network, batch: Sequence[Example], inputs: Inputs, recipe: Recipe
    ) -> dict[str, Tensor]:
        """The loss of the trees of a batch, summed over its sentences."""

        def each(boundaries: Tensor, lengths: Tensor, steps: list[Numbered]) -> Tensor:
            gold = Gold.of(steps, boundaries.device)
            smoothing = recipe.label_smoothing
            return chart_losses(
                _head(network), boundaries, lengths, gold, label_smoothing=smoothing
            )

        return layer_losses(network, batch, inputs, each)

    def predict(self, model: TrainableModel, sentences: Sequence[Sentence]) -> list[Parse]:
        """The best tree of each sentence; one without words has none."""
        labels = model.numbers.labels["tree"]
        names = [labels.label(number) for number in range(len(labels))]

        def search(
            sentences: Sequence[Sentence], boundaries: Tensor, lengths: Tensor
        ) -> list[Parse]:
            trees = best_trees(_head(model.network), boundaries, lengths)
            return [
                Parse(sentence, constituency.decode(sentence, restored(nodes, names)))
                for sentence, nodes in zip(sentences, trees, strict=True)
            ]

        return predicted(model, sentences, search)


def _head(network: Network) -> ChartHead:
    head = network.heads["tree"]
    assert isinstance(head, ChartHead)
    return head
