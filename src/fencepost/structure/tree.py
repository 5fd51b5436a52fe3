"""Constituency trees, stored flat: a sentence and its labelled spans from the root down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from fencepost.errors import DataError
from fencepost.structure.brackets import (
    NO_TAG,
    Escapes,
    printed,
    read_brackets,
    shown,
    write_brackets,
)
from fencepost.structure.sentence import Sentence, brief, counted
from fencepost.structure.span import Span

if TYPE_CHECKING:
    import nltk

    from fencepost.drawing.colours import Theme
    from fencepost.search import Match, Pattern


WRAPPERS = frozenset({"ROOT", "TOP", "S1", "VROOT", ""})  # labels around a tree without meaning


class Leaf(NamedTuple):
    """One word of a tree, between the boundaries `start` and `start + 1`."""

    start: int
    word: str
    tag: str

    @property
    def end(self) -> int:
        """The boundary after the word."""
        return self.start + 1


@dataclass(frozen=True, slots=True, repr=False)
class Tree:
    """A tree over (a part of) a sentence, with any number of children per node.

    It is stored as spans in pre-order, the root first, so nothing is recursive: equality, hashing
    and writing work at any depth. A unary chain is several spans over the same words, outermost
    first.

    >>> tree = Tree.from_brackets("(S (NP (DT The) (NN cat)) (VP (VBD sat)))")
    >>> tree.label, tree.start, tree.end, tree.words
    ('S', 0, 3, ('The', 'cat', 'sat'))
    >>> [child.label for child in tree.children]
    ['NP', 'VP']
    >>> print(tree.children[0])
    (NP (DT The) (NN cat))
    """

    sentence: Sentence
    spans: tuple[Span, ...]

    def __post_init__(self) -> None:
        if not self.spans and len(self.sentence) != 1:
            raise DataError(f"a tree over {len(self.sentence)} words needs a root")
        holders = [len(self.sentence)]  # where the spans end that hold the next one
        last = 0
        for start, end, label in self.spans:
            while holders[-1] <= start and len(holders) > 1:
                holders.pop()
            if not last <= start < end <= holders[-1] or label is None:
                raise DataError(f"{Span(start, end, label)} is out of place in this tree")
            holders.append(end)
            last = start
        if self.spans and last >= self.spans[0].end:
            raise DataError(f"{self.spans[-1]} is outside of the root {self.spans[0]}")

    @classmethod
    def from_brackets(cls, text: str, *, escapes: Escapes = "round") -> Tree:
        """The only tree in a text."""
        bracketings = list(read_brackets(text, escapes=escapes))
        if len(bracketings) != 1:
            raise DataError(f"one tree was expected, and {len(bracketings)} were found")
        words, tags, spans = bracketings[0]
        return cls(Sentence(words, tags), spans)

    @property
    def start(self) -> int:
        """The boundary before the first word."""
        return self.spans[0].start if self.spans else 0

    @property
    def end(self) -> int:
        """The boundary after the last word."""
        return self.spans[0].end if self.spans else len(self.sentence)

    @property
    def label(self) -> str:
        """The label of the root; the tag of a tree that is only a word."""
        if self.spans:
            return self.spans[0].label or ""
        return self.tags[0]

    @property
    def wrapper(self) -> str | None:
        """The label of the wrapper around the tree, if any.

        >>> Tree.from_brackets("(ROOT (S (VP (VB Go))))").wrapper
        'ROOT'
        """
        is_wrapper = len(self) == len(self.sentence) and self.spans and self.label in WRAPPERS
        return self.label if is_wrapper else None

    @property
    def unwrapped(self) -> tuple[Span, ...]:
        """The spans without the wrapper; they may have several roots or none."""
        return self.spans if self.wrapper is None else self.spans[1:]

    @property
    def words(self) -> tuple[str, ...]:
        """The words below this node."""
        return self.sentence.words[self.start : self.end]

    @property
    def text(self) -> str:
        """Its part of the text; without offsets, the words joined by blanks."""
        return self.sentence.text_between(self.start, self.end)

    @property
    def start_char(self) -> int | None:
        """Its first character in the text; None without offsets."""
        place = self.sentence.characters(self.start, self.end)
        return None if place is None else place[0]

    @property
    def end_char(self) -> int | None:
        """The character after its last in the text; None without offsets."""
        place = self.sentence.characters(self.start, self.end)
        return None if place is None else place[1]

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the words below this node; `XX` if the sentence has none."""
        if self.sentence.tags is None:
            return (NO_TAG,) * (self.end - self.start)
        return self.sentence.tags[self.start : self.end]

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The words below this node with their tags and boundaries."""
        return tuple(map(Leaf, range(self.start, self.end), self.words, self.tags))

    @property
    def children(self) -> tuple[Tree | Leaf, ...]:
        """The children of the root: trees, and words that no smaller span holds."""
        leaves, first = self.leaves, self.start
        children: list[Tree | Leaf] = []
        position, index = first, 1
        while index < len(self.spans):
            start, end, _ = self.spans[index]
            children += leaves[position - first : start - first]
            behind = index + 1
            while behind < len(self.spans) and self.spans[behind].start < end:
                behind += 1
            children.append(Tree(self.sentence, self.spans[index:behind]))
            position, index = end, behind
        children += leaves[position - first :]
        return tuple(children)

    def __iter__(self) -> Iterator[Tree]:
        """All subtrees, from the root down and from left to right."""
        behind = _ends_of_subtrees(self.spans)
        for index, end in enumerate(behind):
            yield Tree(self.sentence, self.spans[index:end])

    def __len__(self) -> int:
        return self.end - self.start

    def __repr__(self) -> str:
        return (
            f"<Tree {brief(self.text)}: {self.label or 'no label'}, {counted(len(self), 'word')}>"
        )

    def __str__(self) -> str:
        """Brackets for display: a blank in a word becomes `_`; `to_brackets` is strict.

        >>> str(Tree(Sentence(("New York", "slept"), ("NNP", "VBD")), (Span(0, 2, "S"),)))
        '(S (NNP New_York) (VBD slept))'
        """
        try:
            return printed(self.to_brackets())
        except DataError:
            words, tags = self.sentence.words, self.sentence.tags
            return write_brackets(
                [shown(word) for word in words],
                None if tags is None else [shown(tag) for tag in tags],
                [Span(start, end, shown(label or "")) for start, end, label in self.spans],
            )

    def to_brackets(self, *, indent: int | None = None) -> str:
        """Brackets that can be read again; with `indent`, over several lines, indented by depth.

        Raises:
            DataError: brackets cannot express a word or label; `str` always works.
        """
        return write_brackets(self.sentence.words, self.sentence.tags, self.spans, indent=indent)

    def pretty(self, *, width: int = 100) -> str:
        """A drawing for the terminal, with the words along the bottom.

        A tree wider than `width` columns is drawn sideways, with one word per line.

        >>> print(Tree.from_brackets("(S (NP (DT The) (NN cat)) (VP (VBD sat)))").pretty())
               S
           ┌───┴───┐
          NP      VP
         ┌─┴──┐    │
        DT   NN   VBD
        The  cat  sat
        """
        from fencepost.drawing.terminal import pretty

        return pretty(self, width=width)

    def to_svg(self, *, theme: Theme = "light", boundaries: bool = False) -> str:
        """An SVG picture with the words along the bottom.

        Args:
            theme: `light` or `dark`, with colours in the picture; `auto` has classes for pages with
                `fencepost.drawing.html.STYLE`.
            boundaries: whether to mark and number boundaries.
        """
        from fencepost.drawing.svg import tree_svg

        return tree_svg(self, theme=theme, boundaries=boundaries)

    def _repr_svg_(self) -> str:
        """The display in notebooks."""
        return self.to_svg()

    def find(self, pattern: str | Pattern) -> Iterator[Match]:
        """The nodes that match a pattern, from the root down and from left to right.

        Args:
            pattern: a Tregex pattern.

        Raises:
            PatternError: the pattern cannot be read.

        >>> tree = Tree.from_brackets("(S (NP (DT The) (NN cat)) (VP (VBD sat)))")
        >>> [match.text for match in tree.find("NP < NN $+ VP")]
        ['The cat']
        """
        from fencepost.search import find

        return find(self, pattern)

    def to_nltk(self) -> nltk.Tree:
        """The same tree as an `nltk.Tree`, where each tag is a node over its word."""
        from nltk import Tree as NltkTree

        root = NltkTree("", [])
        holders = [(root, len(self.sentence))]
        coming = 0
        for start, word, tag in self.leaves:
            while coming < len(self.spans) and self.spans[coming].start == start:
                node = NltkTree(self.spans[coming].label, [])
                holders[-1][0].append(node)
                holders.append((node, self.spans[coming].end))
                coming += 1
            holders[-1][0].append(NltkTree(tag, [word]) if tag else word)
            while len(holders) > 1 and holders[-1][1] == start + 1:
                holders.pop()
        return root[0]

    @classmethod
    def from_nltk(cls, tree: nltk.Tree) -> Tree:
        """A tree from an `nltk.Tree`, where a node over one string is a word with its tag."""
        words: list[str] = []
        tags: list[str] = []
        spans: list[Span] = []
        waiting: list[tuple[nltk.Tree | str, int | None]] = [(tree, None)]
        while waiting:
            node, opened = waiting.pop()
            if opened is not None:  # all of its children have been read
                start, _, label = spans[opened]
                spans[opened] = Span(start, len(words), label)
            elif isinstance(node, str):
                words.append(node)
                tags.append("")
            elif len(node) == 1 and isinstance(node[0], str):
                words.append(node[0])
                tags.append(node.label())
            else:
                waiting.append((node, len(spans)))
                spans.append(Span(len(words), len(words), node.label()))
                waiting += ((child, None) for child in reversed(node))
        return cls(Sentence(tuple(words), tuple(tags)), tuple(spans))


def _ends_of_subtrees(spans: tuple[Span, ...]) -> list[int]:
    """For each span in pre-order, the index after the last span that it holds."""
    ends = [len(spans)] * len(spans)
    holders: list[int] = []
    for index, span in enumerate(spans):
        while holders and spans[holders[-1]].end <= span.start:
            ends[holders.pop()] = index
        holders.append(index)
    return ends
