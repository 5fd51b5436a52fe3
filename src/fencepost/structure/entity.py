"""Predicted spans and entities, which know their sentence and their probability."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from fencepost.structure.sentence import Sentence, brief
from fencepost.structure.span import Span

if TYPE_CHECKING:
    from fencepost.structure.tree import Tree


class FoundSpan(Span):
    """A span of a sentence, with the probability of the step that made it.

    It is equal to any other span with the same boundaries and label.

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
        """A span of a sentence; without a sentence it has no text and no characters."""
        span = super().__new__(cls, start, end, label)
        span.source = source
        span.probability = probability
        return span

    @property
    def sentence(self) -> int | None:
        """The index of its sentence in the document; None without a document.

        `start` and `end` count words of this sentence.
        """
        return None if self.source is None else self.source.index

    @property
    def text(self) -> str:
        """Its part of the text; for a sentence of words alone, the words joined by blanks."""
        return "" if self.source is None else self.source.text_between(self.start, self.end)

    @property
    def start_char(self) -> int | None:
        """Its first character in the text; None without a text."""
        return self._characters[0]

    @property
    def end_char(self) -> int | None:
        """The character after its last in the text; None without a text."""
        return self._characters[1]

    @property
    def _characters(self) -> tuple[int | None, int | None]:
        if self.source is None:
            return None, None
        return self.source.characters(self.start, self.end) or (None, None)

    def relabelled(self, label: str | None) -> Self:
        """The same span with another label, made by the same step."""
        return type(self)(self.start, self.end, label, self.source, self.probability)

    def __repr__(self) -> str:
        shown = [f"{brief(self.text)}, {self.label!r}, {self.start}, {self.end}"]
        if self.start_char is not None:
            shown.append(f"start_char={self.start_char}, end_char={self.end_char}")
        if self.probability is not None:
            shown.append(f"probability={self.probability:.3f}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __str__(self) -> str:
        """Its label and words in brackets; without a sentence, its boundaries.

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
    """A named entity, or another mention, predicted in a sentence.

    >>> from fencepost.structure import Parse, Tree
    >>> tree = Tree.from_brackets("(NP (NP (NNP Bank)) (PP (IN of) (NP (NNP Oslo))))")
    >>> (bank,) = Parse(tree.sentence, tree, (Entity(0, 3, "ORG", tree.sentence),)).entities
    >>> bank.head_word.text, bank.is_name
    ('Bank', True)
    """

    tree: Tree | None = None  # of its sentence

    @property
    def head_word(self) -> FoundSpan | None:
        """Its head word, labelled with its tag, by the tree or else by the tags.

        None without both.
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
        """Whether its head word is a proper noun; None without tags."""
        from fencepost.structure.heads import NAMES

        head = self.head_word
        return None if head is None or head.label is None else head.label in NAMES

    def within(self, tree: Tree | None) -> Self:
        """The same entity in a sentence with this tree."""
        if self.tree is tree:
            return self
        entity = self.relabelled(self.label)
        entity.tree = tree
        return entity
