from hypothesis import given
from hypothesis import strategies as st

from fencepost.batching.batches import by_words, gold_steps, padded, shuffled
from fencepost.batching.examples import Example

LENGTHS = st.lists(st.integers(1, 30), max_size=40)


@given(LENGTHS, st.integers(1, 100))
def test_every_sentence_is_in_one_batch_within_the_limit(lengths: list[int], most: int) -> None:
    for batches in (
        by_words(lengths, most=most),
        shuffled(range(len(lengths)), lengths, most=most, seed=3),
    ):
        assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
        for batch in batches:
            assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= most


@given(LENGTHS, st.integers(0, 5))
def test_the_seed_alone_decides_the_order(lengths: list[int], seed: int) -> None:
    items = range(len(lengths))
    once = shuffled(items, lengths, most=60, seed=seed)
    assert once == shuffled(items, lengths, most=60, seed=seed)


def test_other_seeds_give_other_batches() -> None:
    lengths = [5, 6, 7, 8] * 20
    items = range(len(lengths))
    assert shuffled(items, lengths, most=60, seed=1) != shuffled(items, lengths, most=60, seed=2)


def test_rows_are_padded_to_the_longest() -> None:
    assert padded([[1, 2], [], [3]], value=9).tolist() == [[1, 2], [9, 9], [3, 9]]
    assert padded([]).shape == (0, 0)


def test_only_rows_with_the_layer_have_steps() -> None:
    steps = ((1, 0), (2, 1), (0, 2))
    batch = [Example(("a", "b"), {}), Example(("c", "d"), {"tree": steps}, weight=0.5)]
    rows, gold = gold_steps(batch, "tree")
    assert rows == [1]
    assert gold.boundaries.tolist() == [[1, 2, 0]]
    assert gold.labels.tolist() == [[0, 1, 2]]
    assert gold.mask.tolist() == [[True] * 3]
    rows, none = gold_steps(batch, "entities")
    assert rows == []
    assert none.boundaries.shape == (0, 0)
