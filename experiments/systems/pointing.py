"""The library's own way to parse."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from fencepost.batching.examples import Example
from fencepost.batching.inputs import Inputs
from fencepost.checkpoints.trainable import TrainableModel
from fencepost.model.network import Network
from fencepost.parser.predict import predict
from fencepost.structure import Parse, Sentence
from fencepost.training.loop import Recipe, batch_losses


class Pointing:
    """Bottom-up pointing, trained and searched as the library does it."""

    def fit(self, model: TrainableModel) -> None:
        """Leave the library's heads as they are."""

    def losses(
        self, network: Network, batch: Sequence[Example], inputs: Inputs, recipe: Recipe
    ) -> dict[str, Tensor]:
        """The library's loss."""
        return batch_losses(network, batch, inputs, recipe)

    def predict(self, model: TrainableModel, sentences: Sequence[Sentence]) -> list[Parse]:
        """What greedy search finds."""
        return predict(model, sentences)
