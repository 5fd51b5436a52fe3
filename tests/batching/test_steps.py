"""Steps as numbers stand for the same spans as the pointings that they come from."""

from hypothesis import given
from hypothesis import strategies as st

from fencepost.batching.steps import UNKNOWN, Numbered, Steps, numbered, places
from fencepost.batching.vocabulary import FILLER, Labels
from fencepost.structure import Span
from fencepost.transition import Pointing, fill_gaps, pointings, replay
from tests.strategies import places as nested_places

LABELS = Labels(("S", "NP", "VP"))


@st.composite
def whole(draw: st.DrawFn) -> list[Span]:
    """Nested spans with known labels, at most one on the same words, under a root or a filler."""
    n = draw(st.integers(1, 8))
    labels = st.sampled_from(LABELS.names)
    spans = [Span(*place, draw(labels)) for place in draw(nested_places(n)) if place != (0, n)]
    return [Span(0, n, draw(st.none() | labels)), *spans]


def replayed(steps: Numbered) -> tuple[Span, ...]:
    return replay(Pointing(boundary, LABELS.label(label)) for boundary, label in steps)


@given(whole())
def test_numbered_steps_replay_to_the_same_spans(spans: list[Span]) -> None:
    n = spans[0].end
    found = replayed(numbered(spans, LABELS))
    assert found == fill_gaps(spans)
    assert {span for span in found if span.label is not None} == set(spans) - {Span(0, n)}


@given(whole())
def test_labels_that_the_head_lacks_are_unknown_and_fillers_are_not(spans: list[Span]) -> None:
    steps = numbered(spans, Labels(("S",)))
    for (boundary, number), step in zip(steps, pointings(spans), strict=True):
        assert boundary == step.boundary
        assert number == {None: FILLER, "S": 1}.get(step.label, UNKNOWN)


@given(st.lists(whole(), max_size=4))
def test_a_batch_of_steps_has_the_places_of_each(golds: list[list[Span]]) -> None:
    parses = [numbered(spans, LABELS) for spans in golds]
    steps = Steps.of(parses)
    longest = max(map(len, parses), default=0)
    for column in (steps.boundaries, steps.labels, steps.cursors, steps.starts, steps.ends):
        assert column.shape == (len(parses), longest)
    assert steps.mask.shape == (len(parses), longest)
    assert steps.counts.tolist() == [len(one) for one in parses]
    for row, one in enumerate(parses):
        count = len(one)
        assert steps.mask[row].tolist() == [True] * count + [False] * (longest - count)
        columns = (steps.starts, steps.ends, steps.labels)
        found = zip(*(column[row, :count].tolist() for column in columns), strict=True)
        assert list(found) == places(one)
        spans = [Span(start, end, LABELS.label(label)) for start, end, label in places(one)]
        assert tuple(spans) == replayed(one)
        before = [0, *(span.end for span in spans)][:count]
        assert steps.cursors[row, :count].tolist() == before
        assert not steps.boundaries[row, count:].any()
        assert not steps.labels[row, count:].any()
