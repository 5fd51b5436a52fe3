"""A short name for gold data, so that two people can see that they scored the same thing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence


class Fingerprint:
    """Counts and a hash of gold data: words, labels and places, not how they were written down.

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
        # No word holds a line's end, so no two sentences look alike.
        self._hash.update("\n".join((*words, "", *rows, "\n")).encode("utf-8", "surrogatepass"))

    @property
    def hash(self) -> str:
        """The first twelve digits of the SHA-256 of it all."""
        return self._hash.hexdigest()[:12]

    def __str__(self) -> str:
        counts = ((self.sentences, "sentence"), (self.words, "word"), (self.spans, "span"))
        told = [f"{count:,} {name}{'' if count == 1 else 's'}" for count, name in counts]
        return ", ".join((*told, f"sha256 {self.hash}"))
