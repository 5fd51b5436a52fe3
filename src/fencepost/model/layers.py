"""Building blocks: shared dropout, MLPs, a BiLSTM."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class SharedDropout(nn.Module):
    """Dropout with one mask for all steps of a row (section 3.3: "dropouts in LSTM/MLP layers")."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, vectors: Tensor) -> Tensor:
        """Drop the same features at all steps of a row.

        Args:
            vectors: (rows, steps, width)
        """
        if not self.training or self.share == 0:
            return vectors
        mask = torch.empty_like(vectors[:, :1]).bernoulli_(1 - self.share)
        return vectors * (mask / (1 - self.share))


class Perceptron(nn.Module):
    """Two linear layers with a non-linearity between (section 3.3: hidden and output size)."""

    def __init__(self, width: int, *, hidden: int, dropout: float) -> None:
        super().__init__()
        self.first = nn.Linear(width, hidden)
        self.activation = nn.LeakyReLU(0.1)
        self.dropout = SharedDropout(dropout)
        self.second = nn.Linear(hidden, hidden)

    def forward(self, vectors: Tensor) -> Tensor:
        """(rows, steps, width) to (rows, steps, hidden)."""
        return self.after(self.first(vectors))

    def after(self, hidden: Tensor) -> Tensor:
        """All after the first layer: (rows, steps, hidden) to the same shape."""
        return self.second(self.dropout(self.activation(hidden)))  # type: ignore[no-any-return]


class Layer(nn.Module):
    """One linear layer and a non-linearity: the authors' MLP."""

    def __init__(self, width: int, *, hidden: int, dropout: float) -> None:
        super().__init__()
        self.first = nn.Linear(width, hidden)
        self.activation = nn.LeakyReLU(0.1)
        self.dropout = SharedDropout(dropout)
        nn.init.orthogonal_(self.first.weight)
        nn.init.zeros_(self.first.bias)

    def forward(self, vectors: Tensor) -> Tensor:
        """(rows, steps, width) to (rows, steps, hidden)."""
        hidden: Tensor = self.dropout(self.activation(self.first(vectors)))
        return hidden


class LabelPerceptron(nn.Module):
    """Two linear layers with a LayerNorm between: the authors' MLP for labels."""

    def __init__(self, width: int, *, hidden: int) -> None:
        super().__init__()
        self.first = nn.Linear(width, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.second = nn.Linear(hidden, hidden)

    def after(self, hidden: Tensor) -> Tensor:
        """All after the first layer: (rows, steps, hidden) to the same shape."""
        return self.second(self.norm(hidden).relu())  # type: ignore[no-any-return]


class TwoWayLSTM(nn.Module):
    """BiLSTM layers with shared dropout before each."""

    def __init__(self, width: int, *, hidden: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.LSTM(
                width if index == 0 else 2 * hidden, hidden, batch_first=True, bidirectional=True
            )
            for index in range(layers)
        )
        self.dropout = SharedDropout(dropout)
        self.width = 2 * hidden if layers else width

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Encode sentences; they are packed, so that padding never changes a result.

        Args:
            vectors: (batch, longest, width)
            lengths: (batch,), on the CPU

        Returns:
            (batch, longest, 2 * hidden): forward states, then backward ones
        """
        for layer in self.layers:
            packed = pack_padded_sequence(
                self.dropout(vectors), lengths, batch_first=True, enforce_sorted=False
            )
            states, _ = layer(packed)
            vectors, _ = pad_packed_sequence(
                states, batch_first=True, total_length=vectors.shape[1]
            )
        return vectors
