"""The dynamic oracle against all that can be done from every configuration."""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.systems.dynamic_oracle import best_places, best_step, best_steps, reachable
from fencepost.errors import TransitionError
from fencepost.structure import Span
from fencepost.transition import Configuration, Pointing, pointings
from tests.strategies import places

Place = tuple[int, int]
SIZES = [1, 2, 3, 4, 5, pytest.param(6, marks=pytest.mark.slow)]


@cache
def nested(start: int, end: int) -> tuple[frozenset[Place], ...]:
    """Every set of places that nests, with the place of all these words among them."""
    whole = frozenset({(start, end)})
    found = {whole}
    for count in range(1, 1 << (end - start - 1)):
        cuts = [start + 1 + bit for bit in range(end - start - 1) if count >> bit & 1]
        parts = [
            (frozenset[Place](), *nested(a, b)) if b - a < 2 else nested(a, b) + loose(a, b)
            for a, b in pairwise((start, *cuts, end))
        ]
        found |= {whole.union(*sets) for sets in product(*parts)}
    return tuple(found)


def loose(start: int, end: int) -> tuple[frozenset[Place], ...]:
    """The same without the place of all these words."""
    return tuple(one - {(start, end)} for one in nested(start, end))


@cache
def table(n: int) -> list[tuple[Configuration, dict[int, tuple[Place, int]]]]:
    """Every configuration with its steps: the places that they complete, and what comes after.

    What a step leads to stands before it, so that values can be computed in one pass.
    """
    found: list[tuple[Configuration, dict[int, tuple[Place, int]]]] = []
    numbers: dict[Configuration, int] = {}

    def visit(here: Configuration) -> None:
        steps = {}
        for boundary in here.candidates():
            after = here.point(boundary)
            if after not in numbers:
                visit(after)
            place = (min(here.cursor, boundary), max(here.cursor, boundary))
            steps[boundary] = (place, numbers[after])
        numbers[here] = len(found)
        found.append((here, steps))

    visit(Configuration(n))
    return found


def most(n: int, gold: frozenset[Place]) -> list[int]:
    """How many more gold spans can be made from each configuration, by trying all steps."""
    values: list[int] = []
    for _, steps in table(n):
        values.append(
            max([(place in gold) + values[after] for place, after in steps.values()], default=0)
        )
    return values


@pytest.mark.parametrize(("n", "count"), [(1, 1), (2, 4), (3, 24), (4, 176), (5, 1_440)])
def test_all_sets_of_places_are_tried(n: int, count: int) -> None:
    assert len(nested(0, n)) == count
    assert len(table(n)) == 2**n


@pytest.mark.parametrize("n", range(1, 8))
def test_a_span_is_reachable_if_some_way_makes_it(n: int) -> None:
    for start in range(n):
        for end in range(start + 1, n + 1):
            values = most(n, frozenset({(start, end)}))
            for (here, _), value in zip(table(n), values, strict=True):
                assert len(reachable(here, [Span(start, end, "X")])) == value


@pytest.mark.parametrize("n", SIZES)
def test_the_best_step_loses_nothing_that_can_still_be_made(n: int) -> None:
    # Only what can still be made decides on a step, and many gold sets leave the same.
    step_to = cache(best_step)
    for gold in nested(0, n):
        spans = [Span(*place, "X") for place in sorted(gold)]
        values = most(n, gold)
        for (here, steps), value in zip(table(n), values, strict=True):
            wanted = reachable(here, spans)
            # All that can be made one by one can be made together.
            assert len(wanted) == value
            if steps:
                boundary, label = step_to(here, wanted)
                place, after = steps[boundary]
                assert (place in gold) + values[after] == value
                assert label == ("X" if place in gold else None)


