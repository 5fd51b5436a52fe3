"""Sentences: words with their tags and their place in a text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from fencepost.errors import DataError, clipped


@dataclass(frozen=True, slots=True, repr=False)
class Sentence:
    """The words of a sentence, with tags, text and offsets if known.

    >>> Sentence.from_whitespace(["The", "cat", "."], [" ", "", ""]).text
    'The cat.'
    """

    words: tuple[str, ...]
    tags: tuple[str, ...] | None = None  # one per word; empty for a word without a tag
    text: str | None = None  # the text that the offsets slice
    offsets: tuple[tuple[int, int], ...] | None = None
    id: str | None = None
    index: int | None = field(default=None, compare=False)  # in its document, from 0

    def __post_init__(self) -> None:
        if isinstance(self.words, str):
            raise TypeError(f"words are a sequence of strings, not one string: {self.words!r}")
        object.__setattr__(self, "words", tuple(self.words))
        if not all(self.words):
            raise DataError(f"word {self.words.index('')} is empty", kind="empty")
        if self.tags is not None:
            object.__setattr__(self, "tags", tuple(self.tags))
            if len(self.tags) != len(self.words):
                raise DataError(f"{len(self.tags)} tags for {len(self.words)} words")
        if self.offsets is not None:
            object.__setattr__(self, "offsets", tuple(tuple(pair) for pair in self.offsets))
            self._check_offsets(self.offsets)

    def _check_offsets(self, offsets: tuple[tuple[int, int], ...]) -> None:
        if self.text is None:
            raise DataError("offsets need the text that they slice")
        if len(offsets) != len(self.words):
            raise DataError(f"{len(offsets)} offsets for {len(self.words)} words")
        last = 0
        for start, end in offsets:
            if not last <= start < end <= len(self.text):
                raise DataError(
                    f"the offsets ({start}, {end}) do not follow {last} "
                    f"within a text of {len(self.text)} characters",
                    kind="out of range",
                )
            last = end

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"<Sentence {brief(self.text_between(0, len(self)))}: {counted(len(self), 'word')}>"

    def characters(self, start: int, end: int) -> tuple[int, int] | None:
        """The characters of the words between two boundaries; None without offsets."""
        if self.offsets is None or start >= end:
            return None
        return self.offsets[start][0], self.offsets[end - 1][1]

    def text_between(self, start: int, end: int) -> str:
        """The text between two boundaries; without offsets, the words joined by blanks."""
        place = self.characters(start, end)
        if place is None or self.text is None:
            return " ".join(self.words[start:end])
        return self.text[slice(*place)]

    def alone(self) -> Sentence:
        """The same sentence with only its part of the text."""
        place = self.characters(0, len(self.words))
        if place is None or self.text is None or self.offsets is None:
            return self
        first, last = place
        offsets = tuple((start - first, end - first) for start, end in self.offsets)
        return replace(self, text=self.text[first:last], offsets=offsets)

    @property
    def whitespace(self) -> tuple[str, ...] | None:
        """The text after each word, up to the next; None without offsets."""
        if self.offsets is None or self.text is None:
            return None
        ends = [end for _, end in self.offsets]
        following = [start for start, _ in self.offsets[1:]] + [len(self.text)]
        return tuple(self.text[end:start] for end, start in zip(ends, following, strict=True))

    @classmethod
    def from_whitespace(
        cls,
        words: Iterable[str],
        whitespace: Iterable[str],
        *,
        tags: Iterable[str] | None = None,
        id: str | None = None,
    ) -> Sentence:
        """A sentence whose text is its words, each followed by its whitespace."""
        words = tuple(words)
        pieces: list[str] = []
        offsets: list[tuple[int, int]] = []
        position = 0
        for word, space in zip(words, whitespace, strict=True):
            offsets.append((position, position + len(word)))
            position += len(word) + len(space)
            pieces += (word, space)
        return cls(
            words, None if tags is None else tuple(tags), "".join(pieces), tuple(offsets), id
        )


def brief(text: str) -> str:
    """The first words of a text, in quotes, as one short line.

    >>> brief("It slept"), brief("The old harbour of Bergen wakes before dawn")
    ("'It slept'", "'The old harbour of Bergen wakes before …'")
    """
    return repr(clipped(" ".join(text[:200].split()), 40))


def counted(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "word"), counted(0, "entity"), counted(2000, "entity")
    ('1 word', 'no entities', '2,000 entities')
    """
    many = noun if count == 1 else noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {many}" if count else f"no {many}"
