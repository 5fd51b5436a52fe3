import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError, PatternError
from fencepost.search import Pattern
from fencepost.search.syntax import MOST_DEPTH, MOST_LETTERS, MOST_NODES, read_pattern
from fencepost.structure import Tree

TREE = Tree.from_brackets('(S (NP (PRP$ my) (NN 1990)) (VP (VBD sat) ("x y)))')


@pytest.mark.parametrize(
    ("pattern", "place", "expected"),
    [
        ("", 0, "a label"),
        ("<", 0, "a label"),
        ("NP <", 4, "not the end"),
        ("NP < < NN", 5, "not '<'"),
        ("1990", 0, "not '1'"),
        ("NP NN", 3, "a relation such as < or $+ was expected here, or the end, not 'N'"),
        ("NP < (NN", 5, "this ( is never closed"),
        ("NP [< NN", 3, "this [ is never closed"),
        ("NP [< NN)", 8, "or ]"),
        ("NP < (NN])", 8, "or )"),
        ("NP)", 2, "or the end"),
        ("NP | ", 5, "not the end"),
        ("NP < NN |", 9, "not the end"),
        ("NP < =x", 6, "a name that was given before was expected (none), not x"),
        ("NP=x < ~y", 8, "(x), not y"),
        ("NP=x < NN=x", 10, "x is given already"),
        ("NP=1", 3, "a name of letters"),
        ("NP !< NN=x", 9, "below ! no node"),
        ("NP{q<1}", 3, "p<0.5, words>3, is TYPE"),
        ("NP{p<x}", 5, "a number was expected"),
        ("NP{is person", 12, ", or } was expected"),
        ("NP{is }", 6, "the type of an entity"),
        ("NP{}", 3, "p<0.5"),
        ("NP <0 NN", 4, "1 or more"),
        ("NP <<2 NN", 5, "a node was expected"),
        ("NP <--2 NN", 5, "1 or more"),
        ("NP <+ NN", 6, "( with what the nodes between are like"),
        ("NP <+(NP < NN) NN", 9, ") was expected"),
        ("NP <+(=x) NN", 6, "a label"),
        ("NP <... NN", 8, "{ was expected"),
        ("NP <... {NN NN}", 12, "; or } was expected"),
        ("NP < /a(/", 7, "never closed"),
        ("NP < /\\1/", 6, "not supported"),
        ("@=x", 1, "a label"),
        ("NP & ", 3, "a relation such as"),
        ("NP ! NN", 3, "a relation such as"),
        ('NP < "abc', 5, "a label"),
        ("NP < /abc", 5, "a label"),
        ("NP %x", 3, "not '%'"),
    ],
)
def test_a_mistake_is_shown_where_it_is(pattern: str, place: int, expected: str) -> None:
    with pytest.raises(PatternError) as raised:
        read_pattern(pattern)
    assert expected in raised.value.message
    assert raised.value.place == place


def test_a_caret_stands_under_the_mistake() -> None:
    with pytest.raises(PatternError) as raised:
        read_pattern("NP <\n(語 < 猫 < <")
    assert str(raised.value).split("\n")[1:] == ["  (語 < 猫 < <", f"  {' ' * 11}^"]


def test_of_a_long_pattern_the_part_around_a_mistake_is_shown() -> None:
    with pytest.raises(PatternError) as raised:
        read_pattern("N" + " " * 300 + "< N\x1bP < <" + " NP" * 90)
    _, line, caret = str(raised.value).split("\n")
    assert "< N�P < < NP" in line
    assert line[len(caret) - 1] == "<"
    assert len(line) < 150


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("a" * (MOST_LETTERS + 1), "at most 2,000 characters was expected"),
        ("NP" + " < NP" * MOST_NODES, "at most 100 nodes were expected"),
        ("(" * (MOST_DEPTH + 1) + "NP", "at most 30 brackets in brackets"),
        ("NP " + "[" * (MOST_DEPTH + 1) + "< NN", "at most 30 brackets in brackets"),
        ("NP " + "!" * (MOST_DEPTH + 1) + "< NN", "at most 30 brackets in brackets"),
        ("NP" + " < (NP" * (MOST_DEPTH + 1), "at most 30 brackets in brackets"),
    ],
)
def test_a_pattern_has_bounds(pattern: str, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        read_pattern(pattern)


def test_a_pattern_is_a_text() -> None:
    with pytest.raises(TypeError, match="a pattern is a text, not 3"):
        read_pattern(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ('"PRP$"', ["my"]),
        ('NP < "PRP$"', ["my 1990"]),
        ('"1990"', ["1990"]),
        (r'"\"x"', ["y"]),
        ("/^PRP\\$$/|VBD", ["my", "sat"]),
        ("NP <(NN) | VP", ["my 1990", "sat y"]),
        ("((NP) < NN) $ VP", ["my 1990"]),
        ("NP (< NN & $+ VP)", ["my 1990"]),
        ("NP [< VBD | < NN]", ["my 1990"]),
        ("NP ![< VBD | < JJ]", ["my 1990"]),
        ("!!NP", ["my 1990"]),
        ("NP !!< NN", ["my 1990"]),
        ("NP < - 1 NN", []),
        ("NP <-1 NN", ["my 1990"]),
        ("NP <- 1 NN", ["my 1990"]),
        ("S <... { NP ; (VP < VBD) }", ["my 1990 sat y"]),
        ("VBD <... {sat}", ["sat"]),
        ("S <+[/P/] NN", ["my 1990 sat y"]),
        ("S <+/P/ NN", ["my 1990 sat y"]),
        ("NP $+VP", ["my 1990"]),
        ("NP\n<\tNN", ["my 1990"]),
    ],
)
def test_patterns_as_they_may_be_written(pattern: str, texts: list[str]) -> None:
    if pattern == "NP < - 1 NN":
        with pytest.raises(PatternError):
            Pattern(pattern)
        return
    assert [match.text for match in TREE.find(pattern)] == texts


@given(st.text('NPV <>$.,:!?&|()[]{}=~@/"_#+-`12;x\\ne', max_size=40))
def test_any_text_is_a_pattern_or_an_error_of_ours(text: str) -> None:
    error: PatternError | None = None
    try:
        list(TREE.find(text))
    except PatternError as raised:
        error = raised
    except DataError:
        assert "{" in text  # entities, which this tree has not
    if error is not None:
        assert 0 <= error.place <= len(text)
        assert str(error).count("\n") >= 2
