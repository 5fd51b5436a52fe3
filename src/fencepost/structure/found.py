"""Spans as a parser finds them: they know their words, and how sure it was."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from fencepost.structure.sentence import Sentence
from fencepost.structure.span import Span


class FoundSpan(Span):
    """A span of a sentence, with the probability of the step that made it.

    As a value it is the span alone: equal to any other with the same boundaries and label.

    >>> sentence = Sentence.from_whitespace(["Bank", "of", "Oslo", "."], [" ", " ", "", ""])
    >>> found = FoundSpan(0, 3, "NP", sentence, 0.75)
    >>> found.text, found.start_char, found.end_char, found.probability
    ('Bank of Oslo', 0, 12, 0.75)
    >>> found == Span(0, 3, "NP")
    True
    """

    sentence: Sentence | None = None
    probability: float | None = None  # of the step, given the steps before it

    def __new__(
        cls,
        start: int,
        end: int,
        label: str | None = None,
        sentence: Sentence | None = None,
        probability: float | None = None,
    ) -> Self:
        """A span; without a sentence it has neither text nor characters."""
        made = super().__new__(cls, start, end, label)
        made.sentence = sentence
        made.probability = probability
        return made

    @property
    def text(self) -> str:
        """What stands in the caller's text; words given one by one are joined with blanks."""
        return "" if self.sentence is None else self.sentence.text_between(self.start, self.end)

    @property
    def start_char(self) -> int | None:
        """Where it begins in the caller's text; None if there is none."""
        return self._characters[0]

    @property
    def end_char(self) -> int | None:
        """Where it ends in the caller's text; None if there is none."""
        return self._characters[1]

    @property
    def _characters(self) -> tuple[int | None, int | None]:
        if self.sentence is None:
            return None, None
        return self.sentence.characters(self.start, self.end) or (None, None)

    def relabelled(self, label: str | None) -> Self:
        """The same span with another label, found in the same step."""
        return type(self)(self.start, self.end, label, self.sentence, self.probability)

    def __repr__(self) -> str:
        shown = [f"{self.text!r}, {self.label!r}, {self.start}, {self.end}"]
        if self.start_char is not None:
            shown.append(f"start_char={self.start_char}, end_char={self.end_char}")
        if self.probability is not None:
            shown.append(f"probability={self.probability:.3f}")
        return f"{type(self).__name__}({', '.join(shown)})"

    __str__ = __repr__


def over(spans: Iterable[Span], sentence: Sentence) -> tuple[Span, ...]:
    """The same spans over another sentence with the same words."""
    return tuple(
        type(span)(*span, sentence, span.probability) if isinstance(span, FoundSpan) else span
        for span in spans
    )


class Entity(FoundSpan):
    """A named entity, or any other mention, that was found in a sentence."""
