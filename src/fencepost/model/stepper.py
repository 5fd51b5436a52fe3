"""Steppers of a head in torch: its own functions, or the fast stepper on a CPU."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn

from fencepost.batching.arrays import Floats, Ints
from fencepost.decoding.configurations import Configurations
from fencepost.decoding.stepper import Stepper
from fencepost.model.head import PointingHead, Sentences, State, Where
from fencepost.runtime.stepper import FastStepper, Folded


class HeadState(NamedTuple):
    """The decoder's states of rows, with their sentences."""

    sentences: Sentences
    states: Tensor  # (rows, 1, decoder): the output of the decoder after the last step
    memory: State | None  # None: the head has no LSTM


class HeadStepper:
    """Steps by the head's own functions, on any device: the reference of the fast stepper.

    Args:
        head: the pointing head to decode with.
    """

    def __init__(self, head: PointingHead) -> None:
        self.head = head

    @property
    def looks_at_stack(self) -> bool:
        """Whether scores depend on the stack."""
        return self.head.has_context

    @torch.no_grad()
    def start(self, boundaries: Floats) -> HeadState:
        """The state before the first step."""
        vectors = torch.from_numpy(boundaries).to(self._device)
        sentences, rows = self.head.read(vectors)._replace(spans=None), len(vectors)
        if self.head.lstm is None:
            return HeadState(sentences, vectors.new_zeros(rows, 1, 0), None)
        states, memory = self.head.decode(self.head.first_inputs(rows), self.head.first_state(rows))
        return HeadState(sentences, states, memory)

    @torch.no_grad()
    def point_logits(self, state: HeadState, where: Configurations) -> Floats:
        """The logits of pointing to each boundary: (rows, n + 1)."""
        place = Where.of(where, self._device)
        return self._logits(self.head.pointing_scores(state.sentences, state.states, place))

    @torch.no_grad()
    def label_logits(self, state: HeadState, where: Configurations, boundary: Ints) -> Floats:
        """The logits of labels for the spans that these steps complete: (rows, labels)."""
        start, end = self._ends(where, boundary)
        place = Where.of(where, self._device)
        boundaries = state.sentences.boundaries
        return self._logits(self.head.label_scores(boundaries, state.states, start, end, place))

    @torch.no_grad()
    def advance(
        self, state: HeadState, where: Configurations, boundary: Ints, label: Ints
    ) -> HeadState:
        """The state after one step of each row."""
        if state.memory is None:
            return state
        start, end = self._ends(where, boundary)
        inputs = self.head.inputs(state.sentences.boundaries, start, end, self._column(label))
        states, memory = self.head.decode(inputs, state.memory)
        return state._replace(states=states, memory=memory)

    def select(self, state: HeadState, rows: Ints, *, each: int = 1) -> HeadState:
        """Select rows, in this order."""
        index = torch.from_numpy(rows).to(self._device)
        memory = None if state.memory is None else state.memory.rows(index)
        return HeadState(state.sentences.rows(index), state.states[index], memory)

    @property
    def _device(self) -> torch.device:
        return self.head.biaffine.device

    def _logits(self, scores: Tensor) -> Floats:
        logits: Floats = (scores[:, 0] / self.head.temperature).cpu().numpy()
        return logits

    def _ends(self, where: Configurations, boundary: Ints) -> tuple[Tensor, Tensor]:
        start, end = np.minimum(where.cursor, boundary), np.maximum(where.cursor, boundary)
        return self._column(start), self._column(end)

    def _column(self, values: Ints) -> Tensor:
        """(rows,) to (rows, 1), on the head's device."""
        return torch.from_numpy(values)[:, None].to(self._device)


class _Cached(NamedTuple):
    """A stepper with the versions of the weights that it was folded from."""

    modules: tuple[nn.Module, ...]  # the head's parts, which take long to collect
    versions: tuple[float, ...]
    stepper: FastStepper


_fast: WeakKeyDictionary[PointingHead, _Cached] = WeakKeyDictionary()


def stepper_of(head: PointingHead) -> Stepper[Any]:
    """The stepper of a head: on a CPU the fast one, folded again after the weights change."""
    if head.biaffine.device.type != "cpu":
        return HeadStepper(head)
    cached = _fast.get(head)
    # Without the head itself, since a reference from here would keep it alive.
    modules = tuple(list(head.modules())[1:]) if cached is None else cached.modules
    # A fused optimizer changes weights but not their version; `trainings` covers that case.
    versions = (
        head.trainings,
        head.temperature,
        *(
            number
            for module in (head, *modules)
            for weight in module._parameters.values()
            if weight is not None
            for number in (weight._version, weight.data_ptr())
        ),
    )
    if cached is None or cached.versions != versions:
        weights = {name: weight.detach().numpy() for name, weight in head.named_parameters()}
        stepper = FastStepper(Folded.of(weights, temperature=head.temperature))
        cached = _fast[head] = _Cached(modules, versions, stepper)
    return cached.stepper
