"""A network on a CPU without torch: its encoder in onnxruntime, all else in numpy."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from fencepost.batching.arrays import Floats
from fencepost.batching.inputs import Inputs
from fencepost.batching.numbers import Numbers
from fencepost.config import NetworkSettings
from fencepost.decoding.blas import one_thread
from fencepost.decoding.network import Read
from fencepost.runtime.bert import BertSizes
from fencepost.runtime.encoder import Encoder
from fencepost.runtime.kinds import encoder_graphs, kind_of
from fencepost.runtime.session import Session
from fencepost.runtime.stepper import FastStepper, Folded
from fencepost.runtime.weights import Weights


class RuntimeNetwork:
    """A network whose weights are in a file.

    Args:
        encoder: from sentences to the states of their words.
        weights: of the whole network.
        temperatures: of its pointing heads, by layer.
        whole: whether boundaries take all of the words beside them, and not one half of each.
    """

    def __init__(
        self, encoder: Encoder, weights: Weights, *, temperatures: Mapping[str, float], whole: bool
    ) -> None:
        self._encoder, self._weights, self._whole = encoder, weights, whole
        self._temperatures = temperatures
        with one_thread:  # with more, the last digit of a product would depend on how many
            self._steppers = {
                layer: FastStepper(
                    Folded.of(weights.under(f"heads.{layer}."), temperature=temperature)
                )
                for layer, temperature in temperatures.items()
            }
        self._tags = weights.under("tags.")

    @property
    def layers(self) -> Collection[str]:
        """The layers that it has pointing heads for."""
        return self._steppers.keys()

    def read(self, inputs: Inputs, *, tags: bool) -> Read:
        """Read sentences, and score their tags if these are wanted and it knows any."""
        states = self._encoder(inputs)
        left, right = states[:, :-1], states[:, 1:]
        if not self._whole:
            half = states.shape[-1] // 2
            left, right = left[..., :half], right[..., half:]
        boundaries = np.concatenate((left, right), axis=-1)
        scores = None
        if tags and self._tags:
            rows = states[:, 1:-1].reshape(-1, states.shape[-1])
            with one_thread:
                scores = rows.dot(self._tags["weight"].T) + self._tags["bias"]
            scores = scores.reshape(len(states), -1, scores.shape[-1])
        return Read(boundaries, scores)

    def stepper(self, layer: str) -> FastStepper:
        """Scores the steps of a layer."""
        return self._steppers[layer]

    def temperature(self, layer: str) -> float:
        """The temperature by which the stepper divides logits."""
        return self._temperatures[layer]

    def eval(self) -> None:
        """It never drops anything out."""

    def evaluating(self) -> AbstractContextManager[None]:
        """It never learns."""
        return nullcontext()

    def weights(self) -> Mapping[str, Floats]:
        """All weights, read from their file once more."""
        return self._weights


def encoder_of(
    settings: NetworkSettings,
    numbers: Numbers,
    sizes: BertSizes | None,
    weights: Weights,
    *,
    precision: str,
    threads: int,
) -> Encoder:
    """The encoder of a network whose weights fit its settings.

    Args:
        settings: of the network.
        numbers: what its numbers stand for.
        sizes: of its transformer; None: it reads words and characters.
        weights: of the network.
        precision: `fp32` or `int8`.
        threads: at most.
    """
    file = weights.path.resolve()  # where links lead to
    graphs = encoder_graphs(settings, numbers, sizes, weights, file=file.name, precision=precision)
    sessions = (Session(graph, file, threads=threads) for graph in graphs.values())
    return kind_of(settings).encoder(*sessions)
