"""Rows of a beam share a state of the decoder only if nothing that it reads differs."""

from dataclasses import dataclass

import numpy as np
import pytest

from fencepost.batching.arrays import Floats, Ints
from fencepost.decoding.beam import beam
from fencepost.decoding.configurations import Configurations
from fencepost.decoding.derivations import Derivations
from fencepost.decoding.rules import Rules
from fencepost.model.stepper import stepper_of
from fencepost.runtime.stepper import FastState, FastStepper
from tests.heads import SETTINGS, head_with, vectors

PLAIN = next(settings for settings in SETTINGS if not settings.previous_label)
HEAD = head_with(4, PLAIN, open_root=False, labels=5)
WEIGHTS = stepper_of(HEAD).weights  # type: ignore[attr-defined]  # that of a CPU has them


@dataclass(frozen=True, slots=True)
class WithLabel(FastStepper):
    """A decoder that reads one thing more: the label of the span."""

    def inputs(
        self, state: FastState, where: Configurations, boundary: Ints, label: Ints
    ) -> tuple[Ints, ...]:
        return (*FastStepper.inputs(self, state, where, boundary, label), label)

    def gates(self, state: FastState, *inputs: Ints) -> Floats:
        *others, label = inputs
        return FastStepper.gates(self, state, *others) + 0.3 * label[:, None]


@dataclass(frozen=True, slots=True)
class Unshared(WithLabel):
    """The same, with a state for each row."""

    def select(self, state: FastState, rows: Ints, *, each: int = 1) -> FastState:
        selected = FastStepper.select(self, state, rows, each=each)
        if selected.of_row is None:
            return selected
        own = selected.of_row
        return selected._replace(
            cell=selected.cell[own], outputs=selected.outputs[own], of_row=None
        )


def found(stepper: FastStepper) -> Derivations:
    boundaries, lengths = vectors(6, 4)
    return beam(stepper, boundaries, lengths, Rules(open_root=False), beams=12)


def test_rows_that_differ_in_an_input_do_not_share_a_state() -> None:
    shared, own = found(WithLabel(WEIGHTS)), found(Unshared(WEIGHTS))
    np.testing.assert_allclose(shared.log_probs, own.log_probs, atol=1e-9)
    np.testing.assert_array_equal(shared.boundaries, own.boundaries)
    np.testing.assert_array_equal(shared.labels, own.labels)


def test_the_input_matters() -> None:
    with_label, without = found(WithLabel(WEIGHTS)), found(FastStepper(WEIGHTS))
    assert not np.allclose(with_label.log_probs, without.log_probs, atol=1e-3)


def test_an_input_that_is_left_out_of_the_columns_cannot_be_read() -> None:
    stepper = WithLabel(WEIGHTS)
    boundaries, lengths = vectors(3)
    state, where = stepper.start(boundaries), Configurations.first(lengths)
    columns = stepper.inputs(state, where, np.array([2]), np.array([1]))
    assert len(columns) == 3  # start, end and label: all that `gates` is given
    with pytest.raises(ValueError, match="values to unpack"):
        stepper.gates(state, *columns[:2])


@pytest.mark.parametrize("beams", [2, 12])
def test_rows_that_agree_share_one(beams: int) -> None:
    stepper = stepper_of(HEAD)
    boundaries, lengths = vectors(5)
    row = np.zeros(beams, dtype=np.intp)
    where = Configurations.first(lengths).rows(row)
    state = stepper.select(stepper.start(boundaries), row, each=beams)
    after = stepper.advance(state, where, np.full(beams, 3), np.arange(beams) % 5)
    assert len(after.cell) == 1, "only labels differ, which this decoder does not read"
