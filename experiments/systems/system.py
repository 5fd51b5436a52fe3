"""What a way to parse consists of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from fencepost.batching.examples import Example
from fencepost.batching.inputs import Inputs
from fencepost.model.network import Network
from fencepost.parser.model import Model
from fencepost.structure import Parse, Sentence
from fencepost.training.loop import Recipe


class System(Protocol):
    """A head on the library's encoder, what it is trained with, and how it searches."""

    def fit(self, model: Model) -> None:
        """Put its own head on the network of a new model, in place of the library's."""
        ...

    def losses(
        self, network: Network, batch: Sequence[Example], inputs: Inputs, recipe: Recipe
    ) -> dict[str, Tensor]:
        """The loss of each head, summed over the sentences of a batch."""
        ...

    def predict(self, model: Model, sentences: Sequence[Sentence]) -> list[Parse]:
        """The best parse of each sentence."""
        ...
