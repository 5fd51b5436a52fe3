"""Marginals from samples of parses: posteriors of spans, and the parse of the majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from fencepost.checkpoints.model import Model
from fencepost.decoding.walk import sample
from fencepost.parser.assembly import LayerParse, layer_parses, parse_of
from fencepost.parser.encoding import Encoded
from fencepost.structure import Entity, FoundSpan, Parse, Sentence, Span, Tree
from fencepost.structure.span import by_place
from fencepost.tasks import constituency, entities
from fencepost.tasks.labels import split_spans
from fencepost.tasks.layers import layer_spans

_MOST_WORDS = 30_000  # in all samples of a batch


@dataclass(frozen=True, slots=True)
class Posterior:
    """The marginal probability of a labelled span."""

    span: Span
    probability: float  # the share of samples that have it
    error: float  # standard error of that share


@dataclass(frozen=True, slots=True)
class Marginals:
    """Posteriors of the spans of a sentence, estimated from samples of its parses."""

    sentence: Sentence
    samples: int
    tree: tuple[Posterior, ...] | None  # the most probable first
    entities: tuple[Posterior, ...] | None
    majority: Parse  # minimum Bayes risk: the fewest wrong and missing spans in expectation


def sample_parses(
    model: Model, encoded: Encoded, layers: Sequence[str], *, samples: int, seed: int
) -> list[Parse]:
    """Sample parses of one sentence.

    Args:
        model: the model to sample from.
        encoded: the sentence.
        layers: the layers, which are independent of each other.
        samples: the number of parses.
        seed: the random seed.
    """
    (sentence,) = encoded.sentences
    generator = np.random.default_rng(seed)
    batch_size = max(_MOST_WORDS // len(sentence), 1)
    choices = 2 * (2 * len(sentence) - 1)  # a boundary and a label at each step
    combinations: list[dict[str, LayerParse]] = [{} for _ in range(samples)]
    for layer in layers:
        for first in range(0, samples, batch_size):
            batch = combinations[first : first + batch_size]
            derivations = sample(
                model.network.stepper(layer),
                encoded.boundaries,
                encoded.lengths,
                model.rules(layer),
                generator.random((1, len(batch), choices), dtype=np.float32),
            )
            (parses,) = layer_parses(derivations, model.numbers.labels[layer])
            for combination, parse in zip(batch, parses, strict=True):
                combination[layer] = parse
    wrapper = model.numbers.wrapper
    return [parse_of(sentence, combination, wrapper=wrapper) for combination in combinations]


def marginals_of(samples: Sequence[Parse]) -> Marginals:
    """Estimate the marginals of one sentence from samples of its parses.

    The majority parse has a span wherever more than half of the samples have one; two such spans
    are together in some sample, so they never cross. Its label is the most frequent one there.
    """
    sentence, first = samples[0].sentence, samples[0]
    posteriors: dict[str, tuple[Posterior, ...]] = {}
    majority: dict[str, tuple[Span, ...]] = {}
    for layer, kind in (("tree", FoundSpan), ("entities", Entity)):
        if getattr(first, layer) is None:
            continue
        counts = Counter(
            span
            for parse in samples
            for span in layer_spans(parse, layer) or ()
            if span.label is not None
        )
        posteriors[layer] = _posteriors(counts, len(samples), kind, sentence)
        majority[layer] = _majority(counts, len(samples))
    tree, mentions = None, None
    if "tree" in majority:
        wrapper = first.tree.wrapper if first.tree else None
        spans = constituency.decode(sentence, majority["tree"], wrapper=wrapper).spans
        tree = Tree(sentence, _with_probabilities(spans, posteriors["tree"], FoundSpan, sentence))
    if "entities" in majority:
        decoded = entities.decode(majority["entities"])
        mentions = _with_probabilities(decoded, posteriors["entities"], Entity, sentence)
    return Marginals(
        sentence,
        len(samples),
        posteriors.get("tree"),
        posteriors.get("entities"),
        Parse(sentence, tree, mentions),
    )


def _posteriors(
    counts: Counter[Span], samples: int, kind: type[FoundSpan], sentence: Sentence
) -> tuple[Posterior, ...]:
    """The posteriors of single labels; a chain counts for each of its labels."""
    single: Counter[Span] = Counter()
    for span, count in counts.items():
        for part in set(split_spans([span])):
            single[part] += count
    rows = [
        Posterior(
            kind(*span, sentence, count / samples),
            count / samples,
            sqrt(count * (samples - count) / samples) / samples,
        )
        for span, count in single.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.probability, row.span)))


def _majority(counts: Counter[Span], samples: int) -> tuple[Span, ...]:
    """The most frequent span at each place where more than half of the samples have one."""
    places: Counter[tuple[int, int]] = Counter()
    best: dict[tuple[int, int], Span] = {}
    for span, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        places[span[:2]] += count
        best.setdefault(span[:2], span)
    return tuple(by_place(best[place] for place, count in places.items() if count > samples / 2))


def _with_probabilities(
    spans: Sequence[Span],
    posteriors: Sequence[Posterior],
    kind: type[FoundSpan],
    sentence: Sentence,
) -> tuple[FoundSpan, ...]:
    probabilities = {row.span: row.probability for row in posteriors}
    # The wrapper is not sampled: it is always there.
    return tuple(kind(*span, sentence, probabilities.get(span, 1.0)) for span in spans)
