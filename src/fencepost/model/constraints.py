"""Constraints for many rows at a time: the fast twin of `transition.ConstrainedConfiguration`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from fencepost.batching.vocabulary import Labels
from fencepost.model.configurations import Configurations
from fencepost.tasks.labels import split
from fencepost.transition import Constraints, Limits


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
        ConstraintError: no parse can obey; the first sentence of which this is so counts.
    """
    known = {chain: split(chain) for chain in labels.names}
    return [
        None
        if constraints is None or constraints == Constraints()
        else constraints.limits(known, n, open_root=open_root)
        for constraints, n in zip(asked, lengths, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class RowLimits:
    """What constraints leave for the rows of a batch.

    Places for which the same is left are of one kind; kind 0 is that of a row of which nothing is
    asked. Of all tensors only `row` follows the rows in search, the others are never copied.
    """

    row: Tensor  # (rows,): the sentence that each row parses
    asked: Tensor  # (sentences,): whether anything is
    kinds: Tensor  # (sentences, boundaries, boundaries): of the places between two boundaries
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
        kinds = torch.tensor(elsewhere)[:, None, None].repeat(1, boundaries, boundaries)
        at_row, at_start, at_end, kind_there = torch.tensor(places).view(-1, 4).T
        kinds[at_row, at_start, at_end] = kind_there
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

    def steps(
        self, where: Configurations, *, canonical: bool, open_root: bool
    ) -> tuple[Tensor, Tensor]:
        """The boundaries that may be pointed to, and whether the spans so made may be fillers.

        Args:
            where: the rows' configurations
            canonical: whether the canonical rules hold, too
            open_root: whether the whole sentence may be a filler

        Returns:
            (rows, boundaries) twice
        """
        kinds = self.kinds[self.row, where.cursor]
        must, labelled = self.must[kinds], self.labelled[kinds]
        keeps = self._keeps_musts(where, must)
        boundary = torch.arange(keeps.shape[1], device=keeps.device).expand_as(keeps)
        whole = where.whole(boundary)
        if not canonical:
            filler = ~must & (~whole | open_root)
            return where.candidates() & keeps & (filler | labelled), filler
        filler = where.may_be_filler(boundary, open_root=open_root) & ~must
        # Rule (e): a filler stands beside another one at the end of a must that holds both.
        filler &= ~where.beside_filler[:, None] | (self.earliest[self.row] > where.newest[:, None])
        allowed = where.canonical_candidates() & keeps & (filler | labelled)
        # Rule (f).
        rightward = (boundary > where.cursor[:, None]) & ~whole
        free_filler = (rightward | whole & open_root) & ~must
        free = where.candidates() & keeps & (free_filler | labelled)
        lifted = ~allowed.any(1, keepdim=True)
        return free.where(lifted, allowed), free_filler.where(lifted, filler)

    def _keeps_musts(self, where: Configurations, must: Tensor) -> Tensor:
        """Whether all musts can still be met after pointing there: rules (a) to (c).

        Args:
            where: the rows' configurations
            must: whether the span made by pointing there is one, (rows, boundaries)

        Returns:
            (rows, boundaries)
        """
        boundary = torch.arange(must.shape[1], device=must.device)
        is_open = must & (boundary < where.newest[:, None])
        none = torch.full_like(boundary, -1)
        last_open = boundary.where(is_open, none).amax(1, keepdim=True)
        right = self.right[self.row, where.cursor][:, None]
        left = self.left[self.row, where.cursor][:, None]
        return torch.where(
            boundary > where.cursor[:, None],
            (last_open < 0) & (boundary <= right),
            boundary >= torch.maximum(left, last_open),
        )

    def labels(self, where: Configurations, boundary: Tensor) -> Tensor:
        """The labels that are left for the spans made by pointing to some boundaries.

        Args:
            where: the rows' configurations
            boundary: (rows, few)

        Returns:
            (rows, few, labels), where fillers are never allowed
        """
        return self.chains[self.kinds[self.row[:, None], where.cursor[:, None], boundary]]
