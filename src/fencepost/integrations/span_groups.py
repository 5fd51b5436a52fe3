"""Parses in the span groups of a spaCy Doc.

    doc.spans["fencepost"]            the entities, holders first; the key is a setting
    doc.spans["fencepost_tree"]       the spans of the trees in pre-order
    doc.spans["fencepost_tags"]       each word, labelled with its tag if the model has tags
    doc.spans["fencepost_sentences"]  the sentences; a label is the reason why one was not parsed

spaCy keeps span groups when a Doc is saved, packed into a DocBin, copied or joined with others. The
parse is stored nowhere else, so a loaded Doc has all of it.

Merging and splitting tokens does not update span groups. Spans also know their characters, which
show whether a sentence still has the words that were parsed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy
from spacy.tokens import Doc, Span, SpanGroup, Token

from fencepost.errors import DataError, clipped
from fencepost.formats.docbin import (
    SCORES,
    SENTENCES,
    TAGS,
    TREE,
    check_place,
    moved,
    sentence_of,
    words_of,
)
from fencepost.structure import FoundSpan, Parse, Tree
from fencepost.structure import Span as Labelled
from fencepost.structure.brackets import NO_TAG


class NonConstituentError(DataError):
    """An attribute of constituents was requested from a span that is not one."""


class Outcome(NamedTuple):
    """The words of a sentence, and its parse or the reason why there is none."""

    words: Sequence[Token]
    parse: Parse | str


class Node(NamedTuple):
    """A node of a tree: a range of the Doc with the spans over exactly this range.

    There are several spans for a unary chain, and none for a word without a phrase.
    """

    doc: Doc
    start: int
    end: int
    first: int  # index of these spans in the group of the tree, or where they would be
    behind: int
    root: int  # index of the tree's root in the group


def keep(
    doc: Doc, outcomes: Sequence[Outcome], *, layers: Iterable[str], entities_key: str
) -> None:
    """Write parses to the span groups of a Doc.

    Args:
        doc: the parsed Doc.
        outcomes: the outcome of each sentence with words, in order.
        layers: the predicted layers.
        entities_key: the name of the group for entities.
    """
    parses = [(words, parse) for words, parse in outcomes if isinstance(parse, Parse)]
    layers = tuple(layers)
    if "tree" in layers:
        _write(doc, TREE, ((w, p.tree.spans) for w, p in parses if p.tree is not None))
        doc.spans[SENTENCES] = [
            Span(doc, words[0].i, words[-1].i + 1, label=parse if isinstance(parse, str) else "")
            for words, parse in outcomes
        ]
    if "tree" in layers or "tags" in layers:
        # Written with any tree, so that its leaves never have the tags of another run.
        doc.spans[TAGS] = [
            Span(doc, word.i, word.i + 1, label=tag)
            for outcome in outcomes
            for word, tag in zip(outcome.words, _predicted(outcome), strict=True)
        ]
    if "entities" in layers:
        _write(doc, entities_key, ((w, p.entities) for w, p in parses if p.entities is not None))


def _predicted(outcome: Outcome) -> Sequence[str]:
    """The predicted tag of each word; empty if there is none."""
    tags = outcome.parse.tags if isinstance(outcome.parse, Parse) else None
    return ("",) * len(outcome.words) if tags is None else tags


def _write(
    doc: Doc, name: str, layer: Iterable[tuple[Sequence[Token], Sequence[Labelled]]]
) -> None:
    """Write a group of labelled spans with their probabilities."""
    spans: list[Span] = []
    scores: list[float] = []
    for words, labelled in layer:
        for span in labelled:
            start, end = words[span.start].i, words[span.end - 1].i + 1
            spans.append(Span(doc, start, end, label=span.label or ""))
            assert span.probability is not None  # a parser found it
            scores.append(span.probability)
    doc.spans[name] = SpanGroup(doc, name=name, spans=spans, attrs={SCORES: numpy.array(scores)})


def node_of(span: Span, *, inside: bool = True) -> Node | None:
    """The node over the words of a span; None if the span is only blanks.

    Blanks at its ends are ignored, so that a sentence of spaCy is the root of its tree.

    Args:
        span: a span of any Doc.
        inside: whether to check that all words of the node are still those that were parsed, as
            needed for its descendants; else only its ends are checked.

    Raises:
        NonConstituentError: there is no such node.
        DataError: the Doc or the sentence was not parsed; the message says why.
    """
    doc = span.doc
    for name in (TREE, SENTENCES):
        if name not in doc.spans:
            raise DataError(
                "this Doc has no trees: parse it with fencepost in the pipeline, as in "
                'nlp.add_pipe("fencepost"), with tree among its tasks; Span.as_doc() does not take '
                "them along"
            )
    words = words_of(span)
    if not words:
        return None
    start, end = words[0].i, words[-1].i + 1
    sentence = _sentence(doc, start)
    if sentence is None or end > sentence.end:
        raise NonConstituentError(f"{span.text!r} is no constituent: it is not in one sentence")
    if sentence.label_:
        raise DataError(
            f"the sentence {clipped(sentence.text, 60)!r} was not parsed: {sentence.label_}"
        )
    group = doc.spans[TREE]
    first = bisect_left(group, _place(start, end), key=_place_of)
    behind = bisect_right(group, _place(start, end), lo=first, key=_place_of)
    root = bisect_left(group, _place(sentence.start, sentence.end), hi=first, key=_place_of)
    node = Node(doc, start, end, first, behind, root)
    if first < behind and not inside:
        check_place(group[first])
        return node
    is_node = first < behind or len(words) == 1
    _check_words(doc, node if is_node else sentence)
    if not is_node:
        raise NonConstituentError(f"{span.text!r} is no constituent of its tree")
    return node


def _sentence(doc: Doc, start: int) -> Span | None:
    """The sentence of a token, if any."""
    group = doc.spans[SENTENCES]
    try:
        index = bisect_right(group, start, key=_start_of) - 1
        sentence = group[index] if index >= 0 else None
    except IndexError:  # a span beyond the end of its Doc
        raise moved() from None
    if sentence is None:
        return None
    check_place(sentence)
    return sentence if start < sentence.end else None


def _check_words(doc: Doc, stretch: Span | Node) -> None:
    """Refuse a range of a Doc that no longer has the words that were parsed.

    A Doc from elsewhere may have trees without tags. Then only the ends of constituents are
    checked.
    """
    spans = list(_within(doc.spans[TAGS if TAGS in doc.spans else TREE], stretch))
    if TAGS in doc.spans:
        words = words_of(doc[stretch.start : stretch.end])
        if [span.start for span in spans] != [word.i for word in words]:
            raise moved()
    for span in spans:
        check_place(span)


def _within(group: SpanGroup, stretch: Span | Node) -> Iterator[Span]:
    """The spans of a group, in order, that start within a range of their Doc."""
    first = bisect_left(group, stretch.start, key=_start_of)
    behind = bisect_left(group, stretch.end, lo=first, key=_start_of)
    return (group[index] for index in range(first, behind))


def labels_of(node: Node) -> tuple[str, ...]:
    """The labels of a node, outermost first."""
    group = node.doc.spans[TREE]
    return tuple(group[index].label_ for index in range(node.first, node.behind))


def below(node: Node) -> Iterator[Span]:
    """A node and all below it, each place once, from the root down and left to right."""
    words = [word.i for word in words_of(node.doc[node.start : node.end])]
    group = node.doc.spans[TREE]
    waiting = 0  # the index of the next word without a node
    last = None
    for index in range(node.first, len(group)):
        span = group[index]
        if span.start >= node.end:
            break
        place = span.start, span.end
        if place == last:
            continue
        last = place
        for number in words[waiting : bisect_left(words, span.start, lo=waiting)]:
            yield node.doc[number : number + 1]
            waiting += 1
        yield node.doc[span.start : span.end]
        if span.end == span.start + 1:
            waiting += 1
    for number in words[waiting:]:
        yield node.doc[number : number + 1]


def directly_below(node: Node) -> Iterator[Span]:
    """The children of a node."""
    nodes = below(node)
    next(nodes)
    behind = node.start
    for child in nodes:
        if child.start >= behind:
            yield child
            behind = child.end


def above(node: Node) -> Span | None:
    """The parent of a node; None for the root."""
    group = node.doc.spans[TREE]
    for index in range(node.first - 1, node.root - 1, -1):
        span = group[index]
        if span.end >= node.end:
            check_place(span)
            return node.doc[span.start : span.end]
    return None


def tree_of(node: Node, text: str | None = None) -> Tree:
    """The tree of a node, with boundaries counted from the node's first word.

    Args:
        node: the root.
        text: the text of the Doc, if offsets should refer to it.
    """
    doc = node.doc
    words = words_of(doc[node.start : node.end])
    numbers = [word.i for word in words]
    predicted = _tags(doc, node)
    tags = tuple(predicted.get(word.i) or word.tag_ or NO_TAG for word in words)
    sentence = replace(sentence_of(words, text), tags=tags)
    group = doc.spans[TREE]
    scores = group.attrs.get(SCORES, ())
    known = len(scores) == len(group)  # spaCy loses them when it joins Docs
    spans: list[FoundSpan] = []
    for index in range(node.first, len(group)):
        span = group[index]
        if span.start >= node.end:
            break
        start, end = bisect_left(numbers, span.start), bisect_left(numbers, span.end)
        probability = float(scores[index]) if known else None
        spans.append(FoundSpan(start, end, span.label_, sentence, probability))
    return Tree(sentence, tuple(spans))


def _tags(doc: Doc, node: Node) -> dict[int, str]:
    """The predicted tags of the words of a node, by token."""
    if TAGS not in doc.spans:
        return {}
    return {span.start: span.label_ for span in _within(doc.spans[TAGS], node)}


def _place(start: int, end: int) -> tuple[int, int]:
    """The sort key of spans in pre-order."""
    return start, -end


def _place_of(span: Span) -> tuple[int, int]:
    return _place(span.start, span.end)


def _start_of(span: Span) -> int:
    return int(span.start)
