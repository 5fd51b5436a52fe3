from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fencepost.structure import Span
from fencepost.structure.span import (
    by_place,
    drop_crossing,
    first_crossing,
    holders_of,
    in_order,
    spans_of,
)
from tests.strategies import nested_spans

SPANS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(1, 4), st.sampled_from("AB")).map(
        lambda row: Span(row[0], row[0] + row[1], row[2])
    ),
    max_size=6,
)


def cross(one: Span, other: Span) -> bool:
    return one.start < other.start < one.end < other.end or (
        other.start < one.start < other.end < one.end
    )


@given(SPANS)
def test_a_crossing_is_found_exactly_if_some_pair_crosses(spans: list[Span]) -> None:
    found = first_crossing(spans)
    assert (found is not None) == any(cross(a, b) for a in spans for b in spans)
    if found:
        assert cross(*found)


@given(SPANS)
def test_what_is_kept_nests_and_nothing_is_lost(spans: list[Span]) -> None:
    kept, dropped = drop_crossing(spans)
    assert first_crossing(kept) is None
    assert sorted(kept + dropped) == sorted(spans)
    assert all(any(cross(span, other) for other in kept) for span in dropped)


@given(nested_spans(6))
def test_nothing_is_dropped_from_spans_that_nest(spans: list[Span]) -> None:
    assert drop_crossing(spans)[1] == ()


@given(SPANS)
def test_holders_come_before_what_they_hold(spans: list[Span]) -> None:
    ordered = by_place(spans)
    assert sorted(ordered) == sorted(spans)
    assert ordered == sorted(ordered, key=lambda s: (s.start, -s.end))
    assert list(in_order(spans)) == sorted(spans, key=lambda s: (s.start, -s.end, s.label or ""))


def test_spans_made_in_bulk_are_spans() -> None:
    (span,) = spans_of([(0, 2, "NP")])
    assert isinstance(span, Span)
    assert span == Span(0, 2, "NP")


def test_a_span_prints_its_place_and_label() -> None:
    assert str(Span(0, 2, "NP")) == "(0, 2) NP"
    assert str(Span(0, 2)) == "(0, 2) ∅"


@given(nested_spans(7))
def test_the_holder_is_the_smallest_around(spans: list[Span]) -> None:
    ordered = by_place(spans)
    for index, holder in enumerate(holders_of(ordered)):
        span = ordered[index]
        around = [o for o in ordered[:index] if o.start <= span.start and span.end <= o.end]
        assert (None if holder is None else ordered[holder]) == (around[-1] if around else None)
        assert all(one.end - one.start >= two.end - two.start for one, two in pairwise(around))
