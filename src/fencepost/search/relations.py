"""Relations between nodes: which nodes have partners among others, and the partners of one node.

`keep` takes time linear in the number of nodes for any arguments; `partners` looks at one node.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Protocol

from fencepost.search.index import Index, Link
from fencepost.search.syntax import CHAINS
from fencepost.structure.nodes import WORD

Nodes = Sequence[int]  # in order


class Family(Protocol):
    """A relation A to B."""

    def keep(self, index: Index, some: Nodes, targets: Nodes) -> list[int]:
        """The nodes A that have a B among the targets."""

    def partners(self, index: Index, node: int, targets: Nodes) -> Nodes:
        """The targets B of one node A, in order."""


@dataclass(frozen=True, slots=True)
class _Child:
    """B is such a child of A: `<`, `<,`, `<2`, `<#` and so on."""

    link: Link = "any"

    def keep(self, index: Index, some: Nodes, targets: Nodes) -> list[int]:
        parents, link = index.parents, index.link(self.link)
        matching = {parents[node] for node in targets if link[node]}
        return [node for node in some if node in matching]

    def partners(self, index: Index, node: int, targets: Nodes) -> Nodes:
        link = index.link(self.link)
        return [child for child in index.children(node) if link[child] and is_among(child, targets)]


@dataclass(frozen=True, slots=True)
class _Parent:
    """A is such a child of B: `>`, `>,`, `>2`, `>#` and so on."""

    link: Link = "any"

    def keep(self, index: Index, some: Nodes, targets: Nodes) -> list[int]:
        parents, link, wanted = index.parents, index.link(self.link), set(targets)
        return [node for node in some if link[node] and parents[node] in wanted]

    def partners(self, index: Index, node: int, targets: Nodes) -> Nodes:
        parent = index.parents[node]
        is_target = index.link(self.link)[node] and is_among(parent, targets)
        return [parent] if is_target else []


@dataclass(frozen=True, slots=True)
class _Below:
    """B is below A, over such children: `<<`, `<<,`, `<+(C)` and so on."""

    link: Link = "any"
    among: frozenset[int] | None = None  # the nodes that the way may lead through; None: any

    def keep(self, index: Index, some: Nodes, targets: Nodes) -> list[int]:
        parents, link, among = index.parents, index.link(self.link), self.among
        above: set[int] = set()
        for target in targets:
            node = target
            while link[node]:
                node = parents[node]
                if node in above:  # and so are all above it
                    break
                above.add(node)
                if among is not None and node not in among:
                    break
        return [node for node in some if node in above]

    def partners(self, index: Index, node: int, targets: Nodes) -> Nodes:
        if self.link == "any" and self.among is None:
            first = bisect_left(targets, node + 1)
            return targets[first : bisect_left(targets, index.ends[node], first)]
        link, among = index.link(self.link), self.among
        below, waiting = [], [node]
        while waiting:
            for child in index.children(waiting.pop()):
                if link[child]:
                    if is_among(child, targets):
                        below.append(child)
                    if among is None or child in among:
                        waiting.append(child)
        return sorted(below)


@dataclass(frozen=True, slots=True)
class _Above:
    """A is below B, over such children: `>>`, `>>,`, `>+(C)` and so on."""

    link: Link = "any"
    among: frozenset[int] | None = None  # the nodes that the way may lead through; None: any

    def keep(self, index: Index, some: Nodes, targets: Nodes) -> list[int]:
        link, among, above = index.link(self.link), self.among, set(targets)
        below: set[int] = set()
        for node, parent in enumerate(index.parents):
            goes_on = parent in below and (among is None or parent in among)
            if link[node] and (goes_on or parent in above):
                below.add(node)
        return [node for node in some if node in below]

    def partners(self, index: Index, node: int, targets: Nodes) -> Nodes:
        link, among, parents = index.link(self.link), self.among, index.parents
        ancestors = []
        while link[node]:
            node = parents[node]
            if is_among(node, targets):
                ancestors.append(node)
            if among is not None and node not in among:
                break
        return ancestors[::-1]


@dataclass(frozen=True, slots=True)
class _Sister:
    """A and B are different children of the same parent: `$`, `$++`, `$--`."""

    before: bool = True  # whether A may stand before B
    behind: bool = True

    def keep(self, index: Index, some: Nodes, targets: Nodes) -> list[int]:
        parents, before, behind = index.parents, self.before, self.behind
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        for target in targets:
            first.setdefault(parents[target], target)
            last[parents[target]] = target
        first.pop(-1, None)  # the root has no sisters
        return [
            node
            for node in some
            if (parent := parents[node]) in first
            and ((before and node < last[parent]) or (behind and first[parent] < node))
        ]

    def partners(self, index: Index, node: int, targets: Nodes) -> Nodes:
        parent = index.parents[node]
        return [
            child
            for child in (index.children(parent) if parent >= 0 else ())
            if ((self.before and node < child) or (self.behind and child < node))
            and is_among(child, targets)
        ]


@dataclass(frozen=True, slots=True)
class _NextSister:
    """B is the next or the previous sister of A: `$+`, `$-`."""

    behind: bool  # whether B is the next one

    def keep(self, index: Index, some: Nodes, targets: Nodes) -> list[int]:
        matching = {other for node in targets for other in self._one(index, node, not self.behind)}
        return [node for node in some if node in matching]

    def partners(self, index: Index, node: int, targets: Nodes) -> Nodes:
        return [other for other in self._one(index, node, self.behind) if is_among(other, targets)]

    def _one(self, index: Index, node: int, behind: bool) -> Iterable[int]:
        if behind:
            end, parent = index.ends[node], index.parents[node]
            return (end,) if parent >= 0 and end < index.ends[parent] else ()
        return index.sisters_before.get(node, ())


@dataclass(frozen=True, slots=True)
class _Before:
    """A ends before B starts, directly or connected by a chain of nodes: `..`, `.`, `.+`."""

    directly: bool = False
    among: Nodes | None = None  # the nodes of the chain, in order

    def keep(self, index: Index, some: Nodes, targets: Nodes) -> list[int]:
        ends, lefts, rights = index.ends, index.lefts, index.rights
        if not self.directly:
            last = targets[-1]
            return [node for node in some if ends[node] <= last]
        boundaries = {lefts[target] for target in targets}
        for node in reversed(self.among or ()):
            if rights[node] in boundaries:
                boundaries.add(lefts[node])
        return [node for node in some if rights[node] in boundaries]

    def partners(self, index: Index, node: int, targets: Nodes) -> Nodes:
        first = bisect_left(targets, index.ends[node])
        if not self.directly:
            return targets[first:]
        lefts = index.lefts
        boundaries = {index.rights[node]}
        for other in self.among or ():
            if lefts[other] in boundaries:
                boundaries.add(index.rights[other])
        last = max(boundaries)
        near = takewhile(lambda target: lefts[target] <= last, islice(targets, first, None))
        return [target for target in near if lefts[target] in boundaries]


@dataclass(frozen=True, slots=True)
class _Behind:
    """A starts after B ends, directly or connected by a chain of nodes: `,,`, `,`, `,+`."""

    directly: bool = False
    among: Nodes | None = None

    def keep(self, index: Index, some: Nodes, targets: Nodes) -> list[int]:
        ends, lefts, rights = index.ends, index.lefts, index.rights
        if not self.directly:
            first = min(ends[target] for target in targets)
            return [node for node in some if first <= node]
        boundaries = {rights[target] for target in targets}
        for node in self.among or ():
            if lefts[node] in boundaries:
                boundaries.add(rights[node])
        return [node for node in some if lefts[node] in boundaries]

    def partners(self, index: Index, node: int, targets: Nodes) -> Nodes:
        lefts, rights = index.lefts, index.rights
        if self.directly and self.among is None:
            ending = index.by_right.get(lefts[node], ())
            return [other for other in ending if is_among(other, targets)]
        before = targets[: bisect_left(targets, node)]
        if self.among is None:
            return [target for target in before if index.ends[target] <= node]
        boundaries = {lefts[node]}
        for other in reversed(self.among):
            if rights[other] in boundaries:
                boundaries.add(lefts[other])
        return [target for target in before if rights[target] in boundaries]


@dataclass(frozen=True, slots=True)
class _Leaf:
    """B is a word below A: any, or the n-th, or the n-th from the end: `<<<`, `<<<2`, `<<<-2`."""

    number: int | None = None

    def keep(self, index: Index, some: Nodes, targets: Nodes) -> list[int]:
        if self.number is None:
            return _Below().keep(index, some, [one for one in targets if index.places[one] == WORD])
        wanted = set(targets)
        return [node for node in some if self._leaf(index, node, self.number) in wanted]

    def partners(self, index: Index, node: int, targets: Nodes) -> Nodes:
        if self.number is None:
            below = _Below().partners(index, node, targets)
            return [one for one in below if index.places[one] == WORD]
        leaf = self._leaf(index, node, self.number)
        return [leaf] if is_among(leaf, targets) else []

    def _leaf(self, index: Index, node: int, number: int) -> int:
        left, right = index.lefts[node], index.rights[node]
        place = left + number - 1 if number > 0 else right + number
        if index.places[node] == WORD or not left <= place < right:
            return -1
        return index.leaves[place - index.lefts[0]]


@dataclass(frozen=True, slots=True)
class _Same:
    """A is B, or also its parent: `==`, `<=`."""

    or_parent: bool = False

    def keep(self, index: Index, some: Nodes, targets: Nodes) -> list[int]:
        matching = set(targets)
        if self.or_parent:
            matching.update(index.parents[target] for target in targets)
        return [node for node in some if node in matching]

    def partners(self, index: Index, node: int, targets: Nodes) -> Nodes:
        nodes = [node, *index.children(node)] if self.or_parent else [node]
        return [other for other in nodes if is_among(other, targets)]


@dataclass(frozen=True, slots=True)
class _Anywhere:
    """B is anywhere in the tree of A: `:`."""

    def keep(self, index: Index, some: Nodes, targets: Nodes) -> list[int]:
        return list(some)

    def partners(self, index: Index, node: int, targets: Nodes) -> Nodes:
        return targets


def nodes_seen(sign: str, index: Index, node: int) -> int:
    """Estimate how many nodes `partners` looks at besides those that it returns."""
    if sign in CHAINS or sign == ",,":
        return len(index)
    if sign in ("$", "$++", "$..", "$--", "$,,"):
        node = max(0, index.parents[node])
    elif sign[0] != "<" or sign == "<<":
        return 0
    return index.ends[node] - node


def is_among(node: int, nodes: Nodes) -> bool:
    """Whether a node is among sorted nodes."""
    place = bisect_left(nodes, node)
    return place < len(nodes) and nodes[place] == node


_FAMILIES: dict[str, Family] = {
    "<": _Child(),
    "<,": _Child("first"),
    "<-": _Child("last"),
    "<:": _Child("only"),
    "<#": _Child("head"),
    ">": _Parent(),
    ">,": _Parent("first"),
    ">-": _Parent("last"),
    ">:": _Parent("only"),
    ">#": _Parent("head"),
    "<<": _Below(),
    "<<,": _Below("first"),
    "<<-": _Below("last"),
    "<<:": _Below("only"),
    "<<#": _Below("head"),
    ">>": _Above(),
    ">>,": _Above("first"),
    ">>-": _Above("last"),
    ">>:": _Above("only"),
    ">>#": _Above("head"),
    "<<<": _Leaf(),
    "$": _Sister(),
    "$++": _Sister(behind=False),
    "$..": _Sister(behind=False),
    "$--": _Sister(before=False),
    "$,,": _Sister(before=False),
    "$+": _NextSister(behind=True),
    "$.": _NextSister(behind=True),
    "$-": _NextSister(behind=False),
    "$,": _NextSister(behind=False),
    "..": _Before(),
    ".": _Before(directly=True),
    ",,": _Behind(),
    ",": _Behind(directly=True),
    "==": _Same(),
    "<=": _Same(or_parent=True),
    ":": _Anywhere(),
}


def family_of(sign: str, argument: int | Nodes | None = None) -> Family:
    """The relation of a sign.

    Args:
        sign: the sign without its argument.
        argument: the number after it, or the sorted nodes of a chain.
    """
    if argument is None:
        return _FAMILIES[sign]
    if isinstance(argument, int):
        numbered: dict[str, Callable[[int], Family]] = {"<": _Child, ">": _Parent, "<<<": _Leaf}
        return numbered[sign](argument)
    if sign == ".+":
        return _Before(directly=True, among=argument)
    if sign == ",+":
        return _Behind(directly=True, among=argument)
    return (_Below if sign == "<+" else _Above)(among=frozenset(argument))
