import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fencepost.batching.vocabulary import FILLER
from fencepost.decoding.configurations import Configurations
from fencepost.transition import CanonicalConfiguration, Configuration


@st.composite
def walks(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    """A number of words, and canonical steps to the end: boundary and label."""
    n = draw(st.integers(1, 7))
    configuration = CanonicalConfiguration(Configuration(n), open_root=True)
    steps = []
    while not configuration.plain.is_final:
        boundary = draw(st.sampled_from(configuration.candidates()))
        filler = configuration.may_be_filler(boundary) and draw(st.booleans())
        label = FILLER if filler else draw(st.integers(1, 3))
        steps.append((boundary, label))
        configuration = configuration.point(boundary, filler=filler)
    return n, steps


@given(st.lists(walks(), min_size=1, max_size=4), st.booleans())
def test_the_fast_twin_allows_what_the_reference_allows(
    drawn: list[tuple[int, list[tuple[int, int]]]], open_root: bool
) -> None:
    references = [CanonicalConfiguration(Configuration(n), open_root=open_root) for n, _ in drawn]
    twin = Configurations.first(np.array([n for n, _ in drawn]))
    width = twin.rank.shape[1]
    for number in range(max(len(steps) for _, steps in drawn)):
        pointed, labels = [], []
        for row, (reference, (n, steps)) in enumerate(zip(references, drawn, strict=True)):
            plain = reference.plain
            allowed = twin.candidates()[row].nonzero()[0].tolist()
            canonical = twin.canonical_candidates()[row].nonzero()[0].tolist()
            assert tuple(allowed) == plain.candidates()
            assert bool(twin.is_final[row]) == plain.is_final
            if not plain.is_final:
                assert tuple(canonical) == reference.candidates()
            for boundary in range(width):
                there = np.full(len(drawn), boundary)
                is_whole = abs(boundary - plain.cursor) == n
                assert bool(twin.is_whole(there)[row]) == is_whole
                if boundary in reference.candidates():
                    may = twin.may_be_filler(there, open_root=open_root)[row]
                    assert bool(may) == reference.may_be_filler(boundary)
            over = number >= len(steps)
            boundary, label = (0, FILLER) if over else steps[number]
            pointed.append(boundary)
            labels.append(label)
            if not over:
                after = plain.point(boundary)
                kept = reference.fillers[: len(after.starts) - 1]
                fillers = (*kept, label == FILLER)
                references[row] = CanonicalConfiguration(after, fillers, open_root)
            assert n == plain.n
        twin = twin.point(np.array(pointed), np.array(labels))
    assert bool(twin.is_final.all())


@given(walks())
def test_the_stack_is_known_with_its_labels(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    n, steps = drawn
    plain, twin = Configuration(n), Configurations.first(np.array([n]), stack=True)
    labels: dict[int, int] = {}  # of the spans on the stack, by their starts
    for boundary, label in steps:
        assert twin.stack is not None
        for left in plain.candidates():
            if left < plain.cursor:
                assert twin.stack.labels[0, left] == labels[left]
                merged = sum(start >= left for start in plain.starts)
                assert twin.merged()[0, left] == merged
        labels[min(plain.cursor, boundary)] = label
        plain = plain.point(boundary)
        twin = twin.point(np.array([boundary]), np.array([label]))


def test_rows_can_be_chosen() -> None:
    twin = Configurations.first(np.array([1, 3])).rows(np.array([1, 1, 0]))
    assert twin.lengths.tolist() == [3, 3, 1]
