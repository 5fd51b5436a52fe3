"""Sentences as vectors of boundaries, before search."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np

from fencepost.batching.arrays import Floats, Ints
from fencepost.checkpoints.model import Model
from fencepost.structure import Sentence

_CACHED_WORDS = 20_000


@dataclass(frozen=True, slots=True)
class Encoded:
    """Sentences and the vectors of their boundaries."""

    sentences: tuple[Sentence, ...]  # with tags, if these are among the tasks
    boundaries: Floats  # (sentences, n + 1, width)
    lengths: Ints  # in words, (sentences,)


def encode(model: Model, sentences: Sequence[Sentence], *, tasks: Collection[str]) -> Encoded:
    """Encode sentences of at least one word, and predict their tags if these are among the tasks.

    Args:
        model: the model to encode with.
        sentences: their own tags stay.
        tasks: the tasks; only `tags` matters here.
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


class EncodingCache:
    """The boundary vectors of the most recent sentences."""

    def __init__(self, max_words: int = _CACHED_WORDS) -> None:
        self.max_words = max_words
        self._boundaries: OrderedDict[tuple[str, ...], Floats] = OrderedDict()
        self._words = 0
        self._lock = Lock()

    def add(self, encoded: Encoded) -> None:
        """Add sentences, and remove the oldest ones beyond `max_words`."""
        for sentence, boundaries in zip(encoded.sentences, encoded.boundaries, strict=True):
            with self._lock:
                self._remove(sentence.words)
                self._boundaries[sentence.words] = boundaries[: len(sentence) + 1].copy()
                self._words += len(sentence)
                while self._words > self.max_words:
                    self._remove(next(iter(self._boundaries)))

    def _remove(self, words: tuple[str, ...]) -> None:
        if self._boundaries.pop(words, None) is not None:
            self._words -= len(words)

    def get(self, sentence: Sentence) -> Encoded | None:
        """The encoding of a sentence; None if it is not in the cache."""
        with self._lock:
            boundaries = self._boundaries.get(sentence.words)
        if boundaries is None:
            return None
        return Encoded((sentence,), boundaries[None], np.array([len(sentence)]))
