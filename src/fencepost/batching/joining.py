"""Joining of neighbouring sentences, so that a network sees long ones in training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from fencepost.batching.examples import Example
from fencepost.batching.steps import Numbered, canonical_steps, places
from fencepost.batching.vocabulary import FILLER


@dataclass(frozen=True, slots=True)
class Joining:
    """Joins some of the sentences of an epoch."""

    share: float  # of all sentences
    longest: int  # in words

    def __call__(
        self, examples: Sequence[Example], *, bare: int | None, seed: int
    ) -> list[Example]:
        """Join some examples with those that follow them.

        Args:
            examples: all examples, in the order of their corpora.
            bare: the label of the root of joined trees; None: there are no trees.
            seed: the random seed.
        """
        random = Random(seed)
        result: list[Example] = []
        index = 0
        while index < len(examples):
            group = [examples[index]]
            if random.random() < self.share:
                room = random.randint(1, self.longest) - len(group[0].words)
                for other in range(index + 1, len(examples)):
                    room -= len(examples[other].words)
                    if room < 0 or not _alike(group[0], examples[other]):
                        break
                    group.append(examples[other])
            result.append(joined(group, bare=bare) if len(group) > 1 else group[0])
            index += len(group)
        return result


def joined(examples: Sequence[Example], *, bare: int | None) -> Example:
    """Join examples that have the same layers; trees get a common root without a label."""
    first = examples[0]
    steps: dict[str, Numbered] = {}
    for layer in first.steps:
        root = FILLER if layer != "tree" or bare is None else bare
        spans: list[tuple[int, int, int]] = []
        start = 0
        for example in examples:
            spans += (
                (start + a, start + b, label)
                for a, b, label in places(example.steps[layer])
                if label != root  # the root of a sentence without a label
            )
            start += len(example.words)
        steps[layer] = canonical_steps([*spans, (0, start, root)])
    tags = tuple(tag for example in examples for tag in example.tags or ())
    words = tuple(word for example in examples for word in example.words)
    return Example(words, steps, None if first.tags is None else tags, first.weight)


def _alike(first: Example, second: Example) -> bool:
    """Return whether two examples have the same layers and the same weight."""
    same_tags = (first.tags is None) == (second.tags is None)
    same_layers = first.steps.keys() == second.steps.keys() and same_tags
    return same_layers and first.weight == second.weight
