"""Parses as plain data with a version: the JSON format of files, corpora and HTTP.

    {"version": 1, "words": ["Ann", "sleeps"], "tags": ["NNP", "VBZ"],
     "text": "Ann sleeps", "offsets": [[0, 3], [4, 10]],
     "tree": [[0, 2, "S", 0.97], [0, 1, "NP", 0.99], [1, 2, "VP", 0.98]],
     "entities": [[0, 1, "person", 0.95]], "log_probs": {"tree": -0.06, "entities": -0.05}}

Spans are start, end, label and, if known, the probability of the step that made them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from fencepost.errors import DataError
from fencepost.structure.entity import Entity, FoundSpan
from fencepost.structure.parse import Parse
from fencepost.structure.sentence import Sentence
from fencepost.structure.span import Span
from fencepost.structure.tree import Tree

VERSION = 1
DIGITS = 6  # of probabilities in files

Kind = TypeVar("Kind", bound=FoundSpan)


def plain_parse(parse: Parse, *, digits: int | None = None) -> dict[str, Any]:
    """A parse as plain data, without the parts that it does not have.

    Args:
        parse: a parse with any layers.
        digits: to round probabilities to; by default they are not rounded.
    """
    sentence, log_probs = parse.sentence, parse.log_probs
    if digits is not None and log_probs is not None:
        log_probs = {layer: round(value, digits) for layer, value in log_probs.items()}
    data: dict[str, Any] = {
        "id": sentence.id,
        "words": list(sentence.words),
        "tags": None if sentence.tags is None else list(sentence.tags),
        "text": sentence.text,
        "offsets": None if sentence.offsets is None else [list(pair) for pair in sentence.offsets],
        "tree": None if parse.tree is None else _rows(parse.tree.spans, digits),
        "entities": None if parse.entities is None else _rows(parse.entities, digits),
        "dropped": _rows(parse.dropped, digits) or None,
        "log_probs": None if log_probs is None else dict(log_probs),
        "rank": parse.rank,
    }
    return {key: value for key, value in data.items() if value is not None}


def parse_from_plain(data: dict[str, Any]) -> Parse:
    """The parse in plain data."""
    offsets = data.get("offsets")
    sentence = Sentence(
        _names(data["words"]),
        None if data.get("tags") is None else _names(data["tags"]),
        data.get("text"),
        None if offsets is None else tuple((start, end) for start, end in offsets),
        data.get("id"),
    )
    tree, entities = data.get("tree"), data.get("entities")
    return Parse(
        sentence,
        None if tree is None else Tree(sentence, found_spans(tree, FoundSpan, sentence)),
        None if entities is None else found_spans(entities, Entity, sentence),
        found_spans(data.get("dropped") or (), Entity, sentence),
        data.get("log_probs"),
        data.get("rank"),
    )


def checked_version(data: Any) -> None:
    """Refuse data of another version or without one."""
    version = data.get("version") if isinstance(data, dict) else None
    if version != VERSION:
        raise DataError(f"plain data of version {VERSION} was expected, not of version {version!r}")


def _names(names: Any) -> tuple[str, ...]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"a list of strings was expected, not {names!r}")
    return tuple(names)


def _rows(spans: Iterable[Span], digits: int | None) -> list[list[Any]]:
    rows: list[list[Any]] = []
    for span in spans:
        probability = span.probability
        if probability is not None and digits is not None:
            probability = round(probability, digits)
        rows.append([*span] if probability is None else [*span, probability])
    return rows


def found_spans(rows: Iterable[Any], kind: type[Kind], sentence: Sentence) -> tuple[Kind, ...]:
    """The spans of a layer, from rows of start, end, label and optional probability."""
    return tuple(
        kind(start, end, label, sentence, *probability) for start, end, label, *probability in rows
    )
