"""Calibration: one temperature for each head, fitted to gold sentences.

The probability of a span is that of the step that completed it, given the steps before. A network
that has overfitted gives its steps too high a probability. Dividing all logits by a temperature
changes no greedy parse, and lets the probability of spans match the share of them that is right. A
beam ranks whole parses, so it may find others at another temperature; the temperature is fitted to
those from before.

Sentences are encoded and parsed once, and the alternatives of each step are stored. The
probabilities at any other temperature then cost a few sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import exp, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from fencepost.batching.arrays import Bools, Floats
from fencepost.batching.batches import by_words
from fencepost.checkpoints.model import Model
from fencepost.parser.correctness import Outcomes, outcomes_of
from fencepost.parser.encoding import encode
from fencepost.parser.predict import BATCH_WORDS, Done, no_progress
from fencepost.scoring import Comparison, Parameters
from fencepost.structure import Parse
from fencepost.tasks.layers import POINTING, layer_spans

BINS = 15
COLDEST, HOTTEST = 0.05, 20.0  # the range of temperatures to search

_MIN_WRONG = 1e-12  # the smallest probability that a span is wrong, so that losses are finite


class Bin(NamedTuple):
    """Spans of similar probability."""

    spans: int
    probability: float  # the mean
    right: float  # the share of right spans


@dataclass(frozen=True, slots=True)
class Calibration:
    """The temperature of a head, and the calibration of its probabilities before and after.

    "After" is cross-validated: sentences with odd numbers are measured at the temperature that was
    fitted to the even ones, and vice versa. The temperature itself is fitted to all sentences.
    """

    layer: str
    temperature: float
    temperature_before: float
    sentences: int
    loss_before: float  # mean negative log-likelihood of "right" and "wrong"
    loss_after: float
    bins_before: tuple[Bin, ...]  # from the least probable spans to the most probable
    bins_after: tuple[Bin, ...]

    @property
    def spans(self) -> int:
        """The number of labelled spans that were predicted."""
        return sum(group.spans for group in self.bins_before)

    @property
    def right(self) -> int:
        """The number of right ones among them."""
        return round(sum(group.spans * group.right for group in self.bins_before))

    @property
    def ece_before(self) -> float:
        """The expected calibration error at the model's own temperature."""
        return calibration_error(self.bins_before)

    @property
    def ece_after(self) -> float:
        """The expected calibration error at a temperature from other sentences."""
        return calibration_error(self.bins_after)

    def to_dict(self) -> dict[str, Any]:
        """Plain data; errors and shares are between 0 and 1."""
        bins = {
            name: [group._asdict() for group in getattr(self, name)]
            for name in ("bins_before", "bins_after")
        }
        fields = {key: value for key, value in asdict(self).items() if key not in ("layer", *bins)}
        figures = {
            name: getattr(self, name) for name in ("spans", "right", "ece_before", "ece_after")
        }
        return {"task": self.layer, **fields, **figures, **bins}


def bins_of(probabilities: Floats, right: Bools) -> tuple[Bin, ...]:
    """Sort spans by probability into 15 bins of the same number of spans.

    With bins of the same width, nearly all spans of a good model would be in the last.

    Args:
        probabilities: (spans,)
        right: whether each span is right, (spans,)
    """
    order = probabilities.argsort(kind="stable")
    return tuple(
        Bin(len(group), float(probabilities[group].mean()), float(right[group].mean()))
        for group in np.array_split(order, BINS)
        if len(group)
    )


def calibration_error(bins: Sequence[Bin]) -> float:
    """The expected calibration error: |mean probability - share right|, averaged over spans.

    >>> calibration_error([Bin(3, 0.5, 0.25), Bin(1, 1.0, 1.0)])
    0.1875
    """
    error = sum(group.spans * abs(group.probability - group.right) for group in bins)
    return error / max(sum(group.spans for group in bins), 1)


