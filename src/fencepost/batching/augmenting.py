"""Augmentation of sentences: other case, no final stop, other quotation marks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal, get_args

from fencepost.batching.examples import Example
from fencepost.batching.steps import Numbered, canonical_steps, places
from fencepost.batching.vocabulary import FILLER

Form = Literal["upper", "lower", "no-stop", "quotes"]
Words = tuple[str, ...]

FORMS: tuple[Form, ...] = get_args(Form)
STOPS = frozenset(".!?")

_STRAIGHT = str.maketrans("“”„‟‘’‚‛", "\"\"\"\"''''")
_PAIRS = {"``": "“", "''": "”", "`": "‘"}  # as the Penn Treebank has them


@dataclass(frozen=True, slots=True)
class Augmenting:
    """Puts some of the sentences of an epoch into another form."""

    share: float  # of all sentences
    forms: tuple[Form, ...] = FORMS

    def __call__(
        self, examples: Sequence[Example], *, bare: int | None, seed: int
    ) -> list[Example]:
        """Put some examples into a random form, of those that change them.

        Args:
            examples: all examples, in any order.
            bare: the label of roots that have none; None: there are no such trees.
            seed: the random seed, different for each epoch.
        """
        random = Random(f"augment {seed}")  # independent of which sentences are joined
        return [
            self._changed(example, bare, random) if random.random() < self.share else example
            for example in examples
        ]

    def _changed(self, example: Example, bare: int | None, random: Random) -> Example:
        for form in random.sample(self.forms, len(self.forms)):
            changed = in_form(example, form, bare=bare)
            if changed is not None:
                return changed
        return example


def in_form(example: Example, form: Form, *, bare: int | None) -> Example | None:
    """Put an example into another form; None if it has it already, or cannot have it."""
    if form == "no-stop":
        return without_stop(example, bare=bare)
    words = _WRITTEN[form](example.words)
    return None if words == example.words else replace(example, words=words)


def other_quotes(words: Words) -> Words:
    """Replace typographic quotation marks by straight ones or, without any, the reverse.

    >>> other_quotes(('"', "I", "ca", "n't", '"'))
    ('“', 'I', 'ca', 'n’t', '”')
    >>> other_quotes(("‘", "Do", "n’t", "’"))
    ("'", 'Do', "n't", "'")
    """
    straight = tuple(word.translate(_STRAIGHT) for word in words)
    if straight != words:
        return straight
    typographic = []
    is_open = False
    for word in words:
        if word == '"':
            is_open = not is_open
            typographic.append("“" if is_open else "”")
        else:
            typographic.append(_PAIRS.get(word) or word.replace("'", "’"))
    return tuple(typographic)


_WRITTEN: Mapping[Form, Callable[[Words], Words]] = {
    "upper": lambda words: tuple(map(str.upper, words)),
    "lower": lambda words: tuple(map(str.lower, words)),
    "quotes": other_quotes,
}


def without_stop(example: Example, *, bare: int | None) -> Example | None:
    """Remove the last word if it is a stop directly under the root of each layer, else None.

    None, too, if a labelled root would then have the same words as its only child: the network
    may not have the joined label of the two.
    """
    if len(example.words) < 2 or example.words[-1] not in STOPS:
        return None
    steps: dict[str, Numbered] = {}
    for layer, before in example.steps.items():
        if layer == "entities" and before[-1][1] != FILLER:
            return None  # an entity holds the stop
        root = FILLER if layer != "tree" or bare is None else bare
        after = _steps_without_last(before, len(example.words) - 1, unlabelled=root)
        if after is None:
            return None
        steps[layer] = after
    tags = None if example.tags is None else example.tags[:-1]
    return replace(example, words=example.words[:-1], steps=steps, tags=tags)


def _steps_without_last(steps: Numbered, n: int, *, unlabelled: int) -> Numbered | None:
    """The steps over the first `n` words; None if a span but the root holds the next word."""
    *parts, (_, _, root) = places(steps)
    spans = [part for part in parts if part[2] != FILLER]
    if any(end > n for _, end, _ in spans):
        return None
    whole = [span for span in spans if span[:2] == (0, n)]
    if not whole:
        return canonical_steps([*spans, (0, n, root)])
    if root != unlabelled:
        return None
    return canonical_steps([*(span for span in spans if span not in whole), *whole])
