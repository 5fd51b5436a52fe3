"""What is due to spans that stand elsewhere: seen in the mistakes that are made of it."""

from fencepost.scoring.attachment import moves_of
from fencepost.scoring.judgements import judge_trees
from fencepost.structure import Span
from tests.scoring.test_judgements import tree
from tests.scoring.test_mistakes import of_trees, told


def test_nothing_moves_in_the_same_tree() -> None:
    one = tree("(S (NP (NP (N a)) (PP (P b))) (VP (V c)))")
    judgement = judge_trees(one, one)
    assert moves_of(judgement) == []


def test_a_phrase_too_high() -> None:
    (one,) = of_trees(
        "(VP (V saw) (NP (NP (N men)) (PP (P with) (NP (N dogs)))))",
        "(VP (V saw) (NP (N men)) (PP (P with) (NP (N dogs))))",
    )
    assert (one.reason, one.kind) == ("attachment", "PP under VP, belongs to NP")
    assert (one.missing, one.extra) == ((Span(1, 4, "NP"),), ())
    assert one.moved == (Span(2, 4, "PP"), Span(2, 4, "PP"))


def test_a_phrase_too_low() -> None:
    (one,) = of_trees(
        "(VP (V saw) (NP (N men)) (PP (P with) (NP (N dogs))))",
        "(VP (V saw) (NP (NP (N men)) (PP (P with) (NP (N dogs)))))",
    )
    assert (one.kind, one.extra) == ("PP under NP, belongs to VP", (Span(1, 4, "NP"),))


def test_all_brackets_on_the_way_are_due_to_it() -> None:
    gold = "(NP (NP (N man)) (PP (P in) (NP (NP (N park)) (PP (P with) (NP (N dog))))))"
    predicted = "(NP (NP (N man)) (PP (P in) (NP (N park))) (PP (P with) (NP (N dog))))"
    (one,) = of_trees(gold, predicted)
    assert one.kind == "PP under NP, belongs to another NP"
    assert one.missing == (Span(1, 5, "PP"), Span(2, 5, "NP"))
    assert one.extra == (Span(1, 3, "PP"),)
    (other,) = of_trees(predicted, gold)
    assert (other.missing, other.extra) == (one.extra, one.missing)


def test_what_stays_in_a_span_that_became_longer_has_not_moved() -> None:
    (one,) = of_trees(
        "(VP (X x) (INTJ (U oh)) (S (NP (N I)) (VP (V go))))",
        "(VP (X x) (S (INTJ (U oh)) (NP (N I)) (VP (V go))))",
    )
    assert one.kind == "INTJ under S, belongs to VP"
    assert (one.missing, one.extra) == ((Span(2, 4, "S"),), (Span(1, 4, "S"),))


def test_two_that_move_together_are_one_mistake() -> None:
    found = of_trees(
        "(VP (V a) (NP (NP (N b)) (PP (P c)) (PP (P d))))",
        "(VP (V a) (NP (N b)) (PP (P c)) (PP (P d)))",
    )
    assert told(found) == [("attachment", "PP under VP, belongs to NP")]


def test_a_bracket_around_words_alone_is_missing_and_not_attached() -> None:
    found = of_trees(
        "(VP (V saw) (NP (D the) (ADJP (J big)) (N dog)))",
        "(VP (V saw) (D the) (ADJP (J big)) (N dog))",
    )
    assert told(found) == [("missing", "NP")]


def test_a_bracket_that_has_another_label_is_not_due_to_a_move_as_well() -> None:
    gold = "(T (X (Y (N a)) (PP (P b))) (N c))"
    predicted = "(T (X (N a)) (PP (P b)) (N c))"
    label, attachment = of_trees(gold, predicted)
    assert (label.kind, label.extra) == ("Y → X", (Span(0, 1, "X"),))
    assert attachment.kind == "PP under T, belongs to X"
    assert (attachment.missing, attachment.extra) == ((Span(0, 2, "X"),), ())


def test_the_top_may_be_where_it_belongs() -> None:
    found = of_trees(
        "(ROOT (NP (N a)) (PP (P b)))",
        "(ROOT (NP (NP (N a)) (PP (P b))))",
    )
    assert told(found) == [("attachment", "PP under NP, belongs to the top")]


def test_what_has_moved_is_told_as_it_stands_in_each_tree() -> None:
    (one,) = of_trees(
        "(VP (V saw) (NP (NP (N men)) (PP (P with) (NP (N dogs)) (, ,))))",
        "(VP (V saw) (NP (N men)) (PP (P with) (NP (N dogs))) (, ,))",
    )
    assert one.moved == (Span(2, 5, "PP"), Span(2, 4, "PP"))


def test_a_chain_of_equal_labels_is_one_place() -> None:
    (one,) = of_trees(
        "(VP (VP (V saw) (NP (NP (NP (NP (N men))) (PP (P with))))))",
        "(VP (VP (V saw) (NP (NP (N men))) (PP (P with))))",
    )
    assert one.kind == "PP under VP, belongs to NP"
    assert one.missing == (Span(1, 3, "NP"), Span(1, 3, "NP"))
