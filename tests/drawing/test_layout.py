from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.drawing.layout import children_of, lay_out
from fencepost.structure import Leaf, Tree
from tests.drawing.wild import deep, trees


@st.composite
def sized(draw: st.DrawFn) -> tuple[Tree, list[int], list[int]]:
    """A tree with sizes for its labels and words."""
    tree = draw(trees())
    sizes = st.integers(0, 12)
    labels = [draw(sizes) for _ in tree.spans]
    return tree, labels, [draw(sizes) for _ in tree.words]


@given(trees())
def test_children_are_those_of_the_tree(tree: Tree) -> None:
    found = children_of(tree.spans, tree.start, tree.end)
    first = len(tree.spans)
    for node, below in zip(tree, found, strict=True):
        expected = [
            (child.start, child.end, None if isinstance(child, Leaf) else child.spans)
            for child in node.children
        ]
        told = [
            (tree.start + item - first, tree.start + item - first + 1, None)
            if item >= first
            else (*tree.spans[item][:2], list(tree)[item].spans)
            for item in below
        ]
        assert told == expected


@given(sized(), st.integers(0, 3), st.booleans())
def test_labels_are_centred_over_their_children(
    drawn: tuple[Tree, list[int], list[int]], gap: int, whole: bool
) -> None:
    tree, labels, words = drawn
    layout = lay_out(tree, labels, words, gap=gap, whole=whole)
    for index, below in enumerate(layout.children):
        places = [layout.centres[child] for child in below]
        assert places == sorted(places)
        off = layout.centres[index] - (places[0] + places[-1]) / 2
        assert -0.5 <= off <= 0.5 if whole else abs(off) < 1e-6
        assert layout.rows[index] == 1 + max(layout.rows[child] for child in below)
    assert not any(layout.rows[len(labels) :])
    if whole:
        assert all(centre == int(centre) for centre in layout.centres)


@given(sized(), st.integers(0, 3), st.booleans())
def test_no_two_texts_of_a_row_touch(
    drawn: tuple[Tree, list[int], list[int]], gap: int, whole: bool
) -> None:
    tree, labels, words = drawn
    layout = lay_out(tree, labels, words, gap=gap, whole=whole)
    rows: dict[int, list[tuple[float, float]]] = {}
    for row, centre, size in zip(layout.rows, layout.centres, [*labels, *words], strict=True):
        left = centre - (size // 2 if whole else size / 2)
        assert -1e-6 <= left <= left + size <= layout.width + 1e-6
        rows.setdefault(row, []).append((left, left + size))
    for texts in rows.values():
        for (_, end), (start, _) in pairwise(sorted(texts)):
            assert start - end >= gap - 1e-6


@given(sized())
def test_the_way_down_to_a_child_is_free(drawn: tuple[Tree, list[int], list[int]]) -> None:
    tree, labels, words = drawn
    layout = lay_out(tree, labels, words, gap=2)
    sizes = [*labels, *words]
    for index, below in enumerate(layout.children):
        for child in below:
            x = layout.centres[child]
            between = range(layout.rows[child] + 1, layout.rows[index])
            for other, row in enumerate(layout.rows):
                if row in between:
                    assert abs(layout.centres[other] - x) >= sizes[other] / 2 + 1


def test_a_word_alone_has_a_place() -> None:
    layout = lay_out(Tree.from_brackets("(NN cat)"), [], [3], gap=2)
    assert (layout.children, layout.levels, layout.centres, layout.width) == ([], 0, [1.5], 3)


def test_depth_does_not_matter() -> None:
    tree = deep(10_000)
    layout = lay_out(tree, [1] * len(tree.spans), [1] * len(tree), gap=1)
    assert layout.levels == 10_000
    assert layout.width == pytest.approx(2 * 10_001 - 1)
