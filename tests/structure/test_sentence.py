import pytest
from hypothesis import given

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
