"""Neighbouring sentences joined into long ones, so that a network sees some in training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from fencepost.batching.examples import Example
from fencepost.batching.steps import Numbered, canonical_steps, places
from fencepost.batching.vocabulary import FILLER


@dataclass(frozen=True, slots=True)
class Joining:
    """How many joined sentences there are in an epoch, and how long they are."""

    share: float  # of all sentences
    longest: int  # in words

    def __call__(
        self, examples: Sequence[Example], *, bare: int | None, seed: int
    ) -> list[Example]:
        """The examples of an epoch, of which some are joined with those behind them.

        Args:
            examples: in the order of their corpora.
            bare: the label of the root of joined trees; None: there are no trees.
            seed: of chance.
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
    """One example of several that have the same layers: trees under a root without a label."""
    first = examples[0]
    steps: dict[str, Numbered] = {}
    for layer in first.steps:
        root = FILLER if layer != "tree" or bare is None else bare
        spans: list[tuple[int, int, int]] = []
        start = 0
        for one in examples:
            spans += (
                (start + a, start + b, label)
                for a, b, label in places(one.steps[layer])
                if label != root  # of a sentence that has no label itself
            )
            start += len(one.words)
        steps[layer] = canonical_steps([*spans, (0, start, root)])
    tags = None
    if first.tags is not None:
        tags = tuple(tag for one in examples for tag in one.tags or ())
    words = tuple(word for one in examples for word in one.words)
    return Example(words, steps, tags, first.weight)


def _alike(one: Example, other: Example) -> bool:
    """Whether two examples have the same layers and the same weight."""
    has_tags = one.tags is not None, other.tags is not None
    same_layers = one.steps.keys() == other.steps.keys() and has_tags[0] == has_tags[1]
    return same_layers and one.weight == other.weight
