from hypothesis import given
from hypothesis import strategies as st

from fencepost.batching.vocabulary import FILLER, RESERVED, UNKNOWN, Labels, Vocabulary


@given(st.lists(st.none() | st.sampled_from(["S", "NP", "VP"])))
def test_each_label_has_a_number_of_its_own(labels: list[str | None]) -> None:
    collected = Labels.collect(labels)
    for label in {None, *labels}:
        number = collected.number(label)
        assert number is not None
        assert collected.label(number) == label
    assert collected.number(None) == FILLER
    assert collected.number("no_progress of") is None
    assert len(collected) == len({label for label in labels if label}) + 1


def test_rare_words_are_unknown() -> None:
    words = Vocabulary.collect(["a", "b", "a", "c", "c", "c"], min_count=2)
    assert words.items == ("c", "a")
    assert words.counts == (3, 2)
    assert (words.number("c"), words.number("b")) == (RESERVED, UNKNOWN)
    assert len(words) == RESERVED + 2
