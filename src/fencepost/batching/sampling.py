"""Sentences seen more or less often than once an epoch, to mix corpora of any size."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from fencepost.batching.examples import Example


def sampled(examples: Sequence[Example], *, seed: int) -> list[Example]:
    """The examples of an epoch: each as many times as its `sample` says.

    Of a fraction, so many are drawn at random: with 0.25, a quarter of the examples is there, and
    with 1.5 all are there and half of them once more. Examples stay in order, and those that come
    again do so behind all that come once, so that neighbours are rarely the same sentence.

    Args:
        examples: in the order of their corpora.
        seed: of chance, another one in each epoch.
    """
    random = Random(f"sample {seed}")  # not the numbers that batches are shuffled with
    times = [int(one.sample) for one in examples]
    for sample in dict.fromkeys(one.sample for one in examples):
        alike = [index for index, one in enumerate(examples) if one.sample == sample]
        more = round((sample - int(sample)) * len(alike))
        for index in random.sample(alike, max(more, sample < 1)):  # at least one is seen
            times[index] += 1
    passes = range(max(times, default=0))
    return [
        one for done in passes for one, most in zip(examples, times, strict=True) if most > done
    ]
