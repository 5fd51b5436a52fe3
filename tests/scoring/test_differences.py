"""How two readings differ."""

from typing import Any

import pytest
from hypothesis import given

from fencepost.errors import ConfigError, DataError
from fencepost.scoring.differences import differences
from fencepost.structure import Document, Parse, Sentence, Span, Tree
from tests.strategies import parses


def read(text: str, *entities: Span) -> Parse:
    tree = Tree.from_brackets(text)
    return Parse(tree.sentence, tree, entities)


@given(parses())
def test_a_reading_does_not_differ_from_itself(parse: Parse) -> None:
    found = differences(parse, parse)
    assert not found
    assert found.moved == ()
    assert str(found) == "no difference"


def test_an_attachment_is_told_both_ways() -> None:
    low = read("(VP (V saw) (NP (NP (N men)) (PP (P with) (NP (N dogs)))))")
    high = read("(VP (V saw) (NP (N men)) (PP (P with) (NP (N dogs))))")
    for one, other in ((low, high), (high, low)):
        found = differences(one, other)
        assert [move.span for move in found.moved] == [Span(2, 4, "PP")]
        assert {found.moved[0].first, found.moved[0].second} == {
            Span(0, 4, "VP"),
            Span(1, 4, "NP"),
        }
        assert found.first + found.second == (Span(1, 4, "NP"),)


def test_labels_and_chains_count() -> None:
    found = differences(read("(S (NP (NP (N a))) (VP (V b)))"), read("(S (NP (N a)) (X (V b)))"))
    assert found.first == (Span(0, 1, "NP"), Span(1, 2, "VP"))
    assert found.second == (Span(1, 2, "X"),)
    assert 'only in the second: X "b"' in str(found)


def test_entities_count_and_layers_that_one_lacks_do_not() -> None:
    one = read("(NP (N Oslo))", Span(0, 1, "place"))
    other = read("(NP (N Oslo))", Span(0, 1, "person"))
    found = differences(one, other)
    assert (found.first, found.second) == ((Span(0, 1, "place"),), (Span(0, 1, "person"),))
    assert not differences(one, Parse(one.sentence))


def test_other_words_are_refused() -> None:
    with pytest.raises(DataError, match="the same words"):
        differences(Parse(Sentence(("a",))), Parse(Sentence(("b",))))


def test_a_document_of_one_sentence_stands_for_its_parse() -> None:
    parse = Parse(Sentence(("a",)), entities=(Span(0, 1, "X"),))
    other = Parse(Sentence(("a",)), entities=())
    assert differences(Document((parse,)), other) == differences(parse, Document((other,)))
    with pytest.raises(DataError, match="has no sentences"):
        differences(Document(()), parse)


def test_what_is_no_parse_is_refused() -> None:
    wrong: Any = "a"
    with pytest.raises(ConfigError, match=r"two parses were expected: differences\(\*parser"):
        differences(wrong, wrong)


def test_what_is_below_a_span_that_has_moved_has_moved_with_it() -> None:
    one = read("(S (A (T a) (X (P (Y (T b)) (T c)) (T d))) (T e))")
    other = read("(S (T a) (B (X (Y (T b)) (Q (T c) (T d))) (T e)))")
    moved = differences(one, other).moved
    assert Span(1, 2, "Y") not in [move.span for move in moved]
