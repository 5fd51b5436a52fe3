"""From running text to sentences of words that know where they stand in it."""

from __future__ import annotations

from fencepost.text.splitters import ENGLISH
from fencepost.text.words import split_words

__all__ = ["split_text", "split_words"]

split_text = ENGLISH.split
