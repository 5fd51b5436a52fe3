"""The pointing decoder of one task (section 2.3 of the paper), and terms beyond the paper's."""

from __future__ import annotations

from typing import Literal, NamedTuple, Self

import torch
from torch import Tensor, nn

from fencepost.decoding.configurations import Configurations
from fencepost.model.boundaries import at
from fencepost.model.grid import Grid, pointing_terms
from fencepost.model.layers import LabelPerceptron, Layer, Perceptron, SharedDropout
from fencepost.runtime.shapes import LABEL_TABLES, MOST_MERGED


class State(NamedTuple):
    """Hidden state and cell of the decoder: (1, rows, decoder) each."""

    hidden: Tensor
    cell: Tensor

    def rows(self, index: Tensor) -> State:
        """Select rows, in this order."""
        return State(self.hidden[:, index], self.cell[:, index])


class Where(NamedTuple):
    """Configurations as tensors: the inputs of scores beside the decoder's states.

    Labels are shifted by one; 0 stands for no span at all.
    """

    cursor: Tensor  # (rows, steps)
    newest: Tensor  # (rows, steps): the start of the newest span
    label: Tensor  # (rows, steps): of the newest span
    labels: Tensor | None = None  # (rows, steps, n + 1): of the span on the stack that starts there
    merged: Tensor | None = None  # (rows, steps, n + 1): number of spans that pointing there merges

    @classmethod
    def of(cls, where: Configurations, device: torch.device) -> Where:
        """Convert configurations of shape (rows,) or (rows, steps)."""
        columns = [where.cursor, where.newest, where.label + 1]
        if where.stack is not None:
            columns += [where.stack.labels + 1, where.merged().clip(max=MOST_MERGED)]
        tensors = [torch.from_numpy(column).to(device) for column in columns]
        if where.cursor.ndim == 1:
            tensors = [column[:, None] for column in tensors]
        return cls(*tensors)


class Sentences(NamedTuple):
    """The terms of a head that are computed once for a sentence, before the first step."""

    boundaries: Tensor  # (rows, n + 1, width)
    # [b'; 1] W_point: (rows, n + 1, mlp), or (2, rows, n + 1, mlp) for left and right
    sides: Tensor
    spans: Tensor | None = None  # scores of all spans, for the loss: (rows, n + 1, n + 1)
    grid: Tensor | None = None  # their terms for pointing from i to j: (rows, n + 1, n + 1)

    def rows(self, index: Tensor) -> Sentences:
        """Select rows, in this order; without the scores for the loss."""
        sides = self.sides[:, index] if self.sides.ndim == 4 else self.sides[index]
        grid = None if self.grid is None else self.grid[index]
        return Sentences(self.boundaries[index], sides, grid=grid)


