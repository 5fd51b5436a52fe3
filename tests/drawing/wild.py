"""Words, labels and parses that pictures have to survive, and how to read a picture again."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import strategies as st

from fencepost.structure import Entity, FoundSpan, Parse, Sentence, Span, Tree
from fencepost.structure.span import by_place
from tests.strategies import nested_spans

SVG = "{http://www.w3.org/2000/svg}"

# Mark-up, control characters, half of a pair, blanks, marks that steer direction, wide and joined.
ODD = [
    *("&", "<b>", '"', "'", "]]>", "\x00", "\x1b[31m", "\x9b", "\ud800", "\ufffe", "a\nb", "\t"),
    *("\u202e", "\u2066", "\u200f", "\u2028", "\u00a0", "e\u0301", "猫", "שלום", "العربية", "ﷺ"),
    *("👨\u200d👩\u200d👧", "🇳🇴", "❤\ufe0f", "👍🏽", "1\ufe0f\u20e3", "x" * 60, "-", "(", "ǆ"),
]
WORDS = st.sampled_from(ODD) | st.text(min_size=1, max_size=6) | st.sampled_from(["cat", "sat"])
LABELS = st.sampled_from(["S", "NP", "NP-SBJ", "", " ", "a b"]) | WORDS
PROBABILITIES = st.sampled_from([None, 0.0, 0.25, 0.97])


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    """Any words, perhaps with tags that may be empty, perhaps with a text."""
    words = draw(st.lists(WORDS, min_size=1, max_size=6))
    count = len(words)
    tags = draw(st.none() | st.lists(LABELS, min_size=count, max_size=count))
    if draw(st.booleans()):
        return Sentence(tuple(words), None if tags is None else tuple(tags))
    spaces = draw(st.lists(st.sampled_from(["", " ", "\n"]), min_size=count, max_size=count))
    return Sentence.from_whitespace(words, spaces, tags=tags)


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """A tree over any words or over a part of them, found by a parser or not."""
    sentence = draw(sentences())
    start = draw(st.integers(0, len(sentence) - 1))
    end = draw(st.integers(start + 1, len(sentence)))
    found = [
        FoundSpan(a + start, b + start, label, sentence, draw(PROBABILITIES))
        for a, b, label in draw(nested_spans(end - start, LABELS))
    ]
    if len(sentence) > 1 or draw(st.booleans()):
        found.insert(0, FoundSpan(start, end, draw(LABELS), sentence, draw(PROBABILITIES)))
    return Tree(sentence, tuple(by_place(found)))


@st.composite
def parses(draw: st.DrawFn) -> Parse:
    """Any words with any entities, some of them left out since they cross."""
    sentence = draw(sentences())
    n = len(sentence)
    found = [Entity(*span, sentence, draw(PROBABILITIES)) for span in draw(nested_spans(n, LABELS))]
    dropped = draw(st.sampled_from([(), (Span(0, 1, "X"), Span(0, n, "<"))]))
    tree = None
    if draw(st.booleans()):
        root = FoundSpan(0, n, draw(LABELS), sentence, draw(PROBABILITIES))
        tree = Tree(sentence, tuple(by_place([root, *draw(nested_spans(n, LABELS))])))
    return Parse(sentence, tree, draw(st.sampled_from([None, tuple(found)])), dropped)


def deep(levels: int) -> Tree:
    """A tree that branches to the right at every level."""
    return Tree.from_brackets("(S (A x) " * levels + "(NN end)" + ")" * levels)


def groups(picture: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    """The groups of a class, in order."""
    return [group for group in picture.iter(f"{SVG}g") if group.get("class") == name]


def texts(group: ElementTree.Element) -> list[ElementTree.Element]:
    """The texts that a group shows."""
    return list(group.iter(f"{SVG}text"))
