"""Entities as one label per word: the schemes BIO, IOB1 and BIOES.

Anna    B-PER    I-PER    S-PER     bio     B- begins every entity, I- continues it (IOB2)
Oslo    B-LOC    I-LOC    B-LOC     iob1    B- only begins one that follows one of its type
Harbour I-LOC    I-LOC    E-LOC     bioes   B- begins, E- ends, S- is a single word
Bergen  B-LOC    B-LOC    S-LOC
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from fencepost.errors import DataError
from fencepost.formats.settings import Scheme
from fencepost.structure import Span

_LABEL = re.compile(r"([BIESLUM])-(\S+)", re.ASCII)
_SAME = {"L": "E", "U": "S", "M": "I"}  # from the letters of BILOU and BMES
_LETTERS = {"bio": "OBI", "iob1": "OBI", "bioes": "OBIES"}


@lru_cache(maxsize=4096)
def label_of(text: str) -> tuple[str, str | None] | None:
    """The letter and the type of a label; None if it is not a label of any scheme.

    >>> label_of("B-PER"), label_of("O"), label_of("U-PER"), label_of("NN")
    (('B', 'PER'), ('O', None), ('S', 'PER'), None)
    """
    if text == "O":
        return "O", None
    match = _LABEL.fullmatch(text)
    return (_SAME.get(match[1], match[1]), match[2]) if match else None


def evidence(labels: Iterable[str]) -> Iterator[tuple[int, Scheme]]:
    """The indices of words whose label only one scheme would use, each with this scheme.

    >>> list(evidence(["O", "I-PER", "I-PER", "B-PER"])), list(evidence(["B-PER", "I-LOC"]))
    ([(1, 'iob1')], [(0, 'bio'), (1, 'iob1')])
    """
    before = None
    for index, text in enumerate(labels):
        letter, label = label_of(text) or ("O", None)
        if letter in "ES":
            yield index, "bioes"
        elif letter in "BI" and label != before:
            yield index, "bio" if letter == "B" else "iob1"
        before = label


def spans_in(labels: Sequence[str], scheme: Scheme) -> Iterator[Span]:
    """The entities of a sequence of labels; an error's line is the number of the word, from 1.

    >>> [str(span) for span in spans_in(["B-PER", "B-LOC", "I-LOC", "O"], "bio")]
    ['(0, 1) PER', '(1, 3) LOC']
    """
    start, current = 0, None  # the entity that is open
    before = ""
    for index, text in enumerate((*labels, "O")):
        letter, label = label_of(text) or ("", None)
        if not letter or letter not in _LETTERS[scheme]:
            raise DataError(f"{text!r} is no label of the scheme {scheme}", line=index + 1)
        continues = letter in "IE" and label == current
        if not continues:
            if letter in "IE" and scheme != "iob1":
                place = f"after {before}" if before else "at the start"
                raise DataError(
                    f"{text} {place} continues no entity; in the scheme {scheme} an entity "
                    f"begins with B-{label}",
                    line=index + 1,
                )
            if current is not None and scheme == "bioes":
                raise DataError(
                    f"{before} is not continued; in the scheme bioes an entity of several words "
                    f"ends with E-{current}",
                    line=index,
                )
            if current is not None:
                yield Span(start, index, current)
            start, current = index, label
        if letter in "ES":
            yield Span(start, index + 1, label)
            current = None
        before = text


def labels_for(n: int, entities: Sequence[Span], scheme: Scheme) -> Iterator[list[str]]:
    """The labels of each of `n` words: one for each entity around it, outermost first.

    The entities around a word nest in each other, so an entity has the same index in the lists of
    all of its words: its layer.

    >>> list(labels_for(3, [Span(0, 3, "ORG"), Span(2, 3, "LOC")], "bioes"))
    [['B-ORG'], ['I-ORG'], ['E-ORG', 'S-LOC']]
    """
    holders: list[Span] = []
    before: list[Span] = []  # the holders of the word before
    coming = 0
    for index in range(n):
        while holders and holders[-1].end <= index:
            holders.pop()
        while coming < len(entities) and entities[coming].start == index:
            holders.append(entities[coming])
            coming += 1
        labels: list[str] = []
        for layer, span in enumerate(holders):
            follows = layer < len(before) and before[layer].label == span.label
            labels.append(f"{_letter(span, index, scheme, follows=follows)}-{span.label}")
        yield labels
        before = holders.copy()


def _letter(span: Span, index: int, scheme: Scheme, *, follows: bool) -> str:
    first, last = index == span.start, index == span.end - 1
    if scheme == "bioes" and last:
        return "S" if first else "E"
    return "B" if first and (follows or scheme != "iob1") else "I"
