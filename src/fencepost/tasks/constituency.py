"""Trees as spans for the pointing system: one span per place, one label per span.

A wrapper at the top of a tree (`ROOT`) is not a label of the network: it is removed before labels
are joined, and a model adds its own wrapper to each tree.
"""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.structure import Sentence, Span, Tree
from fencepost.tasks.labels import NO_LABELS, join_spans, split_spans


def encode(tree: Tree, *, with_wrapper: bool = False) -> tuple[Span, ...]:
    """The spans of a tree with unary chains joined, one of them over the whole sentence.

    >>> encode(Tree.from_brackets("(ROOT (S (VP (VB Go))))"))
    (Span(start=0, end=1, label='S+VP'),)

    Args:
        tree: a tree over a whole sentence.
        with_wrapper: whether to keep the wrapper, as models before 0.2 do.
    """
    spans = tree.spans if with_wrapper else tree.unwrapped
    n = len(tree.sentence)
    if not spans or spans[0].end - spans[0].start < n:  # no span but the wrapper is over all words
        spans = (Span(0, n, NO_LABELS), *spans)
        return (spans[0], *join_spans(spans[1:]))
    return join_spans(spans)


def decode(sentence: Sentence, spans: Iterable[Span], *, wrapper: str | None = None) -> Tree:
    """The tree over a sentence with these spans, without fillers.

    >>> print(decode(Sentence(("Go",), ("VB",)), [Span(0, 1, "S+VP")], wrapper="ROOT"))
    (ROOT (S (VP (VB Go))))

    Args:
        sentence: the words.
        spans: spans, one of them over all words.
        wrapper: a label to put around the tree; by default an empty one, if there is no other root.
    """
    spans = tuple(spans)
    labelled = split_spans(spans)
    n = len(sentence)
    whole = next((span for span in spans if span.end - span.start == n), Span(0, n))
    if wrapper is None and n > 1 and whole.label in (None, NO_LABELS):
        wrapper = ""
    return Tree(sentence, labelled if wrapper is None else (whole.relabelled(wrapper), *labelled))
