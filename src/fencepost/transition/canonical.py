"""Canonical decoding: one derivation per parse, whose probability is the product of its steps.

Without rules, several derivations lead to the same tree: two neighbouring fillers below a span, for
example, mean the same as one. Four rules leave one derivation per tree and no dead ends:

1. a merge has no two neighbouring fillers among its direct children;
2. a bottom-most span that ends at `n` is no filler if its left neighbour on the stack is one;
3. a merge is no filler, unless it is the whole sentence and `open_root`;
4. the whole sentence is no filler, unless `open_root`.

`open_root` is set for entities: their root is a filler unless the whole sentence is an entity.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.errors import TransitionError
from fencepost.transition.configuration import Configuration


@dataclass(frozen=True, slots=True)
class CanonicalConfiguration:
    """A configuration with a record of which open spans are fillers.

    >>> start = CanonicalConfiguration(Configuration(2))
    >>> start.candidates(), start.may_be_filler(1), start.may_be_filler(2)
    ((1, 2), True, False)
    >>> start.point(1, filler=True).may_be_filler(2)  # two fillers, and then no way on
    False
    """

    plain: Configuration
    fillers: tuple[bool, ...] = ()  # for each of the plain configuration's starts
    open_root: bool = False

    def candidates(self) -> tuple[int, ...]:
        """The boundaries that may be pointed to; rule 1 excludes some on the left."""
        allowed = self.plain.candidates()
        for index in range(len(self.fillers) - 1, 0, -1):
            if self.fillers[index - 1] and self.fillers[index]:
                # A merge from further left would have both as its children.
                return tuple(b for b in allowed if b > self.plain.starts[index - 1])
        return allowed

    def may_be_filler(self, boundary: int) -> bool:
        """Whether the span made by pointing there may be a filler: rules 2 to 4."""
        n, cursor = self.plain.n, self.plain.cursor
        if (min(cursor, boundary), max(cursor, boundary)) == (0, n):
            return self.open_root
        if boundary < cursor:
            return False
        return boundary < n or not (self.fillers and self.fillers[-1])

    def point(self, boundary: int, *, filler: bool) -> CanonicalConfiguration:
        """Complete the span between the cursor and `boundary`."""
        if boundary not in self.candidates() or (filler and not self.may_be_filler(boundary)):
            raise TransitionError(
                f"no canonical step from {self.plain.cursor} to {boundary} "
                f"with{'out' if filler else ''} a label"
            )
        return self.complete(boundary, filler=filler)

    def complete(self, boundary: int, *, filler: bool) -> CanonicalConfiguration:
        """Complete the span between the cursor and `boundary`, without the canonical rules."""
        after = self.plain.point(boundary)
        fillers = self.fillers[: len(after.starts) - 1]
        return CanonicalConfiguration(after, (*fillers, filler), self.open_root)
