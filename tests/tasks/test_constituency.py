import pytest
from hypothesis import given

from fencepost.structure import Span, Tree
from fencepost.tasks import constituency
from fencepost.transition import fill_gaps, pointings, replay
from tests.strategies import trees


@given(trees())
def test_decoding_undoes_encoding(tree: Tree) -> None:
    spans = constituency.encode(tree)
    assert constituency.decode(tree.sentence, spans, wrapper=tree.wrapper) == tree
    spans = constituency.encode(tree, with_wrapper=True)
    assert constituency.decode(tree.sentence, spans) == tree


@given(trees())
def test_a_tree_goes_through_pointings_without_loss(tree: Tree) -> None:
    steps = pointings(constituency.encode(tree))
    assert constituency.decode(tree.sentence, replay(steps), wrapper=tree.wrapper) == tree


@given(trees())
def test_there_is_one_span_a_place_and_one_over_all(tree: Tree) -> None:
    spans = constituency.encode(tree)
    assert len({(start, end) for start, end, _ in spans}) == len(spans)
    assert (spans[0].start, spans[0].end) == (0, len(tree.sentence))
    assert spans[0].label is not None


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("(ROOT (S (NP (NN x)) (VP (VB y))))", ["S", "NP", "VP"]),  # the wrapper is no label
        ("( (S (NN x) (VB y)))", ["S"]),
        ("(ROOT (S (ROOT (NN x)) (VB y)))", ["S", "ROOT"]),  # only at the top is it a wrapper
        ("(TOP (ROOT (S (NN x) (VB y))))", ["ROOT+S"]),  # and there is only one
        ("(ROOT (NN x))", [r"\0"]),  # a root that is only a tag
        ("(NN x)", [r"\0"]),  # no root at all
        ("(ROOT (INTJ (UH x)) (. .))", [r"\0", "INTJ"]),  # a word right under the root
        ("(S a (NP b c))", ["S", "NP"]),  # words without tags
        ("(A+B (NN x))", [r"A\+B"]),
        ("(S (S (S (X x))))", ["S+S+S"]),
    ],
)
def test_odd_trees_are_encoded_without_loss(text: str, labels: list[str]) -> None:
    tree = Tree.from_brackets(text)
    spans = constituency.encode(tree)
    assert [span.label for span in spans] == labels
    assert str(constituency.decode(tree.sentence, spans, wrapper=tree.wrapper)) == text


def test_a_model_puts_its_own_wrapper_on_once() -> None:
    tree = Tree.from_brackets("(TOP (S (NN x) (VB y)))")
    spans = constituency.encode(tree)
    assert (
        str(constituency.decode(tree.sentence, spans, wrapper="ROOT")) == "(ROOT (S (NN x) (VB y)))"
    )
    assert str(constituency.decode(tree.sentence, spans)) == "(S (NN x) (VB y))"


def test_what_nothing_holds_gets_a_bracket_without_a_name() -> None:
    tree = Tree.from_brackets("(ROOT (NP (NN x)) (VP (VB y)))")
    spans = constituency.encode(tree)
    assert str(constituency.decode(tree.sentence, spans)) == "( (NP (NN x)) (VP (VB y)))"


def test_a_chain_of_ten_thousand_passes() -> None:
    tree = Tree.from_brackets("(S " * 10_000 + "(NN x)" + ")" * 10_000)
    (span,) = fill_gaps(constituency.encode(tree))
    assert (span.start, span.end) == (0, 1)
    assert constituency.decode(tree.sentence, [span]) == tree


def test_fillers_do_not_come_back() -> None:
    tree = Tree.from_brackets("(S (A a) (NP (B b)))")
    filled = fill_gaps(constituency.encode(tree))
    assert Span(0, 1) in filled
    assert constituency.decode(tree.sentence, filled) == tree
