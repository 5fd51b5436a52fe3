from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from fencepost.drawing.markup import described, escaped, number, quoted, visible
from fencepost.structure import FoundSpan, Sentence, Span


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_can_be_said_in_xml(text: str) -> None:
    read = ElementTree.fromstring(f'<a b="{escaped(text)}">{escaped(text)}</a>')
    assert read.get("b") == (read.text or "")
    assert len(read.text or "") == len(text)


def test_what_xml_can_say_is_kept_and_the_rest_replaced() -> None:
    text = "a<b>&\"'\t\n\r\u2028\x85é猫😀"
    assert ElementTree.fromstring(f"<a>{escaped(text)}</a>").text == text
    assert escaped("\x00\x1b\x7f\x9b\ud800\ufffe") == "\ufffd" * 6


def test_blanks_of_any_kind_are_shown_as_one() -> None:
    assert visible("a \n\tb\u2028c") == "a b c"
    assert visible("1\u00a0000") == "1\u00a0000", "these belong together"
    assert visible("a\x07") == "a\ufffd"


def test_numbers_are_short() -> None:
    assert [number(value) for value in (3, 3.0, 3.04, 3.25, -0.5)] == [
        *("3", "3", "3", "3.2", "-0.5")
    ]


def test_long_texts_are_cut() -> None:
    sentence = Sentence(("word",) * 1000)
    assert quoted(sentence, 0, 2) == "word word"
    assert quoted(sentence, 0, 1000) == ("word " * 16) + "…"
    assert quoted(Sentence(("x" * 200,)), 0, 1) == "x" * 80 + "…"


def test_a_description_tells_label_place_probability_and_words() -> None:
    sentence = Sentence(("The", "cat", "sat"))
    found = FoundSpan(0, 2, "NP", sentence, 0.97)
    assert described(found, sentence) == "NP (0, 2), probability 0.97: The cat"
    assert described(Span(0, 1, "X"), sentence) == "X (0, 1): The"
    assert described(Span(0, 1, ""), sentence) == "(0, 1): The"
