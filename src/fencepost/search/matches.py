"""Matches of a pattern: nodes with their text, offsets and names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fencepost.search.index import Index
from fencepost.structure import FoundSpan, Sentence, Tree
from fencepost.structure.nodes import TAG

Kind = Literal["phrase", "tag", "word"]


class Node(FoundSpan):
    """A node of a tree: a phrase, the tag of a word, or a word.

    It is equal to a span with the same boundaries and label.
    """

    kind: Kind = "phrase"
    _tree: Tree | None = None
    _place: int = 0

    @classmethod
    def of(cls, index: Index, node: int) -> Node:
        """The node with this number."""
        place, tree = index.places[node], index.tree
        probability = index.probability(node)
        self = cls(
            index.lefts[node], index.rights[node], index.labels[node], tree.sentence, probability
        )
        self.kind = "phrase" if place >= 0 else "tag" if place == TAG else "word"
        self._tree, self._place = tree, place
        return self

    @property
    def tree(self) -> Tree | None:
        """The subtree below this node; None for a tag or a word."""
        if self._tree is None or self._place < 0:
            return None
        spans, behind = self._tree.spans, self._place + 1
        while behind < len(spans) and spans[behind].start < self.end:
            behind += 1
        return Tree(self._tree.sentence, spans[self._place : behind])


class Match:
    """A node that matches a pattern, and the nodes to which the pattern gives names.

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
        """The matching node."""
        return Node.of(self._index, self._place)

    @property
    def names(self) -> dict[str, Node]:
        """The named nodes, without those of optional parts that do not match."""
        return {name: Node.of(self._index, place) for name, place in self._named.items()}

    def __getitem__(self, name: str) -> Node:
        """The node with a name."""
        return Node.of(self._index, self._named[name])

    def get(self, name: str) -> Node | None:
        """The node with a name; None if it is in an optional part that does not match."""
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
        """The sentence of the match."""
        return self._index.tree.sentence

    @property
    def sentence(self) -> int | None:
        """The index of its sentence in the document; None without a document."""
        return self.source.index

    @property
    def start(self) -> int:
        """The boundary before its first word."""
        return self.node.start

    @property
    def end(self) -> int:
        """The boundary after its last word."""
        return self.node.end

    @property
    def text(self) -> str:
        """Its words in the text."""
        return self.node.text

    @property
    def start_char(self) -> int | None:
        """Its first character in the text; None if unknown."""
        return self.node.start_char

    @property
    def end_char(self) -> int | None:
        """The character after its last in the text; None if unknown."""
        return self.node.end_char

    @property
    def probability(self) -> float | None:
        """The parser's probability; None for tags, words and trees that are not predicted."""
        return self.node.probability

    @property
    def tree(self) -> Tree | None:
        """The subtree below the node; None for a tag or a word."""
        return self.node.tree
