"""Search as one would write it first: one sentence, one step, plain configurations."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log

import torch
from torch import Tensor

from fencepost.batching.arrays import Floats
from fencepost.model.head import PointingHead, State, Where
from fencepost.runtime.shapes import MOST_MERGED
from fencepost.transition import CanonicalConfiguration, Configuration

Derivation = tuple[tuple[int, int], ...]  # boundary and label of each step


def place(where: CanonicalConfiguration, steps: Derivation) -> Where:
    """What scores may look at, read off the plain stack and the steps so far."""
    plain, n = where.plain, where.plain.n
    by_span: dict[tuple[int, int], int] = {}
    cursor = 0
    for boundary, label in steps:
        by_span[min(cursor, boundary), max(cursor, boundary)] = label
        cursor = max(cursor, boundary)
    stack = [(span.start, by_span[span.start, span.end]) for span in plain.open_spans]
    labels, merged = [0] * (n + 1), [0] * (n + 1)
    for depth, (start, label) in enumerate(stack):
        labels[start] = label + 1
        merged[start] = min(len(stack) - depth, MOST_MERGED)
    newest, label = stack[-1] if stack else (0, -1)
    columns = [[plain.cursor], [newest], [label + 1]]
    return Where(*(torch.tensor([column]) for column in (*columns, [labels], [merged])))


def pointing(head: PointingHead, scores: Tensor, where: CanonicalConfiguration) -> dict[int, float]:
    """The log-probability of each candidate."""
    candidates, cursor = where.candidates(), where.plain.cursor
    logits = {boundary: float(scores[boundary]) / head.temperature for boundary in candidates}
    if not head.nearest_first:
        points = torch.tensor(list(logits.values()), dtype=torch.double).log_softmax(-1)
        return dict(zip(logits, points.tolist(), strict=True))
    left = sorted((b for b in candidates if b < cursor), reverse=True)
    order = [*left, *(b for b in candidates if b > cursor)]
    log_probs, before = {}, 0.0
    for boundary in order:
        yes = 1 / (1 + exp(-logits[boundary]))
        log_probs[boundary] = before + (0.0 if boundary == order[-1] else log(yes))
        before += log(1 - yes)
    return log_probs


def choices(
    head: PointingHead,
    boundaries: Tensor,
    state: Tensor,
    where: CanonicalConfiguration,
    steps: Derivation,
) -> Iterator[tuple[int, int, float, float]]:
    """Each step that is allowed: boundary, label, and the log-probabilities of both."""
    here = place(where, steps)
    scores = head.pointing_scores(head.read(boundaries[None]), state, here)[0, 0]
    for boundary, point in pointing(head, scores, where).items():
        start, end = (torch.tensor([[b]]) for b in sorted((where.plain.cursor, boundary)))
        of_span = head.label_scores(boundaries[None], state, start, end, here)[0, 0]
        if not where.may_be_filler(boundary):
            of_span[0] = float("-inf")
        by_label = (of_span / head.temperature).log_softmax(-1)
        for label, score in enumerate(by_label.tolist()):
            if score != float("-inf"):
                yield boundary, label, point, score


def derivations(
    head: PointingHead, vectors: Floats, *, first_only: bool = False
) -> list[tuple[float, Derivation]]:
    """All derivations with their log-probabilities, best first.

    Args:
        head: scores the steps.
        vectors: of the boundaries
        first_only: only the most probable boundary and then the most probable label, each time
    """
    boundaries = torch.from_numpy(vectors)
    n = len(boundaries) - 1
    found: list[tuple[float, Derivation]] = []
    start = CanonicalConfiguration(Configuration(n), open_root=head.open_root)
    first = (torch.zeros(1, 1, 0, dtype=boundaries.dtype), None)
    if head.lstm is not None:
        first = head.decode(head.first_inputs(1), head.first_state(1))  # type: ignore[assignment]
    waiting: list[tuple[float, Derivation, CanonicalConfiguration, Tensor, State | None]] = [
        (0.0, (), start, *first)
    ]
    while waiting:
        score, steps, where, states, memory = waiting.pop()
        if where.plain.is_final:
            found.append((score, steps))
            continue
        allowed = list(choices(head, boundaries, states, where, steps))
        if first_only:
            allowed = [max(allowed, key=lambda choice: choice[2:])]
        for boundary, label, point, chance in allowed:
            after, kept = states, memory
            if memory is not None:
                begin, end = (torch.tensor([[b]]) for b in sorted((where.plain.cursor, boundary)))
                read = head.inputs(boundaries[None], begin, end, torch.tensor([[label]]))
                after, kept = head.decode(read, memory)
            next_where = where.point(boundary, filler=label == 0)
            taken = (*steps, (boundary, label))
            waiting.append((score + point + chance, taken, next_where, after, kept))
    return sorted(found, reverse=True)
