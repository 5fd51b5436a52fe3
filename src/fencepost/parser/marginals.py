"""Marginals from samples of parses: posteriors of spans, and the parse of the majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from fencepost.checkpoints.model import Model
from fencepost.decoding.walk import sample
from fencepost.parser.assembly import Reading, parse_of, readings_of
from fencepost.parser.encoding import Encoded
from fencepost.structure import Entity, FoundSpan, Parse, Sentence, Span, Tree
from fencepost.structure.span import by_place
from fencepost.tasks import constituency, entities
from fencepost.tasks.labels import split_spans
from fencepost.tasks.layers import layer_spans

_MOST_WORDS = 30_000  # of all samples that are drawn at a time


@dataclass(frozen=True, slots=True)
class Posterior:
    """How probable a labelled span is, whatever else is in the parse."""

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
    majority: Parse  # minimum Bayes risk: fewest wrong and missing spans to be expected


def draw(
    model: Model, encoded: Encoded, layers: Sequence[str], *, samples: int, seed: int
) -> list[Parse]:
    """Parses of one sentence, drawn by their probability.

    Args:
        model: to sample from.
        encoded: the sentence.
        layers: to sample, each by itself.
        samples: how many parses.
        seed: of chance.
    """
    (sentence,) = encoded.sentences
    generator = np.random.default_rng(seed)
    at_once = max(_MOST_WORDS // len(sentence), 1)
    ways: list[dict[str, Reading]] = [{} for _ in range(samples)]
    for layer in layers:
        for first in range(0, samples, at_once):
            some = ways[first : first + at_once]
            chances = generator.random(
                (1, len(some), 2 * (2 * len(sentence) - 1)), dtype=np.float32
            )
            found = sample(
                model.network.stepper(layer),
                encoded.boundaries,
                encoded.lengths,
                model.rules(layer),
                chances,
            )
            (readings,) = readings_of(found, model.numbers.labels[layer])
            for way, reading in zip(some, readings, strict=True):
                way[layer] = reading
    return [parse_of(sentence, way, wrapper=model.numbers.wrapper) for way in ways]


def marginals_of(samples: Sequence[Parse]) -> Marginals:
    """The marginals of one sentence, from samples of its parses.

    A span is in the parse of the majority if more than half of the samples have one there; two such
    spans are together in some sample, so they never cross. Of the labels seen there it has the most
    frequent one. No other parse has fewer wrong and missing places to be expected.
    """
    sentence = samples[0].sentence
    found: dict[str, tuple[Posterior, ...] | None] = {}
    spans: dict[str, tuple[Span, ...]] = {}
    for layer in ("tree", "entities"):
        joined = [layer_spans(sample, layer) for sample in samples]
        counts = Counter(
            span for one in joined if one is not None for span in one if span.label is not None
        )
        is_there = joined[0] is not None
        kind = FoundSpan if layer == "tree" else Entity
        found[layer] = _posteriors(counts, len(samples), kind, sentence) if is_there else None
        if is_there:
            spans[layer] = _majority(counts, len(samples))
    tree, named = None, None
    if "tree" in spans:
        wrapper = samples[0].tree.wrapper if samples[0].tree else None
        drawn = constituency.decode(sentence, spans["tree"], wrapper=wrapper)
        tree = Tree(sentence, _sure(drawn.spans, found["tree"] or (), FoundSpan, sentence))
    if "entities" in spans:
        named = _sure(entities.decode(spans["entities"]), found["entities"] or (), Entity, sentence)
    return Marginals(
        sentence, len(samples), found["tree"], found["entities"], Parse(sentence, tree, named)
    )


def _posteriors(
    counts: Counter[Span], samples: int, kind: type[FoundSpan], sentence: Sentence
) -> tuple[Posterior, ...]:
    """Of single labels: a chain counts for each label in it."""
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
    places: Counter[tuple[int, int]] = Counter()
    best: dict[tuple[int, int], Span] = {}
    for span, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        places[span[:2]] += count
        best.setdefault(span[:2], span)
    return tuple(by_place(best[place] for place, count in places.items() if count > samples / 2))


def _sure(
    spans: Sequence[Span],
    posteriors: Sequence[Posterior],
    kind: type[FoundSpan],
    sentence: Sentence,
) -> tuple[FoundSpan, ...]:
    """Spans with their posteriors for probabilities."""
    known = {row.span: row.probability for row in posteriors}
    # The wrapper is not drawn: it is always there.
    return tuple(kind(*span, sentence, known.get(span, 1.0)) for span in spans)
