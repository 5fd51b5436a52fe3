from time import process_time

import pytest
from hypothesis import given

from fencepost.errors import DataError
from fencepost.structure import Span, Tree
from fencepost.structure.brackets import escape, read_brackets, unescape, write_brackets
from tests.strategies import bracketed_trees, trees


@given(trees())
def test_reading_undoes_writing(tree: Tree) -> None:
    assert Tree.from_brackets(str(tree)) == tree
    assert Tree.from_brackets(tree.to_brackets()) == tree
    assert Tree.from_brackets(tree.to_brackets(indent=2)) == tree


@given(bracketed_trees())
def test_bare_words_are_written_as_they_were_read(written: tuple[str, Tree]) -> None:
    text, tree = written
    assert str(tree) == text


def test_several_trees_may_follow_one_another() -> None:
    found = list(read_brackets("(S (X a))\n\n(S\n (X b)) (X c)"))
    assert [words for words, _, _ in found] == [("a",), ("b",), ("c",)]
    assert found[2].spans == ()


def test_blanks_between_brackets_do_not_matter() -> None:
    assert str(Tree.from_brackets("( ( S\t( NP ( DT  The )\n) ( VP (VB x ) ) ) )")) == (
        "( (S (NP (DT The)) (VP (VB x))))"
    )


def test_only_ascii_blanks_separate_words() -> None:
    (found,) = read_brackets("(S (CD 1\u00a0000) (NN a\u3000b))")
    assert found.words == ("1\u00a0000", "a\u3000b")


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("(S (X a)", "this bracket is never closed", 1),
        ("(S (X a))\n(S\n(X b)", "this bracket is never closed", 2),
        ("(S (X a)))", "this bracket closes nothing", 1),
        ("(S (X a))\n\n)", "this bracket closes nothing", 3),
        ("(S (X a)\n(NP ))", "the bracket 'NP' holds no word", 2),
        ("()", "the bracket '' holds no word", 1),
        ("(S (X a))\nb", "'b' stands outside of any bracket", 2),
        ("(S (X a) b) c (", "'c' stands outside of any bracket", 1),
    ],
)
def test_an_error_tells_what_is_wrong_and_on_which_line(text: str, message: str, line: int) -> None:
    with pytest.raises(DataError) as raised:
        list(read_brackets(text))
    assert (raised.value.message, raised.value.line) == (message, line)


def test_round_brackets_in_words_are_escaped_and_no_others() -> None:
    text = "(S (-LRB- -LRB-) (SYM [) (CD 1\\/2) (-RRB- x-RRB--LRB-))"
    tree = Tree.from_brackets(text)
    assert tree.words == ("(", "[", "1\\/2", "x)(")
    assert str(tree) == text


def test_what_is_unescaped_can_be_chosen() -> None:
    text = "(S (A -LRB-) (B -LSB-) (C 1\\/2) (D \\*))"
    assert Tree.from_brackets(text, escapes="penn").words == ("(", "[", "1/2", "*")
    assert Tree.from_brackets(text, escapes="none").words == ("-LRB-", "-LSB-", "1\\/2", "\\*")
    assert unescape("-LRB-", "none") == "-LRB-"


def test_a_word_with_a_blank_cannot_be_written() -> None:
    with pytest.raises(DataError, match="holds a blank"):
        escape("a b")


def test_a_label_with_a_bracket_cannot_be_written() -> None:
    with pytest.raises(DataError, match="label 'N\\(P'"):
        write_brackets(["a"], ["X"], [Span(0, 1, "N(P")])


def test_a_lone_word_without_a_tag_is_given_one() -> None:
    assert write_brackets(["a", "b"], None, [Span(0, 2, "S")]) == "(S (XX a) (XX b))"
    assert write_brackets(["a", "b"], ["", ""], [Span(0, 2, "S"), Span(1, 2, "NP")]) == (
        "(S a (NP (XX b)))"
    )
    assert write_brackets(["a"], [""], []) == "(XX a)"


def test_a_bare_word_is_not_taken_for_the_label_of_a_bracket_that_has_none() -> None:
    bare = write_brackets(["a", "b", "c"], [""] * 3, [Span(0, 3, ""), Span(1, 3, "NP")])
    assert bare == "( (XX a) (NP b c))"


def test_indentation_shows_what_holds_what() -> None:
    tree = Tree.from_brackets("(S (NP (DT The) (NN cat)) (VP (VBD sat) (ADVP (RB down))) (. .))")
    assert tree.to_brackets(indent=2) == (
        "(S\n  (NP (DT The) (NN cat))\n  (VP\n    (VBD sat)\n    (ADVP (RB down)))\n  (. .))"
    )
    assert "\n    (NP" in tree.to_brackets(indent=4)
    assert tree.to_brackets() == str(tree)


@pytest.mark.parametrize("text", ["(" * 400_000, "(S " + "(A a) " * 150_000, "(S\n" * 100_000])
def test_explaining_an_error_takes_time_in_proportion_to_the_text(text: str) -> None:
    before = process_time()
    with pytest.raises(DataError, match="never closed") as raised:
        list(read_brackets(text))
    assert raised.value.line == 1
    assert process_time() - before < 4, "the square of it takes more than 10 s"
