"""One step of decoding for many rows: the plain version, and what both versions have to offer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self

import torch
from torch import Tensor

from fencepost.batching.vocabulary import FILLER
from fencepost.model.configurations import Configurations
from fencepost.model.constraints import RowLimits
from fencepost.model.head import PointingHead, State

MINUS = float("-inf")


class Stepping(Protocol):
    """Where the parses of some rows stand, and what they may do next."""

    @property
    def where(self) -> Configurations:
        """Their configurations."""
        ...

    def pointing(self) -> Tensor:
        """Log-probabilities of pointing to each boundary: (rows, n + 1)."""
        ...

    def labelling(self, boundary: Tensor) -> Tensor:
        """Log-probabilities of the labels of the spans made by pointing to some boundaries.

        Args:
            boundary: (rows, few)

        Returns:
            (rows, few, labels)
        """
        ...

    def point(self, boundary: Tensor, label: Tensor) -> Self:
        """Take a step: both are (rows,)."""
        ...

    def rows(self, index: Tensor) -> Self:
        """Some of the rows, in this order."""
        ...

    def spread(self, index: Tensor, each: int) -> Self:
        """Some of the rows in this order: as many for each sentence, one after the other."""
        ...

    def sentences(self, index: Tensor) -> Self:
        """Some of the sentences, with all of the rows that `spread` gave them."""
        ...


@dataclass(frozen=True, slots=True)
class Rules:
    """Which steps are allowed.

    Constraints take steps away without making the others likelier: what is left keeps the
    log-probability that it has without them, so that parses can be compared.
    """

    canonical: bool  # whether the rules of `transition.canonical` hold; the paper has none
    open_root: bool  # whether the whole sentence may be a filler
    limits: RowLimits | None = None  # what constraints leave; None: there are none

    def points(self, where: Configurations, scores: Tensor) -> Tensor:
        """Log-probabilities of pointing to each boundary.

        Args:
            where: the rows' configurations
            scores: (rows, n + 1); they may be overwritten

        Returns:
            (rows, n + 1)
        """
        allowed = where.canonical_candidates() if self.canonical else where.candidates()
        if self.limits is None:
            return scores.masked_fill_(~allowed, MINUS).log_softmax(-1)
        left = self.limits.candidates(where, canonical=self.canonical)
        found = scores.masked_fill_(~(allowed | left), MINUS).log_softmax(-1)
        return found.masked_fill_(~left, MINUS)

    def labels(self, where: Configurations, boundary: Tensor, scores: Tensor) -> Tensor:
        """Log-probabilities of the labels of the spans made by pointing to some boundaries.

        Args:
            where: the rows' configurations
            boundary: (rows, few)
            scores: (rows, few, labels); they may be overwritten

        Returns:
            (rows, few, labels)
        """
        may = self._may_be_filler(where, boundary)
        if self.limits is None:
            scores[:, :, FILLER].masked_fill_(~may, MINUS)
            return scores.log_softmax(-1)
        fillers = self.limits.may_be_filler(where, boundary, freely=may, canonical=self.canonical)
        scores[:, :, FILLER].masked_fill_(~(may | fillers), MINUS)
        left = self.limits.labels(where, boundary)
        left[:, :, FILLER] = fillers
        return scores.log_softmax(-1).masked_fill_(~left, MINUS)

    def rows(self, index: Tensor) -> Rules:
        """The rules of some rows, in this order."""
        return self if self.limits is None else replace(self, limits=self.limits.rows(index))

    def _may_be_filler(self, where: Configurations, boundary: Tensor) -> Tensor:
        """Whether the span made by pointing there may go without a label: (rows, few) twice."""
        if self.canonical:
            return where.may_be_filler(boundary, open_root=self.open_root)
        return ~where.whole(boundary) | self.open_root  # a tree needs a root all the same


class First(Protocol):
    """Makes the beginning of a search: `FastStepping.first`, or that of the plain twin."""

    def __call__(
        self, head: PointingHead, boundaries: Tensor, lengths: Tensor, rules: Rules, /
    ) -> Stepping:
        """Make it."""
        ...


@dataclass(frozen=True, slots=True)
class PlainStepping:
    """Steps as the head's own functions make them: the reference of the fast twin."""

    head: PointingHead
    rules: Rules
    boundaries: Tensor  # (rows, n + 1, width)
    sides: Tensor  # (rows, n + 1, mlp)
    where: Configurations
    states: Tensor  # (rows, 1, decoder): what the decoder makes of the last step
    state: State
    each: int = 1  # rows of each sentence

    @classmethod
    def first(
        cls, head: PointingHead, boundaries: Tensor, lengths: Tensor, rules: Rules
    ) -> PlainStepping:
        """All at the beginning."""
        rows = len(boundaries)
        states, state = head.decode(head.first_inputs(rows), head.first_state(rows))
        where = Configurations.first(lengths, boundaries.shape[1])
        return cls(head, rules, boundaries, head.sides(boundaries), where, states, state)

    def pointing(self) -> Tensor:
        """Log-probabilities of pointing to each boundary: (rows, n + 1)."""
        scores = self.head.pointing_scores(self.sides, self.states)[:, 0]
        return self.rules.points(self.where, scores / self.head.temperature)

    def labelling(self, boundary: Tensor) -> Tensor:
        """Log-probabilities of the labels of the spans made by pointing to some boundaries."""
        few = boundary.shape[1]
        start = torch.minimum(self.where.cursor[:, None], boundary)
        end = torch.maximum(self.where.cursor[:, None], boundary)
        states = self.states.expand(-1, few, -1)
        scores = self.head.label_scores(self.boundaries, states, start, end)
        return self.rules.labels(self.where, boundary, scores / self.head.temperature)

    def point(self, boundary: Tensor, label: Tensor) -> PlainStepping:
        """Take a step."""
        start = torch.minimum(self.where.cursor, boundary)[:, None]
        end = torch.maximum(self.where.cursor, boundary)[:, None]
        inputs = self.head.inputs(self.boundaries, start, end, label[:, None])
        states, state = self.head.decode(inputs, self.state)
        where = self.where.point(boundary, filler=label == FILLER)
        return replace(self, where=where, states=states, state=state)

    def rows(self, index: Tensor) -> PlainStepping:
        """Some of the rows, in this order."""
        return PlainStepping(
            self.head,
            self.rules.rows(index),
            self.boundaries[index],
            self.sides[index],
            self.where.rows(index),
            self.states[index],
            self.state.rows(index),
        )

    def spread(self, index: Tensor, each: int) -> PlainStepping:
        """Some of the rows in this order: as many for each sentence, one after the other."""
        return replace(self.rows(index), each=each)

    def sentences(self, index: Tensor) -> PlainStepping:
        """Some of the sentences, with all of their rows."""
        every = torch.arange(self.each, device=index.device)
        return self.spread((index[:, None] * self.each + every).flatten(), self.each)
