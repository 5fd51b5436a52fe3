from fencepost.batching.inputs import MOST_CHARACTERS, word_inputs
from fencepost.batching.vocabulary import BEGIN, END, PADDING, UNKNOWN, Vocabulary

WORDS = Vocabulary(("cat", "the"), (2, 2))
LETTERS = Vocabulary.collect("catheX")


def test_each_word_is_spelled_once() -> None:
    inputs = word_inputs([["the", "cat", "the"], ["X"]], words=WORDS, characters=LETTERS)
    the, cat = WORDS.number("the"), WORDS.number("cat")
    assert inputs.words.tolist() == [
        [BEGIN, the, cat, the, END],
        [BEGIN, UNKNOWN, END, PADDING, PADDING],
    ]
    assert inputs.spelled[0].tolist() == [0, 2, 3, 2, 1]
    assert inputs.lengths.tolist() == [3, 1]
    assert len(inputs.characters) == 2 + 3
    spelling = inputs.characters[inputs.spelled[1, 1]][: inputs.spelling_lengths[4]].tolist()
    assert spelling == [BEGIN, LETTERS.number("X"), END]


def test_a_very_long_word_is_read_from_both_ends() -> None:
    word = "c" * 5_000 + "t" * 5_000
    inputs = word_inputs([[word]], words=WORDS, characters=LETTERS)
    assert inputs.characters.shape[1] == MOST_CHARACTERS + 2
    assert inputs.characters[2, 1] == LETTERS.number("c")
    assert inputs.characters[2, -2] == LETTERS.number("t")