@st.composite
def walks(draw: st.DrawFn, most: int = 12) -> tuple[int, list[Span], list[Pointing]]:
    """A number of words, gold spans in any order, and some way to the end of the sentence."""
    n = draw(st.integers(1, most))
    root = Span(0, n, draw(st.sampled_from(["S", None])))
    inside = draw(places(n))
    labels = st.sampled_from(["A", "B"])
    gold = [root, *(Span(*place, draw(labels)) for place in inside if place != (0, n))]
    path = []
    here = Configuration(n)
    while not here.is_final:
        # Steps of the oracle, too, or most ways would lose everything at once.
        best = [best_step(here, gold).boundary] * draw(st.integers(0, 1))
        path.append(Pointing(draw(st.sampled_from(best or here.candidates()))))
        here = here.point(path[-1].boundary)
    return n, draw(st.permutations(gold)), path


def configurations(n: int, path: list[Pointing]) -> Iterator[Configuration]:
    """Those before each step of a path."""
    here = Configuration(n)
    for boundary, _ in path:
        yield here
        here = here.point(boundary)


@given(walks())
def test_the_fast_twin_finds_the_same_steps(
    walk: tuple[int, list[Span], list[Pointing]],
) -> None:
    n, gold, path = walk
    expected = [best_step(here, gold) for here in configurations(n, path)]
    assert best_steps(path, gold, n) == expected


@given(walks())
def test_each_place_is_the_one_that_pointing_there_completes(
    walk: tuple[int, list[Span], list[Pointing]],
) -> None:
    n, gold, path = walk
    ordered = sorted(((span.start, span.end) for span in gold), key=lambda at: (at[1], -at[0]))
    found = best_places([boundary for boundary, _ in path], ordered, n)
    for here, (boundary, start, end) in zip(configurations(n, path), found, strict=True):
        assert boundary in here.candidates()
        assert (start, end) == (min(here.cursor, boundary), max(here.cursor, boundary))


@given(walks(most=25))
def test_on_the_gold_path_it_is_the_ordinary_oracle(
    walk: tuple[int, list[Span], list[Pointing]],
) -> None:
    n, gold, _ = walk
    path = pointings(gold)
    assert best_steps(path, gold, n) == list(path)


@given(walks())
def test_following_it_makes_all_that_was_reachable(
    walk: tuple[int, list[Span], list[Pointing]],
) -> None:
    n, gold, path = walk
    for here in configurations(n, path):
        wanted, made = set(reachable(here, gold)), set()
        while not here.is_final:
            boundary, label = best_step(here, gold)
            made.add(Span(min(here.cursor, boundary), max(here.cursor, boundary), label))
            here = here.point(boundary)
        assert wanted <= made
        assert {span for span in made if span.label is not None} <= wanted


def test_a_wrong_step_costs_what_it_crosses() -> None:
    # (S (NP 0 1) (VP 2 (NP 3 4))), where (1, 3) was made first.
    gold = [Span(0, 5, "S"), Span(0, 2, "NP"), Span(2, 5, "VP"), Span(3, 5, "NP")]
    here = Configuration(5).point(1).point(3)
    assert reachable(here, gold) == (Span(0, 5, "S"), Span(3, 5, "NP"))
    assert best_step(here, gold) == Pointing(5, "NP")
    path = [Pointing(1), Pointing(3, "NP"), Pointing(4), Pointing(5), Pointing(3), Pointing(0)]
    assert best_steps(path, gold, 5) == [
        Pointing(2, "NP"),
        Pointing(2),
        Pointing(5, "NP"),
        Pointing(5),
        Pointing(3, "NP"),
        Pointing(0, "S"),
    ]


@given(walks())
def test_only_what_can_still_be_made_decides_on_a_step(
    walk: tuple[int, list[Span], list[Pointing]],
) -> None:
    n, gold, path = walk
    for here in configurations(n, path):
        assert best_step(here, gold) == best_step(here, reachable(here, gold))


def test_a_complete_parse_has_no_next_step() -> None:
    with pytest.raises(TransitionError, match="complete"):
        best_step(Configuration(2).point(2), [Span(0, 2, "S")])


def test_a_deep_tree_of_ten_thousand_words_takes_no_time() -> None:
    n = 10_000
    gold = [Span(start, n, "X") for start in range(n)]
    path = [*(Pointing(end) for end in range(1, n + 1)), Pointing(0)]
    assert best_steps(path, gold, n)[-1] == Pointing(n - 2, "X")
