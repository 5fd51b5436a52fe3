import subprocess
import sys

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.drawing.svg import tree_svg
from fencepost.drawing.terminal import pretty
from fencepost.errors import DataError
from fencepost.structure import Document, Leaf, Parse, Sentence, Span, Tree
from tests.strategies import trees

CAT = "(S (NP (DT The) (NN cat)) (VP (VBD sat) (ADVP (RB down))) (. .))"


def deep(levels: int) -> str:
    return "(S (A x) " * levels + "(NN end)" + ")" * levels


def test_a_tree_knows_its_label_its_boundaries_and_its_words() -> None:
    tree = Tree.from_brackets(CAT)
    verb = tree.children[1]
    assert isinstance(verb, Tree)
    assert (verb.label, verb.start, verb.end, len(verb)) == ("VP", 2, 4, 2)
    assert verb.words == ("sat", "down")
    assert verb.tags == ("VBD", "RB")
    assert verb.leaves == (Leaf(2, "sat", "VBD"), Leaf(3, "down", "RB"))
    assert verb.leaves[0].end == 3
    assert str(verb) == "(VP (VBD sat) (ADVP (RB down)))"


def test_children_are_trees_and_words() -> None:
    tree = Tree.from_brackets("(S (A a) (NP (B b)) (C c) (VP (D d) (XP (E e))) (F f))")
    assert [child.label if isinstance(child, Tree) else child.word for child in tree.children] == [
        *("a", "NP", "c", "VP", "f")
    ]


@given(trees())
def test_children_cover_their_parent_without_gaps(tree: Tree) -> None:
    for node in tree:
        boundary = node.start
        for child in node.children:
            assert child.start == boundary
            boundary = child.end
        assert boundary == node.end


@given(trees())
def test_iteration_gives_every_span_from_the_root_down(tree: Tree) -> None:
    nodes = list(tree)
    assert tuple(node.spans[0] for node in nodes) == tree.spans
    if nodes:
        assert nodes[0] == tree


@given(trees())
def test_nltk_trees_go_and_come_back(tree: Tree) -> None:
    assert Tree.from_nltk(tree.to_nltk()) == tree


def test_nltk_reads_what_we_write() -> None:
    assert Tree.from_brackets(CAT).to_nltk() == nltk.Tree.fromstring(CAT)
    bare = "(S a (NP (NN b) c))"
    assert Tree.from_nltk(nltk.Tree.fromstring(bare)) == Tree.from_brackets(bare)
    assert Tree.from_brackets(bare).to_nltk() == nltk.Tree.fromstring(bare)


@given(trees())
def test_equal_trees_have_equal_hashes(tree: Tree) -> None:
    again = Tree.from_brackets(str(tree))
    assert again == tree
    assert hash(again) == hash(tree)
    assert len({again, tree}) == 1


def test_a_tree_can_be_a_word_and_its_tag() -> None:
    tree = Tree.from_brackets("(NN Hello)")
    assert (tree.label, tree.start, tree.end, tree.spans) == ("NN", 0, 1, ())
    assert tree.children == (Leaf(0, "Hello", "NN"),)
    assert str(tree) == "(NN Hello)"


def test_a_tree_without_tags_has_stand_ins_on_its_leaves() -> None:
    tree = Tree(Sentence(("a", "b")), (Span(0, 2, "S"),))
    assert tree.tags == ("XX", "XX")
    assert str(tree) == "(S (XX a) (XX b))"


@pytest.mark.parametrize(
    ("words", "tags", "label", "shown"),
    [
        (("New York", "is"), ("NNP", "VBZ"), "S", "(S (NNP New_York) (VBZ is))"),
        ((" ", "a \n b"), ("A", "B"), "S", "(S (A _) (B a___b))"),
        (("(a b)", "c"), None, "S", "(S (XX -LRB-a_b-RRB-) (XX c))"),
        (("a", "b"), ("$(", ""), "N P", "(N_P ($-LRB- a) b)"),
    ],
)
def test_what_brackets_cannot_say_is_shown_and_not_written(
    words: tuple[str, ...], tags: tuple[str, ...] | None, label: str, shown: str
) -> None:
    tree = Tree(Sentence(words, tags), (Span(0, 2, label),))
    assert str(tree) == shown
    assert len(Tree.from_brackets(shown)) == 2
    for indent in (None, 2):
        with pytest.raises(DataError, match="so brackets cannot say it"):
            tree.to_brackets(indent=indent)


