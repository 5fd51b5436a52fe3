"""What is asked of parses is obeyed, and their log-probabilities are those of their oracles."""

import time
from collections.abc import Callable, Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.batching.vocabulary import FILLER, Labels
from fencepost.errors import ConstraintError
from fencepost.model.configurations import Configurations
from fencepost.model.constraints import RowLimits, limits_of
from fencepost.model.fast import FastStepping
from fencepost.model.following import score
from fencepost.model.found import Found, Steps, canonical_steps
from fencepost.model.head import PointingHead
from fencepost.model.search import beam, greedy
from fencepost.model.stepping import PlainStepping
from fencepost.transition import (
    CanonicalConfiguration,
    Configuration,
    ConstrainedConfiguration,
    Constraints,
    Limits,
    Pointing,
    replay,
)
from tests.model.plain_search import derivations
from tests.model.test_fast import random_head
from tests.transition.test_constraints import Chains, constraints, obeys, parses

MakeHead = Callable[..., PointingHead]
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


def vectors(lengths: Sequence[int], seed: int = 7) -> tuple[torch.Tensor, torch.Tensor]:
    """Boundary vectors of sentences, padded with noise that must not matter."""
    generator = torch.Generator().manual_seed(seed)
    size = (len(lengths), max(lengths) + 1, 6)
    return torch.randn(size, generator=generator), torch.tensor(lengths)


def steps_of(found: Found, row: int, rank: int = 0) -> tuple[tuple[int, int], ...]:
    count = int(found.steps[row, rank])
    columns = (found.boundaries[row, rank, :count], found.labels[row, rank, :count])
    return tuple(zip(*(column.tolist() for column in columns), strict=True))


def parse_of(steps: Sequence[tuple[int, int]]) -> Chains:
    spans = replay([Pointing(boundary, LABELS.label(label)) for boundary, label in steps])
    return frozenset((start, end, label) for start, end, label in spans if label is not None)


def ranks(found: Found, row: int) -> list[int]:
    """Where there is a parse."""
    return (found.log_probs[row] > float("-inf")).nonzero()[:, 0].tolist()


