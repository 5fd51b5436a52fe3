"""Constraints for many rows at a time: the fast twin of `transition.ConstrainedConfiguration`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from fencepost.batching.vocabulary import Labels
from fencepost.errors import ConstraintError
from fencepost.model.configurations import Configurations
from fencepost.tasks.labels import split
from fencepost.transition import Constraints, Limits
from fencepost.transition.constraints import Reach


def limits_of(
    asked: Sequence[Constraints | None],
    labels: Labels,
    lengths: Sequence[int],
    *,
    open_root: bool,
) -> list[Limits | None]:
    """What constraints leave for sentences; None where nothing is asked.

    Args:
        asked: for each sentence.
        labels: the head's, among which the chains are looked for.
        lengths: in words.
        open_root: whether the whole sentence may be a filler: the head's.

    Raises:
        ConstraintError: no parse can obey; the first sentence of which this is so counts, and its
            number is in the message if there are others.
    """
    known = {chain: split(chain) for chain in labels.names}
    found: list[Limits | None] = []
    for constraints, n in zip(asked, lengths, strict=True):
        if constraints is None or constraints == Constraints():
            found.append(None)
            continue
        try:
            found.append(constraints.limits(known, n, open_root=open_root))
        except ConstraintError as error:
            if len(asked) == 1:
                raise
            raise ConstraintError(f"sentence {len(found) + 1}: {error}") from error
    return found


def _crossing(reach: Reach, boundaries: int) -> Tensor:
    """Whether the places between two boundaries are out of reach: (boundaries, boundaries)."""
    # From the padding, nothing is crossed.
    padding = boundaries - len(reach.last_end)
    last_end = torch.tensor(reach.last_end + (boundaries,) * padding)[:, None]
    first_start = torch.tensor(reach.first_start + (0,) * padding)
    boundary = torch.arange(boundaries)
    crossing = (boundary > last_end) | (boundary[:, None] < first_start)
    return crossing | crossing.T  # only places with their start first have been found


@dataclass(frozen=True, slots=True)
class RowLimits:
    """What constraints leave for the rows of a batch.

    Places for which the same is left are of one kind; kind 0 is that of a row of which nothing is
    asked. Of all tensors only `row` follows the rows in search, the others are never copied.
    """

    row: Tensor  # (rows,): the sentence that each row parses
    asked: Tensor  # (sentences,): whether anything is
    kinds: Tensor  # (sentences, boundaries, boundaries): of the places between two; in 32 bits
    chains: Tensor  # (kinds, labels): which labels are left; the filler's is not among them
    labelled: Tensor  # (kinds,): whether any is left
    must: Tensor  # (kinds,)
    right: Tensor  # (sentences, boundaries): how far one may point from there, to the right
    left: Tensor  # (sentences, boundaries): and to the left, unless an open must says more
    earliest: Tensor  # (sentences, boundaries): where the longest must starts that ends there

    @classmethod
    def of(
        cls, limits: Sequence[Limits | None], labels: Labels, *, boundaries: int
    ) -> RowLimits | None:
        """The limits of some sentences in tensors; None if there are none at all.

        Args:
            limits: of each sentence
            labels: the head's
            boundaries: how many there are with padding
        """
        if all(limit is None for limit in limits):
            return None
        known: dict[tuple[tuple[str, ...], bool], int] = {(labels.names, False): 0}
        elsewhere, places = [], []
        shape = (len(limits), boundaries)
        right, earliest = torch.full(shape, boundaries), torch.full(shape, boundaries)
        left = torch.zeros(shape, dtype=torch.long)
        for row, limit in enumerate(limits):
            if limit is None:
                elsewhere.append(0)
                continue
            elsewhere.append(known.setdefault((limit.elsewhere, False), len(known)))
            for (start, end), chains in limit.named.items():
                kind = known.setdefault((chains, (start, end) in limit.must), len(known))
                places += [(row, start, end, kind), (row, end, start, kind)]
            for start, end in limit.must:
                right[row, :start].clamp_(max=start)
                right[row, start:end].clamp_(max=end)
                left[row, start + 1 : end].clamp_(min=start)
                earliest[row, end].clamp_(max=start)
        kinds = torch.tensor(elsewhere, dtype=torch.int32)[:, None, None]
        kinds = kinds.repeat(1, boundaries, boundaries)
        at_row, at_start, at_end, kind_there = torch.tensor(places).view(-1, 4).T
        kinds[at_row, at_start, at_end] = kind_there.int()
        for row, limit in enumerate(limits):
            if limit is not None and limit.reach is not None:
                kind = known.setdefault(((), False), len(known))
                kinds[row].masked_fill_(_crossing(limit.reach, boundaries), kind)
        allowed = torch.zeros(len(known), len(labels), dtype=torch.bool)
        for (chains, _), kind in known.items():
            numbers = [labels.number(chain) for chain in chains]
            allowed[kind, torch.tensor(numbers, dtype=torch.long)] = True
        return cls(
            torch.arange(len(limits)),
            torch.tensor([limit is not None for limit in limits]),
            kinds,
            allowed,
            allowed.any(-1),
            torch.tensor([must for _, must in known]),
            right,
            left,
            earliest,
        )

    def to(self, device: torch.device) -> RowLimits:
        """The same on a device."""
        return RowLimits(*(getattr(self, name).to(device) for name in self.__dataclass_fields__))

    def rows(self, index: Tensor) -> RowLimits:
        """Some of the rows, in this order."""
        return replace(self, row=self.row[index])

    def candidates(self, where: Configurations, *, canonical: bool) -> Tensor:
        """The boundaries that may be pointed to.

        A must has a label left, and so has the whole sentence if it may not be a filler: otherwise
        the constraints would have been refused. So neither has to be asked about fillers here.

        Args:
            where: the rows' configurations
            canonical: whether the canonical rules hold, too

        Returns:
            (rows, boundaries)
        """
        kinds = self.kinds[self.row, where.cursor]
        boundary = torch.arange(kinds.shape[1], device=kinds.device)
        free = where.candidates() & self._keeps_musts(where, boundary, self.must[kinds])
        if not canonical:
            return free
        labelled, rightward = self.labelled[kinds], boundary > where.cursor[:, None]
        free &= labelled | rightward | where.whole(boundary)
        # Rules 2 and (e): beside a filler, another one does not end what holds both.
        ends = (boundary == where.lengths[:, None]) | self._ends_must(where)
        filler = ~(where.beside_filler[:, None] & ends)
        allowed = free & where.canonical_candidates() & (labelled | filler)
        return free.where(~allowed.any(1, keepdim=True), allowed)  # rule (f)

    def may_be_filler(
        self, where: Configurations, boundary: Tensor, *, freely: Tensor, canonical: bool
    ) -> Tensor:
        """Whether the spans made by pointing to some candidates may be fillers.

        A candidate for which no label is left can only be a filler, by rule (f) or without it. One
        that has a label is no more of a filler by rule (f): to the left it never is, and to the
        right it would have been left without. So no other boundaries have to be looked at.

        Args:
            where: the rows' configurations
            boundary: (rows, few); nothing is said about those that are no candidates
            freely: whether they may be fillers as far as constraints do not matter, (rows, few)
            canonical: whether the canonical rules hold, too

        Returns:
            (rows, few)
        """
        kinds = self._kinds(where, boundary)
        filler = freely & ~self.must[kinds]
        if canonical:  # rule (e)
            ends = self._ends_must(where).gather(1, boundary)
            filler &= ~(where.beside_filler[:, None] & ends)
        return filler | ~self.labelled[kinds]

    def labels(self, where: Configurations, boundary: Tensor) -> Tensor:
        """The labels that are left for the spans made by pointing to some boundaries.

        Args:
            where: the rows' configurations
            boundary: (rows, few)

        Returns:
            (rows, few, labels), where fillers are never allowed
        """
        return self.chains[self._kinds(where, boundary)]

    def _kinds(self, where: Configurations, boundary: Tensor) -> Tensor:
        """The kinds of the places between the cursors and some boundaries: (rows, few) twice."""
        return self.kinds[self.row[:, None], where.cursor[:, None], boundary]

    def _ends_must(self, where: Configurations) -> Tensor:
        """Whether a must that holds the newest span ends at each boundary: (rows, boundaries)."""
        return self.earliest[self.row] <= where.newest[:, None]

    def _keeps_musts(self, where: Configurations, boundary: Tensor, must: Tensor) -> Tensor:
        """Whether all musts can still be met after pointing there: rules (a) to (c).

        Args:
            where: the rows' configurations
            boundary: all of them, (boundaries,)
            must: whether the span made by pointing there is one, (rows, boundaries)

        Returns:
            (rows, boundaries)
        """
        is_open = must & (boundary < where.newest[:, None])
        last_open = torch.where(is_open, boundary, -1).amax(1)
        right = torch.where(last_open < 0, self.right[self.row, where.cursor], where.cursor)
        left = torch.maximum(self.left[self.row, where.cursor], last_open)
        return (boundary >= left[:, None]) & (boundary <= right[:, None])
