"""Sentences in another form: in capitals, without their final stop, with other quotation marks."""

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
    """How many sentences of an epoch are in another form, and in which."""

    share: float  # of all sentences
    forms: tuple[Form, ...] = FORMS

    def __call__(
        self, examples: Sequence[Example], *, bare: int | None, seed: int
    ) -> list[Example]:
        """The examples of an epoch, of which some are changed.

        Each of these has one of the forms that change it, all of them equally likely; one that no
        form changes stays as it is.

        Args:
            examples: in any order.
            bare: the label of roots of trees that have none; None: there are no such trees.
            seed: of chance, another one in each epoch.
        """
        random = Random(f"augment {seed}")  # not the numbers that sentences are joined with
        return [
            self._changed(one, bare, random) if random.random() < self.share else one
            for one in examples
        ]

    def _changed(self, example: Example, bare: int | None, random: Random) -> Example:
        for form in random.sample(self.forms, len(self.forms)):
            changed = in_form(example, form, bare=bare)
            if changed is not None:
                return changed
        return example


def in_form(example: Example, form: Form, *, bare: int | None) -> Example | None:
    """An example in another form; None if it has this form already, or cannot have it."""
    if form == "no-stop":
        return without_stop(example, bare=bare)
    words = _WRITTEN[form](example.words)
    return None if words == example.words else replace(example, words=words)


def _upper(words: Words) -> Words:
    return tuple(map(str.upper, words))


def _lower(words: Words) -> Words:
    return tuple(map(str.lower, words))


def other_quotes(words: Words) -> Words:
    """Words with straight quotation marks for typographic ones; if there are none, the reverse.

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
    "upper": _upper,
    "lower": _lower,
    "quotes": other_quotes,
}


def without_stop(example: Example, *, bare: int | None) -> Example | None:
    """An example without its last word, if that is a stop directly under the root of each layer.

    None also where a labelled root would then stand over the same words as its only child: their
    labels would have to be joined, and the network may not know the result.
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
    """Steps over the first `n` words; None if a span other than the root holds the last one."""
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
