"""The interface through which a network enters decoding."""

from __future__ import annotations

from typing import Protocol, TypeVar

from fencepost.batching.arrays import Floats, Ints
from fencepost.decoding.configurations import Configurations

State = TypeVar("State")


class Stepper(Protocol[State]):
    """Scores the next steps of parses from what it has seen of the steps before.

    A state belongs to some rows, each a parse of a sentence on its way; it is never changed. In all
    methods `where` holds the configurations of the same rows. Logits are divided by the head's
    temperature.
    """

    @property
    def looks_at_stack(self) -> bool:
        """Whether scores look at the stack, so that configurations have to hold it."""

    def start(self, boundaries: Floats) -> State:
        """The state before the first step, a row for each sentence.

        Args:
            boundaries: vectors of the boundaries, (sentences, n + 1, width)
        """

    def point_logits(self, state: State, where: Configurations) -> Floats:
        """Scores of pointing to each boundary: (rows, n + 1), the caller's to change."""

    def label_logits(self, state: State, where: Configurations, boundary: Ints) -> Floats:
        """Scores of the labels of the spans made by pointing there, the caller's to change.

        Args:
            state: of the rows
            where: the rows' configurations
            boundary: (rows,)

        Returns:
            (rows, labels)
        """

    def advance(self, state: State, where: Configurations, boundary: Ints, label: Ints) -> State:
        """The state after a step of each row: `boundary` and `label` are (rows,)."""

    def select(self, state: State, rows: Ints, *, each: int = 1) -> State:
        """The state of some of the rows, in this order; a row may come more than once.

        Args:
            state: of all rows
            rows: (selected rows,)
            each: more than 1: that many rows belong to each sentence, one sentence after the other
        """
