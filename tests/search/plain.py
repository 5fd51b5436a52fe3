"""The obvious matcher: every relation as its definition says, every node tried with every other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fencepost.search.syntax import About, Expression, NodePattern, Relation, read_pattern
from fencepost.structure import Leaf, Span, Tree
from fencepost.structure.heads import basic_category, head_child

Names = dict[str, "Plain"]


@dataclass(eq=False)
class Plain:
    """A node with its children."""

    label: str
    start: int
    end: int
    probability: float | None = None
    children: list[Plain] = field(default_factory=list)
    parent: Plain | None = None
    is_tag: bool = False

    def __iter__(self) -> Iterator[Plain]:
        yield self
        for child in self.children:
            yield from child

    @property
    def is_word(self) -> bool:
        return not self.children

    @property
    def sisters(self) -> list[Plain]:
        return [] if self.parent is None else self.parent.children

    @property
    def words(self) -> list[Plain]:
        return [node for node in self if node.is_word]

    @property
    def head(self) -> Plain | None:
        if self.is_word:
            return None
        return self.children[head_child(self.label, [child.label for child in self.children])]


def plain_of(tree: Tree | Leaf, parent: Plain | None = None) -> Plain:
    """The nodes of a tree."""
    if isinstance(tree, Leaf):
        word = Plain(tree.word, tree.start, tree.end, parent=parent)
        if not tree.tag:
            return word
        tag = Plain(tree.tag, tree.start, tree.end, None, [word], parent, is_tag=True)
        word.parent = tag
        return tag
    if not tree.spans:
        return plain_of(tree.leaves[0], parent)
    node = Plain(tree.label, tree.start, tree.end, tree.spans[0].probability, parent=parent)
    node.children = [plain_of(child, node) for child in tree.children]
    return node


def plain_matches(
    tree: Tree, text: str, entities: tuple[Span, ...] = ()
) -> list[tuple[int, dict[str, int]]]:
    """The matches of a pattern: numbers of nodes in pre-order, with those of names."""
    nodes = list(plain_of(tree))
    numbers = {id(node): number for number, node in enumerate(nodes)}
    found = []
    for number, node in enumerate(nodes):
        for alternative in read_pattern(text):
            for names in _solutions(alternative, node, {}, nodes, entities):
                match = number, {name: numbers[id(one)] for name, one in names.items()}
                if match not in found:
                    found.append(match)
    return found


def _solutions(
    pattern: NodePattern, node: Plain, names: Names, nodes: list[Plain], entities: tuple[Span, ...]
) -> Iterator[Names]:
    if pattern.labels is None:
        other = names.get(pattern.same or pattern.alike or "")
        if other is None:
            return
        agrees = other is node if pattern.same else other.label == node.label
        if agrees == pattern.negated:
            return
    elif not _is_like(pattern, node):
        return
    for condition in pattern.conditions:
        if isinstance(condition, About):
            if _has_entity(condition, node, entities) == condition.negated:
                return
        else:
            value = node.probability if condition.name == "p" else node.end - node.start
            if value is None or not condition.compare(value, condition.value):
                return
    if pattern.name is not None:
        names = {**names, pattern.name: node}
    if pattern.relation is None:
        yield names
    else:
        yield from _holding(pattern.relation, node, names, nodes, entities)


def _is_like(pattern: NodePattern, node: Plain) -> bool:
    assert pattern.labels is not None
    label = basic_category(node.label) if pattern.basic else node.label
    return pattern.labels.match(label) != pattern.negated


def _has_entity(condition: About, node: Plain, entities: tuple[Span, ...]) -> bool:
    some = [span for span in entities if condition.types.match(span.label or "")]
    if condition.place == "is":
        return any((span.start, span.end) == (node.start, node.end) for span in some)
    if condition.place == "has":
        return any(node.start <= span.start and span.end <= node.end for span in some)
    return any(span.start <= node.start and node.end <= span.end for span in some)


def _holding(
    part: Expression, node: Plain, names: Names, nodes: list[Plain], entities: tuple[Span, ...]
) -> Iterator[Names]:
    if isinstance(part, Relation):
        for other in nodes:
            if related(part.sign, part.argument, node, other):
                yield from _solutions(part.node, other, names, nodes, entities)
    elif part.kind == "all":
        found = [names]
        for one in part.parts:
            found = [new for old in found for new in _holding(one, node, old, nodes, entities)]
        yield from found
    elif part.kind == "any":
        for one in part.parts:
            yield from _holding(one, node, names, nodes, entities)
    else:
        some = list(_holding(part.parts[0], node, names, nodes, entities))
        if part.kind == "maybe":
            yield from some or [names]
        elif not some:
            yield names


def related(sign: str, argument: object, a: Plain, b: Plain) -> bool:
    """Whether A has a relation to B."""
    if sign[0] == ">":
        return related("<" + sign[1:].replace(">", "<"), argument, b, a)
    if isinstance(argument, NodePattern):
        return _chain(sign, argument, a, b)
    if isinstance(argument, int):
        among = a.words if sign == "<<<" else a.children
        if a.is_word:
            return False
        place = argument - 1 if argument > 0 else len(among) + argument
        return 0 <= place < len(among) and among[place] is b
    at = a.sisters.index(a) if b in a.sisters else -1
    other = a.sisters.index(b) if b in a.sisters else -1
    match sign:
        case "<":
            return b.parent is a
        case "<,":
            return b.parent is a and a.children[0] is b
        case "<-":
            return b.parent is a and a.children[-1] is b
        case "<:":
            return a.children == [b]
        case "<#":
            return a.head is b
        case "<<":
            return a is not b and b in a
        case "<<,":
            return a is not b and b in a and _steps("<,", a, b)
        case "<<-":
            return a is not b and b in a and _steps("<-", a, b)
        case "<<:":
            return a is not b and b in a and _steps("<:", a, b)
        case "<<#":
            return a is not b and b in a and _steps("<#", a, b)
        case "<<<":
            return a is not b and b in a and b.is_word
        case "$":
            return at >= 0 and a is not b
        case "$++" | "$..":
            return 0 <= at < other
        case "$--" | "$,,":
            return 0 <= other < at
        case "$+" | "$.":
            return at >= 0 and other == at + 1
        case "$-" | "$,":
            return other >= 0 and at == other + 1
        case "..":
            return a.end <= b.start
        case ".":
            return a.end == b.start
        case ",,":
            return b.end <= a.start
        case ",":
            return b.end == a.start
        case "==":
            return a is b
        case "<=":
            return a is b or b.parent is a
        case ":":
            return True
    raise AssertionError(sign)


def _steps(sign: str, a: Plain, b: Plain) -> bool:
    """Whether all steps from A down to B are of a sort."""
    while b is not a:
        assert b.parent is not None
        if not related(sign, None, b.parent, b):
            return False
        b = b.parent
    return True


def _chain(sign: str, between: NodePattern, a: Plain, b: Plain) -> bool:
    direct = sign[:-1]
    if related(direct, None, a, b):
        return True
    root = a
    while root.parent is not None:
        root = root.parent
    return any(
        related(direct, None, a, node)
        and _is_like(between, node)
        and _chain(sign, between, node, b)
        for node in root
    )
