"""Trees of few labels, and patterns over them."""

from __future__ import annotations

from hypothesis import strategies as st

from fencepost.search.syntax import CHAINS
from fencepost.structure import FoundSpan, Parse, Sentence, Span, Tree
from fencepost.structure.span import by_place
from tests.strategies import nested_spans

LABELS = ["S", "NP", "NP-SBJ", "VP", "PP"]
TAGS = ["NN", "NNP", "VB", "IN", ","]
WORDS = ["a", "b", "NP", "x1"]
TYPES = ["person", "place"]
_DESCRIPTIONS = [
    *("S", "NP", "VP", "NN", "IN", "a", "b", "__", "__", "NP|VP", "@NP", "!NP", "/^N/", '"x1"'),
    *("@VP|NP", "/P$/|S", "!@NP", '/[,b]/|"NN"', "NP{words>1}", "__{is person}", "NP{has place}"),
    *("__{in __}", "!VP{!has person}", "__{p<0.5}", "NP{p>=0.5, words<=2}", "PP"),
]
_BETWEEN = ["NP", "!NP", "/^N/", "__", "@NP|VP"]
SIGNS = """
    < > <, >, <- >- <` >` <: >: <# ># << >> <<, >>, <<- >>- <<: >>: <<# >># <<< <2 <-1 >1 >-2
    <<<1 <<<-2 $ $++ $-- $.. $,, $+ $- $. $, .. . ,, , == <= :
""".split()  # noqa: SIM905


@st.composite
def small_parses(draw: st.DrawFn) -> Parse:
    """A sentence with a tree and entities, both with probabilities."""
    count = draw(st.integers(1, 6))
    words = draw(st.lists(st.sampled_from(WORDS), min_size=count, max_size=count))
    tags = draw(st.lists(st.sampled_from([*TAGS, ""]), min_size=count, max_size=count))
    sentence = Sentence(tuple(words), tuple(tags))
    places = draw(nested_spans(count, st.sampled_from(LABELS)))
    places.insert(0, Span(0, count, "S"))
    spans = tuple(
        FoundSpan(*span, sentence, draw(st.sampled_from([0.25, 0.5, 1.0])))
        for span in by_place(places)
    )
    entities = tuple(draw(nested_spans(count, st.sampled_from(TYPES))))
    return Parse(sentence, Tree(sentence, spans), entities)


@st.composite
def patterns(draw: st.DrawFn, depth: int = 2) -> str:
    """A pattern that can be read, perhaps with names and references to them."""
    writer = _Writer(draw)
    pattern = writer.node(depth, named=draw(st.booleans()))
    if draw(st.integers(0, 9)) == 0:
        pattern += " | " + draw(st.sampled_from(_DESCRIPTIONS))
    return pattern


class _Writer:
    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.names: list[str] = []  # that may be referred to
        self.count = 0

    def node(self, depth: int, *, named: bool, first: bool = True) -> str:
        chance = self.draw(st.integers(0, 9))
        if not first and self.names and chance < 2:
            sign = self.draw(st.sampled_from(["=", "~", "!="]))
            text = sign + self.draw(st.sampled_from(self.names))
        else:
            text = self.draw(st.sampled_from(_DESCRIPTIONS))
            if named and chance < 6 and self.count < 3:
                self.names.append("xyz"[self.count])
                self.count += 1
                text += f"={self.names[-1]}"
        for _ in range(self.draw(st.integers(0, 2)) if depth else 0):
            text += " " + self.relations(depth, named=named)
        return text if first else f"({text})"

    def relations(self, depth: int, *, named: bool) -> str:
        kind = self.draw(st.sampled_from(["plain"] * 6 + ["!", "?", "|", "[]", "!["]))
        if kind == "!":
            return "!" + self.relation(depth, named=False)
        if kind == "?":
            return "?" + self.relation(depth, named=named)
        if kind == "plain":
            return self.relation(depth, named=named)
        before = list(self.names)
        one = self.relation(depth, named=named and kind != "![")
        known, self.names = self.names, before
        sign = self.draw(st.sampled_from(["&", "|"]))
        if sign == "&":
            self.names = known
        other = self.relation(depth, named=False)
        self.names = before  # what only one side names can be missing
        return f"{'!' if kind == '![' else ''}[{one} {sign} {other}]"

    def relation(self, depth: int, *, named: bool) -> str:
        if self.draw(st.integers(0, 9)) == 0:
            sign = f"{self.draw(st.sampled_from(CHAINS))}({self.draw(st.sampled_from(_BETWEEN))})"
        elif self.draw(st.integers(0, 19)) == 0:
            one, other = (self.node(0, named=False, first=False) for _ in range(2))
            return f"<... {{ {one} ; {other} }}"
        else:
            sign = self.draw(st.sampled_from(SIGNS))
        return f"{sign} {self.node(depth - 1, named=named, first=False)}"
