"""What treebanks hold and parsers leave out: traces, function tags, indices, features."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from fencepost.errors import DataError
from fencepost.formats.settings import ReadSettings
from fencepost.structure import Parse, Sentence, Span, Tree
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


def clean_parse(parse: Parse, settings: ReadSettings) -> Parse:
    """A parse whose tree is without what the settings say to drop; entities stay on their words."""
    if parse.tree is None:
        return parse
    tree = clean(parse.tree, settings)
    if tree is parse.tree:
        return parse
    entities, dropped = parse.entities, parse.dropped
    if len(tree.sentence) < len(parse.sentence):  # traces are gone
        kept = [index for index, tag in enumerate(parse.tree.tags) if tag != TRACE]
        entities = None if entities is None else _moved(entities, kept)
        dropped = _moved(dropped, kept)
    return replace(parse, sentence=tree.sentence, tree=tree, entities=entities, dropped=dropped)


def drop_traces(tree: Tree) -> Tree:
    """A tree without traces (`-NONE-`) and without the nodes that this leaves empty."""
    if TRACE not in tree.tags:
        return tree
    kept = [index for index, tag in enumerate(tree.tags) if tag != TRACE]
    if not kept:
        raise DataError("nothing is left of this tree without its traces", kind="empty")
    return Tree(_words_of(tree.sentence, kept), _moved(tree.spans, kept))


def _words_of(sentence: Sentence, kept: Sequence[int]) -> Sentence:
    """A sentence with some of its words."""
    tags, offsets = sentence.tags, sentence.offsets
    return replace(
        sentence,
        words=tuple(sentence.words[index] for index in kept),
        tags=None if tags is None else tuple(tags[index] for index in kept),
        offsets=None if offsets is None else tuple(offsets[index] for index in kept),
    )


def _moved(spans: Iterable[Span], kept: Sequence[int]) -> tuple[Span, ...]:
    """Spans over the words that are kept; those without any are gone."""
    return spans_of(
        (start, end, label)
        for start, end, label in (
            (bisect_left(kept, span.start), bisect_left(kept, span.end), span.label)
            for span in spans
        )
        if start < end
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
        replace(sentence, tags=tags),
        spans_of((start, end, _without_features(label or "")) for start, end, label in tree.spans),
    )


def _without_features(label: str) -> str:
    return _FEATURES.sub("", label)
