"""Relations with names and chains, on one tree; properties of all relations are in test_pattern."""

import pytest

from fencepost.search import Pattern
from fencepost.search.index import Index
from fencepost.structure import Tree
from tests.search.plain import plain_matches

TREE = Tree.from_brackets(
    "(S (NP (NP (DT The) (NN cat)) (PP (IN of) (NP (NNP Oslo)))) "
    "(VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .))"
)


@pytest.mark.parametrize(
    "pattern",
    [
        "__ . __=b",
        "__ , __=b",
        "__ .+(__) NN=b",
        "__ .+(PP) __=b",
        "__ ,+(__) DT=b",
        "__ ,+(NP) __=b",
        "__ <+(NP|PP) __=b",
        "__ >+(NP|PP) __=b",
        "NN >+(NP) S=b",
        "NP=a .+(__) (NN=b !>> =a)",
        "S << NP=a << (NP=b !<< =a)",
        "__ [< DT | << NNP=b]",
    ],
)
def test_chains_give_the_names_that_the_obvious_matcher_gives(pattern: str) -> None:
    matches = [(node, dict(names)) for node, names in Pattern(pattern).matches(Index(TREE))]
    expected = [(node, dict(names)) for node, names in plain_matches(TREE, pattern, ())]
    key = lambda match: (match[0], sorted(match[1].items()))  # noqa: E731
    assert matches
    assert sorted(matches, key=key) == sorted(expected, key=key)
