from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.structure import Sentence
from tests.strategies import sentences


@given(sentences())
def test_offsets_slice_the_words_out_of_the_text(sentence: Sentence) -> None:
    if sentence.text is not None and sentence.offsets is not None:
        assert tuple(sentence.text[a:b] for a, b in sentence.offsets) == sentence.words


@given(sentences())
def test_words_and_whitespace_make_the_same_sentence_again(sentence: Sentence) -> None:
    whitespace = sentence.whitespace
    if whitespace is None:
        assert sentence.offsets is None
        return
    again = Sentence.from_whitespace(sentence.words, whitespace, tags=sentence.tags, id=sentence.id)
    assert again == sentence


def test_lists_are_taken_and_kept_as_tuples() -> None:
    sentence = Sentence(["a", "b"], ["X", "Y"], "a b", [[0, 1], [2, 3]])  # type: ignore[arg-type]
    assert sentence == Sentence(("a", "b"), ("X", "Y"), "a b", ((0, 1), (2, 3)))
    assert len(sentence) == 2
    assert hash(sentence) == hash(Sentence(("a", "b"), ("X", "Y"), "a b", ((0, 1), (2, 3))))


def test_one_string_is_not_taken_for_words() -> None:
    with pytest.raises(TypeError, match="not one string"):
        Sentence("words")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"words": ("a", "")}, "word 1 is empty"),
        ({"words": ("a",), "tags": ()}, "0 tags for 1 words"),
        ({"words": ("a",), "offsets": ((0, 1),)}, "need the text"),
        ({"words": ("a",), "text": "a", "offsets": ()}, "0 offsets for 1 words"),
        ({"words": ("a",), "text": "a", "offsets": ((0, 2),)}, "within a text of 1"),
        ({"words": ("a",), "text": "a", "offsets": ((1, 1),)}, r"\(1, 1\)"),
        ({"words": ("a", "b"), "text": "ab", "offsets": ((0, 2), (1, 2))}, "do not follow 2"),
    ],
)
def test_a_sentence_that_makes_no_sense_is_refused(
    arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        Sentence(**arguments)  # type: ignore[arg-type]


def test_an_empty_sentence_is_a_sentence() -> None:
    assert len(Sentence(())) == 0


@given(sentences(), st.data())
def test_characters_slice_the_text_between_two_boundaries(
    sentence: Sentence, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(sentence) - 1))
    end = data.draw(st.integers(start + 1, len(sentence)))
    text, place = sentence.text_between(start, end), sentence.characters(start, end)
    if sentence.text is None:
        assert place is None
        assert text == " ".join(sentence.words[start:end])
    else:
        assert place is not None
        assert text == sentence.text[place[0] : place[1]]
        assert text.startswith(sentence.words[start])
        assert text.endswith(sentence.words[end - 1])


def test_between_a_boundary_and_itself_there_is_nothing() -> None:
    sentence = Sentence.from_whitespace(["a", "b"], [" ", ""])
    assert sentence.characters(1, 1) is None
    assert sentence.text_between(1, 1) == ""


@given(sentences(), st.text(max_size=3))
def test_alone_it_has_only_its_own_part_of_the_text(sentence: Sentence, before: str) -> None:
    if sentence.text is None or sentence.offsets is None:
        assert sentence.alone() is sentence
        return
    offsets = tuple((a + len(before), b + len(before)) for a, b in sentence.offsets)
    within = replace(sentence, text=before + sentence.text + "!", offsets=offsets)
    alone = within.alone()
    assert (alone.words, alone.tags, alone.id) == (sentence.words, sentence.tags, sentence.id)
    assert alone.text == sentence.text_between(0, len(sentence))
    assert alone.offsets is not None
    assert tuple(alone.text[a:b] for a, b in alone.offsets) == sentence.words


def test_without_words_it_stays_as_it_is() -> None:
    empty = Sentence((), text="  ", offsets=())
    assert empty.alone() is empty
