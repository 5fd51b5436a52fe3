"""Vectors of the boundaries between words (section 2.3, "Boundary and span representation")."""

from __future__ import annotations

import torch
from torch import Tensor


def boundary_vectors(states: Tensor) -> Tensor:
    """The vectors of the n + 1 boundaries, from the states of a BiLSTM.

    A boundary lies between two words. It takes the forward state of the one on its left
    and the backward state of the one on its right: all that was read before the gap, and
    all that was read after it.

    Args:
        states: (batch, n + 2, 2 * hidden), with a sentinel before and after the words.

    Returns:
        (batch, n + 1, 2 * hidden)
    """
    forward, backward = states.chunk(2, dim=-1)
    return torch.cat((forward[:, :-1], backward[:, 1:]), dim=-1)


def whole_boundary_vectors(states: Tensor) -> Tensor:
    """The vectors of the n + 1 boundaries, with the whole states of both neighbours.

    Each state of a transformer depends on both directions, so no half of it is the right one.

    Args:
        states: (batch, n + 2, width), with a sentinel before and after the words.

    Returns:
        (batch, n + 1, 2 * width)
    """
    return torch.cat((states[:, :-1], states[:, 1:]), dim=-1)


def at(vectors: Tensor, boundaries: Tensor) -> Tensor:
    """Select the vectors of boundaries.

    Args:
        vectors: (rows, n + 1, width)
        boundaries: (rows, steps)

    Returns:
        (rows, steps, width)
    """
    return vectors.gather(1, boundaries[:, :, None].expand(-1, -1, vectors.shape[-1]))
