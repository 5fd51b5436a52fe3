"""Top-down splitting with a pointer network (Nguyen et al., ACL 2021), on our encoder.

From that paper: the spans of a binary tree are split in pre-order, those of two words or more, so
that n words take n - 1 steps. At each the decoder reads the span that is to be split, and its state
points to a boundary by a biaffine function. In training all boundaries of the sentence compete, in
search those within the span. Labels come from a classifier of their own, which sees the two
boundaries of a span and not the decoder; ∅ is the label of what only binarisation made.

Ours, so as to differ from the library no more than need be: the decoder, its pointing, all sizes
and dropout are those of a `PointingHead`, which reads START and then, as MLP_span of
`b_end - b_start`, each span that is to be split; and search is greedy (theirs keeps a beam). Labels
are scored like the library's, with a perceptron and label vectors, but of `[b_start; b_end]`: there
is no step for a word, nor any for a sentence of one word, whose state could be used. The two
boundaries side by side can say all that their difference can. Spans of many children are split at
the last child first (`binary.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import starmap
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from experiments.systems.binary import Binary, binarised, restored
from experiments.systems.system import layer_losses, predicted
from fencepost.batching.batches import padded
from fencepost.batching.examples import Example
from fencepost.batching.inputs import Inputs
from fencepost.batching.steps import Numbered, places
from fencepost.batching.vocabulary import FILLER, Labels
from fencepost.checkpoints.trainable import TrainableModel
from fencepost.decoding.configurations import Configurations
from fencepost.decoding.rules import MINUS
from fencepost.model.boundaries import at
from fencepost.model.head import PointingHead, Where
from fencepost.model.layers import Perceptron
from fencepost.model.network import Network, device_of
from fencepost.model.stepper import stepper_of
from fencepost.structure import Parse, Sentence
from fencepost.tasks import constituency
from fencepost.training.loop import Recipe


class Splits(NamedTuple):
    """The spans that are split in each row, in pre-order, and where: each is (rows, steps).

    A row of n words has n - 1 of them, and zeros behind. There is always room for one.
    """

    starts: Tensor
    splits: Tensor
    ends: Tensor


class SplittingHead(nn.Module):
    """Points to where spans are split, and labels spans.

    Args:
        boundary_width: of the vectors of boundaries.
        labels: how many there are, that of ∅ included.
        mlp: hidden and output size of every perceptron; also that of label vectors.
        decoder: size of the decoder's LSTM.
        dropout: in perceptrons and around the LSTM.
    """

    def __init__(
        self, *, boundary_width: int, labels: int, mlp: int, decoder: int, dropout: float
    ) -> None:
        super().__init__()
        # Its one label and MLP_label stay unused: labels are scored without the decoder.
        self.pointer = PointingHead(
            boundary_width=boundary_width,
            labels=1,
            mlp=mlp,
            decoder=decoder,
            previous_label=False,
            open_root=False,
            dropout=dropout,
        )
        self.label = Perceptron(2 * boundary_width, hidden=mlp, dropout=dropout)
        self.label_vectors = nn.Parameter(torch.empty(labels, mlp))
        nn.init.normal_(self.label_vectors, std=mlp**-0.5)

    def forward(self, boundaries: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        """How much each step would point to each boundary, along a gold path: teacher forcing.

        Args:
            boundaries: (rows, n + 1, width)
            starts: of the spans to be split, in pre-order, (rows, steps)
            ends: of these spans, (rows, steps)

        Returns:
            (rows, steps, n + 1)
        """
        pointer, rows = self.pointer, len(boundaries)
        spans = pointer.inputs(boundaries, starts, ends, torch.zeros_like(starts))
        inputs = torch.cat((pointer.first_inputs(rows), spans), dim=1)
        states, _ = pointer.decode(inputs, pointer.first_state(rows))
        nowhere = Where.of(Configurations.first(np.ones(rows, dtype=np.intp)), boundaries.device)
        # The state after START has seen no span yet.
        return pointer.pointing_scores(pointer.read(boundaries), states[:, 1:], nowhere)

    def label_scores(self, boundaries: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        """How well each label fits some spans, by MLP_label of `[b_start; b_end]`.

        The first layer is linear: there are fewer boundaries than spans.

        Args:
            boundaries: (rows, n + 1, width)
            starts: (rows, spans)
            ends: (rows, spans)

        Returns:
            (rows, spans, labels)
        """
        label = self.label
        as_start, as_end = label.first.weight.chunk(2, dim=1)
        hidden = at(functional.linear(boundaries, as_start, label.first.bias), starts)
        hidden = hidden + at(functional.linear(boundaries, as_end), ends)
        found = label.second(label.dropout(label.activation(hidden)))
        return found @ self.label_vectors.T  # type: ignore[no-any-return]


def with_words(starts: Tensor, ends: Tensor, words: int) -> tuple[Tensor, Tensor]:
    """The starts and ends of some spans and then of single words: (rows, spans + words)."""
    each = torch.arange(words, device=starts.device).expand(len(starts), -1)
    return torch.cat((starts, each), dim=1), torch.cat((ends, each + 1), dim=1)


@dataclass(frozen=True, slots=True)
class Gold:
    """A binary tree: the spans that are split, in pre-order, and the labels of the words."""

    starts: tuple[int, ...]
    splits: tuple[int, ...]
    ends: tuple[int, ...]
    labels: tuple[int, ...]
    words: tuple[int, ...]


@cache  # by value: an example comes once an epoch, and so do others with the same tree
def gold_of(steps: Numbered) -> Gold:
    """The binary tree of a sentence's steps."""
    spans = places(steps)
    nodes = binarised(spans, spans[-1][1])
    inner = [node for node in nodes if node.split is not None]
    return Gold(
        tuple(node.start for node in inner),
        tuple(node.split or 0 for node in inner),
        tuple(node.end for node in inner),
        tuple(node.label for node in inner),
        tuple(node.label for node in nodes if node.split is None),
    )


