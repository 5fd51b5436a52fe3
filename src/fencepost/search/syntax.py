"""The syntax trees of patterns, and their parser; errors point to the place with a caret."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from fencepost.errors import PatternError
from fencepost.search.regexes import Regex, RegexError

MOST_LETTERS = 2_000  # of a pattern
MOST_NODES = 100  # in a pattern
MOST_DEPTH = 30  # nested brackets
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Labels:
    """A set of labels or entity types: names and expressions, or any."""

    names: frozenset[str] = frozenset()
    regexes: tuple[Regex, ...] = ()
    is_any: bool = False

    def match(self, label: str) -> bool:
        """Whether a label is in the set."""
        return self.is_any or label in self.names or any(one.search(label) for one in self.regexes)


@dataclass(frozen=True, slots=True)
class Number:
    """A condition on a number of a node: its probability or its number of words."""

    name: Literal["p", "words"]
    compare: Callable[[float, float], bool]
    value: float


@dataclass(frozen=True, slots=True)
class About:
    """A condition on the entities at a node."""

    place: Literal["is", "has", "in"]
    types: Labels
    negated: bool = False


@dataclass(eq=False, slots=True)
class NodePattern:
    """A node of a pattern: its label, conditions and name, and its relations to others."""

    number: int
    labels: Labels | None = None  # None: a node with an earlier name, or with its label
    negated: bool = False
    basic: bool = False  # whether NP-SBJ counts as NP
    conditions: tuple[Number | About, ...] = ()
    name: str | None = None
    same: str | None = None  # the name of the same node
    alike: str | None = None  # the name of a node with the same label
    relation: Expression | None = None
    is_plain: bool = True  # without names, also in its relations


@dataclass(eq=False, slots=True)
class Relation:
    """A relation to another node."""

    sign: str
    node: NodePattern
    argument: int | NodePattern | None = None  # a number, or the pattern of the nodes of a chain
    is_plain: bool = True


@dataclass(eq=False, slots=True)
class Group:
    """Relations of a node combined: all, any, not (of the first), or optional (maybe)."""

    kind: Literal["all", "any", "not", "maybe"]
    parts: tuple[Expression, ...]
    is_plain: bool = True


Expression = Relation | Group

_SIGNS = """
    <... <<< <<, <<- <<` <<: <<# << <+ <, <- <` <: <# <= <
    >>, >>- >>` >>: >># >> >+ >, >- >` >: ># >
    $++ $-- $.. $,, $+ $- $. $, $ .+ .. . ,+ ,, , == :
