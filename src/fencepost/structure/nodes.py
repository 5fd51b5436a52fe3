"""A tree as arrays over its nodes: phrases, tags and words, numbered from the root down.

A node's number is less than those of all nodes below it and to its right. With the number at which
each subtree ends, dominance and precedence are comparisons of numbers:

    a dominates b:  a < b < ends[a]         a precedes b:  ends[a] <= b
"""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.structure.tree import Tree

TAG, WORD = -1, -2


class Nodes:
    """The nodes of a tree.

    Attributes:
        labels: the labels of phrases, the tags and the words.
        parents: the numbers of the parents; -1 for the root.
        lefts: the start boundaries.
        rights: the end boundaries.
        ends: the number after the last node below each.
        places: the index of phrases in the tree's spans; else `TAG` or `WORD`.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.labels: list[str] = []
        self.parents: list[int] = []
        self.lefts: list[int] = []
        self.rights: list[int] = []
        self.ends: list[int] = []
        self.places: list[int] = []
        self._build()

    def _build(self) -> None:
        labels, parents, ends = self.labels, self.parents, self.ends
        lefts, rights, places = self.lefts, self.rights, self.places
        spans, words, tags = self.tree.spans, self.tree.words, self.tree.tags
        holders = [-1]
        coming = count = 0
        for left, (word, tag) in enumerate(zip(words, tags, strict=True), self.tree.start):
            right = left + 1
            while coming < len(spans) and spans[coming][0] == left:
                _, end, label = spans[coming]
                labels.append(label or "")
                parents.append(holders[-1])
                lefts.append(left)
                rights.append(end)
                ends.append(0)  # filled in when the phrase is complete
                places.append(coming)
                holders.append(count)
                coming += 1
                count += 1
            parent = holders[-1]
            if tag:
                labels.append(tag)
                parents.append(parent)
                lefts.append(left)
                rights.append(right)
                ends.append(count + 2)
                places.append(TAG)
                parent = count
                count += 1
            labels.append(word)
            parents.append(parent)
            lefts.append(left)
            rights.append(right)
            count += 1
            ends.append(count)
            places.append(WORD)
            while holders[-1] >= 0 and rights[holders[-1]] == right:
                ends[holders.pop()] = count

    def __len__(self) -> int:
        return len(self.labels)

    def children(self, node: int) -> Iterator[int]:
        """The children of a node."""
        ends, end = self.ends, self.ends[node]
        child = node + 1
        while child < end:
            yield child
            child = ends[child]
