"""Trees become binary and come back."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.systems.binary import Binary, Numbered, binarised, restored
from fencepost.batching.vocabulary import FILLER
from fencepost.structure.span import Span, by_place
from tests.strategies import places

NAMES = (None, "A", "B", "C")


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[Numbered], int]:
    """Numbered spans that nest, one over all, some of them fillers below it; in any order."""
    n = draw(st.integers(1, 12))
    found = {(0, n): draw(st.integers(1, 3))}
    for place in draw(places(n)):
        found.setdefault(place, draw(st.integers(0, 3)))
    spans = [(start, end, label) for (start, end), label in found.items()]
    return draw(st.permutations(spans)), n


def slowly(spans: dict[tuple[int, int], int], start: int, end: int) -> Iterator[Binary]:
    """The nodes in pre-order: at each, all spans are looked through for the last child."""
    label = spans.get((start, end), FILLER)
    if end - start == 1:
        yield Binary(start, None, end, label)
        return
    # The last child is the longest span that ends here and is shorter, or else the last word.
    last = min((one for one, other in spans if other == end and one > start), default=end - 1)
    yield Binary(start, last, end, label)
    yield from slowly(spans, start, last)
    yield from slowly(spans, last, end)


@given(trees())
def test_nodes_are_those_of_the_definition(drawn: tuple[list[Numbered], int]) -> None:
    spans, n = drawn
    real = {(start, end): label for start, end, label in spans if label != FILLER}
    assert binarised(spans, n) == list(slowly(real, 0, n))


@given(trees())
def test_a_binary_tree_has_all_its_parts_in_pre_order(drawn: tuple[list[Numbered], int]) -> None:
    spans, n = drawn
    nodes = binarised(spans, n)
    assert len(nodes) == 2 * n - 1
    found = [Span(node.start, node.end) for node in nodes]
    assert found == by_place(found)
    assert found[0] == Span(0, n)
    for node in nodes:
        if node.split is None:
            assert node.end == node.start + 1
        else:
            borders = (node.start, node.split, node.end)
            assert all(Span(*place) in found for place in pairwise(borders))


@given(trees())
def test_a_tree_comes_back(drawn: tuple[list[Numbered], int]) -> None:
    spans, n = drawn
    wanted = [Span(start, end, NAMES[label]) for start, end, label in spans if label != FILLER]
    assert list(restored(binarised(spans, n), NAMES)) == by_place(wanted)


def test_a_flat_tree_is_split_from_its_end() -> None:
    nodes = binarised([(0, 4, 3), (1, 2, 2)], 4)
    assert [node.split for node in nodes if node.split is not None] == [3, 2, 1]
    assert [node.label for node in nodes] == [3, 0, 0, 0, 2, 0, 0]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_sentence_without_any_span_is_a_tree_of_nothing(n: int) -> None:
    nodes = binarised([(0, n, FILLER)], n)
    assert len(nodes) == 2 * n - 1
    assert restored(nodes, NAMES) == ()


def test_a_long_chain_to_the_right_takes_no_recursion() -> None:
    n = 3000
    nodes = binarised([(start, n, 1) for start in range(n)], n)
    assert len(nodes) == 2 * n - 1
    assert [node.split for node in nodes if node.split is not None] == list(range(1, n))
