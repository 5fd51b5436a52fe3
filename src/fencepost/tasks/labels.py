r"""Several labels on the same words as one label, without loss.

Labels are joined with `+`, outermost first (section 2.1: `S+VP`). A `+` or a backslash inside a
label is escaped with a backslash, so that `split` always undoes `join`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from fencepost.structure import Span
from fencepost.structure.span import by_place

NO_LABELS = r"\0"  # the join of no labels, unlike the join of one empty label

_SPECIAL = re.compile(r"[+\\]")


def join(labels: Iterable[str]) -> str:
    r"""Join several labels into one.

    >>> join(["S", "VP"]), join(["C++"])
    ('S+VP', 'C\\+\\+')
    """
    return _join(tuple(labels))


@lru_cache(maxsize=4096)
def _join(labels: tuple[str, ...]) -> str:
    if not labels:
        return NO_LABELS
    return "+".join(_SPECIAL.sub(r"\\\g<0>", label) for label in labels)


@lru_cache(maxsize=4096)
def split(label: str) -> tuple[str, ...]:
    r"""Split a joined label.

    >>> split("S+VP"), split("C\\+\\+")
    (('S', 'VP'), ('C++',))
    """
    if label == NO_LABELS:
        return ()
    labels = [""]
    characters = iter(label)
    for character in characters:
        if character == "+":
            labels.append("")
        else:
            labels[-1] += next(characters, "") if character == "\\" else character
    return tuple(labels)


def join_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """One span for each run of spans over the same words, with their labels joined."""
    joined: list[Span] = []
    labels: list[str] = []  # of the last span so far
    start = end = -1
    for span in spans:
        if span.start == start and span.end == end:
            labels.append(span.label or "")
            continue
        if len(labels) > 1:
            joined[-1] = Span(start, end, join(labels))
        start, end, label = span
        labels = [label or ""]
        alone = _alone(labels[0])
        # Most labels are alone and need no escape: then the span stays as it is.
        joined.append(span if alone == label else Span(start, end, alone))
    if len(labels) > 1:
        joined[-1] = Span(start, end, join(labels))
    return tuple(joined)


@lru_cache(maxsize=4096)
def _alone(label: str) -> str:
    return join((label,))


def split_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The spans before joining, holders first, without fillers."""
    separate: list[Span] = []
    for span in by_place(spans):
        joined = span.label
        if joined is not None:
            labels = split(joined)
            if labels == (joined,):
                separate.append(span)
            else:
                separate += map(span.relabelled, labels)
    return tuple(separate)
