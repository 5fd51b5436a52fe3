"""How sure a head should be: one temperature for each, fitted to gold sentences.

The probability of a span is that of the step which made it, given the steps before. A network that
has learned its data by heart is too sure of its steps. Dividing all scores by one number changes
no greedy parse, and makes these probabilities say how often such spans are right. A beam weighs
whole parses, so it may find others then; it is fitted to those that it finds before.

Sentences are read and parsed once. What each step was chosen from is kept, and with it any other
temperature costs a few sums.
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
from fencepost.parser.correctness import Outcomes, joined, outcomes_of
from fencepost.parser.encoding import encode
from fencepost.parser.predict import BATCH_WORDS, Done, no_progress
from fencepost.scoring import Comparison, Parameters
from fencepost.structure import Parse
from fencepost.tasks.layers import POINTING, layer_spans

BINS = 15
COLDEST, HOTTEST = 0.05, 20.0  # between which temperatures are looked for

_SUREST = 1e-12  # a span that is wrong had at least this probability of being so


class Bin(NamedTuple):
    """Spans of similar probability."""

    spans: int
    probability: float  # their mean
    right: float  # the share of them that is right


@dataclass(frozen=True, slots=True)
class Calibration:
    """The temperature of a head, and how well its probabilities fit without and with it.

    What stands behind "after" is measured crosswise: of the sentences with odd numbers at the
    temperature that was fitted to the even ones, and the other way round. The temperature itself is
    fitted to all of them.
    """

    layer: str
    temperature: float
    temperature_before: float
    sentences: int
    loss_before: float  # mean negative log-likelihood of "right" and "wrong"
    loss_after: float
    bins_before: tuple[Bin, ...]  # from the least probable spans to the most probable ones
    bins_after: tuple[Bin, ...]

    @property
    def spans(self) -> int:
        """How many labelled spans were predicted."""
        return sum(one.spans for one in self.bins_before)

    @property
    def right(self) -> int:
        """How many of them are right."""
        return round(sum(one.spans * one.right for one in self.bins_before))

    @property
    def ece_before(self) -> float:
        """The expected calibration error with the temperature that the model has."""
        return calibration_error(self.bins_before)

    @property
    def ece_after(self) -> float:
        """The expected calibration error with a temperature from other sentences."""
        return calibration_error(self.bins_after)

    def to_dict(self) -> dict[str, Any]:
        """Plain data; errors and shares are between 0 and 1."""
        bins = {
            name: [one._asdict() for one in getattr(self, name)]
            for name in ("bins_before", "bins_after")
        }
        own = {name: value for name, value in asdict(self).items() if name not in ("layer", *bins)}
        counted = {name: getattr(self, name) for name in ("spans", "right")}
        errors = {name: getattr(self, name) for name in ("ece_before", "ece_after")}
        return {"task": self.layer, **own, **counted, **errors, **bins}


def bins_of(probabilities: Floats, right: Bools) -> tuple[Bin, ...]:
    """Spans by probability, in 15 bins of the same number of spans.

    Bins of the same width would say little of a sure model: nearly all spans fall into the last.

    Args:
        probabilities: (spans,)
        right: whether each span is, (spans,)
    """
    order = probabilities.argsort(kind="stable")
    return tuple(
        Bin(len(part), float(probabilities[part].mean()), float(right[part].mean()))
        for part in np.array_split(order, BINS)
        if len(part)
    )


def calibration_error(bins: Sequence[Bin]) -> float:
    """How far probabilities are off: |mean probability - share right|, as a mean over spans.

    >>> calibration_error([Bin(3, 0.5, 0.25), Bin(1, 1.0, 1.0)])
    0.1875
    """
    off = sum(one.spans * abs(one.probability - one.right) for one in bins)
    return off / max(sum(one.spans for one in bins), 1)


def least(function: Callable[[float], float], *, low: float, high: float) -> float:
    """Where a function that falls and then rises is least, by golden sections, to a thousandth.

    >>> round(least(lambda x: (x - 2) ** 2, low=0, high=5), 2)
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
    """The mean negative log-likelihood that spans are right, or wrong, as they are.

    Args:
        log_probs: (spans,)
        right: (spans,)
    """
    wrong = np.log(np.maximum(-np.expm1(log_probs), _SUREST))
    return -float(np.where(right, log_probs, wrong).mean())


def fit(outcomes: Outcomes, among: Bools) -> float:
    """The temperature at which some of the spans are most likely right and wrong as they are.

    If all of them are right, or all wrong, they say nothing of it, and it stays what it was.

    Args:
        outcomes: of one head.
        among: mask of the spans that count, (spans,)
    """
    right = outcomes.right[among]
    if right.all() or not right.any():
        return outcomes.temperature

    def loss(log_temperature: float) -> float:
        return log_loss(outcomes.log_probs(exp(log_temperature))[among], right)

    return exp(least(loss, low=log(COLDEST), high=log(HOTTEST)))


def calibration_of(layer: str, outcomes: Outcomes, *, sentences: int) -> Calibration:
    """The calibration that some outcomes lead to.

    Args:
        layer: `tree` or `entities`.
        outcomes: of its head.
        sentences: in how many these spans were looked for.
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
    """A calibration of each pointing head whose layer some gold sentence has.

    The model stays as it is.

    Args:
        model: to parse with, at its own width of the beam.
        gold: the annotation.
        parameters: which brackets of trees count, and which labels are the same.
        done: called with the number of words after each batch.
    """
    numbered = [(number, parse) for number, parse in enumerate(gold) if parse.words]
    found: dict[str, list[Outcomes]] = {
        layer: []
        for layer in POINTING
        if layer in model.network.layers and any(_has(parse, layer) for _, parse in numbered)
    }
    if not found:
        return ()
    comparison = Comparison(parameters)
    with model.network.evaluating():
        for batch in by_words([len(parse.words) for _, parse in numbered], most=BATCH_WORDS):
            some = [numbered[row] for row in batch]
            encoded = encode(model, [parse.sentence for _, parse in some], tasks=())
            for layer, parts in found.items():
                if any(_has(parse, layer) for _, parse in some):
                    parts.append(
                        outcomes_of(model, encoded, layer=layer, gold=some, comparison=comparison)
                    )
            done(sum(len(parse.words) for _, parse in some))
    return tuple(
        calibration_of(
            layer, joined(parts), sentences=sum(_has(parse, layer) for _, parse in numbered)
        )
        for layer, parts in found.items()
    )


def _has(parse: Parse, layer: str) -> bool:
    return layer_spans(parse, layer) is not None
