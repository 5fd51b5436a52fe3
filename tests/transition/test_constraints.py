import time
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fencepost.errors import ConstraintError, TransitionError
from fencepost.structure import Span
from fencepost.structure.tree import WRAPPERS
from fencepost.tasks.labels import split
from fencepost.transition import (
    CanonicalConfiguration,
    Configuration,
    ConstrainedConfiguration,
    Constraints,
)
from fencepost.transition.constraints import Reach
from tests.strategies import places
from tests.transition.test_canonical import all_nested

KNOWN = {chain: split(chain) for chain in ("A", "B", "A+B")}
ONE = {"A": ("A",)}
Chains = frozenset[tuple[int, int, str]]  # the labelled spans of a parse


@st.composite
def constraints(draw: st.DrawFn, n: int, labels: tuple[str, ...] = ("A", "B")) -> Constraints:
    """Anything that can be asked of a parse, contradictions included; musts do not cross."""
    label = st.none() | st.sampled_from(labels)
    spans = all_places(n)
    often = st.integers(0, draw(st.sampled_from([0, 1, 8]))).map(bool)  # never, half, nearly always
    must = [(*place, draw(label)) for place in draw(places(n)) if draw(st.booleans())]
    # Often those that can be crossed: neither words nor the whole.
    wide = [(start, end) for start, end in spans if 1 < end - start < n] or spans
    place = st.sampled_from(wide) | st.sampled_from(spans)
    uncrossed = draw(st.lists(place, min_size=draw(st.integers(0, 2)), max_size=3))
    if draw(st.booleans()):
        uncrossed = [p for p in uncrossed if not any(cross(p, span[:2]) for span in must)]
    return Constraints.of(
        must=must,
        forbid=[(*place, draw(label)) for place in spans if draw(often)],
        labels=draw(st.none() | st.sets(st.sampled_from(labels), min_size=1)),
        root=draw(st.none() | st.sampled_from(labels)),
        uncrossed=uncrossed,
    )


def all_places(n: int) -> list[tuple[int, int]]:
    return [(start, end) for start in range(n) for end in range(start + 1, n + 1)]


