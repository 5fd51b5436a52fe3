"""What is asked of parses is obeyed, and their log-probabilities are those of their oracles."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.batching.arrays import Bools
from fencepost.batching.steps import Steps, canonical_steps, places
from fencepost.batching.vocabulary import FILLER, Labels
from fencepost.decoding.beam import beam
from fencepost.decoding.configurations import Configurations
from fencepost.decoding.constraints import RowLimits, limits_of
from fencepost.decoding.derivations import Derivations
from fencepost.decoding.rules import Rules
from fencepost.decoding.walk import greedy, score
from fencepost.errors import ConstraintError
from fencepost.model.stepper import HeadStepper, stepper_of
from fencepost.transition import (
    CanonicalConfiguration,
    Configuration,
    ConstrainedConfiguration,
    Constraints,
    Limits,
    Pointing,
    replay,
)
from tests.decoding.searching import KINDS, search, steps_of, vectors
from tests.heads import make_head, random_head
from tests.transition.test_constraints import Chains, constraints, obeys, parses

LABELS = Labels(("A", "B", "A+B"))  # as many as the random heads have


def possible(asked: Constraints, n: int, *, open_root: bool) -> Constraints | None:
    """Constraints, or None if they are refused."""
    try:
        limits_of([asked], LABELS, [n], open_root=open_root)
    except ConstraintError:
        return None
    return asked


@st.composite
def batches(
    draw: st.DrawFn, longest: int = 7
) -> tuple[bool, tuple[int, ...], tuple[Constraints | None, ...]]:
    """Whether the root is open, lengths, and what is asked of each sentence."""
    open_root = draw(st.booleans())
    lengths = draw(st.lists(st.integers(1, longest), min_size=1, max_size=4))
    asked = [possible(draw(constraints(n)), n, open_root=open_root) for n in lengths]
    return open_root, tuple(lengths), tuple(asked)


def resolved(
    asked: Sequence[Constraints | None], lengths: Sequence[int], *, open_root: bool
) -> RowLimits | None:
    limits = limits_of(asked, LABELS, lengths, open_root=open_root)
    return RowLimits.of(limits, LABELS, boundaries=max(lengths) + 1)


def parse_of(steps: Sequence[tuple[int, int]]) -> Chains:
    spans = replay([Pointing(boundary, LABELS.label(label)) for boundary, label in steps])
    return frozenset((start, end, label) for start, end, label in spans if label is not None)


def ranks(found: Derivations, row: int) -> list[int]:
    """Where there is a parse."""
    where: list[int] = (found.log_probs[row] > float("-inf")).nonzero()[0].tolist()
    return where


def labels_at(rows: RowLimits, twin: Configurations, boundary: int, *, open_root: bool) -> Bools:
    """The labels that are left if all rows point to a boundary: (rows, labels)."""
    there = np.full(len(twin.lengths), boundary)
    may = twin.may_be_filler(there, open_root=open_root)
    return rows.labels(twin, there, may_be_filler=may, canonical=True)


@given(batches(), st.data())
def test_the_fast_twin_allows_what_the_reference_allows(
    batch: tuple[bool, tuple[int, ...], tuple[Constraints | None, ...]], data: st.DataObject
) -> None:
    open_root, lengths, asked = batch
    limits = limits_of(asked, LABELS, lengths, open_root=open_root)
    nothing = Limits(frozenset(), {}, LABELS.names)
    references = [
        ConstrainedConfiguration(
            CanonicalConfiguration(Configuration(n), open_root=open_root), limit or nothing
        )
        for n, limit in zip(lengths, limits, strict=True)
    ]
    rows = resolved(asked, lengths, open_root=open_root)
    if rows is None:
        assert limits == [None] * len(lengths)
        return
    order = np.array(data.draw(st.permutations(range(len(lengths)))))
    references = [references[row] for row in order.tolist()]
    rows, twin = rows.rows(order), Configurations.first(np.array(lengths)).rows(order)
    while not bool(twin.is_final.all()):
        allowed = rows.candidates(twin, canonical=True)
        left = [labels_at(rows, twin, x, open_root=open_root) for x in range(allowed.shape[1])]
        pointed, labels = [], []
        for row, reference in enumerate(references):
            candidates = reference.candidates()
            assert tuple(allowed[row].nonzero()[0].tolist()) == candidates
            boundary, label = 0, None
            for candidate in candidates:
                filler, *others = left[candidate][row].tolist()
                assert filler == reference.may_be_filler(candidate)
                names = tuple(
                    name for name, is_left in zip(LABELS.names, others, strict=True) if is_left
                )
                assert names == reference.chains(candidate)
            if candidates:
                boundary = data.draw(st.sampled_from(candidates))
                # Fillers are what leads to rule (f).
                filler = reference.may_be_filler(boundary)
                chains = reference.chains(boundary)
                if chains and not (filler and data.draw(st.booleans())):
                    label = data.draw(st.sampled_from(chains))
                references[row] = reference.point(boundary, label)
            pointed.append(boundary)
            labels.append(LABELS.number(label))
        twin = twin.point(np.array(pointed), np.array(labels))


def test_canonical_rules_are_lifted_row_by_row() -> None:
    asked = [Constraints.of(must=[(0, 2, None)], forbid=[(1, 2, None)]), None]
    rows = resolved(asked, [3, 3], open_root=False)
    assert rows is not None
    twin = Configurations.first(np.array([3, 3]))
    filler = np.array([FILLER, FILLER])
    for boundary, allowed in ((1, [[1, 2], [1, 2, 3]]), (2, [[2], [2, 3]]), (0, [[0], [3]])):
        candidates = rows.candidates(twin, canonical=True)
        assert [left.nonzero()[0].tolist() for left in candidates] == allowed
        left = labels_at(rows, twin, boundary, open_root=False)
        assert bool(left[0, FILLER]) == (boundary > 0)
        twin = twin.point(np.array([boundary, boundary]), filler)


@pytest.mark.parametrize(
    ("asked", "allowed", "fillers"),
    [
        (Constraints.of(forbid=[(3, 4, None)]), [2, 3, 4], [2, 3]),
        # rule 2: without a label, a second filler does not end the sentence
        (Constraints.of(forbid=[(1, 4, None)]), [2, 3], [2, 3]),
        # rule (e): nor a must that holds both
        (Constraints.of(must=[(0, 3, None)]), [2, 3], [2]),
        (Constraints.of(must=[(0, 3, None)], forbid=[(1, 3, None)]), [2], [2]),
        (Constraints.of(must=[(0, 3, None)], uncrossed=[(0, 2)]), [2], [2]),
        # but one that holds only the second
        (Constraints.of(must=[(1, 4, None), (2, 3, None)]), [2], [2]),
    ],
)
def test_beside_a_filler_another_one_does_not_end_what_holds_both(
    asked: Constraints, allowed: list[int], fillers: list[int]
) -> None:
    rows = resolved([asked], [4], open_root=False)
    assert rows is not None
    twin = Configurations.first(np.array([4])).point(np.array([1]), np.array([FILLER]))
    candidates = rows.candidates(twin, canonical=True)[0].nonzero()[0].tolist()
    assert candidates == allowed
    assert [
        x for x in candidates if labels_at(rows, twin, x, open_root=False)[0, FILLER]
    ] == fillers


@given(batches())
def test_each_place_has_the_labels_that_the_reference_leaves_there(
    batch: tuple[bool, tuple[int, ...], tuple[Constraints | None, ...]],
) -> None:
    open_root, lengths, asked = batch
    limits = limits_of(asked, LABELS, lengths, open_root=open_root)
    rows = RowLimits.of(limits, LABELS, boundaries=max(lengths) + 3)
    if rows is None:
        return
    for row, (n, limit) in enumerate(zip(lengths, limits, strict=True)):
        for start in range(n):
            for end in range(start + 1, n + 1):
                chains = LABELS.names if limit is None else limit.chains(start, end)
                for kind in (rows.kinds[row, start, end], rows.kinds[row, end, start]):
                    numbers = rows.chains[int(kind)].nonzero()[0].tolist()
                    assert tuple(map(LABELS.label, numbers)) == chains
                    assert bool(rows.labelled[int(kind)]) == bool(chains)


def test_entities_agree_with_a_tree_that_nothing_may_cross() -> None:
    boundaries, lengths = vectors([12], width=6)
    tree_head = random_head(1, previous_label=False, open_root=False)
    tree = greedy(*search(tree_head, boundaries, lengths))
    asked = Constraints.of(uncrossed=[place[:2] for place in parse_of(steps_of(tree, 0))])
    head = random_head(2, previous_label=False, open_root=True)
    limits = resolved([asked], [12], open_root=True)
    free = parse_of(steps_of(greedy(*search(head, boundaries, lengths)), 0))
    bound = parse_of(steps_of(greedy(*search(head, boundaries, lengths, limits=limits)), 0))
    assert not obeys(free, asked, 12, open_root=True)
    assert obeys(bound, asked, 12, open_root=True)
    assert bound


def test_a_long_sentence_with_a_deep_tree_takes_little_time_and_room() -> None:
    n = 3_000
    asked = Constraints.of(uncrossed=[(start, n) for start in range(n)])
    began = time.process_time()
    limits = resolved([asked], [n], open_root=True)
    assert time.process_time() - began < 5  # a tenth of a second is enough
    assert limits is not None
    assert limits.kinds.nbytes <= 4 * (n + 1) ** 2


@given(
    batch=batches(),
    seed=st.integers(0, 10_000),
    previous_label=st.booleans(),
    canonical=st.booleans(),
    beams=st.integers(1, 4),
)
def test_what_is_found_obeys_and_has_the_score_of_its_oracle(
    batch: tuple[bool, tuple[int, ...], tuple[Constraints | None, ...]],
    seed: int,
    previous_label: bool,
    canonical: bool,
    beams: int,
) -> None:
    open_root, lengths, asked = batch
    head = random_head(seed, previous_label=previous_label, open_root=open_root)
    boundaries, sizes = vectors(lengths, width=6, seed=seed)
    limits = resolved(asked, lengths, open_root=open_root)
    rules, free = Rules(open_root, canonical=canonical, limits=limits), Rules(open_root)
    plain, fast = (
        beam(stepper, boundaries, sizes, rules, beams=beams)
        for stepper in (HeadStepper(head), stepper_of(head))
    )
    assert np.allclose(plain.log_probs[:, 0], fast.log_probs[:, 0], atol=1e-3) or beams > 1
    for found in (plain, fast):
        assert not np.isnan(found.log_probs).any()
        assert np.allclose(found.step_log_probs.sum(-1), found.log_probs, atol=1e-4)
        for row, (n, constraint) in enumerate(zip(lengths, asked, strict=True)):
            made = [steps_of(found, row, rank) for rank in ranks(found, row)]
            assert made
            if constraint is None or constraint == Constraints():
                continue
            assert len(set(made)) == len(made)
            assert all(obeys(parse_of(x), constraint, n, open_root=open_root) for x in made)
            assert all(canonical_steps(places(steps)) == steps for steps in made)
            steps, sentence = Steps.of(made), np.full(len(made), row)
            each = score(stepper_of(head), boundaries, sizes, free, steps, sentence=sentence)
            scores = each.sum(1).tolist()
            assert scores == pytest.approx(found.log_probs[row, : len(made)].tolist(), abs=1e-3)
            assert scores == pytest.approx(sorted(scores, reverse=True), abs=1e-3)
            width = each.shape[1]
            own = found.step_log_probs[row, : len(made), :width]
            assert np.allclose(each, own, atol=1e-3)


@given(batch=batches(longest=3), seed=st.integers(0, 10_000))
@settings(max_examples=30)
def test_a_beam_as_wide_as_the_space_finds_all_parses_that_obey(
    batch: tuple[bool, tuple[int, ...], tuple[Constraints | None, ...]], seed: int
) -> None:
    open_root, lengths, asked = batch
    n, constraint = lengths[0], asked[0]
    head = random_head(seed, previous_label=True, open_root=open_root)
    limits = resolved([constraint], [n], open_root=open_root)
    everything = [
        parse
        for parse in parses(n, LABELS.names, open_root)
        if constraint is None or obeys(parse, constraint, n, open_root=open_root)
    ]
    # Those that are reached in several ways take several places.
    arguments = search(head, *vectors([n], width=6, seed=seed), limits=limits)
    found = beam(*arguments, beams=8 * len(everything))
    made = [parse_of(steps_of(found, 0, rank)) for rank in ranks(found, 0)]
    assert len(made) == len(everything)
    assert set(made) == set(everything)


@given(batch=batches(), seed=st.integers(0, 10_000), beams=st.integers(1, 3))
@settings(max_examples=50)
def test_batch_mates_do_not_matter(
    batch: tuple[bool, tuple[int, ...], tuple[Constraints | None, ...]], seed: int, beams: int
) -> None:
    open_root, lengths, asked = batch
    head = random_head(seed, previous_label=False, open_root=open_root)
    boundaries, sizes = vectors(lengths, width=6, seed=seed)
    limits = resolved(asked, lengths, open_root=open_root)
    together = beam(*search(head, boundaries, sizes, limits=limits), beams=beams)
    for row, n in enumerate(lengths):
        own = search(
            head,
            boundaries[row : row + 1, : n + 1],
            sizes[row : row + 1],
            limits=resolved(asked[row : row + 1], [n], open_root=open_root),
        )
        alone = beam(*own, beams=beams)
        assert np.allclose(alone.log_probs[0], together.log_probs[row], atol=1e-4)
        assert steps_of(alone, 0) == steps_of(together, row)


@given(batch=batches(), seed=st.integers(0, 10_000))
@settings(max_examples=50)
def test_a_beam_of_one_is_greedy(
    batch: tuple[bool, tuple[int, ...], tuple[Constraints | None, ...]], seed: int
) -> None:
    open_root, lengths, asked = batch
    head = random_head(seed, previous_label=True, open_root=open_root)
    limits = resolved(asked, lengths, open_root=open_root)
    arguments = search(head, *vectors(lengths, width=6, seed=seed), limits=limits)
    one, other = greedy(*arguments), beam(*arguments, beams=1)
    for row in range(len(lengths)):
        assert steps_of(one, row) == steps_of(other, row)
    assert np.allclose(one.log_probs, other.log_probs, atol=1e-4)


@given(
    batch=batches(),
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 10_000),
    beams=st.sampled_from((2, 4, 8)),
)
def test_a_beam_under_constraints_is_never_worse_than_greedy_search(
    batch: tuple[bool, tuple[int, ...], tuple[Constraints | None, ...]],
    kind: dict[str, Any],
    seed: int,
    beams: int,
) -> None:
    open_root, lengths, asked = batch
    head = make_head(labels=4, seed=seed, **{**kind, "open_root": open_root})
    limits = resolved(asked, lengths, open_root=open_root)
    arguments = search(head, *vectors(lengths, seed=seed), limits=limits)
    found = beam(*arguments, beams=beams).log_probs[:, 0]
    assert bool((found >= greedy(*arguments).log_probs[:, 0] - 1e-4).all())


def test_what_the_model_does_anyway_may_be_asked_for() -> None:
    head = make_head(labels=4)
    boundaries, lengths = vectors([7], seed=3)
    free = greedy(*search(head, boundaries, lengths))
    spans = [(start, end, label.split("+")[0]) for start, end, label in parse_of(steps_of(free, 0))]
    limits = resolved([Constraints.of(must=spans)], [7], open_root=False)
    bound = greedy(*search(head, boundaries, lengths, limits=limits))
    assert steps_of(bound, 0) == steps_of(free, 0)
    assert np.allclose(bound.log_probs, free.log_probs, atol=1e-5)
    assert np.allclose(bound.step_log_probs, free.step_log_probs, atol=1e-5)


def test_where_nothing_is_asked_nothing_is_made() -> None:
    asked = [None, Constraints()]
    assert resolved(asked, [2, 3], open_root=False) is None


def test_contradictions_are_refused_before_the_search() -> None:
    asked = [Constraints.of(must=[(0, 2, "A")], forbid=[(0, 2, "A")])]
    with pytest.raises(ConstraintError, match=r"^must \(0, 2\) A and forbid \(0, 2\) A contradict"):
        limits_of(asked, LABELS, [3], open_root=True)


def test_among_several_sentences_the_first_that_cannot_obey_is_named() -> None:
    possible, impossible = Constraints.of(root="A"), Constraints.of(must=[(0, 4, "A")])
    asked = [None, possible, impossible, impossible]
    with pytest.raises(ConstraintError, match=r"^sentence 3: must \(0, 4\) A is not a span"):
        limits_of(asked, LABELS, [2, 3, 3, 2], open_root=True)
