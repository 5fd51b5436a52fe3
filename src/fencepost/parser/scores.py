"""How probable given analyses are, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import NamedTuple

from fencepost.batching.vocabulary import Labels
from fencepost.errors import DataError
from fencepost.model.following import score
from fencepost.model.found import Steps
from fencepost.parser.encoding import Encoded
from fencepost.parser.model import Model
from fencepost.structure import Parse, Sentence, Span, Tree
from fencepost.tasks.layers import layer_spans
from fencepost.transition import fill_gaps, pointings

Analysis = Parse | Tree | str | Iterable[tuple[int, int, str]]


class ScoredStep(NamedTuple):
    """A step to a given analysis."""

    span: Span  # which it completes; labels on the same words are joined, a filler has none
    log_prob: float  # given the steps before it; -inf: the model can never take it

    @property
    def probability(self) -> float:
        """Of the step, given those before it."""
        return exp(self.log_prob)


@dataclass(frozen=True, slots=True)
class Scored:
    """How probable an analysis is."""

    sentence: Sentence
    steps: Mapping[str, tuple[ScoredStep, ...]]  # by layer

    @property
    def log_probs(self) -> dict[str, float]:
        """Of each layer."""
        return {layer: sum(step.log_prob for step in steps) for layer, steps in self.steps.items()}

    @property
    def log_prob(self) -> float:
        """Of the whole analysis: `Parse.log_prob` of the same parse, had the parser found it."""
        return sum(self.log_probs.values())


def analysis_of(sentence: Sentence, given: Analysis) -> Parse:
    """A given analysis as a parse.

    Args:
        sentence: which it stands over.
        given: a parse, a tree, brackets, or entities.

    Raises:
        DataError: it stands over other words.
    """
    if isinstance(given, str):
        given = Tree.from_brackets(given)
    if isinstance(given, Parse | Tree) and given.words != sentence.words:
        raise DataError(
            f"the analysis stands over other words: {' '.join(given.words)!r}, "
            f"not {' '.join(sentence.words)!r}"
        )
    if isinstance(given, Parse):
        return given.over(sentence)
    if isinstance(given, Tree):
        return Parse(sentence, Tree(sentence, given.spans))
    return Parse(sentence, entities=tuple(Span(*row) for row in given))


def scored(
    model: Model, encoded: Encoded, parses: Sequence[Parse], *, layers: Iterable[str]
) -> list[Scored]:
    """The scores of an analysis of each sentence, for the layers that it has.

    Args:
        model: which scores them.
        encoded: the sentences.
        parses: an analysis of each.
        layers: which of its layers.
    """
    found: list[dict[str, tuple[ScoredStep, ...]]] = [{} for _ in parses]
    for layer in layers:
        spans = {row: layer_spans(parse, layer) for row, parse in enumerate(parses)}
        filled = {row: fill_gaps(some) for row, some in spans.items() if some is not None}
        if not filled:
            continue
        labels = model.numbers.labels[layer]
        steps = Steps.of([numbered(labels, some) for some in spans.values() if some is not None])
        steps = steps.to(encoded.lengths.device)
        rows = encoded.lengths.new_tensor(list(filled))
        each = score(
            model.network.head(layer), encoded.boundaries, encoded.lengths, steps, row=rows
        )
        for (row, made), costs in zip(filled.items(), each.tolist(), strict=True):
            found[row][layer] = tuple(map(ScoredStep, made, costs))
    return [
        Scored(sentence, steps) for sentence, steps in zip(encoded.sentences, found, strict=True)
    ]


def numbered(labels: Labels, spans: tuple[Span, ...]) -> list[tuple[int, int]]:
    """The steps to some spans: boundaries, and numbers of labels or -1 for those not known."""
    numbers = ((step.boundary, labels.number(step.label)) for step in pointings(spans))
    return [(boundary, -1 if number is None else number) for boundary, number in numbers]
