from hypothesis import given
from hypothesis import strategies as st

from fencepost.structure import Span
from fencepost.tasks.labels import NO_LABELS, join, join_spans, split, split_spans
from tests.strategies import nested_spans


@given(st.lists(st.text("A+\\0é", max_size=4), max_size=4))
def test_splitting_undoes_joining(labels: list[str]) -> None:
    assert split(join(labels)) == tuple(labels)


@given(
    st.lists(st.text("A+\\0", max_size=3), max_size=3),
    st.lists(st.text("A+\\0", max_size=3), max_size=3),
)
def test_different_labels_are_joined_differently(one: list[str], other: list[str]) -> None:
    assert (join(one) == join(other)) == (one == other)


def test_the_empty_label_is_not_the_lack_of_one() -> None:
    assert join([""]) == ""
    assert join([]) == NO_LABELS
    assert split("") == ("",)
    assert split("+S") == ("", "S")


@given(nested_spans(6))
def test_spans_at_the_same_place_are_joined_and_split_again(spans: list[Span]) -> None:
    ordered = split_spans(join_spans(sorted(spans, key=lambda s: (s.start, -s.end))))
    assert ordered == tuple(sorted(spans, key=lambda s: (s.start, -s.end)))


def test_fillers_are_left_out() -> None:
    assert split_spans([Span(0, 2), Span(0, 1, "A+B")]) == (Span(0, 1, "A"), Span(0, 1, "B"))
