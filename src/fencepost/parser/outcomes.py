"""The spans that a head finds in gold sentences: chosen from what, and which of them are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from fencepost.batching.vocabulary import FILLER
from fencepost.model.fast import FastStepping
from fencepost.model.head import PointingHead
from fencepost.model.stepping import MINUS, Rules
from fencepost.parser.encoding import Encoded
from fencepost.parser.model import Model
from fencepost.scoring import Comparison, Side, side_of_tree
from fencepost.structure import Parse, Span
from fencepost.tasks.labels import split
from fencepost.tasks.layers import layer_spans


@dataclass(frozen=True, slots=True)
class Choices:
    """The labelled spans of a batch, and all that their steps were chosen from.

    Scores are told by how far they are below that of the choice, in logarithms; that itself, and
    whatever could not be chosen, is -inf. So even the last trace of doubt keeps its digits.
    """

    points: Tensor  # (steps, n + 1)
    labels: Tensor  # (steps, labels)
    step: Tensor  # which step made each span, (spans,)

    def log_probs(self, ratio: float) -> Tensor:
        """Those of the spans, at so many times the temperature: (spans,), of 64 bits."""
        doubts = [(others / ratio).exp().sum(-1) for others in (self.points, self.labels)]
        return -torch.stack(doubts).double().log1p().sum(0)[self.step]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The labelled spans that a head finds in gold sentences, and whether they are right."""

    temperature: float  # at which they were found
    choices: tuple[Choices, ...]  # batch by batch
    right: Tensor  # (spans,)
    sentence: Tensor  # which sentence each span is of, (spans,)

    def log_probs(self, temperature: float) -> Tensor:
        """Those of the spans at any temperature: (spans,)."""
        ratio = temperature / self.temperature
        return torch.cat([some.log_probs(ratio) for some in self.choices])


def joined(parts: Sequence[Outcomes]) -> Outcomes:
    """The outcomes of several batches of a head."""
    return Outcomes(
        parts[0].temperature,
        tuple(some for part in parts for some in part.choices),
        torch.cat([part.right for part in parts]),
        torch.cat([part.sentence for part in parts]),
    )


@torch.no_grad()
def outcomes_of(
    model: Model,
    encoded: Encoded,
    *,
    layer: str,
    gold: Sequence[tuple[int, Parse]],
    comparison: Comparison,
) -> Outcomes:
    """What greedy search finds in a batch, and whether it is right.

    Args:
        model: which parses.
        encoded: the sentences.
        layer: which layer of them; at least one has it, and those that do not are left out.
        gold: the annotation of each sentence, with its number.
        comparison: of trees.
    """
    head, labels = model.network.head(layer), model.numbers.labels[layer]
    own = [row for row, (_, parse) in enumerate(gold) if layer_spans(parse, layer) is not None]
    rows = encoded.lengths.new_tensor(own)
    points: list[Tensor] = []
    choices: list[Tensor] = []
    spans: dict[int, list[tuple[int, Span]]] = {row: [] for row in own}  # and their steps
    steps = 0
    for taken in _walk(head, encoded.boundaries[rows], encoded.lengths[rows]):
        kept = taken.label != FILLER
        points.append(taken.points[kept])
        choices.append(taken.labels[kept])
        columns = (rows[taken.row], taken.start, taken.end, taken.label)
        for row, start, end, number in torch.stack(columns, 1)[kept].tolist():
            # Each label of a chain is a span of its own, with the probability of the step.
            chain = split(labels.label(number) or "")
            spans[row] += ((steps, Span(start, end, label)) for label in chain)
            steps += 1
    counted: list[tuple[int, bool, int]] = []
    for row, some in spans.items():
        number, parse = gold[row]
        marks = right_spans(parse, [span for _, span in some], layer=layer, comparison=comparison)
        counted += (
            (step, mark, number)
            for (step, _), mark in zip(some, marks, strict=True)
            if mark is not None
        )
    made = torch.tensor(counted, dtype=torch.long).view(-1, 3)
    return Outcomes(
        head.temperature,
        (Choices(torch.cat(points).cpu(), torch.cat(choices).cpu(), made[:, 0]),),
        made[:, 1].bool(),
        made[:, 2],
    )


def right_spans(
    gold: Parse, spans: Sequence[Span], *, layer: str, comparison: Comparison
) -> list[bool | None]:
    """Which predicted spans are right, each matching one gold span; None: it does not count.

    Args:
        gold: the annotation.
        spans: those of a predicted layer, with single labels.
        layer: which one.
        comparison: tells which brackets of trees count.
    """
    if layer == "tree":
        assert gold.tree is not None
        ours = side_of_tree(gold.tree)
        # What one bracket more adds to the counts says what it is itself.
        counts = [
            comparison.compare(ours, Side(ours.words, ours.tags, spans[:number]))
            for number in range(len(spans) + 1)
        ]
        return [
            after.matched > before.matched if after.predicted > before.predicted else None
            for before, after in pairwise(counts)
        ]
    left = Counter((gold.entities or ()) + gold.dropped)
    marks: list[bool | None] = []
    for span in spans:
        marks.append(left[span] > 0)
        left[span] -= 1
    return marks


class _Taken(NamedTuple):
    """A step of some rows, as `Choices` tell it."""

    row: Tensor  # (rows,)
    start: Tensor  # of the span, (rows,)
    end: Tensor
    label: Tensor
    points: Tensor  # (rows, n + 1)
    labels: Tensor  # (rows, labels)


def _walk(head: PointingHead, boundaries: Tensor, lengths: Tensor) -> Iterator[_Taken]:
    """The steps of greedy search, with all that they are chosen from.

    Args:
        head: which parses.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,)
    """
    stepping = FastStepping.first(head, boundaries, lengths, Rules(True, head.open_root))
    row = torch.arange(len(lengths), device=lengths.device)
    while len(row):
        points = stepping.pointing()
        boundary = points.argmax(-1)
        labels = stepping.labelling(boundary[:, None])[:, 0]
        label = labels.argmax(-1)
        cursor = stepping.where.cursor
        yield _Taken(
            row,
            torch.minimum(cursor, boundary),
            torch.maximum(cursor, boundary),
            label,
            _below(points, boundary),
            _below(labels, label),
        )
        stepping = stepping.point(boundary, label)
        going = (~stepping.where.is_final).nonzero()[:, 0]
        row, stepping = row[going], stepping.rows(going)


def _below(log_probs: Tensor, chosen: Tensor) -> Tensor:
    """How far all others are below what was chosen, which itself is -inf: as `log_probs`."""
    best = chosen[:, None]
    return (log_probs - log_probs.gather(1, best)).scatter(1, best, MINUS)
