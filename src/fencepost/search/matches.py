"""Matches of a pattern: nodes with their words, their place in the text, and their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fencepost.search.index import Index
from fencepost.structure import FoundSpan, Sentence, Tree
from fencepost.structure.nodes import TAG

Kind = Literal["phrase", "tag", "word"]


class Node(FoundSpan):
    """A node of a tree: a phrase with its label, the tag of a word, or a word.

    As a value it is a span: where it starts and ends, and its label.
    """

    kind: Kind = "phrase"
    _tree: Tree | None = None
    _place: int = 0

    @classmethod
    def of(cls, index: Index, node: int) -> Node:
        """The node of a number."""
        place, tree = index.places[node], index.tree
        probability = index.probability(node)
        found = cls(
            index.lefts[node], index.rights[node], index.labels[node], tree.sentence, probability
        )
        found.kind = "phrase" if place >= 0 else "tag" if place == TAG else "word"
        found._tree, found._place = tree, place
        return found

    @property
    def tree(self) -> Tree | None:
        """The part of the tree from this node down; None for a tag or a word."""
        if self._tree is None or self._place < 0:
            return None
        spans, behind = self._tree.spans, self._place + 1
        while behind < len(spans) and spans[behind].start < self.end:
            behind += 1
        return Tree(self._tree.sentence, spans[self._place : behind])


class Match:
    """A node that matches a pattern, and the nodes that the pattern gives names.

    >>> from fencepost import Tree
    >>> tree = Tree.from_brackets("(S (NP (PRP It)) (VP (VBD slept)))")
    >>> (match,) = tree.find("S < (NP=subject $+ VP)")
    >>> match.label, match.text, match["subject"].text
    ('S', 'It slept', 'It')
    """

    __slots__ = ("_index", "_named", "_place")

    def __init__(self, index: Index, place: int, named: Mapping[str, int]) -> None:
        self._index = index
        self._place = place
        self._named = named

    @property
    def node(self) -> Node:
        """The node that matches."""
        return Node.of(self._index, self._place)

    @property
    def names(self) -> dict[str, Node]:
        """The nodes that have names, those of optional parts only where they hold."""
        return {name: Node.of(self._index, place) for name, place in self._named.items()}

    def __getitem__(self, name: str) -> Node:
        """The node that the pattern gives a name."""
        return Node.of(self._index, self._named[name])

    def get(self, name: str) -> Node | None:
        """The node that the pattern gives a name; None if an optional part has none."""
        return self[name] if name in self._named else None

    def __repr__(self) -> str:
        return (
            f"Match({', '.join([repr(self.node), *(f'{k}={v!r}' for k, v in self.names.items())])})"
        )

    @property
    def label(self) -> str:
        """The label of the node."""
        return self.node.label or ""

    @property
    def source(self) -> Sentence:
        """The sentence in which it was found."""
        return self._index.tree.sentence

    @property
    def sentence(self) -> int | None:
        """The index of its sentence in the document; None if it is of none."""
        return self.source.index

    @property
    def start(self) -> int:
        """The boundary before its first word."""
        return self.node.start

    @property
    def end(self) -> int:
        """The boundary behind its last word."""
        return self.node.end

    @property
    def text(self) -> str:
        """Its words in the text."""
        return self.node.text

    @property
    def start_char(self) -> int | None:
        """Where it begins in the text; None if that is not known."""
        return self.node.start_char

    @property
    def end_char(self) -> int | None:
        """Where it ends in the text; None if that is not known."""
        return self.node.end_char

    @property
    def probability(self) -> float | None:
        """How sure a parser was of it; None for tags and words, or if none found it."""
        return self.node.probability

    @property
    def tree(self) -> Tree | None:
        """The part of the tree from the node down; None for a tag or a word."""
        return self.node.tree
