"""The interface of a network, whatever computes it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from fencepost.batching.arrays import Floats
from fencepost.batching.inputs import Inputs
from fencepost.decoding.stepper import Stepper


class Read(NamedTuple):
    """The encoding of sentences: vectors of boundaries, and scores of tags."""

    boundaries: Floats  # (sentences, n + 1, width)
    tags: Floats | None  # (sentences, n, tags): scores of tags; None: it was not asked for them


class Network(Protocol):
    """Reads sentences, and scores steps through them."""

    @property
    def layers(self) -> Collection[str]:
        """The layers that it has pointing heads for."""

    def read(self, inputs: Inputs, *, tags: bool) -> Read:
        """Read sentences, and score their tags if these are wanted and it knows any."""

    def stepper(self, layer: str) -> Stepper[Any]:
        """Scores the steps of a layer."""

    def temperature(self, layer: str) -> float:
        """The temperature by which the stepper divides logits."""

    def eval(self) -> object:
        """Drop nothing out from now on."""

    def evaluating(self) -> AbstractContextManager[None]:
        """Within this, nothing is learned and nothing is dropped out."""

    def weights(self) -> Mapping[str, Floats]:
        """All weights by name, to be saved."""
