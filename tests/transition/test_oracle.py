from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import CrossingSpansError, DataError, TransitionError
from fencepost.structure import Span
from fencepost.transition import Configuration, Pointing, fill_gaps, pointings, replay
from tests.strategies import places


@st.composite
def spans(draw: st.DrawFn) -> list[Span]:
    """Spans at different places that nest, one of them over the whole sentence; in any order."""
    n = draw(st.integers(1, 10))
    found = {(0, n), *draw(places(n))}
    labels = st.sampled_from(["A", "B", None])
    return draw(st.permutations([Span(*place, draw(labels)) for place in found]))


@given(spans())
def test_replay_inverts_the_oracle(gold: list[Span]) -> None:
    assert replay(pointings(gold)) == fill_gaps(gold)


@given(spans())
def test_the_reference_walks_the_same_way(gold: list[Span]) -> None:
    configuration = Configuration(max(span.end for span in gold))
    for pointing, span in zip(pointings(gold), fill_gaps(gold), strict=True):
        assert {configuration.cursor, pointing.boundary} == {span.start, span.end}
        assert pointing.label == span.label
        configuration = configuration.point(pointing.boundary)
    assert configuration.is_final


@given(spans())
def test_filled_spans_are_segmented_by_their_children(gold: list[Span]) -> None:
    filled = fill_gaps(gold)
    assert set(gold) <= set(filled)
    n = max(span.end for span in gold)
    assert len(filled) <= 2 * n - 1
    for holder in filled:
        inside = [
            s for s in filled if s != holder and holder.start <= s.start and s.end <= holder.end
        ]
        children = [
            s
            for s in inside
            if not any(o != s and o.start <= s.start and s.end <= o.end for o in inside)
        ]
        if children:
            borders = sorted(children)
            assert borders[0].start == holder.start
            assert borders[-1].end == holder.end
            assert all(a.end == b.start for a, b in pairwise(borders))
        elif holder not in gold:
            assert holder.label is None


@given(spans())
def test_two_fillers_of_ours_are_never_neighbours_below_one_span(gold: list[Span]) -> None:
    added = [span for span in fill_gaps(gold) if span not in gold]
    for one in added:
        for other in added:
            if one.end == other.start:
                # Something labelled holds the one and not the other.
                assert any((s.start <= one.start) != (other.end <= s.end) for s in gold)


def walks(configuration: Configuration) -> Iterator[tuple[int, ...]]:
    if configuration.is_final:
        yield ()
    for boundary in configuration.candidates():
        for rest in walks(configuration.point(boundary)):
            yield (boundary, *rest)


@pytest.mark.parametrize("n", range(1, 6))
def test_the_oracle_is_the_only_walk_that_makes_its_spans(n: int) -> None:
    made: dict[frozenset[Span], tuple[int, ...]] = {}
    for walk in walks(Configuration(n)):
        found = frozenset(replay([Pointing(boundary) for boundary in walk]))
        assert found not in made
        made[found] = walk
    for found, walk in made.items():
        assert tuple(step.boundary for step in pointings(found)) == walk


def test_a_worked_example_goes_step_by_step() -> None:
    # (S Well (VP quickly (PP to town))): two fillers stand side by side on the stack.
    gold = [Span(0, 4, "S"), Span(1, 4, "VP"), Span(2, 4, "PP")]
    assert pointings(gold) == (
        Pointing(1),
        Pointing(2),
        Pointing(4, "PP"),
        Pointing(1, "VP"),
        Pointing(0, "S"),
    )


def test_no_words_take_no_steps() -> None:
    assert pointings([]) == ()
    assert replay([]) == ()


@pytest.mark.parametrize(
    ("gold", "error", "message"),
    [
        ([Span(0, 3, "A"), Span(0, 2, "B"), Span(1, 3, "C")], CrossingSpansError, "cross"),
        ([Span(0, 2, "A"), Span(0, 2, "B")], DataError, "cover the same words"),
        ([Span(0, 2, "A"), Span(2, 3, "B")], DataError, "whole sentence"),
        ([Span(1, 2, "A")], DataError, "whole sentence"),
    ],
)
def test_spans_that_cannot_be_pointed_to_are_refused(
    gold: list[Span], error: type[DataError], message: str
) -> None:
    with pytest.raises(error, match=message):
        pointings(gold)


@pytest.mark.parametrize(
    "steps",
    [
        [0],  # there is nothing to merge yet
        [2, 0],  # the newest span is there already
        [1, 2, 3, 1, 1],
        [2, 3, 1],  # no span starts there
        [2, 4, -1],
    ],
)
def test_steps_that_are_not_allowed_are_refused(steps: list[int]) -> None:
    with pytest.raises(TransitionError, match="points from"):
        replay([Pointing(step) for step in steps])


def test_steps_that_end_too_early_are_refused() -> None:
    with pytest.raises(TransitionError, match="before \\(0, 2\\) is complete"):
        replay([Pointing(1), Pointing(2)])


def test_a_hundred_thousand_words_and_ten_thousand_levels_pass() -> None:
    n = 100_000
    wide = [Span(0, n, "S"), *(Span(i, i + 1, "X") for i in range(0, n, 2))]
    assert len(replay(pointings(wide))) == n + 1
    deep = [Span(i, 10_000, "X") for i in range(10_000)]
    assert replay(pointings(deep)) == fill_gaps(deep)