def test_a_line_without_a_file_is_called_one() -> None:
    with pytest.raises(DataError) as raised:
        Tree.from_brackets("(S\n(NP")
    assert str(raised.value) == "line 1: this bracket is never closed"
    assert str(raised.value.at("x.ptb", None)) == "x.ptb:1: this bracket is never closed"


def test_half_a_character_is_shown_as_text_that_can_be_printed() -> None:
    words = ("a\ud800", "b")
    tree = Tree(Sentence(words, tags=("\udfff", "B")), (Span(0, 2, "S"),))
    assert str(tree) == r"(S (\udfff a\ud800) (B b))"
    assert tree.to_brackets() == "(S (\udfff a\ud800) (B b))"
    entities = Parse(Sentence(words), entities=(Span(0, 1, "\ud800"),))
    assert str(Document((entities,))) == r"(\ud800 a\ud800) b"
    assert str(Document((), status="no \ud800")) == r"not parsed: no \ud800"


@given(st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=3), st.text(max_size=3))
def test_any_tree_can_be_shown(words: list[str], name: str) -> None:
    tags = (name,) * len(words)
    tree = Tree(Sentence(tuple(words), tags), (Span(0, len(words), name),))
    assert len(Tree.from_brackets(str(tree))) == len(words)


@pytest.mark.parametrize(
    ("words", "spans", "message"),
    [
        (2, [], "needs a root"),
        (0, [], "needs a root"),
        (2, [(0, 2, None)], "out of place"),
        (2, [(0, 3, "S")], "out of place"),
        (3, [(0, 3, "S"), (0, 2, "A"), (1, 3, "B")], "out of place"),
        (3, [(0, 3, "S"), (1, 2, "A"), (0, 1, "B")], "out of place"),
        (3, [(0, 3, "S"), (1, 1, "A")], "out of place"),
        (3, [(0, 1, "A"), (1, 3, "B")], "outside of the root"),
    ],
)
def test_spans_that_make_no_tree_are_refused(
    words: int, spans: list[tuple[int, int, str | None]], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        Tree(Sentence(("x",) * words), tuple(Span(*span) for span in spans))


def test_one_tree_is_expected_where_one_is_asked_for() -> None:
    with pytest.raises(DataError, match="2 were found"):
        Tree.from_brackets("(A a) (B b)")


def test_depth_does_not_matter() -> None:
    text = deep(10_000)
    tree = Tree.from_brackets(text)
    assert str(tree) == text
    assert tree == Tree.from_brackets(text)
    assert hash(tree) == hash(Tree.from_brackets(text))
    assert Tree.from_brackets(tree.to_brackets(indent=2)) == tree
    assert Tree.from_nltk(tree.to_nltk()) == tree
    assert len(repr(tree)) < 100


def test_a_tree_slices_the_text_of_its_sentence() -> None:
    sentence = Sentence.from_whitespace(["The", "cat", "sat"], ["  ", "\n", ""])
    tree = Tree(sentence, (Span(0, 3, "S"), Span(0, 2, "NP")))
    child = tree.children[0]
    assert isinstance(child, Tree)
    assert (child.text, child.start_char, child.end_char) == ("The  cat", 0, 8)
    assert (tree.text, tree.start_char, tree.end_char) == (sentence.text, 0, 12)


def test_without_offsets_it_has_words_alone() -> None:
    child = Tree.from_brackets(CAT).children[1]
    assert isinstance(child, Tree)
    assert (child.text, child.start_char, child.end_char) == ("sat down", None, None)


def test_a_tree_draws_itself() -> None:
    tree = Tree.from_brackets(CAT)
    assert tree.to_svg() == tree._repr_svg_() == tree_svg(tree)
    assert tree.to_svg(theme="dark", boundaries=True) == tree_svg(
        tree, theme="dark", boundaries=True
    )
    assert tree.pretty() == pretty(tree)
    assert tree.pretty(width=10) == pretty(tree, width=10) != tree.pretty()


def test_nothing_that_draws_is_loaded_before_it_is_asked_for() -> None:
    code = (
        "import sys, fencepost.structure\n"
        "assert not [name for name in sys.modules if name.startswith('fencepost.drawing')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
