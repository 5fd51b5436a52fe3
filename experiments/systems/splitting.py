"""Top-down splitting with a pointer network (Nguyen et al., ACL 2021), on our encoder.

From that paper: the spans of a binary tree are split in pre-order, those of two words or more, so
that n words take n - 1 steps. At each the decoder reads the span that is to be split, and its state
points to a boundary by a biaffine function. In training all boundaries of the sentence compete, in
search those within the span. Labels come from a classifier of their own, which sees the two
boundaries of a span and not the decoder; ∅ is the label of what only binarisation made.

Ours, so as to differ from `PointingHead` no more than need be: the sizes of all layers, one layer
of LSTM with a first state that is learned, MLP_span of `b_end - b_start` as what the decoder reads,
dropout, and greedy search (theirs keeps a beam). Labels are scored like ours, with a perceptron and
label vectors, but of `[b_start; b_end]`: there is no step for a word, nor any for a sentence of one
word, whose state could be asked. The two boundaries side by side can say all that their difference
can. Spans of many children are split at the last child first (`binary.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import starmap
from typing import NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from experiments.systems.binary import Binary, binarised, restored
from experiments.systems.system import predicted, tree_losses
from fencepost.batching.batches import padded
from fencepost.batching.examples import Example, Steps
from fencepost.batching.inputs import Inputs
from fencepost.batching.vocabulary import FILLER, Labels
from fencepost.model.boundaries import at
from fencepost.model.fast import SLOPE
from fencepost.model.layers import Perceptron, SharedDropout
from fencepost.model.network import Network, device_of
from fencepost.parser.encoding import Encoded
from fencepost.parser.model import Model
from fencepost.structure import Parse, Sentence
from fencepost.tasks import constituency
from fencepost.training.loop import Recipe

MINUS = float("-inf")


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
        # How often it was set to learn: what was made of its weights is then old.
        self.trainings = 0
        self.kept: tuple[tuple[object, ...], Folded] | None = None  # see `folded`
        self.span = Perceptron(boundary_width, hidden=mlp, dropout=dropout)
        self.first_hidden = nn.Parameter(torch.empty(decoder))
        self.first_cell = nn.Parameter(torch.zeros(decoder))
        self.lstm = nn.LSTM(mlp, decoder, batch_first=True)
        self.cursor = Perceptron(decoder, hidden=mlp, dropout=dropout)
        self.point = Perceptron(boundary_width, hidden=mlp, dropout=dropout)
        self.biaffine = nn.Parameter(torch.empty(mlp + 1, mlp))
        self.label = Perceptron(2 * boundary_width, hidden=mlp, dropout=dropout)
        self.label_vectors = nn.Parameter(torch.empty(labels, mlp))
        self.dropout = SharedDropout(dropout)
        nn.init.normal_(self.label_vectors, std=mlp**-0.5)
        nn.init.normal_(self.first_hidden, std=decoder**-0.5)
        nn.init.xavier_uniform_(self.biaffine)

    def train(self, mode: bool = True) -> Self:
        """Switch dropout on or off."""
        self.trainings += mode
        return super().train(mode)

    def forward(self, boundaries: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        """How much each step would point to each boundary, along a gold path: teacher forcing.

        Args:
            boundaries: (rows, n + 1, width)
            starts: of the spans to be split, in pre-order, (rows, steps)
            ends: of these spans, (rows, steps)

        Returns:
            (rows, steps, n + 1)
        """
        rows = len(boundaries)
        spans = self.span(at(boundaries, ends) - at(boundaries, starts))
        first = [
            each.expand(1, rows, -1).contiguous() for each in (self.first_hidden, self.first_cell)
        ]
        states, _ = self.lstm(self.dropout(spans), tuple(first))
        sides = self.point(boundaries) @ self.biaffine[:-1] + self.biaffine[-1]
        found: Tensor = self.cursor(self.dropout(states)) @ sides.transpose(1, 2)
        return found

    def label_scores(self, boundaries: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        """How well each label fits some spans, by MLP_label of `[b_start; b_end]`.

        Args:
            boundaries: (rows, n + 1, width)
            starts: (rows, spans)
            ends: (rows, spans)

        Returns:
            (rows, spans, labels)
        """
        hidden = self.label_hidden(boundaries, starts, ends)
        found: Tensor = self.label.second(hidden) @ self.label_vectors.T
        return found

    def label_hidden(self, boundaries: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        """MLP_label's hidden layer, (rows, spans, mlp): each boundary is read once, not each span.

        Args:
            boundaries: (rows, n + 1, width)
            starts: (rows, spans)
            ends: (rows, spans)
        """
        first = self.label.first
        as_start, as_end = first.weight.chunk(2, dim=1)
        hidden = at(functional.linear(boundaries, as_start, first.bias), starts)
        hidden = hidden + at(functional.linear(boundaries, as_end), ends)
        found: Tensor = self.label.dropout(self.label.activation(hidden))
        return found


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
def gold_of(steps: Steps) -> Gold:
    """The binary tree of a sentence's steps."""
    spans = zip(steps.starts, steps.ends, steps.labels, strict=True)
    nodes = binarised(spans, steps.ends[-1])
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
        padded([getattr(gold, name) or (0,) for gold in golds]).to(device)
        for name in ("starts", "splits", "ends", "labels")
    )
    words = padded([gold.words for gold in golds]).to(device)
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