""".split()  # noqa: SIM905
_NUMBERED = ("<", ">", "<-", ">-", "<<<")
CHAINS = ("<+", ">+", ".+", ",+")
_ENDS = r"\s(/@!#%&)=?\[\]><~.,$:{};|\""
_TOKEN = re.compile(
    rf"""
      (?P<relation>{"|".join(map(re.escape, _SIGNS))})
    | (?P<any>__(?![^{_ENDS}]))
    | /(?P<regex>(?:\\.|[^/\\\n])*)/
    | "(?P<quoted>(?:\\.|[^"\\\n])*)"
    | (?P<name>(?![0-9_])[^{_ENDS}][^{_ENDS}]*)
    | (?P<sign>[()\[\]{{}};&|!?@~=])
    """,
    re.VERBOSE | re.DOTALL,
)
_BLANKS = re.compile(r"\s*")
_INTEGER = re.compile(r"-?[0-9]{1,6}(?![0-9])")
_NUMBER = re.compile(r"[0-9]*\.?[0-9]+(?:[eE]-?[0-9]{1,2})?")
_NAME = re.compile(r"[^\W\d]\w*")
_CONDITION = re.compile(r"(p|words)\s*(<=|>=|==|=|!=|<|>)\s*")
_ABOUT = re.compile(r"(!?)\s*(is|has|in)(?![\w-])")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}
_A_NODE = 'a label, "a word", /an expression/, __, =name or ( was expected'
_A_RELATION = "a relation such as < or $+ was expected"


def read_pattern(text: str) -> tuple[NodePattern, ...]:
    """Read a pattern and return its alternatives.

    Raises:
        PatternError: the pattern cannot be read; the message points to the place.
    """
    if not isinstance(text, str):
        raise TypeError(f"a pattern is a text, not {text!r:.100}")
    if len(text) > MOST_LETTERS:
        raise PatternError(
            f"a pattern of at most {MOST_LETTERS:,} characters was expected, not {len(text):,}",
            text,
            MOST_LETTERS,
        )
    return _Reader(text).read()


@dataclass(slots=True)
class _Reader:
    text: str
    place: int = 0
    depth: int = 0
    count: int = 0
    names: frozenset[str] = frozenset()  # that can be referred to
    under_negation: bool = False  # where no node can be given a name

    def read(self) -> tuple[NodePattern, ...]:
        alternatives = []
        while True:
            self.names = frozenset()
            alternatives.append(self._node())
            if self._peek() != "|":
                break
            self._take("|")
        if self.place < len(self.text):
            raise self._error(f"{_A_RELATION} here, or the end")
        return tuple(alternatives)

    # The text, token by token.

    def _error(self, expected: str, place: int | None = None) -> PatternError:
        at = self.place if place is None else place
        actual = repr(self.text[at]) if at < len(self.text) else "the end"
        return PatternError(f"{expected}, not {actual}", self.text, at)

    def _skip(self) -> None:
        blanks = _BLANKS.match(self.text, self.place)
        assert blanks is not None
        self.place = blanks.end()

    def _token(self) -> re.Match[str] | None:
        self._skip()
        return _TOKEN.match(self.text, self.place)

    def _peek(self) -> str:
        """The next sign or relation; empty for anything else."""
        token = self._token()
        return "" if token is None else token["sign"] or token["relation"] or ""

    def _take(self, sign: str, expected: str = "") -> None:
        if self._peek() != sign:
            raise self._error(expected or f"{sign} was expected")
        self.place += len(sign)

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise PatternError(
                f"at most {MOST_DEPTH} brackets in brackets were expected", self.text, self.place
            )

    # Nodes.

    def _node(self) -> NodePattern:
        """A node with its relations."""
        node = self._related()
        if self._starts_relation():
            relation = self._any_of()
            parts = (relation,) if node.relation is None else (node.relation, relation)
            node.relation = _group("all", parts)
            node.is_plain = node.is_plain and node.relation.is_plain
        return node

    def _in_brackets(self, inside: Callable[[], T]) -> T:
        """What stands in the brackets that begin here."""
        opened, sign = self.place, self._peek()
        closing = "]" if sign == "[" else ")"
        self._take(sign)
        self._deeper()
        found = inside()
        self.depth -= 1
        if self._peek() != closing and self.place >= len(self.text):
            raise PatternError(f"this {sign} is never closed", self.text, opened)
        self._take(closing, f"{_A_RELATION}, or {closing}")
        return found

    def _related(self) -> NodePattern:
        """The node of a relation: in brackets with relations of its own, or without."""
        return self._in_brackets(self._node) if self._peek() == "(" else self._described()

    def _described(self, *, bare: bool = False) -> NodePattern:
        """A node's label, conditions and name.

        Args:
            bare: whether only a label is allowed.
        """
        self.count += 1
        if self.count > MOST_NODES:
            raise PatternError(f"at most {MOST_NODES} nodes were expected", self.text, self.place)
        node = NodePattern(self.count)
        while self._peek() == "!":
            self._take("!")
            node.negated = not node.negated
        if self._peek() == "@":
            self._take("@")
            node.basic = True
        sign = self._peek()
        if sign in ("=", "~") and not (bare or node.basic):
            self._reference(node, sign)
        else:
            node.labels = self._labels(_A_NODE)
            if not bare:
                node.conditions = self._conditions()
        if not bare and self._peek() == "=" and node.same is None:
            self._take("=")
            node.name = self._new_name()
        node.is_plain = node.name is node.same is node.alike is None
        return node

    def _labels(self, expected: str) -> Labels:
        names: list[str] = []
        regexes: list[Regex] = []
        is_any = False
        while True:
            token = self._token()
            if token is None or token["relation"] or token["sign"]:
                raise self._error(expected)
            if token["regex"] is not None:
                regexes.append(self._regex(token["regex"]))
            elif token["any"]:
                is_any = True
            elif token["quoted"] is not None:
                names.append(re.sub(r"\\(.)", r"\1", token["quoted"], flags=re.DOTALL))
            else:
                names.append(token["name"])
            self.place = token.end()
            # NP|VP is a list of labels; `NP | ` may be followed by a relation or a pattern.
            if self.text[self.place : self.place + 1] != "|":
                break
            behind = _TOKEN.match(self.text, self.place + 1)
            if behind is None or behind["relation"] or behind["sign"]:
                break
            self.place += 1
        return Labels(frozenset(names), tuple(regexes), is_any)

    def _regex(self, source: str) -> Regex:
        try:
            return Regex(source)
        except RegexError as error:
            # An escaped slash stays escaped in the expression, so places are the same.
            place = self.place + 1 + error.place
            raise PatternError(error.message, self.text, place) from None

    def _read_name(self) -> str:
        self._skip()
        name = _NAME.match(self.text, self.place)
        if name is None:
            raise self._error("a name of letters was expected")
        return name.group()

    def _new_name(self) -> str:
        name = self._read_name()
        if self.under_negation:
            raise PatternError("below ! no node can be given a name", self.text, self.place)
        if name in self.names:
            raise PatternError(
                f"another name was expected: {name} is given already", self.text, self.place
            )
        self.place += len(name)
        self.names |= {name}
        return name

    def _reference(self, node: NodePattern, sign: str) -> None:
        self._take(sign)
        name = self._read_name()
        if name not in self.names:
            known = ", ".join(sorted(self.names)) or "none"
            raise PatternError(
                f"a name that was given before was expected ({known}), not {name}",
                self.text,
                self.place,
            )
        self.place += len(name)
        if sign == "=":
            node.same = name
        else:
            node.alike = name

    # Conditions in braces.

    def _conditions(self) -> tuple[Number | About, ...]:
        if self._peek() != "{":
            return ()
        conditions: list[Number | About] = []
        while self._peek() == ("," if conditions else "{"):
            self.place += 1
            self._skip()
            conditions.append(self._condition())
        self._take("}", ", or } was expected")
        return tuple(conditions)

    def _condition(self) -> Number | About:
        number = _CONDITION.match(self.text, self.place)
        if number is not None:
            self.place = number.end()
            value = _NUMBER.match(self.text, self.place)
            if value is None:
                raise self._error("a number was expected")
            self.place = value.end()
            name: Literal["p", "words"] = "p" if number[1] == "p" else "words"
            return Number(name, _COMPARE[number[2]], float(value.group()))
        about = _ABOUT.match(self.text, self.place)
        if about is None:
            raise self._error("p<0.5, words>3, is TYPE, has TYPE or in TYPE was expected")
        self.place = about.end()
        types = self._labels('the type of an entity, "a type", /an expression/ or __ was expected')
        place: Literal["is", "has", "in"] = about[2]  # type: ignore[assignment]
        return About(place, types, bool(about[1]))

    # Relations.

    def _starts_relation(self) -> bool:
        """Whether a relation is next, perhaps in brackets, negated or optional."""
        place = self.place
        while (sign := self._peek()) and sign in "!?([&":
            self.place += len(sign)
            if sign in "?[&":  # only relations begin like this
                self.place = place
                return True
        token = self._token()
        self.place = place
        return token is not None and token["relation"] is not None

    def _any_of(self) -> Expression:
        names, known = self.names, self.names
        parts = [self._all_of()]
        known |= self.names
        while self._peek() == "|" and self._relation_behind():
            self._take("|")
            self.names = names
            parts.append(self._all_of())
            known |= self.names
        self.names = known
        return _group("any", tuple(parts))

    def _relation_behind(self) -> bool:
        place = self.place
        self._take("|")
        is_relation = self._starts_relation()
        self.place = place
        return is_relation

    def _all_of(self) -> Expression:
        parts = [self._modified()]
        while self._peek() == "&" or self._starts_relation():
            if self._peek() == "&":
                self._take("&")
            parts.append(self._modified())
        return _group("all", tuple(parts))

    def _modified(self) -> Expression:
        sign = self._peek()
        if sign == "!":
            self._deeper()
            self._take("!")
            before, self.under_negation = self.under_negation, True
            part = self._modified()
            self.under_negation = before
            self.depth -= 1
            return Group("not", (part,), part.is_plain)
        if sign == "?":
            self._take("?")
            part = self._one()
            return Group("maybe", (part,), part.is_plain)
        return self._one()

    def _one(self) -> Expression:
        return self._in_brackets(self._any_of) if self._peek() in ("[", "(") else self._relation()

    def _relation(self) -> Expression:
        token = self._token()
        if token is None or not token["relation"]:
            raise self._error(_A_RELATION)
        sign = token["relation"]
        self.place = token.end()
        if sign == "<...":
            return self._children()
        argument: int | NodePattern | None = None
        if sign in CHAINS:
            argument = self._chain()
        else:
            self._skip()
            number = _INTEGER.match(self.text, self.place)
            if number is not None:
                argument = int(number.group())
                if sign not in _NUMBERED or argument == 0 or (sign[-1:] == "-" and argument < 0):
                    raise self._error(
                        "a node was expected" if sign not in _NUMBERED else "1 or more"
                    )
                self.place = number.end()
                if sign[-1:] == "-":
                    sign, argument = sign[:-1], -argument
        node = self._related()
        return Relation(sign.replace("`", "-"), node, argument, node.is_plain)

    def _chain(self) -> NodePattern:
        """The pattern of the nodes of a chain, in brackets or an expression alone."""
        opening = self._peek()
        if opening in ("(", "["):
            self._take(opening)
            node = self._described(bare=True)
            self._take(")" if opening == "(" else "]")
            return node
        token = self._token()
        if token is None or (token["regex"] is None and token["sign"] != "!"):
            raise self._error("( with what the nodes between are like was expected")
        return self._described(bare=True)

    def _children(self) -> Expression:
        """A list of all children: one relation to each of them, and none to any other."""
        self._deeper()
        self._take("{")
        parts: list[Expression] = []
        while self._peek() != "}":
            if parts:
                self._take(";", "; or } was expected")
            node = self._related()
            parts.append(Relation("<", node, len(parts) + 1, node.is_plain))
        self._take("}")
        self.depth -= 1
        self.count += 1
        other = NodePattern(self.count, Labels(is_any=True))
        parts.append(Group("not", (Relation("<", other, len(parts) + 1),)))
        return _group("all", tuple(parts))


def _group(kind: Literal["all", "any"], parts: tuple[Expression, ...]) -> Expression:
    return parts[0] if len(parts) == 1 else Group(kind, parts, all(one.is_plain for one in parts))
