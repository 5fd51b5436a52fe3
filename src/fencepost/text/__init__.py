"""Split running text into sentences and words with offsets."""

from __future__ import annotations

from fencepost.text.splitters import ENGLISH
from fencepost.text.words import split_words

__all__ = ["split_text", "split_words"]

split_text = ENGLISH.split
