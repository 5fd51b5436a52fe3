"""Compiled patterns, and their matching against trees."""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import lru_cache

from fencepost.errors import DataError
from fencepost.search.index import Index
from fencepost.search.relations import Family, family_of, is_among, nodes_seen
from fencepost.search.syntax import (
    About,
    Expression,
    Group,
    NodePattern,
    Relation,
    read_pattern,
)

MOST_STEPS = 1_000_000  # of the search for named nodes in a sentence

Names = dict[str, int]  # names to nodes


class Pattern:
    """A compiled Tregex pattern, with conditions on entities and probabilities.

    Args:
        text: the pattern.

    Raises:
        PatternError: the pattern cannot be read.

    >>> Pattern("NP < (NN=noun $- DT)")
    Pattern('NP < (NN=noun $- DT)')
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._alternatives = read_pattern(text)
        self._needed = [needed(node) for node in self._alternatives]
        self.asks_for_entities = any(map(_asks, self._alternatives))

    def __repr__(self) -> str:
        return f"Pattern({self.text!r})"

    def __reduce__(self) -> tuple[type[Pattern], tuple[str]]:
        return Pattern, (self.text,)

    def can_match(self, labels: Container[str]) -> bool:
        """Whether a tree with these labels, tags and words may have a match."""
        return any(
            all(any(label in labels for label in some) for some in needs) for needs in self._needed
        )

    def matches(self, index: Index) -> Iterator[tuple[int, Names]]:
        """The matching nodes, in order, each with its named nodes.

        Raises:
            DataError: a sentence has too many possible assignments of names.
        """
        searches = [_Search(index, node) for node in self._alternatives]
        if len(searches) == 1:
            yield from searches[0].matches()
            return
        matches = {
            (node, tuple(names.items())): None
            for search in searches
            for node, names in search.matches()
        }
        for node, names in sorted(matches, key=lambda one: one[0]):
            yield node, dict(names)


@lru_cache(maxsize=256)
def pattern_of(text: str) -> Pattern:
    """The compiled pattern of a text, from a cache."""
    return Pattern(text)


def needed(node: NodePattern) -> list[frozenset[str]]:
    """Sets of labels; a tree with a match has at least one label of each."""
    labels, sets = node.labels, []
    is_listed = labels is not None and not (labels.regexes or labels.is_any or node.basic)
    if labels is not None and is_listed and not node.negated:
        sets.append(labels.names)
    waiting = [] if node.relation is None else [node.relation]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Relation):
            sets += needed(part.node)
        elif part.kind == "all":
            waiting += part.parts
    return sets


def _asks(node: NodePattern) -> bool:
    """Whether a node or any in its relations has a condition on entities."""
    waiting: list[NodePattern | Expression] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Group):
            waiting += part.parts
        elif isinstance(part, Relation):
            waiting.append(part.node)
        else:
            if any(isinstance(condition, About) for condition in part.conditions):
                return True
            waiting += [] if part.relation is None else [part.relation]
    return False


class _Search:
    """The matches of a pattern in one tree.

    First come candidates: all nodes of the tree that each node of the pattern may be, ignoring
    names, from the innermost nodes outwards. Without names, these are the matches. With names, a
    search over the candidates tries one assignment after the other.
    """

    def __init__(self, index: Index, root: NodePattern) -> None:
        self.index = index
        self.root = root
        self.steps = 0
        self._nodes: dict[int, list[int]] = {}
        self._families: dict[Relation, Family] = {}
        self._holding: dict[Expression, list[int]] = {}

    def matches(self) -> Iterator[tuple[int, Names]]:
        nodes = self.nodes(self.root)
        if self.root.is_plain:
            for node in nodes:
                yield node, {}
            return
        for node in nodes:
            seen = set()
            for names in self._solutions(self.root, node, {}):
                key = frozenset(names.items())
                if key not in seen:
                    seen.add(key)
                    yield node, names

    # Without names.

    def nodes(self, pattern: NodePattern) -> list[int]:
        """The candidates of a node of the pattern, in order."""
        nodes = self._nodes.get(pattern.number)
        if nodes is None:
            nodes = self._described(pattern)
            for condition in pattern.conditions:
                nodes = self.index.satisfying(nodes, condition)
            if pattern.relation is not None and nodes:
                nodes = self._keep(pattern.relation, nodes)
            self._nodes[pattern.number] = nodes
        return nodes

    def _described(self, pattern: NodePattern) -> list[int]:
        if pattern.labels is None:
            return list(range(len(self.index)))
        nodes = self.index.with_labels(pattern.labels, basic=pattern.basic)
        if not pattern.negated:
            return nodes
        without = set(nodes)
        return [node for node in range(len(self.index)) if node not in without]

    def _keep(self, part: Expression, some: list[int]) -> list[int]:
        """The nodes for which a part of the pattern may hold."""
        if isinstance(part, Relation):
            targets = self.nodes(part.node)
            return self._family(part).keep(self.index, some, targets) if targets else []
        if part.kind == "all":
            for one in part.parts:
                some = self._keep(one, some)
            return some
        if part.kind == "any":
            nodes = set().union(*(self._keep(one, some) for one in part.parts))
            return [node for node in some if node in nodes]
        if part.kind == "maybe" or not part.is_plain:
            return some
        without = set(self._keep(part.parts[0], some))
        return [node for node in some if node not in without]

    def _family(self, relation: Relation) -> Family:
        family = self._families.get(relation)
        if family is None:
            argument = relation.argument
            among = self.nodes(argument) if isinstance(argument, NodePattern) else argument
            family = self._families[relation] = family_of(relation.sign, among)
        return family

    # With names.

    def _solutions(self, pattern: NodePattern, node: int, names: Names) -> Iterator[Names]:
        """The assignments of names with which a node of the tree is one of the pattern."""
        self._spend(1)
        if pattern.labels is None and not self._agrees(pattern, node, names):
            return
        if pattern.name is not None:
            names = {**names, pattern.name: node}
        if pattern.relation is None:
            yield names
        else:
            yield from self._assigned(pattern.relation, node, names)

    def _spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise DataError(
                "the names of the pattern have too many possibilities in this sentence; a pattern "
                "with fewer names, or with closer relations, was expected"
            )

    def _agrees(self, pattern: NodePattern, node: int, names: Names) -> bool:
        """Whether a node is the one with an earlier name, or has its label."""
        other = names.get(pattern.same or pattern.alike or "")
        if other is None:  # the name is in an optional part that does not match
            return False
        labels = self.index.labels
        agrees = other == node if pattern.same else labels[other] == labels[node]
        return agrees is not pattern.negated

    def _assigned(self, part: Expression, node: int, names: Names) -> Iterator[Names]:
        """The assignments of names with which a part of the pattern holds for a node."""
        if part.is_plain:
            if self._holds(part, node):
                yield names
        elif isinstance(part, Relation):
            targets = self.nodes(part.node)
            partners = self._family(part).partners(self.index, node, targets)
            # Looking at a node takes far less time than trying one.
            self._spend(nodes_seen(part.sign, self.index, node) // 16)
            for partner in partners:
                yield from self._solutions(part.node, partner, names)
        elif part.kind == "all":
            yield from self._all(part.parts, node, names)
        elif part.kind == "any":
            for one in part.parts:
                yield from self._assigned(one, node, names)
        else:
            assignments = self._assigned(part.parts[0], node, names)
            first = next(assignments, None)
            if first is None:
                yield names
            elif part.kind == "maybe":
                yield first
                yield from assignments

    def _all(self, parts: tuple[Expression, ...], node: int, names: Names) -> Iterator[Names]:
        if not parts:
            yield names
            return
        for assigned in self._assigned(parts[0], node, names):
            yield from self._all(parts[1:], node, assigned)

    def _holds(self, part: Expression, node: int) -> bool:
        """Whether a part without names holds for a node."""
        holding = self._holding.get(part)
        if holding is None:
            holding = self._holding[part] = self._keep(part, list(range(len(self.index))))
        return is_among(node, holding)