def splitting_loss(
    head: SplittingHead,
    boundaries: Tensor,
    lengths: Tensor,
    golds: Sequence[Gold],
    *,
    over_candidates: bool = False,
    label_smoothing: float = 0.0,
) -> Tensor:
    """The loss of each row: of n - 1 pointings and 2 n - 1 labels, summed: (rows,).

    Args:
        head: whose scores are trained.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,)
        golds: the tree of each row
        over_candidates: normalise pointing over what is within the span, not over all boundaries
        label_smoothing: share of the target that all labels get
    """
    device = boundaries.device
    # A word by itself is not split, but the LSTM wants something to read.
    starts, splits, ends, labels = (
        torch.from_numpy(padded([getattr(gold, name) or (0,) for gold in golds])).to(device)
        for name in ("starts", "splits", "ends", "labels")
    )
    words = torch.from_numpy(padded([gold.words for gold in golds])).to(device)
    n = lengths[:, None]
    is_step = torch.arange(starts.shape[1], device=device) < n - 1
    is_word = torch.arange(words.shape[1], device=device) < n

    scores = head(boundaries, starts, ends)
    boundary = torch.arange(boundaries.shape[1], device=device)
    if over_candidates:  # none where there is no step: that neither counts nor is learned from
        allowed = (boundary > starts[:, :, None]) & (boundary < ends[:, :, None])
    else:
        allowed = (boundary <= n)[:, None]
    scores = scores.masked_fill(~allowed, MINUS)
    pointing = functional.cross_entropy(scores.transpose(1, 2), splits, reduction="none")

    scores = head.label_scores(boundaries, *with_words(starts, ends, words.shape[1]))
    labelling = functional.cross_entropy(
        scores.transpose(1, 2),
        torch.cat((labels, words), dim=1),
        reduction="none",
        label_smoothing=label_smoothing,
    )
    is_span = torch.cat((is_step, is_word), dim=1)
    return pointing.where(is_step, 0.0).sum(1) + labelling.where(is_span, 0.0).sum(1)


def search(head: SplittingHead, boundaries: Tensor, lengths: Tensor) -> Splits:
    """Where spans are split when each step takes the best boundary within the span.

    Boundaries where something was split, and both ends, are posts. What pre-order splits next is
    the leftmost stretch between two posts that has more than one word, so that posts are all there
    is to remember: they stand for a stack of spans.

    Args:
        head: points to the splits.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,), at least 1
    """
    stepper = stepper_of(head.pointer)
    n, (rows, width) = lengths.cpu().numpy(), boundaries.shape[:2]
    state, where = stepper.start(boundaries.cpu().numpy()), Configurations.first(n, width)
    boundary, row = np.arange(width), np.arange(rows)
    posts = (boundary == 0) | (boundary >= n[:, None])
    found = np.zeros((3, rows, max(1, width - 2)), dtype=np.intp)
    for step in range(n.max() - 1):
        index = (where.lengths > step + 1).nonzero()[0]
        if len(index) < len(row):
            state, where, row = stepper.select(state, index), where.rows(index), row[index]
        here = posts[row]
        first = here.argmin(1)[:, None]  # the first boundary that is no post
        ends = (here & (boundary > first)).argmax(1)
        where = where._replace(cursor=first[:, 0] - 1)  # the stepper reads what is between the two
        state = stepper.advance(state, where, ends, np.full_like(ends, FILLER))
        logits = stepper.point_logits(state, where)
        logits[(boundary < first) | (boundary >= ends[:, None])] = MINUS
        splits = logits.argmax(1)
        posts[row, splits] = True
        found[:, row, step] = where.cursor, splits, ends
    return Splits(*torch.from_numpy(found).to(lengths.device))


