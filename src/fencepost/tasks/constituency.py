"""Trees as spans that the pointing system can make: one span a place, one label a span."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.structure import Sentence, Span, Tree
from fencepost.tasks.labels import join, join_spans, split_spans


def encode(tree: Tree) -> tuple[Span, ...]:
    """The spans of a tree, unary chains joined, with one over the whole sentence.

    >>> encode(Tree.from_brackets("(ROOT (S (VP (VB Go))))"))
    (Span(start=0, end=1, label='ROOT+S+VP'),)
    """
    if not tree.spans:  # a tree that is only a word and its tag
        return (Span(0, len(tree.sentence), join(())),)
    return join_spans(tree.spans)


def decode(sentence: Sentence, spans: Iterable[Span]) -> Tree:
    """The tree over a sentence that has these spans; fillers are left out.

    >>> print(decode(Sentence(("Go",), ("VB",)), [Span(0, 1, "S+VP")]))
    (S (VP (VB Go)))
    """
    return Tree(sentence, split_spans(spans))
