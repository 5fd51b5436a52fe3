"""The same matches as nltk's tgrep, for the relations that both have."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk import ParentedTree
from nltk.tgrep import tgrep_positions

from fencepost.search import Pattern
from fencepost.search.index import Index
from fencepost.structure import Parse
from tests.search.strategies import small_parses

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of pyparsing

# nltk writes some relations otherwise, and of words it does not know the parents.
SIGNS = {
    **{sign: sign for sign in ("<", ">", "<,", ">,", "<-", ">-", "<:", ">:", "<<", ">>", "$")},
    **{sign: sign for sign in ("<<,", ">>,", "<<:", ">>:", ".", "..", ",", ",,", "$..", "$,,")},
    **{"$.": "$+", "$,": "$-", "<2": "<2", ">-2": ">-2", "<-1": "<-1"},
}
LABELS = ["S", "NP", "VP", "/^N/", "PP", "NN"]


@settings(max_examples=150)
@given(
    small_parses(),
    st.sampled_from(LABELS),
    st.sampled_from(["", "!"]),
    st.sampled_from(sorted(SIGNS)),
    st.sampled_from(LABELS),
)
def test_matches_are_those_of_nltk(parse: Parse, a: str, negated: str, sign: str, b: str) -> None:
    assert parse.tree is not None
    tree = ParentedTree.convert(parse.tree.to_nltk())
    (positions,) = tgrep_positions(f"{a} {negated}{sign} {b}", [tree])
    order = [position for position in tree.treepositions() if not isinstance(tree[position], str)]
    theirs = [order.index(tuple(one)) for one in positions if not isinstance(tree[one], str)]
    index = Index(parse.tree)
    phrases = [node for node, place in enumerate(index.places) if place != -2]
    ours = [
        phrases.index(node)
        for node, _ in Pattern(f"{a} {negated}{SIGNS[sign]} {b}").matches(index)
        if node in phrases
    ]
    assert ours == sorted(theirs)
