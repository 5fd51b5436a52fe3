import copy
import pickle

import pytest

from fencepost.structure import Entity, FoundSpan, Sentence, Span
from fencepost.structure.entity import over

SENTENCE = Sentence.from_whitespace(["Bank", "of", "Oslo", "."], [" ", "\n ", "", ""])


def test_a_found_span_is_equal_to_the_plain_one() -> None:
    found = FoundSpan(0, 3, "NP", SENTENCE, 0.5)
    assert found == Span(0, 3, "NP") == Entity(0, 3, "NP")
    assert len({found, Span(0, 3, "NP"), FoundSpan(0, 3, "NP", SENTENCE, 0.1)}) == 1
    assert found != Span(0, 3, "VP")


def test_it_slices_the_text() -> None:
    found = Entity(1, 3, "X", SENTENCE)
    assert (found.text, found.start_char, found.end_char) == ("of\n Oslo", 5, 13)
    assert SENTENCE.text is not None
    assert SENTENCE.text[found.start_char : found.end_char] == found.text


def test_words_without_a_text_are_joined_with_blanks() -> None:
    found = Entity(1, 3, "X", Sentence(("Bank", "of", "Oslo")))
    assert (found.text, found.start_char, found.end_char) == ("of Oslo", None, None)


def test_without_a_sentence_it_has_no_text() -> None:
    found = FoundSpan(0, 1)
    assert (found.text, found.start_char, found.end_char, found.label) == ("", None, None, None)
    assert found.probability is None


@pytest.mark.parametrize(
    ("span", "shown"),
    [
        (FoundSpan(0, 1, "A"), "FoundSpan('', 'A', 0, 1)"),
        (Entity(0, 1, "A", Sentence(("x",))), "Entity('x', 'A', 0, 1)"),
        (
            Entity(0, 1, "A", SENTENCE, 0.12345),
            "Entity('Bank', 'A', 0, 1, start_char=0, end_char=4, probability=0.123)",
        ),
    ],
)
def test_it_is_shown_with_what_it_knows(span: FoundSpan, shown: str) -> None:
    assert repr(span) == shown


def test_it_prints_as_brackets() -> None:
    assert str(Entity(0, 1, "A", SENTENCE, 0.12345)) == "(A Bank)"
    assert str(Entity(0, 1, "A")) == "(0, 1) A"
    assert len(repr(Entity(0, 200, "A", Sentence(("long",) * 200)))) < 100


def test_it_knows_which_sentence_of_the_document_it_is_in() -> None:
    second = Sentence(("a", "b"), index=1)
    assert (Entity(0, 1, "A", second).sentence, Entity(0, 1, "A", SENTENCE).sentence) == (1, None)
    assert (FoundSpan(0, 1).sentence, Span(0, 1).sentence) == (None, None)
    assert second == Sentence(("a", "b"))


def test_spans_move_to_another_sentence_and_keep_their_probability() -> None:
    other = Sentence(SENTENCE.words)
    plain = Span(0, 1, "A")
    moved, same = over([Entity(1, 3, "X", SENTENCE, 0.5), plain], other)
    assert isinstance(moved, Entity)
    assert (moved.source, moved.probability, moved.text) == (other, 0.5, "of Oslo")
    assert same is plain


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_a_copy_knows_what_the_original_knew(copied: object) -> None:
    assert callable(copied)
    found = copied(Entity(1, 3, "X", SENTENCE, 0.5))
    assert type(found) is Entity
    assert (found.source, found.probability, found.text) == (SENTENCE, 0.5, "of\n Oslo")


def test_a_plain_span_knows_nothing_of_a_sentence() -> None:
    span = Span(0, 2, "NP")
    assert (span.text, span.start_char, span.end_char, span.probability) == ("", None, None, None)