@dataclass(frozen=True, slots=True)
class Folded:
    """A head's weights for search, multiplied out where two linear layers meet: see `model.fast`.

    `d` is the decoder's size, `m` that of perceptrons.
    """

    points: Tensor  # (m, m): the second layer of MLP_point, the biaffine and that of MLP_cursor
    points_bias: Tensor  # (m,)
    point_offset: Tensor  # (m,) and a number: what is added to each boundary's score
    point_constant: Tensor
    state: Tensor  # (d, 4 d + m): the state to gates and MLP_cursor
    state_bias: Tensor  # (4 d + m,)
    span: Tensor  # (m, 4 d): MLP_span's hidden layer to gates
    first: Tensor  # (4 d + m,): what the first state gives
    labels: Tensor  # (m, labels): MLP_label's hidden layer to labels
    labels_bias: Tensor  # (labels,)

    @classmethod
    @torch.no_grad()
    def of(cls, head: SplittingHead) -> Folded:
        """The weights of a head."""
        d = head.lstm.hidden_size
        # i, f, g, o become i, f, o, g: three of one kind side by side
        order = torch.arange(4 * d, device=head.biaffine.device).view(4, d)[[0, 1, 3, 2]].flatten()
        lstm = dict(head.lstm.named_parameters())
        into, own = lstm["weight_ih_l0"][order], lstm["weight_hh_l0"][order]
        bias = (lstm["bias_ih_l0"] + lstm["bias_hh_l0"])[order] + into @ head.span.second.bias
        cursor, second = head.cursor, head.point.second
        sides = second.weight.T @ head.biaffine[:-1]
        sides_bias = second.bias @ head.biaffine[:-1] + head.biaffine[-1]
        state = torch.cat((own, cursor.first.weight)).T.contiguous()
        state_bias = torch.cat((bias, cursor.first.bias))
        return cls(
            sides @ cursor.second.weight,
            sides_bias @ cursor.second.weight,
            sides @ cursor.second.bias,
            sides_bias @ cursor.second.bias,
            state,
            state_bias,
            (into @ head.span.second.weight).T.contiguous(),
            head.first_hidden @ state + state_bias,
            (head.label_vectors @ head.label.second.weight).T.contiguous(),
            head.label_vectors @ head.label.second.bias,
        )


def folded(head: SplittingHead) -> Folded:
    """The multiplied weights of a head, made anew when any of them has changed."""
    # A fused optimiser changes weights without telling, but only in a network that is learning.
    weights = head.parameters()
    versions = (head.trainings, *((each._version, each.data_ptr()) for each in weights))
    if head.kept is None or head.kept[0] != versions:
        head.kept = versions, Folded.of(head)
    return head.kept[1]


