import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import TransitionError
from fencepost.structure import Span
from fencepost.structure.span import first_crossing
from fencepost.transition import Configuration

Quadruple = tuple[int, frozenset[int], int | None, frozenset[tuple[int, int]]]


def table_1(n: int, quadruple: Quadruple, a: int) -> Quadruple:
    """One action of the paper's Table 1, to the letter."""
    c, candidates, p, spans = quadruple
    if 0 <= a < c:  # Left-point-a
        return c, candidates - set(range(a, c)), a, spans | {(a, c)}
    assert c < a <= n  # Right-point-a
    pushed = candidates | ({p} if p is not None else set())
    return a, pushed - set(range(c, a)), c, spans | {(c, a)}


@st.composite
def walks(draw: st.DrawFn) -> tuple[int, list[int]]:
    """A number of words, and boundaries pointed to one after the other until the end."""
    n = draw(st.integers(1, 9))
    configuration, steps = Configuration(n), []
    while not configuration.is_final:
        steps.append(draw(st.sampled_from(configuration.candidates())))
        configuration = configuration.point(steps[-1])
    return n, steps


@given(walks())
def test_the_papers_quadruple_can_be_read_off_at_each_step(walk: tuple[int, list[int]]) -> None:
    n, steps = walk
    configuration = Configuration(n)
    quadruple: Quadruple = (0, frozenset(range(1, n + 1)), None, frozenset())
    made: frozenset[tuple[int, int]] = frozenset()
    for step in [None, *steps]:
        if step is not None:
            configuration = configuration.point(step)
            quadruple = table_1(n, quadruple, step)
        c, candidates, p, spans = quadruple
        made |= {(start, end) for start, end, _ in configuration.open_spans}
        assert configuration.cursor == c
        assert configuration.newest == p
        assert made == spans
        # Read literally, Table 1 leaves the cursor itself in A; its preconditions exclude it.
        if not configuration.is_final:
            assert set(configuration.candidates()) == candidates - {c}
    assert (0, n) in made


@given(walks())
def test_any_walk_ends_within_2n_minus_1_steps_in_spans_that_nest(
    walk: tuple[int, list[int]],
) -> None:
    n, steps = walk
    assert len(steps) <= 2 * n - 1
    configuration, spans = Configuration(n), []
    for step in steps:
        start, end = sorted((configuration.cursor, step))
        spans.append(Span(start, end))
        configuration = configuration.point(step)
    assert first_crossing(spans) is None
    assert len(set(spans)) == len(spans)
    assert spans[-1] == Span(0, n)


@given(walks())
def test_pointing_left_never_crosses_a_completed_span(walk: tuple[int, list[int]]) -> None:
    n, steps = walk
    configuration = Configuration(n)
    for step in steps:
        starts = {span.start for span in configuration.open_spans}
        assert step > configuration.cursor or step in starts
        configuration = configuration.point(step)


def test_a_final_configuration_has_no_candidates() -> None:
    assert Configuration(2).point(2).candidates() == ()


@pytest.mark.parametrize("boundary", [0, -1, 4])
def test_other_boundaries_are_refused(boundary: int) -> None:
    with pytest.raises(TransitionError, match=r"allowed: \(1, 2, 3\)"):
        Configuration(3).point(boundary)
