"""Over- and undersampling of sentences, to mix corpora of any size."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from fencepost.batching.examples import Example


def sampled(examples: Sequence[Example], *, seed: int) -> list[Example]:
    """Return the examples of an epoch, each as many times as its `sample` says.

    A fraction is a random subset: 0.25 gives a quarter of the examples, and 1.5 gives all of them
    and half of them again. Repeated examples follow after all others, in the same order, so that
    neighbours are rarely the same sentence.

    Args:
        examples: all examples, in the order of their corpora.
        seed: the random seed, different for each epoch.
    """
    random = Random(f"sample {seed}")  # independent of the order of batches
    repeats = [int(example.sample) for example in examples]
    for sample in dict.fromkeys(example.sample for example in examples):
        alike = [index for index, example in enumerate(examples) if example.sample == sample]
        extra = round((sample - int(sample)) * len(alike))
        for index in random.sample(alike, max(extra, sample < 1)):  # at least one is seen
            repeats[index] += 1
    return [
        example
        for number in range(max(repeats, default=0))
        for example, count in zip(examples, repeats, strict=True)
        if number < count
    ]
