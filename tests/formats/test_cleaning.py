import json
from pathlib import Path

import pytest
from hypothesis import given

from fencepost.errors import DataError
from fencepost.formats import ReadSettings, read
from fencepost.formats.cleaning import (
    clean,
    drop_features,
    drop_functions,
    drop_traces,
    without_function,
)
from fencepost.structure import Sentence, Span, Tree
from tests.strategies import trees


def cleaned(text: str, **settings: bool) -> str:
    return str(clean(Tree.from_brackets(text), ReadSettings(**settings)))  # type: ignore[arg-type]


def test_traces_go_with_the_nodes_that_they_leave_empty() -> None:
    text = "(S (NP (NP (-NONE- *T*)) (NP (-NONE- *))) (VP (VB go) (NP (-NONE- 0))) (-NONE- *))"
    assert cleaned(text, drop_traces=True) == "(S (VP (VB go)))"


def test_a_tree_without_traces_stays_the_same() -> None:
    tree = Tree.from_brackets("(S (VP (VB go)))")
    assert drop_traces(tree) is tree


def test_a_tree_of_traces_only_is_refused() -> None:
    with pytest.raises(DataError, match="nothing is left") as raised:
        cleaned("(S (NP (-NONE- *)))", drop_traces=True)
    assert raised.value.kind == "empty"


@pytest.mark.parametrize(
    ("label", "without"),
    [
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("NP-LGS=2", "NP"),
        ("ADVP|PRT", "ADVP|PRT"),
        ("-LRB-", "-LRB-"),
        ("-NONE-", "-NONE-"),
        ("WHNP-1", "WHNP"),
        ("", ""),
        ("-", "-"),
        ("=", "="),
    ],
)
def test_functions_and_indices_are_cut_off(label: str, without: str) -> None:
    assert without_function(label) == without


def test_tags_keep_their_hyphens() -> None:
    assert cleaned("(IP-MAT (N-N x) (-LRB- y))", drop_functions=True) == "(IP (N-N x) (-LRB- y))"


def test_features_go_from_phrases_and_tags() -> None:
    text = "(ROOT (NP-SB##c=n|n=s## (NN##lem=haus|c=n## Haus) (X# y)))"
    assert cleaned(text, drop_features=True) == "(ROOT (NP-SB (NN Haus) (X# y)))"
    untagged = Tree(Sentence(("a",)), (Span(0, 1, "NP##x##"),))
    assert drop_features(untagged).spans == (Span(0, 1, "NP"),)


@given(trees())
def test_cleaning_twice_changes_nothing_more(tree: Tree) -> None:
    for cleaning in (drop_functions, drop_features):
        once = cleaning(tree)
        assert cleaning(once) == once
        assert once.words == tree.words


@given(trees())
def test_without_settings_nothing_changes(tree: Tree) -> None:
    assert clean(tree, ReadSettings()) is tree


def test_a_tree_with_entities_is_cleaned_like_one_without(tmp_path: Path) -> None:
    line = {
        "words": ["Ann", "wants", "*", "to", "go"],
        "tree": "(S (NP-SBJ-1 (NNP Ann)) (VP (VBZ wants) (S (NP-SBJ (-NONE- *)) (VP (TO to) "
        "(VP (VB go))))))",
        "entities": [[0, 1, "person"], [2, 3, "person"], [3, 5, "event"]],
        "text": "Ann wants *to go",
        "offsets": [[0, 3], [4, 9], [10, 11], [11, 13], [14, 16]],
    }
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(line) + '\n{"words": ["Go"], "entities": []}\n')
    found, bare = read(path, drop_traces=True, drop_functions=True)
    assert str(found.tree) == "(S (NP (NNP Ann)) (VP (VBZ wants) (S (VP (TO to) (VP (VB go))))))"
    assert found.entities == (Span(0, 1, "person"), Span(2, 4, "event"))
    assert found.sentence.offsets == ((0, 3), (4, 9), (11, 13), (14, 16))
    assert bare.tree is None
    kept, _ = read(path, drop_functions=True, drop_features=True)
    assert len(kept.words) == 5
    assert kept.sentence.text == "Ann wants *to go"
