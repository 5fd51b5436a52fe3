"""Parses of sentences, batched by words and in the order that they came in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from fencepost.batching.batches import by_words
from fencepost.model.network import device_of
from fencepost.model.search import Found, beam, greedy
from fencepost.parser.model import Model
from fencepost.structure import Parse, Sentence, Span
from fencepost.tasks import constituency, entities
from fencepost.tasks.layers import POINTING
from fencepost.transition import Pointing, replay

Done = Callable[[int], None]  # is told how many words more are done


def unheard(words: int) -> None:
    """Nobody wants to know how many words more are done."""


def predict(
    model: Model,
    sentences: Sequence[Sentence],
    *,
    beams: int = 1,
    canonical: bool = True,
    batch_words: int = 3000,
    done: Done = unheard,
) -> list[Parse]:
    """The best parse of each sentence, with all layers that the model has heads for.

    Args:
        model: which finds them.
        sentences: with their words; tags that they have are kept.
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
    was_training = model.network.training
    model.network.eval()
    for batch in by_words(lengths, most=batch_words):
        rows = [waiting[index] for index in batch]
        parses = _batch(model, [sentences[row] for row in rows], beams, canonical)
        for row, parse in zip(rows, parses, strict=True):
            found[row] = parse
        done(sum(len(sentences[row]) for row in rows))
    model.network.train(was_training)
    return [parse for parse in found if parse is not None]


@torch.no_grad()
def _batch(model: Model, sentences: Sequence[Sentence], beams: int, canonical: bool) -> list[Parse]:
    network, numbers = model.network, model.numbers
    device = device_of(network)
    inputs = model.read([sentence.words for sentence in sentences]).to(device)
    states = network.states(inputs)
    if network.tags is not None:
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
    layers: dict[str, list[tuple[Span, ...]]] = {}
    for name in POINTING:
        if name in network.heads:
            head = network.head(name)
            if beams == 1:
                steps = greedy(head, boundaries, lengths, canonical=canonical)
            else:
                steps = beam(head, boundaries, lengths, beams=beams, canonical=canonical)
            layers[name] = [_spans(steps, row, model, name) for row in range(len(sentences))]
    return [
        Parse(
            sentence,
            constituency.decode(sentence, layers["tree"][row]) if "tree" in layers else None,
            entities.decode(layers["entities"][row]) if "entities" in layers else None,
        )
        for row, sentence in enumerate(sentences)
    ]


def _spans(found: Found, row: int, model: Model, name: str) -> tuple[Span, ...]:
    """The spans of the best parse of a row."""
    count = int(found.steps[row, 0])
    labels = model.numbers.labels[name]
    return replay(
        Pointing(boundary, labels.label(label))
        for boundary, label in zip(
            found.boundaries[row, 0, :count].tolist(),
            found.labels[row, 0, :count].tolist(),
            strict=True,
        )
    )