def cross(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two places share words, and each has words of its own."""
    first, second = set(range(*one)), set(range(*other))
    return bool(first & second and first - second and second - first)


def start(
    asked: Constraints, n: int, *, known: Mapping[str, tuple[str, ...]], open_root: bool = False
) -> ConstrainedConfiguration:
    limits = asked.limits(known, n, open_root=open_root)
    first = CanonicalConfiguration(Configuration(n), open_root=open_root)
    return ConstrainedConfiguration(first, limits)


def walks(configuration: ConstrainedConfiguration) -> Iterator[Chains]:
    """The labelled spans at the end of every walk."""
    if configuration.canonical.plain.is_final:
        assert configuration.candidates() == ()
        yield frozenset()
        return
    candidates = configuration.candidates()
    assert candidates, "a dead end"
    cursor = configuration.canonical.plain.cursor
    for boundary in candidates:
        labels: list[str | None] = [*configuration.chains(boundary)]
        labels += [None] * configuration.may_be_filler(boundary)
        assert labels, "a dead end"
        for label in labels:
            made: Chains = frozenset()
            if label is not None:
                made = frozenset({(min(cursor, boundary), max(cursor, boundary), label)})
            for rest in walks(configuration.point(boundary, label)):
                yield made | rest


@cache
def parses(n: int, chains: tuple[str, ...], open_root: bool) -> tuple[Chains, ...]:
    """All there are, by brute force."""
    return tuple(
        frozenset((span.start, span.end, chain) for span, chain in zip(spans, chosen, strict=True))
        for spans in all_nested(n)
        if open_root or Span(0, n, "X") in spans
        for chosen in product(chains, repeat=len(spans))
    )


def obeys(parse: Chains, asked: Constraints, n: int, *, open_root: bool) -> bool:
    """Whether a parse does what was asked, read from its spans alone."""
    found = {(begin, end): split(chain) for begin, end, chain in parse}
    for begin, end, label in asked.must:
        if (begin, end) not in found or (label is not None and label not in found[begin, end]):
            return False
    for begin, end, label in asked.forbid:
        if (begin, end) in found and (label is None or label in found[begin, end]):
            return False
    if any(cross(place, other) for place in found for other in asked.uncrossed):
        return False
    if asked.labels is not None and not all(asked.labels.issuperset(x) for x in found.values()):
        return False
    whole = found.get((0, n), ())
    return asked.root is None or asked.root in (whole if open_root else whole[:1])


def check(
    asked: Constraints, n: int, *, known: Mapping[str, tuple[str, ...]], open_root: bool
) -> None:
    obeying = {
        parse
        for parse in parses(n, tuple(known), open_root)
        if obeys(parse, asked, n, open_root=open_root)
    }
    try:
        first = start(asked, n, known=known, open_root=open_root)
    except ConstraintError:
        assert not obeying
    else:
        assert set(walks(first)) == obeying
        assert obeying


@given(
    st.integers(1, 3).flatmap(lambda n: st.tuples(st.just(n), constraints(n))),
    st.booleans(),
)
@example((3, Constraints.of(must=[(0, 2, None)], uncrossed=[(1, 3)])), False)
def test_walks_end_in_the_parses_that_obey_and_in_all_of_them(
    drawn: tuple[int, Constraints], open_root: bool
) -> None:
    n, asked = drawn
    check(asked, n, known=KNOWN, open_root=open_root)


@given(constraints(4, ("A",)), st.booleans())
def test_walks_over_four_words_end_in_the_parses_that_obey(
    asked: Constraints, open_root: bool
) -> None:
    check(asked, 4, known=ONE, open_root=open_root)


@pytest.mark.slow
@given(constraints(5, ("A",)), st.booleans())
@settings(max_examples=40)
def test_walks_over_five_words_end_in_the_parses_that_obey(
    asked: Constraints, open_root: bool
) -> None:
    check(asked, 5, known=ONE, open_root=open_root)


@given(st.integers(1, 4), st.booleans())
def test_where_nothing_is_asked_the_canonical_steps_are_left(n: int, open_root: bool) -> None:
    waiting = [start(Constraints(), n, known=ONE, open_root=open_root)]
    while waiting:
        configuration = waiting.pop()
        canonical = configuration.canonical
        assert configuration.candidates() == canonical.candidates()
        for boundary in canonical.candidates():
            assert configuration.chains(boundary) == ("A",)
            assert configuration.may_be_filler(boundary) == canonical.may_be_filler(boundary)
            waiting.append(configuration.point(boundary, "A"))
            if canonical.may_be_filler(boundary):
                waiting.append(configuration.point(boundary, None))


@pytest.mark.parametrize(
    ("asked", "steps", "boundary", "label"),
    [
        # (a): (0, 2) is still to be made
        (Constraints.of(must=[(0, 2, None)]), [(1, "A"), (2, "A")], 3, "A"),
        # (b): beyond the start of a must, beyond the end of one
        (Constraints.of(must=[(1, 3, None)]), [], 2, "A"),
        (Constraints.of(must=[(0, 2, None)]), [(1, "A")], 3, "A"),
        # (c): across an open must, across one that the cursor is within
        (Constraints.of(must=[(1, 3, None)]), [(1, "A"), (2, "A"), (3, "A")], 0, "A"),
        (Constraints.of(must=[(1, 4, None)]), [(1, "A"), (2, "A"), (3, "A")], 0, "A"),
        # (d): what is forbidden, and a must without a label
        (Constraints.of(forbid=[(0, 2, None)]), [(1, "A"), (2, "A")], 0, "A"),
        (Constraints.of(forbid=[(0, 2, None)]), [], 2, "A"),
        (Constraints.of(must=[(0, 2, None)]), [], 2, None),
        # (e): two fillers, where a must would be merged of nothing else
        (Constraints.of(must=[(0, 2, None)]), [(1, None)], 2, None),
        # (d): across an uncrossed place, bottom-most or merged
        (Constraints.of(uncrossed=[(1, 3)]), [], 2, "A"),
        (Constraints.of(uncrossed=[(1, 3)]), [(1, "A"), (2, "A")], 0, "A"),
        (Constraints.of(uncrossed=[(0, 2)]), [(1, "A")], 4, "A"),
        # other labels than those that are left
        (Constraints.of(must=[(0, 2, "A")]), [], 2, "B"),
    ],
)
def test_each_rule_forbids_its_step(
    asked: Constraints, steps: list[tuple[int, str | None]], boundary: int, label: str | None
) -> None:
    configuration = start(asked, 4, known=KNOWN)
    for step in steps:
        configuration = configuration.point(*step)
    with pytest.raises(TransitionError, match=f"to {boundary} with the label {label}"):
        configuration.point(boundary, label)


def test_canonical_rules_are_lifted_where_they_leave_nothing() -> None:
    # With (1, 2) left out, only a second filler beside the first one leads to (0, 2).
    asked = Constraints.of(must=[(0, 2, None)], forbid=[(1, 2, None)])
    configuration = start(asked, 3, known=ONE).point(1, None)
    assert configuration.candidates() == (2,)
    assert configuration.may_be_filler(2)
    assert configuration.point(2, None).candidates() == (0,)


def test_an_uncrossed_place_need_not_be_a_span() -> None:
    first = start(Constraints.of(uncrossed=[(1, 3)]), 4, known=ONE)
    whole = frozenset({(0, 4, "A")})
    walked = set(walks(first))
    assert whole in walked
    assert whole | {(1, 3, "A")} in walked
    assert whole | {(0, 3, "A"), (1, 2, "A")} in walked


def test_a_filler_may_cross_what_no_label_may() -> None:
    configuration = start(Constraints.of(uncrossed=[(1, 3)]), 4, known=ONE).point(2, None)
    # Beside a filler, one that ends the sentence is not allowed, and (2, 4) has no label.
    assert configuration.chains(4) == ()
    assert configuration.candidates() == (3,)


def test_places_that_cross_each_other_may_both_be_uncrossed() -> None:
    asked = Constraints.of(uncrossed=[(0, 2), (1, 3)])
    for parse in walks(start(asked, 3, known=ONE)):
        assert {(0, 2, "A"), (1, 3, "A")}.isdisjoint(parse)


@given(
    st.integers(1, 9).flatmap(
        lambda n: st.tuples(st.just(n), st.lists(st.sampled_from(all_places(n)), max_size=8))
    )
)
@example((6, [(0, 3), (2, 6), (1, 2), (2, 4), (0, 6)]))
def test_two_boundaries_for_each_tell_which_spans_cross(
    drawn: tuple[int, list[tuple[int, int]]],
) -> None:
    n, uncrossed = drawn
    reach = Reach.of(uncrossed, n)
    for place in all_places(n):
        assert reach.crosses(*place) == any(cross(place, other) for other in uncrossed)
    assert not reach.crosses(0, n)


def test_a_long_sentence_with_a_deep_tree_takes_little_time() -> None:
    n = 3_000
    deep = [(depth // 2, n - (depth + 1) // 2) for depth in range(n)]  # a word less each time
    asked = Constraints.of(must=[(7, 8, "A")], uncrossed=deep)
    began = time.process_time()
    limits = asked.limits(KNOWN, n, open_root=True)
    # A hundredth of it is enough. Asking all places about all others would take minutes.
    assert time.process_time() - began < 2
    assert limits.chains(0, n) == limits.chains(9, n - 9) == limits.chains(8, 9) == tuple(KNOWN)
    assert limits.chains(0, 7) == limits.chains(9, n) == ()
    assert limits.chains(7, 8) == ("A", "A+B")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (Constraints.of(must=[(2, 6, "NP")]), r"^must \(2, 6\) NP is not a span .* 5 words"),
        (Constraints.of(forbid=[(2, 2, None)]), r"^forbid \(2, 2\) is not a span .* end <= 5$"),
        (
            Constraints.of(uncrossed=[(0, 2), (3, 6)]),
            r"^uncrossed \(3, 6\) is not a span .* 5 words",
        ),
        (Constraints.of(uncrossed=[(-1, 2)]), r"^uncrossed \(-1, 2\) is not a span"),
        (
            Constraints.of(
                must=[(0, 5, None), (2, 5, None), (2, 4, "NP")], uncrossed=[(2, 4), (4, 5), (1, 3)]
            ),
            r"^must \(2, 5\) and uncrossed \(1, 3\) cross; no span with a label may cross",
        ),
        (
            Constraints.of(must=[(0, 2, "NP")], uncrossed=[(1, 3)]),
            r"^must \(0, 2\) NP and uncrossed \(1, 3\) cross",
        ),
        (
            Constraints.of(must=[(0, 3, "NP"), (0, 1, None), (2, 4, None)]),
            r"^must \(0, 3\) NP and must \(2, 4\) cross",
        ),
        (
            Constraints.of(must=[(0, 2, None)], forbid=[(0, 2, "VP"), (0, 2, None)]),
            r"^must \(0, 2\) and forbid \(0, 2\) contradict .* no label of the model .* \(0, 2\)$",
        ),
        (
            Constraints.of(must=[(0, 2, "NP"), (0, 2, "VP")], root="S"),
            r"^must \(0, 2\) NP and must \(0, 2\) VP contradict",
        ),
        (
            Constraints.of(must=[(0, 2, "NP")], labels=["VP", "S"]),
            r"^must \(0, 2\) NP and labels \['S', 'VP'\] contradict",
        ),
        (
            Constraints.of(must=[(0, 2, "VP")], forbid=[(0, 2, "S"), (0, 2, "VP")]),
            r"^must \(0, 2\) VP and forbid \(0, 2\) VP contradict",
        ),
        (Constraints.of(must=[(0, 2, "QP")]), r"^must \(0, 2\) QP leaves no label of the model"),
        (
            Constraints.of(root="S", forbid=[(0, 5, "S")]),
            r"^forbid \(0, 5\) S and root 'S' contradict each other: .* for \(0, 5\)$",
        ),
        (
            Constraints.of(root="S", must=[(0, 5, "S")], forbid=[(0, 5, None)]),
            r"^must \(0, 5\) S and forbid \(0, 5\) contradict",
        ),
        (Constraints.of(root="QP"), r"^root 'QP' leaves no label"),
        (Constraints.of(labels=["QP"]), r"^labels \['QP'\] leaves no label"),
        (Constraints.of(forbid=[(0, 5, None)]), r"^forbid \(0, 5\) leaves no label"),
        (
            Constraints.of(must=[(1, 2, None)], labels=["S"], forbid=[(1, 2, "S")]),
            r"^must \(1, 2\) and forbid \(1, 2\) S and labels \['S'\] contradict",
        ),
    ],
)
def test_contradictions_are_named(asked: Constraints, message: str) -> None:
    known = {chain: split(chain) for chain in ("S", "NP", "VP", "S+VP")}
    with pytest.raises(ConstraintError, match=message):
        asked.limits(known, 5, open_root=False)


def test_a_tree_of_words_alone_needs_no_labels_for_its_fillers() -> None:
    known = {"S": ("S",), "NP": ("NP",)}
    limits = Constraints.of(labels=["S"], forbid=[(0, 1, "S")]).limits(known, 2, open_root=False)
    assert limits.chains(0, 1) == ()
    assert limits.chains(1, 2) == limits.chains(0, 2) == ("S",)


def test_without_any_labels_a_model_has_no_tree() -> None:
    with pytest.raises(ConstraintError, match=r"^the model leaves no label"):
        Constraints().limits({}, 2, open_root=False)


def test_entities_may_all_be_forbidden() -> None:
    first = start(Constraints.of(labels=[]), 3, known=KNOWN, open_root=True)
    assert set(walks(first)) == {frozenset()}


def test_a_whole_sentence_that_must_be_there_is_an_entity_but_any_tree() -> None:
    asked = Constraints.of(must=[(0, 1, None)])
    known = {"A": ("A",), r"\0": ()}
    assert asked.limits(known, 1, open_root=False).chains(0, 1) == ("A", r"\0")
    assert asked.limits(known, 1, open_root=True).chains(0, 1) == ("A",)
    assert not start(asked, 1, known=known, open_root=True).may_be_filler(1)
    rooted = start(Constraints.of(root="A"), 1, known=KNOWN, open_root=True)
    assert not rooted.may_be_filler(1)
    assert rooted.chains(1) == ("A", "A+B")


@pytest.mark.parametrize("wrapper", sorted(WRAPPERS))
def test_the_wrapper_of_a_tree_does_not_count(wrapper: str) -> None:
    chains = (f"{wrapper}+S", f"{wrapper}+S+VP", f"{wrapper}+NP", "S", "VP+S", wrapper)
    known = {chain: split(chain) for chain in chains}
    rooted = Constraints.of(root="S").limits(known, 2, open_root=False)
    assert rooted.chains(0, 2) == (f"{wrapper}+S", f"{wrapper}+S+VP", "S")
    assert rooted.chains(0, 1) == chains
    listed = Constraints.of(labels=["S"]).limits(known, 2, open_root=False)
    assert listed.chains(0, 2) == (f"{wrapper}+S", "S", wrapper)
    assert listed.chains(0, 1) == ("S",)
    wrapped = Constraints.of(root=wrapper).limits(known, 2, open_root=False)
    assert wrapped.chains(0, 2) == (*chains[:3], wrapper)


def test_a_chain_of_no_labels_is_only_for_one_word_and_its_tag() -> None:
    known = {"S": ("S",), r"\0": ()}
    alone = Constraints.of(forbid=[(0, 1, None)])
    assert alone.limits(known, 1, open_root=False).chains(0, 1) == (r"\0",)
    limits = alone.limits(known, 2, open_root=False)
    assert limits.chains(0, 1) == ()
    assert limits.chains(0, 2) == limits.chains(1, 2) == ("S",)


@pytest.mark.parametrize("span", [(1, 2), (1, 2, 3), ("1", 2, None), (1, 2, "A", "B"), "12A"])
@pytest.mark.parametrize("kind", ["must", "forbid"])
def test_what_is_not_a_span_is_refused(kind: str, span: object) -> None:
    with pytest.raises(ConstraintError, match=rf"^{kind} has .* \(start, end, label or None\)$"):
        Constraints.of(**{kind: [span]})  # type: ignore[arg-type]


@pytest.mark.parametrize("place", [(1,), (1, 2, None), ("1", 2), "12"])
def test_what_is_not_a_place_is_refused(place: object) -> None:
    with pytest.raises(ConstraintError, match=r"^uncrossed has .* \(start, end\)$"):
        Constraints.of(uncrossed=[place])  # type: ignore[list-item]


def test_labels_are_a_list() -> None:
    with pytest.raises(ConstraintError, match=r"like \['NP'\]"):
        Constraints.of(labels="NP")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"must": 5}, "must is 5; it should be a list"),
        (
            {"must": (1, 4, "VP")},
            r"must is \(1, 4, 'VP'\); it should be a list, like \[\(1, 4, 'VP'",
        ),
        ({"forbid": [0, 2]}, r"forbid is \(0, 2\); it should be a list, like \[\(0, 2, None\)\]"),
        ({"forbid": None}, "forbid is None; it should be a list"),
        ({"labels": 5}, "labels is 5; it should be a list"),
        ({"labels": ["NP", 5]}, "labels has 5; it should be the name of a label"),
        ({"root": 5}, "root is 5; it should be the name of a label"),
    ],
)
def test_what_is_no_list_or_no_label_is_refused(asked: Any, message: str) -> None:
    with pytest.raises(ConstraintError, match=message):
        Constraints.of(**asked)


def test_many_spans_are_taken_in_in_linear_time() -> None:
    known = {str(number): (str(number),) for number in range(100)}
    some = [(i, j, None) for i in range(100) for j in range(i + 1, 101) if (i, j) != (0, 100)]
    labelled = [(i, j, str(label)) for i, j, _ in some for label in range(12)]
    for forbid in (some, labelled, [(0, 2, "1")] * 60_000):
        asked = Constraints.of(forbid=forbid, must=[(0, 100, "3")])
        started = time.process_time()
        asked.limits(known, 100, open_root=False)
        assert time.process_time() - started < 5  # squared, it took minutes
    started = time.process_time()
    with pytest.raises(ConstraintError, match=r"must \(0, 2\) 1 and forbid \(0, 2\) 1 contradict"):
        Constraints.of(forbid=forbid, must=[(0, 2, "1")]).limits(known, 100, open_root=False)
    assert time.process_time() - started < 5
