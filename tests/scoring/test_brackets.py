import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.scoring import COLLINS, Comparison, Counts, Parameters, side_of_line, side_of_tree
from fencepost.scoring.brackets import (
    Bracket,
    crossing_by_pairs,
    crossing_in_one_pass,
    matched_in_turn,
)
from fencepost.structure import Span, Tree
from fencepost.structure.span import by_place
from tests.strategies import nested_spans, trees


def compare(gold: str, predicted: str, rules: Parameters = COLLINS) -> Counts:
    return Comparison(rules).compare(side_of_line(gold), side_of_line(predicted))


def brackets(spans: list[Span]) -> list[Bracket]:
    return [(start, end, label or "") for start, end, label in by_place(spans)]


@given(nested_spans(8), nested_spans(8))
def test_one_pass_counts_the_same_crossings_as_all_pairs(
    gold: list[Span], predicted: list[Span]
) -> None:
    ours, theirs = brackets(gold), brackets(predicted)
    assert crossing_in_one_pass(ours, theirs, 8) == crossing_by_pairs(ours, theirs)


@given(trees(), st.data())
def test_fast_counting_agrees_with_the_programs_way(tree: Tree, data: st.DataObject) -> None:
    n = len(tree.sentence)
    labels = st.sampled_from(["NP", "ADVP", "PRT", "TOP", "ADVP-TMP", "-X"])
    ours, theirs = (
        Tree(
            tree.sentence, tuple(by_place([Span(0, n, "TOP"), *data.draw(nested_spans(n, labels))]))
        )
        for _ in range(2)
    )
    fast = Comparison().compare(side_of_tree(ours), side_of_tree(theirs))
    # With a pair that makes no class, the plain way is taken; the label occurs nowhere.
    plain_rules = Parameters(equal_labels=(("ADVP", "PRT"), ("PRT", "?"), ("?", "??")))
    plain = Comparison(plain_rules).compare(side_of_tree(ours), side_of_tree(theirs))
    assert fast == plain


@given(trees())
def test_a_tree_agrees_with_itself(tree: Tree) -> None:
    counts = Comparison().compare(side_of_tree(tree), side_of_tree(tree))
    if counts.status == 0:
        assert counts.matched == counts.gold == counts.predicted
        assert (counts.crossing, counts.right_tags) == (0, counts.words)


@given(trees())
def test_a_line_and_its_tree_are_the_same_to_the_scorer(tree: Tree) -> None:
    line = side_of_line(str(tree))
    assert tuple(line.tags) == tree.tags
    assert tuple(line.brackets) == tree.spans


def test_punctuation_goes_with_its_word() -> None:
    counts = compare("(TOP (S (A a) (, ,) (NP (B b)) (. .)))", "(TOP (S (A a) (, ,) (B b)))")
    assert counts == Counts(4, 0, 1, 2, 1, 0, 2, 2)


def test_a_phrase_named_like_punctuation_loses_only_its_bracket() -> None:
    assert compare("(S (, (A a)) (B b))", "(S (A a) (B b))").gold == 1


def test_a_phrase_of_traces_only_is_not_counted() -> None:
    counts = compare("(S (NP (-NONE- *)) (A a))", "(S (A a))")
    assert (counts.matched, counts.gold, counts.predicted) == (1, 1, 1)
    assert counts.length == 1


def test_an_inner_none_counts_under_the_empty_label() -> None:
    counts = compare("(S (-NONE- (A a)) (B b))", "(S ( (A a)) (B b))")
    assert (counts.matched, counts.gold) == (2, 2)


def test_adverb_phrase_and_particle_are_the_same() -> None:
    assert compare("(S (ADVP (RP a)) (B b))", "(S (PRT (RP a)) (B b))").matched == 2
    assert compare("(S (ADVP a) (B b))", "(S (PRT a) (B b))").right_tags == 2


def test_identical_brackets_match_one_to_one() -> None:
    counts = compare("(NP (NP (NP (A a))))", "(NP (NP (A a)))")
    assert (counts.matched, counts.gold, counts.predicted) == (2, 3, 2)


def test_without_labels_only_places_count() -> None:
    rules = Parameters(labelled=False)
    assert compare("(S (NP (A a)) (B b))", "(X (Y (A a)) (B b))", rules).matched == 2


def test_crossing_brackets_are_counted_once_each() -> None:
    counts = compare("(S (NP (A a) (B b)) (VP (C c) (D d)))", "(S (A a) (X (B b) (C c)) (D d))")
    assert counts.crossing == 1


@pytest.mark.parametrize("nothing", ["", "(())", "(TOP )", "(TOP (S (NP)))", "(S (. .))"])
def test_a_prediction_without_words_is_skipped(nothing: str) -> None:
    assert compare("(S (A a) (B b))", nothing) == Counts(2, 2)


def test_a_missing_word_is_an_error() -> None:
    counts = compare("(S (A a) (B b))", "(S (A a))")
    assert counts == Counts(2, 1, problem="Length unmatch (2|1)")


def test_another_word_is_an_error_unless_it_counts_as_equal() -> None:
    assert compare("(S (A a))", "(S (A b))") == Counts(1, 1, problem="Words unmatch (a|b)")
    rules = Parameters(equal_words=(("b", "a"),))
    assert compare("(S (A a) (C c))", "(S (A b) (C c))", rules).status == 0


def test_which_bracket_takes_which_matters_where_equality_makes_no_classes() -> None:
    rules = Parameters(equal_labels=(("A", "B"), ("B", "C")))
    # B takes A, the first that fits; A is then left with C, which is not its equal.
    assert matched_in_turn([(0, 1, "B"), (0, 1, "A")], [(0, 1, "A"), (0, 1, "C")], rules) == 1
    assert compare("(B (A (X x)))", "(A (C (X x)))", rules).matched == 1


class TestQuotes:
    RULES = Parameters(quotes=frozenset({"POS", "''", ":"}))

    def test_a_mark_that_only_one_tree_deletes_is_kept(self) -> None:
        gold, predicted = "(S (N dogs) (POS ') (N tails))", "(S (N dogs) ('' ') (N tails))"
        counts = compare(gold, predicted, self.RULES)
        assert (counts.status, counts.words, counts.right_tags) == (0, 3, 2)
        assert compare(predicted, gold, self.RULES).words == 3
        assert compare(gold, predicted).status == 1

    def test_marks_at_other_places_stay_an_error(self) -> None:
        counts = compare("(S (POS ') (A a) (B b))", "(S (A a) ('' ') (B b))", self.RULES)
        assert counts.status == 1

    def test_marks_with_the_same_tag_are_left_alone(self) -> None:
        counts = compare("(S ('' ') (A a) (B b))", "(S ('' ') (A a))", self.RULES)
        assert counts.problem == "Length unmatch (2|1)"

    def test_marks_that_both_delete_are_left_alone(self) -> None:
        counts = compare("(S ('' ') (A a) (B b))", "(S (: ') (A a))", self.RULES)
        assert counts.problem == "Length unmatch (2|1)"

    def test_words_that_are_no_marks_are_left_alone(self) -> None:
        counts = compare("(S (POS x) (A a))", "(S ('' x) (A a))", self.RULES)
        assert counts.problem == "Length unmatch (2|1)"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("(S (A a)", "this bracket is never closed"),
        ("(S (A a)))", "this bracket closes nothing"),
        ("(S a (B b))", "the word 'a' has no tag"),
    ],
)
def test_lines_that_the_program_cannot_read_are_refused(line: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        side_of_line(line)
