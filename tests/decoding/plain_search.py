"""Search as one would write it first: one sentence, one step, plain configurations."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from fencepost.batching.arrays import Floats
from fencepost.model.head import PointingHead, State
from fencepost.transition import CanonicalConfiguration, Configuration

Derivation = tuple[tuple[int, int], ...]  # boundary and label of each step


def choices(
    head: PointingHead, boundaries: Tensor, state: Tensor, where: CanonicalConfiguration
) -> Iterator[tuple[int, int, float]]:
    """Each step that is allowed: boundary, label and log-probability."""
    scores = head.pointing_scores(head.sides(boundaries[None]), state)[0, 0]
    candidates = where.candidates()
    points = (scores[list(candidates)] / head.temperature).log_softmax(-1)
    for boundary, point in zip(candidates, points.tolist(), strict=True):
        start, end = sorted((where.plain.cursor, boundary))
        of_span = head.label_scores(
            boundaries[None], state, torch.tensor([[start]]), torch.tensor([[end]])
        )[0, 0]
        if not where.may_be_filler(boundary):
            of_span[0] = float("-inf")
        by_label = (of_span / head.temperature).log_softmax(-1)
        for label, score in enumerate(by_label.tolist()):
            if score != float("-inf"):
                yield boundary, label, point + score


def derivations(
    head: PointingHead, vectors: Floats, *, first_only: bool = False
) -> list[tuple[float, Derivation]]:
    """All derivations with their log-probabilities, best first; or the greedy one alone."""
    boundaries = torch.from_numpy(vectors)
    n = len(boundaries) - 1
    found: list[tuple[float, Derivation]] = []
    start = CanonicalConfiguration(Configuration(n), open_root=head.open_root)
    waiting: list[tuple[float, Derivation, CanonicalConfiguration, Tensor, State]] = [
        (0.0, (), start, head.first_inputs(1), head.first_state(1))
    ]
    while waiting:
        score, steps, where, inputs, state = waiting.pop()
        if where.plain.is_final:
            found.append((score, steps))
            continue
        states, after = head.decode(inputs, state)
        allowed = list(choices(head, boundaries, states, where))
        if first_only:
            by_boundary = head.pointing_scores(head.sides(boundaries[None]), states)[0, 0]
            best = max(where.candidates(), key=lambda b: float(by_boundary[b]))
            allowed = [max((c for c in allowed if c[0] == best), key=lambda c: c[2])]
        for boundary, label, chance in allowed:
            begin, end = sorted((where.plain.cursor, boundary))
            read = head.inputs(
                boundaries[None],
                torch.tensor([[begin]]),
                torch.tensor([[end]]),
                torch.tensor([[label]]),
            )
            next_where = where.point(boundary, filler=label == 0)
            waiting.append((score + chance, (*steps, (boundary, label)), next_where, read, after))
    return sorted(found, reverse=True)
