"""The pointing decoder of one task (section 2.3 of the paper)."""

from __future__ import annotations

from typing import NamedTuple, Self

import torch
from torch import Tensor, nn

from fencepost.model.boundaries import at
from fencepost.model.layers import Perceptron, SharedDropout


class State(NamedTuple):
    """What the decoder remembers: (1, rows, decoder) twice."""

    hidden: Tensor
    cell: Tensor

    def rows(self, index: Tensor) -> State:
        """The state of some rows, in this order."""
        return State(self.hidden[:, index], self.cell[:, index])


class PointingHead(nn.Module):
    """Points from boundary to boundary and labels the spans that this makes.

    Args:
        boundary_width: of the vectors of boundaries.
        labels: how many there are, the filler's included.
        mlp: hidden and output size of every perceptron; also that of label embeddings.
        decoder: size of the decoder's LSTM.
        previous_label: whether the last label is fed to the decoder, too.
        open_root: whether the whole sentence may be a filler, as among entities.
        dropout: in perceptrons and around the LSTM.
    """

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
    ) -> None:
        super().__init__()
        self.trainings = 0  # incremented by `train()`; invalidates cached folded weights
        self.temperature = 1.0  # logits are divided by it in search
        self.previous_label = previous_label
        self.open_root = open_root
        self.span = Perceptron(boundary_width, hidden=mlp, dropout=dropout)
        self.label_vectors = nn.Parameter(torch.empty(labels, mlp))  # the paper's E
        width = 2 * mlp if previous_label else mlp
        self.start = nn.Parameter(torch.empty(width))  # <START>
        self.first_hidden = nn.Parameter(torch.empty(decoder))  # d_0
        self.first_cell = nn.Parameter(torch.zeros(decoder))
        self.lstm = nn.LSTM(width, decoder, batch_first=True)
        self.cursor = Perceptron(decoder, hidden=mlp, dropout=dropout)
        self.point = Perceptron(boundary_width, hidden=mlp, dropout=dropout)
        self.biaffine = nn.Parameter(torch.empty(mlp + 1, mlp))  # W_point
        self.label = Perceptron(decoder + boundary_width, hidden=mlp, dropout=dropout)
        self.dropout = SharedDropout(dropout)
        nn.init.normal_(self.label_vectors, std=mlp**-0.5)
        nn.init.normal_(self.start, std=width**-0.5)
        nn.init.normal_(self.first_hidden, std=decoder**-0.5)
        nn.init.xavier_uniform_(self.biaffine)

    def train(self, mode: bool = True) -> Self:
        """Switch dropout on or off."""
        self.trainings += mode
        return super().train(mode)

    def first_inputs(self, rows: int) -> Tensor:
        """What the decoder reads before the first step: (rows, 1, input)."""
        return self.start.expand(rows, 1, -1)

    def inputs(self, boundaries: Tensor, starts: Tensor, ends: Tensor, labels: Tensor) -> Tensor:
        """What the decoder reads after each step: the span that was made, and perhaps its label.

        The only place where this is decided, for all steps at once in training and for one at a
        time in search (paragraph "Decoder").

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
        """The decoder's state before it has read anything."""
        return State(
            self.first_hidden.expand(1, rows, -1).contiguous(),
            self.first_cell.expand(1, rows, -1).contiguous(),
        )

    def decode(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """Read on: the states d_t for each input, (rows, steps, decoder), and the last one."""
        states, last = self.lstm(self.dropout(inputs), state)
        return self.dropout(states), State(*last)

    def sides(self, boundaries: Tensor) -> Tensor:
        """The boundaries' side of all pointing scores, [b'; 1] W: (rows, n + 1, mlp)."""
        weights, bias = self.biaffine[:-1], self.biaffine[-1]
        return self.point(boundaries) @ weights + bias  # type: ignore[no-any-return]

    def pointing_scores(self, sides: Tensor, states: Tensor) -> Tensor:
        """How much each step would point to each boundary (paragraph "Pointing score").

        Args:
            sides: (rows, n + 1, mlp)
            states: (rows, steps, decoder)

        Returns:
            (rows, steps, n + 1)
        """
        return self.cursor(states) @ sides.transpose(1, 2)  # type: ignore[no-any-return]

    def label_scores(
        self, boundaries: Tensor, states: Tensor, starts: Tensor, ends: Tensor
    ) -> Tensor:
        """How well each label fits the spans that were made (paragraph "Label score").

        Args:
            boundaries: (rows, n + 1, width)
            states: (rows, steps, decoder)
            starts: (rows, steps)
            ends: (rows, steps)

        Returns:
            (rows, steps, labels)
        """
        spans = at(boundaries, ends) - at(boundaries, starts)
        found = self.label(torch.cat((states, spans), dim=-1))
        return found @ self.label_vectors.T  # type: ignore[no-any-return]

    def states(self, boundaries: Tensor, starts: Tensor, ends: Tensor, labels: Tensor) -> Tensor:
        """The decoder's states d_t before each step along given ones: teacher forcing.

        Args:
            boundaries: (rows, n + 1, width)
            starts: of the spans in order, (rows, steps)
            ends: of the spans, (rows, steps)
            labels: of the spans, (rows, steps)

        Returns:
            (rows, steps, decoder)
        """
        rows = len(boundaries)
        later = self.inputs(boundaries, starts[:, :-1], ends[:, :-1], labels[:, :-1])
        inputs = torch.cat((self.first_inputs(rows), later), dim=1)
        return self.decode(inputs, self.first_state(rows))[0]