class PointingHead(nn.Module):
    """Points from boundary to boundary and labels the completed spans.

    Args:
        boundary_width: size of boundary vectors.
        labels: the number of labels, the filler's included.
        mlp: hidden and output size of the MLPs; also the size of label embeddings.
        decoder: size of the decoder's LSTM.
        previous_label: whether the last label is an input of the decoder.
        open_root: whether the whole sentence may be a filler, as in the layer of entities.
        bare: the number of the label for sentences without one, which no other span has; None:
            there is no such label.
        dropout: dropout in the MLPs and around the LSTM.
        perceptrons: the MLPs of the paper's text, or of the authors' program.
        pointing: how scores become probabilities: see `decoding.rules`.
        standing: whether the cursor's own boundary is part of the query.
        context: whether the query and label scores use the newest span and the stack.
        grid: hidden size of the scores of all spans; 0: no such scores.
        recurrent: whether the decoder has an LSTM.
    """

    newest_label: nn.Parameter  # like the next three (labels + 1, mlp): see `LABEL_TABLES`
    stack_label: nn.Parameter
    label_newest: nn.Parameter
    label_child: nn.Parameter  # 0: the span is no merge

    def __init__(
        self,
        *,
        boundary_width: int,
        labels: int,
        mlp: int,
        decoder: int,
        previous_label: bool,
        open_root: bool,
        dropout: float,
        bare: int | None = None,
        perceptrons: Literal["paper", "authors"] = "paper",
        pointing: Literal["softmax", "nearest-first"] = "softmax",
        standing: bool = False,
        context: bool = False,
        grid: int = 0,
        recurrent: bool = True,
    ) -> None:
        super().__init__()
        self.trainings = 0  # incremented by `train()`; invalidates cached folded weights
        self.temperature = 1.0  # logits are divided by it in search
        self.previous_label = previous_label
        self.open_root = open_root
        self.bare = bare
        self.nearest_first = pointing == "nearest-first"
        of_authors = perceptrons == "authors"

        def perceptron(width: int) -> nn.Module:
            return (Layer if of_authors else Perceptron)(width, hidden=mlp, dropout=dropout)

        self.boundary_width, self.mlp = boundary_width, mlp
        self.label_vectors = nn.Parameter(torch.empty(labels, mlp))  # the paper's E
        self.lstm: nn.LSTM | None = None
        state = decoder if recurrent else 0
        if recurrent:
            width = 2 * mlp if previous_label else mlp
            self.span = perceptron(boundary_width)
            self.start = nn.Parameter(torch.empty(width))  # <START>
            self.first_hidden = nn.Parameter(torch.empty(decoder))  # d_0
            self.first_cell = nn.Parameter(torch.zeros(decoder))
            self.lstm = nn.LSTM(width, decoder, batch_first=True)
            self.cursor = perceptron(decoder)
        self.point = perceptron(boundary_width)
        # With these settings, left and right each have their own W_point.
        self.two_ways = grid > 0 or self.nearest_first
        self.biaffine = nn.Parameter(torch.zeros(*[2][: self.two_ways], mlp + 1, mlp))
        # Without a decoder state, label scores need both ends of the span.
        label_width = state + boundary_width if recurrent else 2 * boundary_width
        self.label: LabelPerceptron | Perceptron = (
            LabelPerceptron(label_width, hidden=mlp)
            if of_authors
            else Perceptron(label_width, hidden=mlp, dropout=dropout)
        )
        nn.init.normal_(self.label_vectors, std=mlp**-0.5)
        if recurrent:
            nn.init.normal_(self.start, std=width**-0.5)
            nn.init.normal_(self.first_hidden, std=decoder**-0.5)
        if not of_authors:  # theirs start with zeros
            for matrix in self.biaffine.data.view(-1, mlp + 1, mlp):
                nn.init.xavier_uniform_(matrix)
        if self.two_ways:
            # Most candidates are no spans, so the first answers should rather be no.
            self.bias = nn.Parameter(torch.full((2,), -1.0 if self.nearest_first else 0.0))
        if standing:
            self.standing = perceptron(boundary_width)
        if context:
            self.newest_start = perceptron(boundary_width)
            self.merged = nn.Parameter(torch.zeros(MOST_MERGED + 1))
            for name in LABEL_TABLES:
                self.register_parameter(name, nn.Parameter(torch.zeros(labels + 1, mlp)))
        self.grid: Grid | None = None
        if grid:
            self.grid = Grid(boundary_width, hidden=grid)
            self.grid_weight = nn.Parameter(torch.ones(2))
        self.has_standing, self.has_context = standing, context
        self.dropout = SharedDropout(dropout)

    def train(self, mode: bool = True) -> Self:
        """Switch dropout on or off."""
        self.trainings += mode
        return super().train(mode)

    def first_inputs(self, rows: int) -> Tensor:
        """The decoder's input before the first step: (rows, 1, input)."""
        return self.start.expand(rows, 1, -1)

    def inputs(self, boundaries: Tensor, starts: Tensor, ends: Tensor, labels: Tensor) -> Tensor:
        """The decoder's input after each step: the completed span, and perhaps its label.

        Training calls this for all steps at once, search for one at a time (paragraph "Decoder").

        Args:
            boundaries: (rows, n + 1, width)
            starts: of the spans, (rows, steps)
            ends: of the spans, (rows, steps)
            labels: of the spans, (rows, steps)

        Returns:
            (rows, steps, input)
        """
        spans = self.span(at(boundaries, ends) - at(boundaries, starts))
        if not self.previous_label:
            return spans  # type: ignore[no-any-return]
        return torch.cat((spans, self.label_vectors[labels]), dim=-1)

    def first_state(self, rows: int) -> State:
        """The decoder's state before the first input."""
        return State(
            self.first_hidden.expand(1, rows, -1).contiguous(),
            self.first_cell.expand(1, rows, -1).contiguous(),
        )

    def decode(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """Run the LSTM: the states d_t, (rows, steps, decoder), and the last one."""
        assert self.lstm is not None
        states, last = self.lstm(self.dropout(inputs), state)
        return self.dropout(states), State(*last)

    def states(self, boundaries: Tensor, starts: Tensor, ends: Tensor, labels: Tensor) -> Tensor:
        """The decoder's states d_t before each step, by teacher forcing.

        Args:
            boundaries: (rows, n + 1, width)
            starts: of the spans in order, (rows, steps)
            ends: of the spans, (rows, steps)
            labels: of the spans, (rows, steps)

        Returns:
            (rows, steps, decoder); (rows, steps, 0) without an LSTM
        """
        rows, steps = starts.shape
        if self.lstm is None:
            return boundaries.new_zeros(rows, steps, 0)
        later = self.inputs(boundaries, starts[:, :-1], ends[:, :-1], labels[:, :-1])
        inputs = torch.cat((self.first_inputs(rows), later), dim=1)
        return self.decode(inputs, self.first_state(rows))[0]

    def read(self, boundaries: Tensor) -> Sentences:
        """The terms that depend on boundaries alone: (rows, n + 1, width)."""
        points = self.point(boundaries)
        weights, bias = self.biaffine[..., :-1, :], self.biaffine[..., -1:, :]
        if self.two_ways:
            weights, bias = weights[:, None], bias[:, None]
        sides = points @ weights + bias
        if self.grid is None:
            return Sentences(boundaries, sides)
        spans = self.grid(boundaries)
        return Sentences(boundaries, sides, spans, pointing_terms(spans))

    def pointing_scores(self, sentences: Sentences, states: Tensor, where: Where) -> Tensor:
        """The score of pointing to each boundary (paragraph "Pointing score").

        Args:
            sentences: the result of `read`
            states: (rows, steps, decoder)
            where: the configurations before the steps

        Returns:
            (rows, steps, n + 1)
        """
        boundaries, sides, _, grid = sentences
        query = states.new_zeros(()) if self.lstm is None else self.cursor(states)
        if self.has_standing:
            query = query + self.standing(at(boundaries, where.cursor))
        if self.has_context:
            query = query + self.newest_start(at(boundaries, where.newest))
            query = query + self.newest_label[where.label]
        if self.two_ways:
            boundary = torch.arange(boundaries.shape[1], device=boundaries.device)
            leftward = boundary < where.cursor[:, :, None]
            left, right = query @ sides.transpose(2, 3)
            scores = torch.where(leftward, left + self.bias[0], right + self.bias[1])
        else:
            scores = query @ sides.transpose(1, 2)
        if grid is not None:  # which implies two ways
            row = torch.arange(len(grid), device=grid.device)[:, None]
            weight = torch.where(leftward, self.grid_weight[0], self.grid_weight[1])
            scores = scores + weight * grid[row, where.cursor]
        if self.has_context:
            assert where.labels is not None
            assert where.merged is not None
            by_label = (query @ self.stack_label.T).gather(2, where.labels)
            merge = by_label + self.merged[where.merged]
            scores = scores + torch.where(where.merged > 0, merge, 0.0)
        return scores

    def label_scores(
        self, boundaries: Tensor, states: Tensor, starts: Tensor, ends: Tensor, where: Where
    ) -> Tensor:
        """The score of each label for the completed spans (paragraph "Label score").

        Args:
            boundaries: (rows, n + 1, width)
            states: (rows, steps, decoder)
            starts: (rows, steps)
            ends: (rows, steps)
            where: the configurations before the steps

        Returns:
            (rows, steps, labels)
        """
        first, last = at(boundaries, starts), at(boundaries, ends)
        inputs = (first, last) if self.lstm is None else (states, last - first)
        hidden = self.label.first(torch.cat(inputs, dim=-1))
        if self.has_context:
            assert where.labels is not None
            child = where.labels.gather(2, starts[:, :, None])[:, :, 0]
            child = torch.where(starts < where.cursor, child, 0)
            hidden = hidden + self.label_newest[where.label] + self.label_child[child]
        return self.label.after(hidden) @ self.label_vectors.T
