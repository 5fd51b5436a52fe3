"""A biaffine classifier of spans, for entities: each span by itself, whatever the others are.

As Yu, Bohnet and Poesio do it ("Named Entity Recognition as Dependency Parsing", ACL 2020): every
span has a score for each type and for none, from a biaffine function of its two boundaries, and is
trained by cross-entropy over these. Of the spans that have a type, the best are kept; what crosses
a better one is dropped.

Ours: spans are made of boundary vectors, perceptrons are the pointing head's, and so are all sizes
and dropout; there is no further BiLSTM, and spans of any length count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from experiments.systems.system import layer_losses, predicted
from fencepost.batching.examples import Example
from fencepost.batching.inputs import Inputs
from fencepost.batching.steps import Numbered, Steps
from fencepost.batching.vocabulary import FILLER
from fencepost.checkpoints.trainable import TrainableModel
from fencepost.model.layers import Layer, Perceptron
from fencepost.model.network import Network, device_of
from fencepost.structure import Parse, Sentence, Span
from fencepost.structure.span import first_crossing
from fencepost.tasks import entities
from fencepost.training.loop import Recipe


class ClassifierHead(nn.Module):
    """Scores all types of all spans.

    Args:
        boundary_width: of the vectors of boundaries.
        labels: how many there are, none included.
        mlp: hidden and output size of the perceptrons.
        dropout: in perceptrons.
        of_authors: whether perceptrons are those of the authors' program.
    """

    def __init__(
        self, *, boundary_width: int, labels: int, mlp: int, dropout: float, of_authors: bool
    ) -> None:
        super().__init__()
        kind = Layer if of_authors else Perceptron
        self.start = kind(boundary_width, hidden=mlp, dropout=dropout)
        self.end = kind(boundary_width, hidden=mlp, dropout=dropout)
        self.biaffine = nn.Parameter(torch.zeros(labels, mlp + 1, mlp + 1))

    def forward(self, boundaries: Tensor) -> Tensor:
        """How well each type fits (i, j), at [i, j]; what is not i < j means nothing.

        Args:
            boundaries: (rows, n + 1, width)

        Returns:
            (rows, labels, n + 1, n + 1)
        """
        starts = functional.pad(self.start(boundaries), (0, 1), value=1.0)
        ends = functional.pad(self.end(boundaries), (0, 1), value=1.0)
        return starts[:, None] @ self.biaffine @ ends[:, None].transpose(2, 3)


def classifier_losses(
    head: ClassifierHead, boundaries: Tensor, lengths: Tensor, steps: Sequence[Numbered]
) -> Tensor:
    """The cross-entropy of all spans of each row, summed: (rows,).

    Args:
        head: whose scores are trained.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,)
        steps: the gold steps of each row
    """
    gold, width = Steps.of(steps), boundaries.shape[1]
    target = np.full((len(steps), width, width), FILLER)
    row, _ = gold.mask.nonzero()
    target[row, gold.starts[gold.mask], gold.ends[gold.mask]] = gold.labels[gold.mask]
    boundary = torch.arange(width, device=boundaries.device)
    is_span = (boundary[:, None] < boundary) & (boundary <= lengths[:, None, None])
    each = functional.cross_entropy(
        head(boundaries), torch.from_numpy(target).to(boundaries.device), reduction="none"
    )
    return each.masked_fill(~is_span, 0.0).sum((1, 2))


def best_spans(scores: Tensor, n: int) -> list[tuple[int, int, int]]:
    """The spans of a sentence that have a type, without those that cross a better one.

    Args:
        scores: (labels, boundaries, boundaries)
        n: the number of words

    Returns:
        Start, end and number of the label.
    """
    scores = scores[:, : n + 1, : n + 1].log_softmax(0)
    best, labels = scores.max(0)
    typed = (labels != FILLER).triu(1).nonzero().tolist()
    typed.sort(key=lambda place: -float(best[place[0], place[1]]))
    kept: list[Span] = []
    for start, end in typed:
        span = Span(start, end, str(int(labels[start, end])))
        if all(first_crossing((span, other)) is None for other in kept):
            kept.append(span)
    return [(span.start, span.end, int(span.label or FILLER)) for span in kept]


class Classifier:
    """Each span by itself."""

    def fit(self, model: TrainableModel) -> None:
        """Put a classifier on the network, of the sizes that its pointing head has."""
        network, before, settings = model.network, model.network.head("entities"), model.heads
        head = ClassifierHead(
            boundary_width=before.boundary_width,
            labels=len(model.numbers.labels["entities"]),
            mlp=before.mlp,
            dropout=before.dropout.share,
            of_authors=settings.entities is not None and settings.entities.perceptrons == "authors",
        )
        network.heads = nn.ModuleDict({"entities": head.to(device_of(network))})

    def losses(
        self, network: Network, batch: Sequence[Example], inputs: Inputs, recipe: Recipe
    ) -> dict[str, Tensor]:
        """The loss of the entities of a batch, summed over its sentences."""

        def each(boundaries: Tensor, lengths: Tensor, steps: list[Numbered]) -> Tensor:
            return classifier_losses(head_of(network), boundaries, lengths, steps)

        return layer_losses(network, batch, inputs, each, layer="entities")

    def predict(self, model: TrainableModel, sentences: Sequence[Sentence]) -> list[Parse]:
        """The entities of each sentence."""
        labels = model.numbers.labels["entities"]

        @torch.no_grad()
        def search(some: Sequence[Sentence], boundaries: Tensor, lengths: Tensor) -> list[Parse]:
            scores = head_of(model.network)(boundaries)
            found = []
            for sentence, row, n in zip(some, scores, lengths.tolist(), strict=True):
                spans = [Span(s, e, labels.label(number)) for s, e, number in best_spans(row, n)]
                found.append(Parse(sentence, entities=entities.decode(spans)))
            return found

        return predicted(model, sentences, search)


def head_of(network: Network) -> ClassifierHead:
    """The classifier."""
    head = network.heads["entities"]
    assert isinstance(head, ClassifierHead)
    return head
