"""Cleaning of treebanks: remove traces, function tags and features; rename labels."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from fencepost.errors import DataError
from fencepost.formats.settings import ReadSettings, Relabel
from fencepost.structure import Parse, Sentence, Span, Tree
from fencepost.structure.span import spans_of

TRACE = "-NONE-"

_FUNCTION = re.compile(r"(?<=.)[-=].*", re.DOTALL)
_FEATURES = re.compile(r"##.*##$", re.DOTALL)


def clean(tree: Tree, settings: ReadSettings) -> Tree:
    """A tree with the settings applied: parts dropped and labels mapped."""
    if settings.drop_features:
        tree = drop_features(tree)
    if settings.drop_traces:
        tree = drop_traces(tree)
    if settings.drop_functions:
        tree = drop_functions(tree)
    if settings.maps_labels:
        sentence = _with_tags_renamed(tree.sentence, settings)
        tree = Tree(sentence, map_labels(tree.spans, sentence.tags or (), settings))
    return tree


def clean_parse(parse: Parse, settings: ReadSettings) -> Parse:
    """A parse with a cleaned tree and cleaned tags; entities stay on their words."""
    if parse.tree is None:
        if not settings.rename_tags:
            return parse
        return replace(parse, sentence=_with_tags_renamed(parse.sentence, settings))
    tree = clean(parse.tree, settings)
    if tree is parse.tree:
        return parse
    entities, dropped = parse.entities, parse.dropped
    if len(tree.sentence) < len(parse.sentence):  # traces were dropped
        indices = [index for index, tag in enumerate(parse.tree.tags) if tag != TRACE]
        entities = None if entities is None else _moved(entities, indices)
        dropped = _moved(dropped, indices)
    return replace(parse, sentence=tree.sentence, tree=tree, entities=entities, dropped=dropped)


def drop_traces(tree: Tree) -> Tree:
    """A tree without traces (`-NONE-`) and the nodes that this leaves empty."""
    if TRACE not in tree.tags:
        return tree
    indices = [index for index, tag in enumerate(tree.tags) if tag != TRACE]
    if not indices:
        raise DataError("nothing is left of this tree without its traces", kind="empty")
    return Tree(_words_of(tree.sentence, indices), _moved(tree.spans, indices))


def _words_of(sentence: Sentence, indices: Sequence[int]) -> Sentence:
    """A sentence with only the words at these indices."""
    tags, offsets = sentence.tags, sentence.offsets
    return replace(
        sentence,
        words=tuple(sentence.words[index] for index in indices),
        tags=None if tags is None else tuple(tags[index] for index in indices),
        offsets=None if offsets is None else tuple(offsets[index] for index in indices),
    )


def _moved(spans: Iterable[Span], indices: Sequence[int]) -> tuple[Span, ...]:
    """Spans over only the words at these indices, without those that become empty."""
    return spans_of(
        (start, end, label)
        for start, end, label in (
            (bisect_left(indices, span.start), bisect_left(indices, span.end), span.label)
            for span in spans
        )
        if start < end
    )


def drop_functions(tree: Tree) -> Tree:
    """A tree whose phrases are labelled with their category alone; tags stay."""
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


def map_labels(
    spans: Iterable[Span], tags: Sequence[str], settings: ReadSettings
) -> tuple[Span, ...]:
    """Spans of a tree with labels mapped: renamed, then relabelled, then spliced.

    Args:
        spans: the spans, from the root down.
        tags: the tags of the words, already renamed; empty if unknown.
        settings: with `rename`, `relabel` and `splice`.
    """
    spans = rename(spans, settings.rename)
    return splice(relabel(spans, tags, settings.relabel), settings.splice)


def unmatched(
    settings: ReadSettings, labels: Collection[str], tags: Collection[str]
) -> Iterator[tuple[str, str]]:
    """The names in `rename`, `rename_tags`, `relabel` and `splice` that stand for nothing.

    Args:
        settings: with the mapping.
        labels: of all phrases, before it.
        tags: of all words, before it.

    >>> settings = ReadSettings(rename={"A": "B", "X": "Y"}, splice=("B", "Y"))
    >>> list(unmatched(settings, {"A"}, set()))
    [('rename', 'X'), ('splice', 'Y')]
    """
    yield from (("rename", old) for old in settings.rename if old not in labels)
    yield from (("rename_tags", old) for old in settings.rename_tags if old not in tags)
    labels = {settings.rename.get(label, label) for label in labels}
    tags = {settings.rename_tags.get(tag, tag) for tag in tags}
    fitting = {rule.to for rule in settings.relabel if rule.label in labels}
    for label, allowed, _ in settings.relabel:
        yield from (
            ("relabel", f"{label}/{tag}")
            for tag in allowed
            if label not in labels or tag not in tags
        )
    yield from (("splice", label) for label in settings.splice if label not in labels | fitting)


def rename(spans: Iterable[Span], names: Mapping[str, str]) -> tuple[Span, ...]:
    """Spans with labels replaced, each once.

    >>> rename([Span(0, 3, "A"), Span(0, 1, "B")], {"A": "B", "B": "C"})
    (Span(start=0, end=3, label='B'), Span(start=0, end=1, label='C'))
    """
    return spans_of((start, end, names.get(label or "", label)) for start, end, label in spans)


def rename_tags(tags: Iterable[str], names: Mapping[str, str]) -> tuple[str, ...]:
    """Tags replaced by others, each once."""
    return tuple(names.get(tag, tag) for tag in tags)


def _with_tags_renamed(sentence: Sentence, settings: ReadSettings) -> Sentence:
    if sentence.tags is None or not settings.rename_tags:
        return sentence
    return replace(sentence, tags=rename_tags(sentence.tags, settings.rename_tags))


def relabel(
    spans: Iterable[Span], tags: Sequence[str], rules: Iterable[Relabel]
) -> tuple[Span, ...]:
    """Spans with those over one word relabelled by the tag of this word.

    The first rule that fits a span applies.

    >>> spans, rule = [Span(0, 2, "NP"), Span(0, 1, "NP")], Relabel("NP", ("WP", "WDT"), "WHNP")
    >>> relabel(spans, ["WP", "NN"], [rule])
    (Span(start=0, end=2, label='NP'), Span(start=0, end=1, label='WHNP'))
    """
    labels: dict[tuple[str | None, str], str] = {}
    for label, allowed, to in rules:
        for tag in allowed:
            labels.setdefault((label, tag), to)
    if not labels or not tags:
        return tuple(spans)
    return spans_of(
        (start, end, labels.get((label, tags[start]), label) if end - start == 1 else label)
        for start, end, label in spans
    )


def splice(spans: Iterable[Span], labels: Iterable[str]) -> tuple[Span, ...]:
    """Spans without those of some labels; their children move up.

    The first span stays if no other holds all words.

    >>> splice([Span(0, 3, "NML"), Span(0, 2, "NML"), Span(0, 1, "NP")], ["NML"])
    (Span(start=0, end=3, label='NML'), Span(start=0, end=1, label='NP'))
    """
    out = frozenset(labels)
    spans = tuple(spans)
    remaining = tuple(span for span in spans if span.label not in out)
    if spans and (not remaining or remaining[0][:2] != spans[0][:2]):
        return (spans[0], *remaining)
    return remaining
