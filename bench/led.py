"""Search that is led along gold steps, where a network by itself would take unreal numbers of them.

Weights may be random, or sentences far longer than any that the network was trained on. All that
greedy search computes at each step is computed all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import torch

from fencepost import Parse, Span
from fencepost.batching.examples import collect_labels
from fencepost.batching.numbers import Numbers
from fencepost.batching.steps import Steps
from fencepost.batching.vocabulary import FILLER, Vocabulary
from fencepost.checkpoints.trainable import TrainableModel, new_model
from fencepost.config import HeadsSettings, NetworkSettings, checked
from fencepost.decoding.walk import Given, Policy
from fencepost.tasks.layers import POINTING, layer_spans
from fencepost.transition import pointings

ANY = FILLER + 1  # stands for all labels: what a step costs does not depend on which one it is


@dataclass(frozen=True, slots=True)
class Case:
    """A batch of sentences, and the steps that search is led along, by head, if it is led."""

    words: Sequence[Sequence[str]]
    gold: Mapping[str, Steps] = field(default_factory=dict)

    def policy(self, head: str) -> Policy | None:
        """Chooses the steps of one of the heads; None: the best are taken."""
        return Given(self.gold[head]) if head in self.gold else None


def along_trees(batch: Sequence[Parse]) -> Case:
    """A batch with the steps of its trees."""
    trees = Steps.of([_steps(layer_spans(parse, "tree") or ()) for parse in batch])
    return Case([parse.words for parse in batch], {"tree": trees})


def joined(parses: Sequence[Parse], n: int, *, rows: int) -> Case:
    """A batch of sentences of `n` words, each joined from several, with the steps of all layers.

    A span over all of a sentence holds the others. Of the last one joined, what fits in is taken.
    """
    made = [_joined(parses[start:], n) for start in range(rows)]
    gold = {layer: Steps.of([steps[layer] for _, steps in made]) for layer in POINTING}
    return Case([words for words, _ in made], gold)


def _joined(parses: Iterable[Parse], n: int) -> tuple[list[str], dict[str, list[tuple[int, int]]]]:
    """The words of a sentence, and the steps of each layer."""
    words: list[str] = []
    spans: dict[str, set[tuple[int, int]]] = {layer: set() for layer in POINTING}
    for parse in parses:
        start = len(words)
        for layer, known in spans.items():
            own = (span for span in layer_spans(parse, layer) or () if span.label is not None)
            known.update((start + span.start, start + span.end) for span in own)
        words += parse.words
        if len(words) >= n:
            break
    steps = {}
    for layer, known in spans.items():
        held = [Span(*span, "any") for span in known if span[1] <= n and span != (0, n)]
        whole = "any" if layer == "tree" or (0, n) in known else None
        steps[layer] = _steps([Span(0, n, whole), *held])
    return words[:n], steps


def _steps(spans: Iterable[Span]) -> list[tuple[int, int]]:
    return [(step.boundary, FILLER if step.label is None else ANY) for step in pointings(spans)]


def paper_sized(parses: Sequence[Parse], *, seed: int) -> TrainableModel:
    """A network of the paper's sizes with random weights, for the words and labels of parses."""
    torch.manual_seed(seed)
    model = new_model(
        checked(NetworkSettings, {"encoder": {"kind": "words"}}, where="bench"),
        checked(HeadsSettings, {"tree": {}}, where="bench"),
        Numbers(
            collect_labels(parses, ["tree"]),
            Vocabulary.collect(word for parse in parses for word in parse.words),
            Vocabulary.collect(letter for parse in parses for letter in "".join(parse.words)),
        ),
    )
    model.network.eval()
    return model