def minimize(function: Callable[[float], float], *, low: float, high: float) -> float:
    """The minimum of a unimodal function by golden-section search, to a thousandth.

    >>> round(minimize(lambda x: (x - 2) ** 2, low=0, high=5), 2)
    2.0
    """
    share = (sqrt(5) - 1) / 2
    left, right = high - share * (high - low), low + share * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > 1e-3:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - share * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + share * (high - low)
            at_right = function(right)
    return (low + high) / 2


def log_loss(log_probs: Floats, right: Bools) -> float:
    """The mean negative log-likelihood of the correctness of spans.

    Args:
        log_probs: (spans,)
        right: (spans,)
    """
    wrong = np.log(np.maximum(-np.expm1(log_probs), _MIN_WRONG))
    return -float(np.where(right, log_probs, wrong).mean())


def fit(outcomes: Outcomes, mask: Bools) -> float:
    """Fit a temperature by maximum likelihood of the spans' correctness.

    If all of them are right, or all wrong, it is the temperature of the outcomes.

    Args:
        outcomes: the outcomes of one head.
        mask: the spans to fit to, (spans,)
    """
    right = outcomes.right[mask]
    if right.all() or not right.any():
        return outcomes.temperature

    def loss(log_temperature: float) -> float:
        return log_loss(outcomes.log_probs(exp(log_temperature))[mask], right)

    return exp(minimize(loss, low=log(COLDEST), high=log(HOTTEST)))


def calibration_of(layer: str, outcomes: Outcomes, *, sentences: int) -> Calibration:
    """The calibration of a head by its outcomes.

    Args:
        layer: `tree` or `entities`.
        outcomes: the outcomes of its head.
        sentences: the number of sentences that have the layer.
    """
    right, odd = outcomes.right, outcomes.sentence % 2 == 1
    before = outcomes.log_probs(outcomes.temperature)
    after = np.where(
        odd,
        outcomes.log_probs(fit(outcomes, ~odd)),
        outcomes.log_probs(fit(outcomes, odd)),
    )
    return Calibration(
        layer,
        round(fit(outcomes, np.ones_like(odd)), 4),
        outcomes.temperature,
        sentences,
        log_loss(before, right) if len(right) else 0.0,
        log_loss(after, right) if len(right) else 0.0,
        bins_of(np.exp(before), right),
        bins_of(np.exp(after), right),
    )


def calibrate(
    model: Model, gold: Sequence[Parse], *, parameters: Parameters, done: Done = no_progress
) -> tuple[Calibration, ...]:
    """Calibrate each pointing head whose layer some gold sentence has.

    The model does not change.

    Args:
        model: the model to parse with, at its own width of the beam.
        gold: the gold parses.
        parameters: tell which brackets of trees count, and which labels are the same.
        done: called with the number of words after each batch.
    """
    numbered = [(number, parse) for number, parse in enumerate(gold) if parse.words]
    counts = {
        layer: sum(_has(parse, layer) for _, parse in numbered)
        for layer in POINTING
        if layer in model.network.layers
    }
    outcomes: dict[str, list[Outcomes]] = {layer: [] for layer in counts if counts[layer]}
    if not outcomes:
        return ()
    comparison = Comparison(parameters)
    with model.network.evaluating():
        for rows in by_words([len(parse.words) for _, parse in numbered], most=BATCH_WORDS):
            batch = [numbered[row] for row in rows]
            encoded = encode(model, [parse.sentence for _, parse in batch], tasks=())
            for layer, batches in outcomes.items():
                if any(_has(parse, layer) for _, parse in batch):
                    batches.append(
                        outcomes_of(model, encoded, layer=layer, gold=batch, comparison=comparison)
                    )
            done(sum(len(parse.words) for _, parse in batch))
    return tuple(
        calibration_of(layer, Outcomes.concatenate(batches), sentences=counts[layer])
        for layer, batches in outcomes.items()
    )


def _has(parse: Parse, layer: str) -> bool:
    return layer_spans(parse, layer) is not None