@given(batches(), st.data())
def test_the_tensor_twin_allows_what_the_reference_allows(
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
    order = torch.tensor(data.draw(st.permutations(range(len(lengths)))))
    references = [references[row] for row in order.tolist()]
    rows, twin = rows.rows(order), Configurations.first(torch.tensor(lengths)).rows(order)
    while not bool(twin.is_final.all()):
        allowed = rows.candidates(twin, canonical=True)
        everywhere = torch.arange(allowed.shape[1]).expand_as(allowed)
        freely = twin.may_be_filler(everywhere, open_root=open_root)
        fillers = rows.may_be_filler(twin, everywhere, freely=freely, canonical=True)
        left = rows.labels(twin, everywhere)
        assert not left[:, :, FILLER].any()
        pointed, labels = [], []
        for row, reference in enumerate(references):
            candidates = reference.candidates()
            assert tuple(allowed[row].nonzero()[:, 0].tolist()) == candidates
            boundary, label = 0, None
            for candidate in candidates:
                assert bool(fillers[row, candidate]) == reference.may_be_filler(candidate)
                numbers = left[row, candidate].nonzero()[:, 0].tolist()
                assert tuple(map(LABELS.label, numbers)) == reference.chains(candidate)
            if candidates:
                boundary = data.draw(st.sampled_from(candidates))
                # Fillers are what leads to rule (f).
                filler = reference.may_be_filler(boundary)
                chains = reference.chains(boundary)
                if chains and not (filler and data.draw(st.booleans())):
                    label = data.draw(st.sampled_from(chains))
                references[row] = reference.point(boundary, label)
            pointed.append(boundary)
            labels.append(label is None)
        twin = twin.point(torch.tensor(pointed), filler=torch.tensor(labels))


def test_canonical_rules_are_lifted_row_by_row() -> None:
    asked = [Constraints.of(must=[(0, 2, None)], forbid=[(1, 2, None)]), None]
    rows = resolved(asked, [3, 3], open_root=False)
    assert rows is not None
    twin = Configurations.first(torch.tensor([3, 3]))
    filler = torch.tensor([True, True])
    for boundary, allowed in ((1, [[1, 2], [1, 2, 3]]), (2, [[2], [2, 3]]), (0, [[0], [3]])):
        candidates = rows.candidates(twin, canonical=True)
        assert [left.nonzero()[:, 0].tolist() for left in candidates] == allowed
        few = torch.tensor([[boundary], [boundary]])
        freely = twin.may_be_filler(few, open_root=False)
        fillers = rows.may_be_filler(twin, few, freely=freely, canonical=True)
        assert bool(fillers[0, 0]) == (boundary > 0)
        twin = twin.point(few[:, 0], filler=filler)


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
    twin = Configurations.first(torch.tensor([4]))
    twin = twin.point(torch.tensor([1]), filler=torch.tensor([True]))
    candidates = rows.candidates(twin, canonical=True)[0].nonzero()[:, 0]
    assert candidates.tolist() == allowed
    freely = twin.may_be_filler(candidates[None], open_root=False)
    may = rows.may_be_filler(twin, candidates[None], freely=freely, canonical=True)[0]
    assert candidates[may].tolist() == fillers


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
                    numbers = rows.chains[int(kind)].nonzero()[:, 0].tolist()
                    assert tuple(map(LABELS.label, numbers)) == chains
                    assert bool(rows.labelled[int(kind)]) == bool(chains)


def test_entities_agree_with_a_tree_that_nothing_may_cross() -> None:
    boundaries, lengths = vectors([12])
    tree = greedy(random_head(1, previous_label=False, open_root=False), boundaries, lengths)
    asked = Constraints.of(uncrossed=[place[:2] for place in parse_of(steps_of(tree, 0))])
    head = random_head(2, previous_label=False, open_root=True)
    limits = resolved([asked], [12], open_root=True)
    free = parse_of(steps_of(greedy(head, boundaries, lengths), 0))
    bound = parse_of(steps_of(greedy(head, boundaries, lengths, constraints=limits), 0))
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
    boundaries, sizes = vectors(lengths, seed)
    limits = resolved(asked, lengths, open_root=open_root)
    plain, fast = (
        greedy(head, boundaries, sizes, canonical=canonical, constraints=limits, first=first)
        if beams == 1
        else beam(
            head,
            boundaries,
            sizes,
            beams=beams,
            canonical=canonical,
            constraints=limits,
            first=first,
        )
        for first in (PlainStepping.first, FastStepping.first)
    )
    assert torch.allclose(plain.log_probs[:, 0], fast.log_probs[:, 0], atol=1e-3) or beams > 1
    for found in (plain, fast):
        assert not found.log_probs.isnan().any()
        assert torch.allclose(found.step_log_probs.sum(-1), found.log_probs, atol=1e-4)
        for row, (n, constraint) in enumerate(zip(lengths, asked, strict=True)):
            made = [steps_of(found, row, rank) for rank in ranks(found, row)]
            assert made
            if constraint is None or constraint == Constraints():
                continue
            assert len(set(made)) == len(made)
            assert all(obeys(parse_of(x), constraint, n, open_root=open_root) for x in made)
            assert all(canonical_steps(steps) == steps for steps in made)
            each = score(head, boundaries, sizes, Steps.of(made), row=torch.full((len(made),), row))
            scores = each.sum(1).tolist()
            assert scores == pytest.approx(found.log_probs[row, : len(made)].tolist(), abs=1e-3)
            assert scores == pytest.approx(sorted(scores, reverse=True), abs=1e-3)
            width = each.shape[1]
            own = found.step_log_probs[row, : len(made), :width]
            assert torch.allclose(each, own, atol=1e-3)


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
    found = beam(head, *vectors([n], seed), beams=8 * len(everything), constraints=limits)
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
    boundaries, sizes = vectors(lengths, seed)
    limits = resolved(asked, lengths, open_root=open_root)
    together = beam(head, boundaries, sizes, beams=beams, constraints=limits)
    for row, n in enumerate(lengths):
        alone = beam(
            head,
            boundaries[row : row + 1, : n + 1],
            sizes[row : row + 1],
            beams=beams,
            constraints=resolved(asked[row : row + 1], [n], open_root=open_root),
        )
        assert torch.allclose(alone.log_probs[0], together.log_probs[row], atol=1e-4)
        assert steps_of(alone, 0) == steps_of(together, row)


@given(batch=batches(), seed=st.integers(0, 10_000))
@settings(max_examples=50)
def test_a_beam_of_one_is_greedy(
    batch: tuple[bool, tuple[int, ...], tuple[Constraints | None, ...]], seed: int
) -> None:
    open_root, lengths, asked = batch
    head = random_head(seed, previous_label=True, open_root=open_root)
    limits = resolved(asked, lengths, open_root=open_root)
    one = greedy(head, *vectors(lengths, seed), constraints=limits)
    other = beam(head, *vectors(lengths, seed), beams=1, constraints=limits)
    for row in range(len(lengths)):
        assert steps_of(one, row) == steps_of(other, row)
    assert torch.allclose(one.log_probs, other.log_probs, atol=1e-4)


def test_what_the_model_does_anyway_may_be_asked_for(make_head: MakeHead) -> None:
    head = make_head(labels=4)
    boundaries = torch.randn(1, 8, 8, generator=torch.Generator().manual_seed(3))
    lengths = torch.tensor([7])
    free = greedy(head, boundaries, lengths)
    spans = [(start, end, label.split("+")[0]) for start, end, label in parse_of(steps_of(free, 0))]
    limits = resolved([Constraints.of(must=spans)], [7], open_root=False)
    bound = greedy(head, boundaries, lengths, constraints=limits)
    assert steps_of(bound, 0) == steps_of(free, 0)
    assert torch.allclose(bound.log_probs, free.log_probs, atol=1e-5)
    assert torch.allclose(bound.step_log_probs, free.step_log_probs, atol=1e-5)


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


def test_limits_go_to_a_device() -> None:
    limits = resolved([Constraints.of(root="A")], [2], open_root=False)
    assert limits is not None
    assert limits.to(torch.device("meta")).kinds.is_meta


@pytest.mark.parametrize("open_root", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("first", [PlainStepping.first, FastStepping.first])
def test_the_probabilities_of_all_parses_sum_to_one(
    make_head: MakeHead,
    open_root: bool,
    n: int,
    first: Callable[..., PlainStepping | FastStepping],
) -> None:
    head = make_head(labels=3, open_root=open_root, previous_label=True)
    boundaries = torch.randn(2, n + 2, 8, generator=torch.Generator().manual_seed(5))
    everything = derivations(head, boundaries[1, : n + 1])
    steps = Steps.of([steps for _, steps in everything])
    row = torch.ones(len(everything), dtype=torch.long)
    each = score(head, boundaries, torch.tensor([n + 1, n]), steps, row=row, first=first)
    assert each.sum(1).tolist() == pytest.approx([x for x, _ in everything], abs=1e-4)
    assert float(each.sum(1).exp().sum()) == pytest.approx(1, abs=1e-4)


def test_the_score_of_a_greedy_parse_is_its_log_probability(make_head: MakeHead) -> None:
    head = make_head()
    boundaries = torch.randn(4, 10, 8, generator=torch.Generator().manual_seed(5))
    lengths = torch.tensor([4, 9, 1, 6])
    found = greedy(head, boundaries, lengths)
    steps = Steps(found.boundaries[:, 0], found.labels[:, 0], found.steps[:, 0])
    each = score(head, boundaries, lengths, steps.to(lengths.device))
    assert torch.allclose(each, found.step_log_probs[:, 0], atol=1e-5)


@pytest.mark.parametrize(
    ("steps", "lost"),
    [
        ([(1, 0), (2, 0), (3, 1), (0, 1)], 3),  # rule 1
        ([(1, 0), (3, 0), (0, 1)], 1),  # rule 2
        ([(1, 1), (3, 1), (0, 0)], 2),  # the root of a tree is no filler
        ([(0, 1), (3, 1)], 0),  # no step at all
        ([(4, 1)], 0),  # among the padding
        ([(5, 1)], 0),
        ([(-1, 1)], 0),
        ([(3, -1)], 0),  # labels that there are not
        ([(3, 3)], 0),
        ([(3, 1), (0, 1), (0, 0)], 1),  # it is complete already
    ],
)
def test_from_a_step_on_that_is_not_allowed_nothing_is_possible(
    make_head: MakeHead, steps: list[tuple[int, int]], lost: int
) -> None:
    head = make_head()
    boundaries = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(5))
    beside = [(2, 1), (4, 2), (0, 1)]
    each = score(head, boundaries, torch.tensor([3, 4]), Steps.of([steps, beside]))
    assert bool(each[0, :lost].isfinite().all())
    assert bool((each[0, lost : len(steps)] == float("-inf")).all())
    assert bool(each[1].isfinite().all())
    assert not each[1, 3:].any()


def test_no_parses_have_no_scores(make_head: MakeHead) -> None:
    none = torch.zeros(0, dtype=torch.long)
    each = score(make_head(), torch.zeros(1, 3, 8), torch.tensor([2]), Steps.of([]), row=none)
    assert each.shape == (0, 0)


@pytest.mark.parametrize(
    ("steps", "oracle"),
    [
        ([(3, 2)], ((3, 2),)),
        ([(1, 0), (2, 0), (0, 1), (3, 0), (0, 2)], ((2, 1), (3, 0), (0, 2))),
        ([(1, 0), (2, 1), (0, 0), (3, 1), (0, 0)], ((1, 0), (2, 1), (3, 1), (0, 0))),
        ([(1, 0), (3, 0), (0, 0)], ((3, 0),)),
    ],
)
def test_other_steps_to_a_parse_become_those_of_its_oracle(
    steps: list[tuple[int, int]], oracle: tuple[tuple[int, int], ...]
) -> None:
    assert canonical_steps(steps) == oracle
