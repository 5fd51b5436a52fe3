"""Trees as spans that the pointing system can make: one span a place, one label a span.

A wrapper at the top of a tree (`ROOT`) is no label of the network: it is taken off before labels
are joined, and a model puts its own on each tree that it finds.
"""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.structure import Sentence, Span, Tree
from fencepost.tasks.labels import NO_LABELS, join_spans, split_spans


def encode(tree: Tree, *, with_wrapper: bool = False) -> tuple[Span, ...]:
    """The spans of a tree, unary chains joined, with one over the whole sentence.

    >>> encode(Tree.from_brackets("(ROOT (S (VP (VB Go))))"))
    (Span(start=0, end=1, label='S+VP'),)

    Args:
        tree: over a whole sentence.
        with_wrapper: whether the wrapper is a label like others, as it was before 0.2.
    """
    spans = tree.spans if with_wrapper else tree.unwrapped
    n = len(tree.sentence)
    if not spans or spans[0].end - spans[0].start < n:  # only the wrapper, if any, holds all
        spans = (Span(0, n, NO_LABELS), *spans)
        return (spans[0], *join_spans(spans[1:]))
    return join_spans(spans)


def decode(sentence: Sentence, spans: Iterable[Span], *, wrapper: str | None = None) -> Tree:
    """The tree over a sentence that has these spans; fillers are left out.

    >>> print(decode(Sentence(("Go",), ("VB",)), [Span(0, 1, "S+VP")], wrapper="ROOT"))
    (ROOT (S (VP (VB Go))))

    Args:
        sentence: its words.
        spans: one of them over all words.
        wrapper: goes around the tree; None: only where nothing else holds all words, without name.
    """
    spans = tuple(spans)
    found = split_spans(spans)
    n = len(sentence)
    whole = next((span for span in spans if span.end - span.start == n), Span(0, n))
    if wrapper is None and n > 1 and whole.label in (None, NO_LABELS):
        wrapper = ""
    return Tree(sentence, found if wrapper is None else (whole.relabelled(wrapper), *found))
