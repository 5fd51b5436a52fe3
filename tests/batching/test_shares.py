"""Sentences are dealt out so that nobody has much more to do."""

from hypothesis import given
from hypothesis import strategies as st

from fencepost.batching.batches import shares

LENGTHS = st.lists(st.integers(1, 60), max_size=40)


@given(LENGTHS, st.integers(1, 9))
def test_every_sentence_is_in_one_share(lengths: list[int], parts: int) -> None:
    dealt = shares(lengths, parts)
    assert len(dealt) == parts
    assert sorted(index for share in dealt for index in share) == list(range(len(lengths)))


@given(LENGTHS, st.integers(1, 9))
def test_no_two_shares_differ_by_more_than_the_longest_sentence(
    lengths: list[int], parts: int
) -> None:
    words = [sum(lengths[index] for index in share) for share in shares(lengths, parts)]
    assert max(words) - min(words) <= max(lengths, default=0)


@given(LENGTHS, st.integers(1, 9))
def test_a_share_keeps_the_order_of_the_batch(lengths: list[int], parts: int) -> None:
    for share in shares(lengths, parts):
        assert share == sorted(share)


@given(LENGTHS)
def test_one_part_is_the_batch_itself(lengths: list[int]) -> None:
    assert shares(lengths, 1) == [list(range(len(lengths)))]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=40), st.integers(1, 9))
def test_a_share_is_empty_only_where_there_are_too_few(lengths: list[int], parts: int) -> None:
    assert sum(map(bool, shares(lengths, parts))) == min(len(lengths), parts)
