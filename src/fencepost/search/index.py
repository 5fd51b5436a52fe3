"""An index of the nodes of a tree for patterns, computed lazily."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Literal

from fencepost.search.syntax import About, Labels, Number
from fencepost.structure import Span, Tree
from fencepost.structure.heads import basic_category, head_children
from fencepost.structure.nodes import WORD, Nodes

Link = Literal["any", "first", "last", "only", "head"] | int  # which child; -n: from the end


class Index(Nodes):
    """The nodes of a tree by label, place and kind.

    Args:
        tree: a tree.
        entities: the entities of its sentence, if known.
    """

    def __init__(self, tree: Tree, entities: Iterable[Span] | None = None) -> None:
        super().__init__(tree)
        self.entities = None if entities is None else tuple(entities)
        self._links: dict[Link, list[bool]] = {}

    @cached_property
    def by_label(self) -> dict[str, list[int]]:
        """The nodes that have each label, in order."""
        nodes: dict[str, list[int]] = {}
        for node, label in enumerate(self.labels):
            nodes.setdefault(label, []).append(node)
        return nodes

    @cached_property
    def by_right(self) -> dict[int, list[int]]:
        """The nodes that end at each boundary, in order."""
        nodes: dict[int, list[int]] = {}
        for node, right in enumerate(self.rights):
            nodes.setdefault(right, []).append(node)
        return nodes

    @cached_property
    def sisters_before(self) -> dict[int, tuple[int]]:
        """The previous sister of each node that has one."""
        ends = self.ends
        return {
            ends[node]: (node,)
            for node, parent in enumerate(self.parents[1:], 1)
            if ends[node] < ends[parent]
        }

    @cached_property
    def leaves(self) -> list[int]:
        """The nodes of the words, in order."""
        return [node for node, place in enumerate(self.places) if place == WORD]

    @cached_property
    def places_in_parents(self) -> tuple[list[int], list[int]]:
        """For each node, its number among its sisters, from 1, and the number of those after it."""
        counts, before = [0] * len(self.labels), [1] * len(self.labels)
        for node, parent in enumerate(self.parents[1:], 1):
            counts[parent] += 1
            before[node] = counts[parent]
        behind = [
            counts[parent] - number for parent, number in zip(self.parents, before, strict=True)
        ]
        return before, behind

    @cached_property
    def heads(self) -> list[int]:
        """The head child of each node; -1 for words."""
        return head_children(self)

    def link(self, link: Link) -> list[bool]:
        """For each node, whether it is such a child of its parent; the root is no child."""
        is_linked = self._links.get(link)
        if is_linked is None:
            is_linked = self._links[link] = self._linked(link)
            is_linked[0] = False
        return is_linked

    def _linked(self, link: Link) -> list[bool]:
        parents, ends = self.parents, self.ends
        if link == "any":
            return [True] * len(parents)
        if link == "first":
            return [parent + 1 == node for node, parent in enumerate(parents)]
        if link == "last":
            return [ends[node] == ends[parent] for node, parent in enumerate(parents)]
        if link == "only":
            return [
                parent + 1 == node and ends[node] == ends[parent]
                for node, parent in enumerate(parents)
            ]
        if link == "head":
            heads = self.heads
            return [heads[parent] == node for node, parent in enumerate(parents)]
        before, behind = self.places_in_parents
        return (
            [number == link for number in before]
            if link > 0
            else [number + 1 == -link for number in behind]
        )

    def with_labels(self, labels: Labels, *, basic: bool = False) -> list[int]:
        """The nodes that have one of some labels, in order."""
        if labels.is_any:
            return list(range(len(self.labels)))
        known = self.by_label
        if labels.regexes or basic:
            name = basic_category if basic else str
            names = [label for label in known if labels.match(name(label))]
        else:
            names = [label for label in labels.names if label in known]
        if len(names) == 1:
            return known[names[0]]
        return sorted(node for label in names for node in known[label])

    def probability(self, node: int) -> float | None:
        """The parser's probability of a phrase; None for other nodes."""
        place = self.places[node]
        return self.tree.spans[place].probability if place >= 0 else None

    def satisfying(self, nodes: Sequence[int], condition: Number | About) -> list[int]:
        """The nodes for which a condition holds."""
        lefts, rights = self.lefts, self.rights
        if isinstance(condition, About):
            holds = self._about(condition)
            return [node for node in nodes if holds[node] is not condition.negated]
        compare, value = condition.compare, condition.value
        if condition.name == "words":
            return [node for node in nodes if compare(rights[node] - lefts[node], value)]
        likely = []
        for node in nodes:
            probability = self.probability(node)
            if probability is not None and compare(probability, value):
                likely.append(node)
        return likely

    def _about(self, condition: About) -> list[bool]:
        """For each node, whether an entity of these types is at, within or around its place."""
        assert self.entities is not None
        spans = [span[:2] for span in self.entities if condition.types.match(span[2] or "")]
        places = list(zip(self.lefts, self.rights, strict=True))
        if condition.place == "is":
            known = set(spans)
            return [place in known for place in places]
        size = len(self.tree.sentence)
        if condition.place == "has":
            nearest = [size + 1] * (size + 1)  # first end of spans that start here or later
            for start, end in spans:
                nearest[start] = min(nearest[start], end)
            nearest = list(accumulate(reversed(nearest), min))[::-1]
            return [nearest[left] <= right for left, right in places]
        furthest = [0] * (size + 1)  # last end of spans that start here or before
        for start, end in spans:
            furthest[start] = max(furthest[start], end)
        furthest = list(accumulate(furthest, max))
        return [furthest[left] >= right for left, right in places]
