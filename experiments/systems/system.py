"""What a way to parse consists of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor

from fencepost.batching.batches import by_words
from fencepost.batching.examples import Example
from fencepost.batching.inputs import Inputs
from fencepost.batching.steps import Numbered
from fencepost.checkpoints.trainable import TrainableModel
from fencepost.model.network import Network, device_of
from fencepost.parser.encoding import encode
from fencepost.parser.predict import BATCH_WORDS
from fencepost.structure import Parse, Sentence
from fencepost.training.loop import Recipe


class System(Protocol):
    """A head on the library's encoder, what it is trained with, and how it searches."""

    def fit(self, model: TrainableModel) -> None:
        """Put its own head on the network of a new model, in place of the library's."""
        ...

    def losses(
        self, network: Network, batch: Sequence[Example], inputs: Inputs, recipe: Recipe
    ) -> dict[str, Tensor]:
        """The loss of each head, summed over the sentences of a batch."""
        ...

    def predict(self, model: TrainableModel, sentences: Sequence[Sentence]) -> list[Parse]:
        """The best parse of each sentence."""
        ...


def layer_losses(
    network: Network,
    batch: Sequence[Example],
    inputs: Inputs,
    each: Callable[[Tensor, Tensor, list[Numbered]], Tensor],
    *,
    layer: str = "tree",
) -> dict[str, Tensor]:
    """The loss of a layer of a batch, summed over its sentences.

    Args:
        network: whose head is trained.
        batch: of which some may not have the layer.
        inputs: the sentences as the encoder reads them.
        each: from boundaries (rows, n + 1, width), lengths (rows,) and gold steps to the loss of
            each row, (rows,).
        layer: `tree` or `entities`.
    """
    rows = [row for row, example in enumerate(batch) if layer in example.steps]
    if not rows:
        return {}
    device = device_of(network)
    boundaries = network.boundaries(network.states(inputs))
    lengths = torch.from_numpy(inputs.lengths).to(device)
    losses = each(boundaries[rows], lengths[rows], [batch[row].steps[layer] for row in rows])
    weights = torch.tensor([batch[row].weight for row in rows], device=device)
    return {layer: (losses * weights).sum()}


def predicted(
    model: TrainableModel,
    sentences: Sequence[Sentence],
    search: Callable[[Sequence[Sentence], Tensor, Tensor], list[Parse]],
) -> list[Parse]:
    """The parse of each sentence, batched as the library does it; one without words has none.

    Args:
        model: which reads them.
        sentences: with their words.
        search: from sentences, boundaries (rows, n + 1, width) and lengths (rows,) to parses.
    """
    found = [Parse(sentence) for sentence in sentences]
    waiting = [row for row, sentence in enumerate(sentences) if sentence.words]
    device = device_of(model.network)
    was_training = model.network.training
    model.network.eval()
    try:
        for batch in by_words([len(sentences[row]) for row in waiting], most=BATCH_WORDS):
            rows = [waiting[index] for index in batch]
            encoded = encode(model, [sentences[row] for row in rows], tasks=())
            tensors = (torch.from_numpy(each) for each in (encoded.boundaries, encoded.lengths))
            parses = search(encoded.sentences, *(each.to(device) for each in tensors))
            for row, parse in zip(rows, parses, strict=True):
                found[row] = parse
    finally:
        model.network.train(was_training)
    return found
