"""Parses of sentences, batched by words and in the order that they came in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

import torch

from fencepost.batching.batches import by_words
from fencepost.batching.vocabulary import Labels
from fencepost.model.network import device_of
from fencepost.model.found import Found
from fencepost.model.search import beam, greedy
from fencepost.parser.model import Model
from fencepost.structure import Entity, FoundSpan, Parse, Sentence, Span, Tree
from fencepost.tasks import constituency, entities
from fencepost.tasks.layers import POINTING
from fencepost.transition import Pointing, replay

BATCH_WORDS = 3000  # read at a time
Kind = TypeVar("Kind", bound=FoundSpan)
Done = Callable[[int], None]  # is told how many words more are done


def unheard(words: int) -> None:
    """Nobody wants to know how many words more are done."""


def predict(
    model: Model,
    sentences: Sequence[Sentence],
    *,
    tasks: Collection[str] | None = None,
    beams: int = 1,
    canonical: bool = True,
    batch_words: int = BATCH_WORDS,
    done: Done = unheard,
) -> list[Parse]:
    """The best parse of each sentence, with the layers that the model has heads for.

    Args:
        model: which finds them.
        sentences: with their words; tags that they have are kept.
        tasks: which heads are asked; None: all.
        beams: 1 is greedy search.
        canonical: whether search keeps to the canonical rules; the paper's does not.
        batch_words: how many words are read at a time.
        done: is told how many words were parsed, batch by batch.
    """
    found: list[Parse | None] = [
        None if sentence.words else Parse(sentence) for sentence in sentences
    ]
    waiting = [index for index, parse in enumerate(found) if parse is None]
    lengths = [len(sentences[index]) for index in waiting]
    asked = model.heads.names if tasks is None else tuple(tasks)
    was_training = model.network.training
    model.network.eval()
    try:
        for batch in by_words(lengths, most=batch_words):
            rows = [waiting[index] for index in batch]
            parses = _batch(model, [sentences[row] for row in rows], asked, beams, canonical)
            for row, parse in zip(rows, parses, strict=True):
                found[row] = parse
            done(sum(len(sentences[row]) for row in rows))
    finally:
        model.network.train(was_training)
    return [parse for parse in found if parse is not None]


@torch.no_grad()
def _batch(
    model: Model,
    sentences: Sequence[Sentence],
    tasks: Collection[str],
    beams: int,
    canonical: bool,
) -> list[Parse]:
    network, numbers = model.network, model.numbers
    device = device_of(network)
    inputs = model.read([sentence.words for sentence in sentences]).to(device)
    states = network.states(inputs)
    if network.tags is not None and "tags" in tasks:
        scores = network.tag_scores(states)
        scores[:, :, 0] = float("-inf")  # no word is a filler
        best = scores.argmax(-1).tolist()
        sentences = [
            sentence
            if sentence.tags is not None
            else replace(
                sentence,
                tags=tuple(numbers.labels["tags"].label(tag) or "" for tag in row[: len(sentence)]),
            )
            for sentence, row in zip(sentences, best, strict=True)
        ]
    boundaries, lengths = network.boundaries(states), inputs.lengths.to(device)
    layers: dict[str, list[_Layer]] = {}
    for name in POINTING:
        if name in network.heads and name in tasks:
            head = network.head(name)
            if beams == 1:
                steps = greedy(head, boundaries, lengths, canonical=canonical)
            else:
                steps = beam(head, boundaries, lengths, beams=beams, canonical=canonical)
            layers[name] = _layers(steps, model.numbers.labels[name])
    return [
        _parse(sentence, {name: rows[row] for name, rows in layers.items()})
        for row, sentence in enumerate(sentences)
    ]


class _Layer(NamedTuple):
    """What was found for one layer of a sentence."""

    spans: tuple[Span, ...]  # fillers included, in the order of the steps
    probabilities: list[float]  # of the steps
    log_prob: float


def _layers(found: Found, labels: Labels) -> list[_Layer]:
    """The best parse of each row."""
    columns = (found.boundaries, found.labels, found.step_log_probs.exp())
    rows = zip(*(column[:, 0].tolist() for column in columns), strict=True)
    counts, log_probs = found.steps[:, 0].tolist(), found.log_probs[:, 0].tolist()
    layers = []
    for (boundaries, numbers, probabilities), count, log_prob in zip(
        rows, counts, log_probs, strict=True
    ):
        steps = zip(boundaries[:count], map(labels.label, numbers[:count]), strict=True)
        spans = replay(Pointing(boundary, label) for boundary, label in steps)
        layers.append(_Layer(spans, probabilities[:count], log_prob))
    return layers


def _parse(sentence: Sentence, layers: Mapping[str, _Layer]) -> Parse:
    tree, found = None, None
    if "tree" in layers:
        drawn = constituency.decode(sentence, layers["tree"].spans)
        tree = Tree(sentence, _with_probabilities(drawn.spans, layers["tree"], FoundSpan, sentence))
    if "entities" in layers:
        named = entities.decode(layers["entities"].spans)
        found = _with_probabilities(named, layers["entities"], Entity, sentence)
    log_probs = {name: layer.log_prob for name, layer in layers.items()}
    return Parse(sentence, tree, found, log_probs=log_probs or None)


def _with_probabilities(
    spans: Iterable[Span], layer: _Layer, kind: type[Kind], sentence: Sentence
) -> tuple[Kind, ...]:
    """Spans with the probabilities of their steps; all of a chain were made in one."""
    steps = zip(layer.spans, layer.probabilities, strict=True)
    known = {(start, end): probability for (start, end, _), probability in steps}
    return tuple(
        kind(start, end, label, sentence, known[start, end]) for start, end, label in spans
    )
