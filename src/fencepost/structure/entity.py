"""Spans as a parser finds them: they know their words, and how sure it was."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from fencepost.structure.sentence import Sentence, brief
from fencepost.structure.span import Span

if TYPE_CHECKING:
    from fencepost.structure.tree import Tree


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

    source: Sentence | None = None
    probability: float | None = None  # of the step, given the steps before it

    def __new__(
        cls,
        start: int,
        end: int,
        label: str | None = None,
        source: Sentence | None = None,
        probability: float | None = None,
    ) -> Self:
        """A span; without a source it has neither text nor characters."""
        made = super().__new__(cls, start, end, label)
        made.source = source
        made.probability = probability
        return made

    @property
    def sentence(self) -> int | None:
        """The index of its sentence in the document; None if it is of none.

        `start` and `end` count the words of that sentence.
        """
        return None if self.source is None else self.source.index

    @property
    def text(self) -> str:
        """What stands in the caller's text; words given one by one are joined with blanks."""
        return "" if self.source is None else self.source.text_between(self.start, self.end)

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
        if self.source is None:
            return None, None
        return self.source.characters(self.start, self.end) or (None, None)

    def relabelled(self, label: str | None) -> Self:
        """The same span with another label, found in the same step."""
        return type(self)(self.start, self.end, label, self.source, self.probability)

    def __repr__(self) -> str:
        shown = [f"{brief(self.text)}, {self.label!r}, {self.start}, {self.end}"]
        if self.start_char is not None:
            shown.append(f"start_char={self.start_char}, end_char={self.end_char}")
        if self.probability is not None:
            shown.append(f"probability={self.probability:.3f}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __str__(self) -> str:
        """Its label and words in brackets; of a span that was not found in a sentence, its place.

        >>> print(Entity(2, 3, "place", Sentence(("Bank", "of", "Oslo"))))
        (place Oslo)
        """
        return super().__str__() if self.source is None else f"({self.label} {self.text})"


def over(spans: Iterable[Span], sentence: Sentence) -> tuple[Span, ...]:
    """The same spans over another sentence with the same words."""
    return tuple(
        type(span)(*span, sentence, span.probability) if isinstance(span, FoundSpan) else span
        for span in spans
    )


class Entity(FoundSpan):
    """A named entity, or any other mention, that was found in a sentence.

    >>> from fencepost.structure import Parse, Tree
    >>> tree = Tree.from_brackets("(NP (NP (NNP Bank)) (PP (IN of) (NP (NNP Oslo))))")
    >>> (bank,) = Parse(tree.sentence, tree, (Entity(0, 3, "ORG", tree.sentence),)).entities
    >>> bank.head_word.text, bank.is_name
    ('Bank', True)
    """

    tree: Tree | None = None  # of its sentence, if the parse has one

    @property
    def head_word(self) -> FoundSpan | None:
        """Its head word, labelled with the tag: by the tree, or else by the tags alone.

        None if there is neither.
        """
        from fencepost.structure.heads import head_in_tags, head_in_tree

        if self.source is None:
            return None
        tags = self.source.tags
        if self.tree is not None:
            place = head_in_tree(self.tree, self.start, self.end)
        elif tags is not None:
            place = self.start + head_in_tags(tags[self.start : self.end])
        else:
            return None
        return FoundSpan(place, place + 1, tags[place] if tags else None, self.source)

    @property
    def is_name(self) -> bool | None:
        """Whether it is a name: its head word is a proper noun. None if there are no tags."""
        from fencepost.structure.heads import NAMES

        head = self.head_word
        return None if head is None or head.label is None else head.label in NAMES

    def within(self, tree: Tree | None) -> Self:
        """The same entity in a sentence with this tree."""
        if self.tree is tree:
            return self
        found = self.relabelled(self.label)
        found.tree = tree
        return found
