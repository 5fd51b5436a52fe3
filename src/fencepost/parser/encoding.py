"""Sentences as a network has read them, before anything is looked for in them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np

from fencepost.batching.arrays import Floats, Ints
from fencepost.checkpoints.model import Model
from fencepost.structure import Sentence

_RECENT_WORDS = 20_000  # whose boundaries are kept


@dataclass(frozen=True, slots=True)
class Encoded:
    """Sentences and the vectors of their boundaries."""

    sentences: tuple[Sentence, ...]  # with tags, if these were asked for
    boundaries: Floats  # (sentences, n + 1, width)
    lengths: Ints  # in words, (sentences,)


def encode(model: Model, sentences: Sequence[Sentence], *, tasks: Collection[str]) -> Encoded:
    """Read sentences of at least one word, and find their tags if these are asked for.

    Args:
        model: to encode with.
        sentences: tags that they have are kept.
        tasks: `tags`, or not.
    """
    inputs = model.read([sentence.words for sentence in sentences])
    boundaries, scores = model.network.read(inputs, tags="tags" in tasks)
    if scores is not None:
        best = (scores[:, :, 1:].argmax(-1) + 1).tolist()  # no word is a filler
        sentences = [
            _tagged(model, sentence, row) for sentence, row in zip(sentences, best, strict=True)
        ]
    return Encoded(tuple(sentences), boundaries, inputs.lengths)


def _tagged(model: Model, sentence: Sentence, numbers: Sequence[int]) -> Sentence:
    if sentence.tags is not None:
        return sentence
    labels = model.numbers.labels["tags"]
    tags = tuple(labels.label(number) or "" for number in numbers[: len(sentence)])
    return replace(sentence, tags=tags)


class Recent:
    """The boundaries of the sentences that were read last, so that they need not be read again."""

    def __init__(self, most: int = _RECENT_WORDS) -> None:
        self.most = most
        self._kept: OrderedDict[tuple[str, ...], Floats] = OrderedDict()
        self._words = 0
        self._lock = Lock()

    def keep(self, encoded: Encoded) -> None:
        """Remember them, and forget the oldest."""
        for sentence, boundaries in zip(encoded.sentences, encoded.boundaries, strict=True):
            with self._lock:
                self._forget(sentence.words)
                self._kept[sentence.words] = boundaries[: len(sentence) + 1].copy()
                self._words += len(sentence)
                while self._words > self.most:
                    self._forget(next(iter(self._kept)))

    def _forget(self, words: tuple[str, ...]) -> None:
        if self._kept.pop(words, None) is not None:
            self._words -= len(words)

    def find(self, sentence: Sentence) -> Encoded | None:
        """The encoding of a sentence; None if it is no longer there."""
        with self._lock:
            boundaries = self._kept.get(sentence.words)
        if boundaries is None:
            return None
        return Encoded((sentence,), boundaries[None], np.array([len(sentence)]))
