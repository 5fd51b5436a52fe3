"""The steps of parses in tensors: those that were found, and those that are given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from fencepost.batching.vocabulary import FILLER
from fencepost.transition import Pointing, pointings, replay


@dataclass(frozen=True, slots=True)
class Found:
    """The steps of the parses that were found, best first in each row."""

    boundaries: Tensor  # (rows, beams, steps)
    labels: Tensor  # (rows, beams, steps)
    steps: Tensor  # (rows, beams): how many there are
    log_probs: Tensor  # (rows, beams); -inf where there is no further parse
    step_log_probs: Tensor  # (rows, beams, steps): of each step, given those before it

    names: ClassVar = ("boundaries", "labels", "steps", "log_probs", "step_log_probs")

    def rows(self, index: Tensor) -> Found:
        """Some of the rows, in this order."""
        return Found(*(getattr(self, name)[index] for name in self.names))

    def put(self, index: Tensor, rows: Found) -> None:
        """Write rows in place of some."""
        for name in self.names:
            getattr(self, name)[index] = getattr(rows, name)


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of given parses."""

    boundaries: Tensor  # (rows, steps)
    labels: Tensor  # (rows, steps)
    counts: Tensor  # (rows,): how many there are

    @classmethod
    def of(cls, parses: Sequence[Sequence[tuple[int, int]]], most: int = 0) -> Steps:
        """The steps of each parse, boundary and number of the label, with padding.

        A label that the head does not know has the number -1: such a step is never allowed.

        Args:
            parses: steps of each.
            most: how many there are room for, if no parse has more.
        """
        longest = max((most, *map(len, parses)))
        padded = [[*steps, *[(0, FILLER)] * (longest - len(steps))] for steps in parses]
        made = torch.tensor(padded, dtype=torch.long).view(len(parses), longest, 2)
        return cls(made[:, :, 0], made[:, :, 1], torch.tensor([len(steps) for steps in parses]))

    def to(self, device: torch.device) -> Steps:
        """The same on a device."""
        return Steps(self.boundaries.to(device), self.labels.to(device), self.counts.to(device))


def canonical_steps(steps: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The steps of the oracle to the same parse: boundaries and numbers of labels.

    >>> canonical_steps([(1, 0), (2, 0), (0, 5)])  # two fillers side by side
    ((2, 5),)
    """
    spans = replay(Pointing(boundary, str(label) if label else None) for boundary, label in steps)
    labelled = [span for span in spans[:-1] if span.label is not None]
    oracle = pointings([*labelled, spans[-1]])  # the whole sentence comes last, label or not
    return tuple((boundary, int(label or FILLER)) for boundary, label in oracle)
