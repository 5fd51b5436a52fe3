"""Encoders in onnxruntime: sentences in, the states of their words out."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from fencepost.batching.arrays import Floats, Ints
from fencepost.batching.inputs import WordInputs
from fencepost.batching.pieces import PieceInputs
from fencepost.runtime.session import Session

MOST_PIECES = 1024  # read at a time: few enough to stay in a processor's cache


class Encoder(Protocol):
    """From sentences to the vectors of their words, with a sentinel on each side."""

    def __call__(self, inputs: Any) -> Floats:
        """(batch, n + 2, width)."""


class WordEncoder:
    """Words and characters, with the layers of LSTM above them."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __call__(self, inputs: WordInputs[Ints]) -> Floats:
        """The states of words: (batch, n + 2, width)."""
        return self._session(
            words=inputs.words,
            static=inputs.static,
            spelled=inputs.spelled,
            characters=inputs.characters,
            spelling_lengths=inputs.spelling_lengths.astype(np.int32),
            sizes=_sizes(inputs.lengths),
        )


class TransformerEncoder:
    """A transformer, and the layers of LSTM above it if there are any.

    Args:
        session: from pieces to their vectors.
        lstm: from vectors of words to their states; None: they are the same.
    """

    def __init__(self, session: Session, lstm: Session | None = None) -> None:
        self._session = session
        self._lstm = lstm

    def __call__(self, inputs: PieceInputs[Ints]) -> Floats:
        """The states of words: (batch, n + 2, width). Padding is zero."""
        rows, longest = len(inputs.lengths), int(inputs.lengths.max()) + 2
        words: Floats | None = None
        width = inputs.pieces.shape[1]
        window, place = np.divmod(inputs.picked, width)
        for windows in windows_by_length(inputs.mask.sum(1), width):
            count = int(inputs.mask[windows[-1]].sum())
            vectors = self._session(
                pieces=inputs.pieces[windows, :count],
                mask=inputs.mask[windows, :count],
                cases=inputs.cases[windows, :count],
            )
            if words is None:
                words = np.zeros((rows * longest, vectors.shape[-1]), dtype=vectors.dtype)
            number = np.full(len(inputs.pieces), -1)
            number[windows] = np.arange(len(windows))
            read = np.flatnonzero(number[window] >= 0)
            picked = vectors[number[window[read]], place[read]] * inputs.shares[read, None]
            np.add.at(words, inputs.words[read], picked)
        assert words is not None
        states = words.reshape(rows, longest, -1)
        if self._lstm is None:
            return states
        return self._lstm(vectors=states, sizes=_sizes(inputs.lengths))


def windows_by_length(counts: Ints, width: int) -> list[Ints]:
    """Windows that are read together: alike in pieces, so that there is little padding.

    Sentences of as many words may have twice as many pieces.

    Args:
        counts: the pieces of each window.
        width: that of the longest.
    """
    few = max(1, MOST_PIECES // width)
    order = np.argsort(counts, kind="stable")
    return np.split(order, range(few, len(order), few))


def _sizes(lengths: Ints) -> Any:
    """The numbers of words with sentinels, as ONNX wants them."""
    return (lengths + 2).astype(np.int32)
