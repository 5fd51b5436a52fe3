"""What Hypothesis draws from: nested spans, sentences, trees, parses, walks."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

from fencepost.structure import Parse, Sentence, Span, Tree
from fencepost.structure.brackets import read_brackets
from fencepost.structure.span import by_place

# Letters with all that files trip over: joints, escapes, brackets' names, other scripts, marks.
NAME_CHARACTERS = "AbZ0+\\|-=#,.'\"$_/é語\u00a0\u2028"
LABELS = st.sampled_from(["S", "NP", "VP", "S+X", "A\\", "NP-SBJ", "-LRB-", "語", ","])
NAMES = st.text(NAME_CHARACTERS, min_size=1, max_size=5)
ANY_LABEL = NAMES | st.just("")
WORDS = st.text(NAME_CHARACTERS + "()", min_size=1, max_size=5).filter(
    # In brackets these stand for a round bracket.
    lambda word: "-LRB-" not in word and "-RRB-" not in word
)


@st.composite
def places(draw: st.DrawFn, n: int) -> list[tuple[int, int]]:
    """Places that nest, within `n` words: the whole, cut up again and again."""
    found: list[tuple[int, int]] = []
    stretches = [(0, n)] if n else []
    while stretches:
        start, end = stretches.pop()
        if draw(st.booleans()):
            found.append((start, end))
        if end - start > 1:
            cuts = draw(st.sets(st.integers(start + 1, end - 1), max_size=3))
            borders = [start, *sorted(cuts), end]
            if len(borders) > 2:
                stretches += pairwise(borders)
    return found


@st.composite
def nested_spans(draw: st.DrawFn, n: int, labels: st.SearchStrategy[str] = LABELS) -> list[Span]:
    """Labelled spans that nest, sometimes several over the same words."""
    return [
        Span(start, end, label)
        for start, end in draw(places(n))
        for label in draw(st.lists(labels, min_size=1, max_size=2))
    ]


@st.composite
def sentences(draw: st.DrawFn, words: st.SearchStrategy[str] = WORDS) -> Sentence:
    """A few words, perhaps with tags, an id, a text."""
    drawn = draw(st.lists(words, min_size=1, max_size=8))
    tags = draw(st.none() | st.lists(NAMES, min_size=len(drawn), max_size=len(drawn)))
    name = draw(st.none() | st.text(max_size=4))
    if draw(st.booleans()):
        return Sentence(tuple(drawn), None if tags is None else tuple(tags), id=name)
    spaces = draw(
        st.lists(st.sampled_from(["", " ", "\n "]), min_size=len(drawn), max_size=len(drawn))
    )
    return Sentence.from_whitespace(drawn, spaces, tags=tags, id=name)


@st.composite
def trees(draw: st.DrawFn, labels: st.SearchStrategy[str] = ANY_LABEL) -> Tree:
    """A tree over tagged words."""
    words = draw(st.lists(WORDS, min_size=1, max_size=8))
    tags = draw(st.lists(NAMES, min_size=len(words), max_size=len(words)))
    sentence = Sentence(tuple(words), tuple(tags))
    spans = draw(nested_spans(len(words), labels))
    if len(words) > 1 or draw(st.booleans()):
        spans.insert(0, Span(0, len(words), draw(labels)))
    return Tree(sentence, tuple(by_place(spans)))


@st.composite
def parses(draw: st.DrawFn, words: st.SearchStrategy[str] = WORDS) -> Parse:
    """A sentence with any of its layers."""
    sentence = draw(sentences(words))
    n = len(sentence)
    tree = None
    if draw(st.booleans()):
        root = Span(0, n, draw(NAMES))
        tree = Tree(sentence, tuple(by_place([root, *draw(nested_spans(n))])))
    entities = draw(st.none() | nested_spans(n, NAMES))
    return Parse(sentence, tree, None if entities is None else tuple(entities))


@st.composite
def bracketed_trees(draw: st.DrawFn) -> tuple[str, Tree]:
    """A tree with bare words among the tagged ones, and how it is written."""
    text = draw(st.sampled_from(["(S a (NP (NN b) c))", "(S (NP a b) (VP (VB c)))", "(X a b)"]))
    words, tags, spans = next(read_brackets(text))
    return text, Tree(Sentence(words, tags), spans)
