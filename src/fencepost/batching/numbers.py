"""The labels and vocabularies behind a network's numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.batching.vocabulary import Labels, Vocabulary


@dataclass(frozen=True, slots=True)
class Numbers:
    """The labels of a network's heads, and its words and characters.

    A transformer has pieces in place of words and characters; its tokenizer numbers them.
    """

    labels: Mapping[str, Labels]  # by head
    words: Vocabulary | None = None
    characters: Vocabulary | None = None
    static: Vocabulary | None = None  # words with static vectors
    wrapper: str | None = None  # goes around each tree; None: there is none
    wrapper_is_label: bool = False  # whether the network has learned it as one: before 0.2
