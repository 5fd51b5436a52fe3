"""From the steps that a search found to parses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp
from typing import TypeVar

from fencepost.batching.vocabulary import Labels
from fencepost.decoding.derivations import Derivations
from fencepost.structure import Entity, FoundSpan, Parse, Sentence, Span
from fencepost.tasks import constituency, entities
from fencepost.transition import Pointing, replay

Kind = TypeVar("Kind", bound=FoundSpan)


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a layer of a sentence."""

    spans: tuple[Span, ...]  # fillers included, in the order of the steps; labels are joined
    log_probs: list[float]  # of the steps, each given those before it
    log_prob: float

    def found(self, sentence: Sentence, kind: type[Kind]) -> list[Kind]:
        """The labelled spans, with the probabilities of their steps."""
        return [
            kind(*span, sentence, exp(log_prob))
            for span, log_prob in zip(self.spans, self.log_probs, strict=True)
            if span.label is not None
        ]


def readings_of(found: Derivations, labels: Labels) -> list[list[Reading]]:
    """The readings of each row, best first."""
    columns = (found.boundaries, found.labels, found.counts, found.log_probs, found.step_log_probs)
    return [
        [
            _reading(boundaries[:count], numbers[:count], costs[:count], log_prob, labels)
            for boundaries, numbers, count, log_prob, costs in zip(*row, strict=True)
            if log_prob > float("-inf")
        ]
        for row in zip(*(column.tolist() for column in columns), strict=True)
    ]


def _reading(
    boundaries: list[int],
    numbers: list[int],
    costs: list[float],
    log_prob: float,
    labels: Labels,
) -> Reading:
    steps = zip(boundaries, map(labels.label, numbers), strict=True)
    return Reading(replay(Pointing(*step) for step in steps), costs, log_prob)


def parse_of(
    sentence: Sentence,
    layers: Mapping[str, Reading],
    *,
    wrapper: str | None,
    min_probability: float = 0.0,
    names: bool = False,
) -> Parse:
    """The parse that has these layers.

    Args:
        sentence: with its words.
        layers: by name.
        wrapper: goes around the tree; None: there is none.
        min_probability: entities below it are left out.
        names: whether entities that are no names are left out, too.
    """
    tree, named = None, None
    if "tree" in layers:
        found = layers["tree"].found(sentence, FoundSpan)
        tree = constituency.decode(sentence, found, wrapper=wrapper)
    if "entities" in layers:
        every = entities.decode(layers["entities"].found(sentence, Entity))
        named = tuple(span for span in every if (span.probability or 0.0) >= min_probability)
    log_probs = {name: layer.log_prob for name, layer in layers.items()}
    parse = Parse(sentence, tree, named, log_probs=log_probs or None)
    if not names:
        return parse
    return replace(parse, entities=tuple(one for one in parse.entities or () if one.is_name))
