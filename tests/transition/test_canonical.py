from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import TransitionError
from fencepost.structure import Span
from fencepost.transition import (
    CanonicalConfiguration,
    Configuration,
    Pointing,
    pointings,
    replay,
)
from tests.strategies import places

Derivation = tuple[Pointing, ...]


def derivations(configuration: CanonicalConfiguration) -> Iterator[Derivation]:
    """Every way to the end, with one label."""
    if configuration.plain.is_final:
        yield ()
        return
    candidates = configuration.candidates()
    assert candidates, "a dead end"
    for boundary in candidates:
        for filler in (False, True)[: 1 + configuration.may_be_filler(boundary)]:
            step = Pointing(boundary, None if filler else "X")
            for rest in derivations(configuration.point(boundary, filler=filler)):
                yield (step, *rest)


def labelled(derivation: Derivation) -> frozenset[Span]:
    return frozenset(span for span in replay(derivation) if span.label)


def all_nested(n: int) -> set[frozenset[Span]]:
    """Every set of spans over `n` words that nests, by brute force over all sets of places."""
    found: set[frozenset[Span]] = {frozenset()}
    for start in range(n):
        for end in range(start + 1, n + 1):
            fits = {
                spans | {Span(start, end, "X")}
                for spans in found
                if not any(
                    s.start < start < s.end < end or start < s.start < end < s.end for s in spans
                )
            }
            found |= fits
    return found


@pytest.mark.parametrize(("n", "trees"), [(1, 1), (2, 4), (3, 24), (4, 176), (5, 1_440)])
def test_derivations_and_trees_correspond_one_to_one(n: int, trees: int) -> None:
    made = list(map(labelled, derivations(CanonicalConfiguration(Configuration(n)))))
    assert len(made) == trees
    assert set(made) == {spans for spans in all_nested(n) if Span(0, n, "X") in spans}


@pytest.mark.parametrize(("n", "sets"), [(1, 2), (2, 8), (3, 48), (4, 352), (5, 2_880)])
def test_derivations_and_entity_sets_correspond_one_to_one(n: int, sets: int) -> None:
    start = CanonicalConfiguration(Configuration(n), open_root=True)
    made = list(map(labelled, derivations(start)))
    assert len(made) == sets
    assert set(made) == all_nested(n)


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), places(n))), st.booleans())
def test_the_oracle_is_canonical(drawn: tuple[int, list[tuple[int, int]]], open_root: bool) -> None:
    n, found = drawn
    root = None if open_root and (0, n) not in found else "S"
    spans = [Span(0, n, root), *(Span(*place, "X") for place in found if place != (0, n))]
    configuration = CanonicalConfiguration(Configuration(n), open_root=open_root)
    for boundary, label in pointings(spans):
        configuration = configuration.point(boundary, filler=label is None)
    assert configuration.plain.is_final


@pytest.mark.parametrize(
    ("before", "boundary", "filler"),
    [
        ([(1, True), (2, True), (3, False)], 0, False),  # rule 1
        ([(1, True)], 2, True),  # rule 2, if there are two words
        ([(1, False), (2, False)], 0, True),  # rules 3 and 4
        ([], 3, True),  # rule 4
    ],
)
def test_each_rule_forbids_its_step(
    before: list[tuple[int, bool]], boundary: int, filler: bool
) -> None:
    n = 2 if before == [(1, True)] else 3
    configuration = CanonicalConfiguration(Configuration(n))
    for step, is_filler in before:
        configuration = configuration.point(step, filler=is_filler)
    with pytest.raises(TransitionError, match="no canonical step"):
        configuration.point(boundary, filler=filler)
