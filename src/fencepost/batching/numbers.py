"""The labels and vocabularies of a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.batching.vocabulary import Labels, Vocabulary


@dataclass(frozen=True, slots=True)
class Numbers:
    """The labels of a network's heads, and the vocabularies of its encoder.

    A transformer has none; its tokenizer has the ids of its pieces.
    """

    labels: Mapping[str, Labels]  # by head
    words: Vocabulary | None = None
    characters: Vocabulary | None = None
    static: Vocabulary | None = None  # words with static vectors
    wrapper: str | None = None  # the label around each tree; None: there is none
    wrapper_is_label: bool = False  # the network predicts it like other labels: before 0.2