@torch.no_grad()
def best_labels(
    head: SplittingHead, boundaries: Tensor, lengths: Tensor, found: Splits
) -> tuple[Tensor, Tensor]:
    """The best label of each span that was split, (rows, steps), and of each word, (rows, n).

    The whole sentence gets the best but ∅.
    """
    starts, ends = with_words(found.starts, found.ends, boundaries.shape[1] - 1)
    scores = head.label_scores(boundaries, starts, ends)
    is_root = (starts == 0) & (ends == lengths[:, None])
    scores[:, :, FILLER].masked_fill_(is_root, MINUS)
    best = scores.argmax(-1)
    steps = found.starts.shape[1]
    return best[:, :steps], best[:, steps:]


class Splitting:
    """Top-down splitting; `steps` counts how many pointings `predict` has made so far."""

    def __init__(self) -> None:
        self.steps = 0

    def fit(self, model: TrainableModel) -> None:
        """Put a head that splits in place of the library's, with its sizes."""
        network, settings = model.network, model.heads.tree
        assert settings is not None
        head = SplittingHead(
            boundary_width=network.head("tree").boundary_width,
            labels=len(model.numbers.labels["tree"]),
            mlp=settings.mlp,
            decoder=settings.decoder,
            dropout=model.network_settings.dropout,
        )
        network.heads = nn.ModuleDict({"tree": head.to(device_of(network))})
        head.train(network.training)

    def losses(
        self, network: Network, batch: Sequence[Example], inputs: Inputs, recipe: Recipe
    ) -> dict[str, Tensor]:
        """Pointing and labels of the sentences that have a tree."""

        def each(boundaries: Tensor, lengths: Tensor, steps: list[Numbered]) -> Tensor:
            return splitting_loss(
                head_of(network),
                boundaries,
                lengths,
                [gold_of(one) for one in steps],
                over_candidates=recipe.over != "all",
                label_smoothing=recipe.label_smoothing,
            )

        return layer_losses(network, batch, inputs, each)

    def predict(self, model: TrainableModel, sentences: Sequence[Sentence]) -> list[Parse]:
        """What greedy search finds."""
        return predicted(model, sentences, partial(self._parses, model))

    def _parses(
        self,
        model: TrainableModel,
        sentences: Sequence[Sentence],
        boundaries: Tensor,
        lengths: Tensor,
    ) -> list[Parse]:
        """The parses of a batch: boundaries (rows, n + 1, width), lengths (rows,)."""
        head = head_of(model.network)
        found = search(head, boundaries, lengths)
        labels, words = best_labels(head, boundaries, lengths, found)
        self.steps += sum(map(len, sentences)) - len(sentences)
        columns = (each.tolist() for each in (*found, labels, words))
        return [
            _parse(sentence, *row, labels=model.numbers.labels["tree"])
            for sentence, *row in zip(sentences, *columns, strict=True)
        ]


def head_of(network: Network) -> SplittingHead:
    """The head that splits."""
    head = network.heads["tree"]
    assert isinstance(head, SplittingHead)
    return head


def _parse(
    sentence: Sentence,
    starts: list[int],
    splits: list[int],
    ends: list[int],
    inner: list[int],
    words: list[int],
    *,
    labels: Labels,
) -> Parse:
    """The parse of a sentence, from the spans that were split and the numbers of labels."""
    n = len(sentence)
    rows = zip(starts, splits, ends, inner, strict=True)
    nodes = [*starmap(Binary, rows)][: n - 1]
    nodes += (Binary(start, None, start + 1, words[start]) for start in range(n))
    spans = restored(nodes, (None, *labels.names))
    return Parse(sentence, constituency.decode(sentence, spans))
