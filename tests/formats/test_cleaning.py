import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.formats import ReadSettings, read, write
from fencepost.formats.cleaning import (
    clean,
    drop_features,
    drop_functions,
    drop_traces,
    relabel,
    rename,
    splice,
    without_function,
)
from fencepost.formats.settings import Relabel
from fencepost.structure import Parse, Sentence, Span, Tree
from tests.strategies import trees


def cleaned(text: str, **settings: Any) -> str:
    return str(clean(Tree.from_brackets(text), ReadSettings(**settings)))


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


FEW = st.sampled_from(["S", "NP", "VP", "NML", "ROOT"])


def test_phrases_are_renamed_once_and_without_their_functions() -> None:
    text = "(S (HEADING-TTL (NN Oats)) (NP (NN rice)))"
    names = {"HEADING": "NP", "NP": "NX"}
    assert cleaned(text, drop_functions=True, rename=names) == "(S (NP (NN Oats)) (NX (NN rice)))"
    assert cleaned(text, rename=names) == "(S (HEADING-TTL (NN Oats)) (NX (NN rice)))"


def test_tags_are_renamed_with_a_tree_and_without(tmp_path: Path) -> None:
    assert cleaned("(S (NP (NN a)) (NN b))", rename_tags={"NN": "N", "NP": "x"}) == (
        "(S (NP (N a)) (N b))"
    )
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"words": ["Go"], "tags": ["VB"], "entities": [[0, 1, "X"]]}\n{"words": ["on"]}\n'
    )
    tagged, bare = read(path, rename_tags={"VB": "V"})
    assert (tagged.tags, tagged.entities) == (("V",), (Span(0, 1, "X"),))
    assert bare.tags is None


def test_a_phrase_of_one_word_is_relabelled_by_its_tag() -> None:
    rules = (Relabel("NP", ("WP", "WDT"), "WHNP"), Relabel("NP", ("WP",), "never"))
    text = "(S (NP (NP (WP who))) (NP (WP who) (NN else)) (ADJP (WP who)) (NP (NN tea)) (WP who))"
    assert cleaned(text, relabel=rules) == (
        "(S (WHNP (WHNP (WP who))) (NP (WP who) (NN else)) (ADJP (WP who)) (NP (NN tea)) (WP who))"
    )
    untagged = Tree(Sentence(("a",)), (Span(0, 1, "NP"),))
    assert clean(untagged, ReadSettings(relabel=rules)) == untagged


def test_relabelling_sees_new_names_and_splicing_what_was_relabelled() -> None:
    text = "(S (HEADING (PP$ my)) (NN tea))"
    assert (
        cleaned(
            text,
            rename={"HEADING": "NP"},
            rename_tags={"PP$": "PRP$"},
            relabel=[("NP", ("PRP$",), "OUT")],
            splice=["OUT"],
        )
        == "(S (PRP$ my) (NN tea))"
    )


@pytest.mark.parametrize(
    ("text", "spliced"),
    [
        ("(NP (NML (NN a) (NML (NN b) (NN c))) (NN d))", "(NP (NN a) (NN b) (NN c) (NN d))"),
        ("(NML (NML (NN a)) (NN b))", "(NML (NN a) (NN b))"),
        ("(NML (NP (NN a) (NN b)))", "(NP (NN a) (NN b))"),
        ("(ROOT (NML (NN a) (NN b)))", "(ROOT (NN a) (NN b))"),
        ("(NML (NN a))", "(NML (NN a))"),
        ("(NN a)", "(NN a)"),
    ],
)
def test_spliced_phrases_leave_their_children(text: str, spliced: str) -> None:
    assert cleaned(text, splice=("NML",)) == spliced


@given(trees(FEW), st.frozensets(FEW))
def test_splicing_takes_out_nothing_else_and_keeps_a_tree(tree: Tree, labels: set[str]) -> None:
    once = clean(tree, ReadSettings(splice=tuple(labels)))  # a Tree refuses spans that do not nest
    assert once.sentence == tree.sentence
    assert (once.start, once.end) == (tree.start, tree.end)
    assert not any(span.label in labels for span in once.spans[1:])
    others = [span for span in tree.spans if span.label not in labels]
    assert [span for span in once.spans if span.label not in labels] == others
    assert splice(once.spans, labels) == once.spans


@given(trees(FEW), st.dictionaries(FEW, FEW), st.lists(st.tuples(FEW, FEW), max_size=3))
def test_new_labels_change_no_place_and_no_word(
    tree: Tree, names: dict[str, str], rules: list[tuple[str, str]]
) -> None:
    chosen = tuple(Relabel(label, tree.tags[:1], to) for label, to in rules)
    found = clean(tree, ReadSettings(rename=names, relabel=chosen))
    assert found.sentence == tree.sentence
    assert [span[:2] for span in found.spans] == [span[:2] for span in tree.spans]
    renamed = rename(tree.spans, names)
    assert [span.label for span in renamed] == [
        names.get(span.label or "", span.label) for span in tree.spans
    ]
    changed = [new for new, old in zip(found.spans, renamed, strict=True) if new != old]
    assert all(tree.tags[span.start] == tree.tags[0] for span in changed)
    assert all(span.end - span.start == 1 for span in changed)
    assert relabel(renamed, tree.tags, ()) == renamed


def test_every_format_is_cleaned(tmp_path: Path) -> None:
    tree = Tree.from_brackets("(S (NP-SBJ (NNP Ann)) (NML (VBD slept)))")
    for name in ("a.ptb", "a.jsonl", "a.spacy"):
        write([Parse(tree.sentence, tree, ())], tmp_path / name)
        settings: dict[str, Any] = {
            "drop_functions": True,
            "splice": ["NML"],
            "rename_tags": {"NNP": "N"},
        }
        (found,) = read(tmp_path / name, **settings)
        assert found.tags == ("N", "VBD"), name
        if found.tree is not None:  # spaCy's files have none
            assert str(found.tree) == "(S (NP (N Ann)) (VBD slept))", name
