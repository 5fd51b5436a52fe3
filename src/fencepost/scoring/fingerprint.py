"""A fingerprint of gold data, to compare scores on the same data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence


class Fingerprint:
    """Counts and a hash of gold data: words, labels and places, whatever their file format.

    >>> one = Fingerprint()
    >>> one.add(["It", "slept"], [(0, 2, "S")])
    >>> str(one)
    '1 sentence, 2 words, 1 span, sha256 a07975fbf88a'
    """

    def __init__(self) -> None:
        self.sentences = 0
        self.words = 0
        self.spans = 0
        self._hash = hashlib.sha256()

    def add(self, words: Sequence[str], spans: Iterable[tuple[int, int, str | None]]) -> None:
        """Add a sentence."""
        rows = [f"{start} {end} {label}" for start, end, label in spans]
        self.sentences += 1
        self.words += len(words)
        self.spans += len(rows)
        # Words contain no line ends, so different sentences give different text.
        self._hash.update("\n".join((*words, "", *rows, "\n")).encode("utf-8", "surrogatepass"))

    @property
    def hash(self) -> str:
        """The first twelve digits of the SHA-256."""
        return self._hash.hexdigest()[:12]

    def to_dict(self) -> dict[str, int | str]:
        """Plain data."""
        return {
            "sentences": self.sentences,
            "words": self.words,
            "spans": self.spans,
            "sha256": self.hash,
        }

    def __str__(self) -> str:
        counts = ((self.sentences, "sentence"), (self.words, "word"), (self.spans, "span"))
        named = [f"{count:,} {name}{'' if count == 1 else 's'}" for count, name in counts]
        return ", ".join((*named, f"sha256 {self.hash}"))