@torch.no_grad()
def search(head: SplittingHead, boundaries: Tensor, lengths: Tensor) -> Splits:
    """Where spans are split when each step takes the best boundary within the span.

    Boundaries where something was split, and both ends, are posts. What pre-order splits next is
    the leftmost stretch between two posts that has more than one word, so that posts are all there
    is to remember: they stand for a stack of spans.

    Args:
        head: which points.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,), at least 1
    """
    weights = folded(head)
    # The longest come first: those that are done are then always the last.
    lengths, order = lengths.sort(descending=True)
    boundaries = boundaries[order]
    rows, width, _ = boundaries.shape
    hidden = functional.leaky_relu(head.point.first(boundaries), SLOPE)
    sides = hidden @ weights.points + weights.points_bias
    offsets = (hidden @ weights.point_offset + weights.point_constant)[:, :, None]
    for_spans = functional.linear(boundaries, head.span.first.weight).flatten(0, 1)

    boundary = torch.arange(width, device=lengths.device)
    place = torch.arange(rows, device=lengths.device) * width
    posts = (boundary == 0) | (boundary >= lengths[:, None])
    steps = max(1, width - 2)
    busy = (lengths[:, None] > torch.arange(1, width - 1, device=lengths.device)).sum(0).tolist()
    found = lengths.new_zeros(3, rows, steps)
    cell, of_state = head.first_cell.expand(rows, -1), weights.first.expand(rows, -1)
    m = sides.shape[-1]
    for step, count in enumerate(busy):
        if not count:
            break
        here = posts[:count]
        first = here.byte().argmin(1, keepdim=True)  # the first boundary that is no post
        starts = first[:, 0] - 1
        ends = (here & (boundary > first)).byte().argmax(1)
        spans = for_spans[ends + place[:count]] - for_spans[starts + place[:count]]
        hidden = functional.leaky_relu_(spans + head.span.first.bias, SLOPE)
        gates = torch.addmm(of_state[:count, :-m], hidden, weights.span)
        cell, of_state = _read(weights, gates, cell[:count])
        asked = functional.leaky_relu(of_state[:, -m:], SLOPE)[:, :, None]
        scores = torch.baddbmm(offsets[:count], sides[:count], asked)[:, :, 0]
        outside = (boundary < first) | (boundary >= ends[:, None])
        splits = scores.masked_fill_(outside, MINUS).argmax(1)
        here.scatter_(1, splits[:, None], True)
        found[:, :count, step] = torch.stack((starts, splits, ends))
    return Splits(*torch.empty_like(found).index_copy_(1, order, found))


def _read(weights: Folded, gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """One step of the decoder's LSTM: its cell, and what its state gives to all that asks it."""
    d = cell.shape[-1]
    openings, values = gates[:, : 3 * d].sigmoid(), gates[:, 3 * d :].tanh()
    cell = torch.addcmul(openings[:, :d] * values, openings[:, d : 2 * d], cell)
    state = openings[:, 2 * d :] * cell.tanh()
    return cell, torch.addmm(weights.state_bias, state, weights.state)


@torch.no_grad()
def best_labels(
    head: SplittingHead, boundaries: Tensor, lengths: Tensor, found: Splits
) -> tuple[Tensor, Tensor]:
    """The best label of each span that was split, (rows, steps), and of each word, (rows, n).

    The whole sentence gets the best but ∅.
    """
    starts, ends = with_words(found.starts, found.ends, boundaries.shape[1] - 1)
    weights = folded(head)
    scores = head.label_hidden(boundaries, starts, ends) @ weights.labels + weights.labels_bias
    is_root = (starts == 0) & (ends == lengths[:, None])
    scores[:, :, FILLER].masked_fill_(is_root, MINUS)
    best = scores.argmax(-1)
    steps = found.starts.shape[1]
    return best[:, :steps], best[:, steps:]


class Splitting:
    """Top-down splitting; `steps` counts how many pointings `predict` has made so far."""

    def __init__(self) -> None:
        self.steps = 0

    def fit(self, model: Model) -> None:
        """Put a head that splits in place of the library's, with its sizes."""
        network, settings = model.network, model.heads.tree
        assert settings is not None
        head = SplittingHead(
            boundary_width=network.head("tree").span.first.in_features,
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

        def each(boundaries: Tensor, lengths: Tensor, steps: list[Steps]) -> Tensor:
            return splitting_loss(
                head_of(network),
                boundaries,
                lengths,
                [gold_of(one) for one in steps],
                over_candidates=recipe.over != "all",
                label_smoothing=recipe.label_smoothing,
            )

        return tree_losses(network, batch, inputs, each)

    def predict(self, model: Model, sentences: Sequence[Sentence]) -> list[Parse]:
        """What greedy search finds."""
        return predicted(model, sentences, partial(self._parses, model))

    def _parses(self, model: Model, encoded: Encoded) -> list[Parse]:
        """The parses of a batch of sentences that have been read."""
        head = head_of(model.network)
        sentences, boundaries, lengths = encoded.sentences, encoded.boundaries, encoded.lengths
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
