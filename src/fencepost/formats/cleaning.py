"""What treebanks hold and parsers leave out: traces, function tags, indices, features."""

from __future__ import annotations

import re
from functools import lru_cache

from fencepost.errors import DataError
from fencepost.formats.settings import ReadSettings
from fencepost.structure import Sentence, Tree
from fencepost.structure.span import spans_of

TRACE = "-NONE-"

_FUNCTION = re.compile(r"(?<=.)[-=].*", re.DOTALL)
_FEATURES = re.compile(r"##.*##$", re.DOTALL)


def clean(tree: Tree, settings: ReadSettings) -> Tree:
    """A tree without what the settings say to drop."""
    if settings.drop_features:
        tree = drop_features(tree)
    if settings.drop_traces:
        tree = drop_traces(tree)
    if settings.drop_functions:
        tree = drop_functions(tree)
    return tree


def drop_traces(tree: Tree) -> Tree:
    """A tree without traces (`-NONE-`) and without the nodes that this leaves empty."""
    if TRACE not in tree.tags:
        return tree
    keep = [tag != TRACE for tag in tree.tags]
    if not any(keep):
        raise DataError("nothing is left of this tree without its traces", kind="empty")
    before = [0]  # how many kept words stand before each boundary
    for kept in keep:
        before.append(before[-1] + kept)
    return Tree(
        Sentence(
            tuple(word for word, kept in zip(tree.words, keep, strict=True) if kept),
            tuple(tag for tag, kept in zip(tree.tags, keep, strict=True) if kept),
        ),
        spans_of(
            (before[start], before[end], label)
            for start, end, label in tree.spans
            if before[start] < before[end]
        ),
    )


def drop_functions(tree: Tree) -> Tree:
    """A tree whose phrases are named by their category alone; tags stay as they are."""
    return Tree(
        tree.sentence,
        spans_of((start, end, without_function(label or "")) for start, end, label in tree.spans),
    )


@lru_cache(maxsize=4096)
def without_function(label: str) -> str:
    """A label without function tags and indices.

    >>> [without_function(label) for label in ("NP-SBJ-1", "NP=2", "ADVP|PRT", "-LRB-", "-NONE-")]
    ['NP', 'NP', 'ADVP|PRT', '-LRB-', '-NONE-']
    """
    return label if label.startswith("-") else _FUNCTION.sub("", label)


def drop_features(tree: Tree) -> Tree:
    """A tree without SPMRL's morphology between double hashes, in phrases and in tags."""
    sentence = tree.sentence
    tags = None if sentence.tags is None else tuple(map(_without_features, sentence.tags))
    return Tree(
        Sentence(sentence.words, tags),
        spans_of((start, end, _without_features(label or "")) for start, end, label in tree.spans),
    )


def _without_features(label: str) -> str:
    return _FEATURES.sub("", label)
