"""Steps made by hand."""

from math import log

import numpy as np

from fencepost.batching.vocabulary import Labels
from fencepost.parser.steps import Step
from fencepost.structure import FoundSpan, Sentence, Span

WORDS = Sentence(tuple("abcdefgh"))


def make_step(
    span: Span,
    probability: float,
    *,
    cursor: int,
    rather: tuple[Span, float],
    sentence: Sentence = WORDS,
    layer: str = "tree",
) -> Step:
    """A step from a cursor, and what greedy search would rather do, chosen from nothing.

    Args:
        span: which it completes
        probability: of the step; 0: its label is not known
        cursor: before the step
        rather: the span that greedy search would complete, and how probable that is
        sentence: whose words these are
        layer: of the sentence
    """
    other, likely = rather
    found = FoundSpan(*other, sentence, likely)
    log_prob = log(probability) if probability else -np.inf
    nothing = np.zeros(0)
    return Step(sentence, layer, 1, cursor, span, log_prob, found, nothing, nothing, Labels(()))
