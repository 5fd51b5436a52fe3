"""Assembly of parses from the derivations of a search."""

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
class LayerParse:
    """A parse of one layer of a sentence."""

    spans: tuple[Span, ...]  # with fillers, in the order of the steps; labels are joined
    log_probs: list[float]  # of the steps, each given those before it
    log_prob: float

    def labelled(self, sentence: Sentence, kind: type[Kind]) -> list[Kind]:
        """The spans that are no fillers, with the probabilities of their steps."""
        return [
            kind(*span, sentence, exp(log_prob))
            for span, log_prob in zip(self.spans, self.log_probs, strict=True)
            if span.label is not None
        ]


def layer_parses(derivations: Derivations, labels: Labels) -> list[list[LayerParse]]:
    """Replay derivations; the parses of each row come best first."""
    return [
        [
            LayerParse(
                replay(
                    Pointing(boundary, labels.label(number))
                    for boundary, number in zip(boundaries[:count], numbers[:count], strict=True)
                ),
                log_probs[:count],
                log_prob,
            )
            for boundaries, numbers, count, log_prob, log_probs in zip(*row, strict=True)
            if log_prob > float("-inf")
        ]
        for row in zip(*(column.tolist() for column in derivations), strict=True)
    ]


def parse_of(
    sentence: Sentence,
    layers: Mapping[str, LayerParse],
    *,
    wrapper: str | None,
    min_probability: float = 0.0,
    names: bool = False,
) -> Parse:
    """Build a parse from its layers.

    Args:
        sentence: the words, with tags if there are any.
        layers: the layers by name.
        wrapper: the label around the tree; None: no wrapper.
        min_probability: leaves out entities below it.
        names: leaves out entities that are no names.
    """
    tree, mentions = None, None
    if "tree" in layers:
        spans = layers["tree"].labelled(sentence, FoundSpan)
        tree = constituency.decode(sentence, spans, wrapper=wrapper)
    if "entities" in layers:
        mentions = tuple(
            entity
            for entity in entities.decode(layers["entities"].labelled(sentence, Entity))
            if (entity.probability or 0.0) >= min_probability
        )
    log_probs = {name: layer.log_prob for name, layer in layers.items()}
    parse = Parse(sentence, tree, mentions, log_probs=log_probs or None)
    if not names:
        return parse
    named = (entity for entity in parse.entities or () if entity.is_name)  # by the tree's heads
    return replace(parse, entities=tuple(named))
