"""Annotated texts, as annotation tools import and export them.

To a tool, a document is a text with labelled ranges of characters. Tools return unknown data
unchanged, so the words of a sentence, its tags and its tree are stored under `KEY`. A text without
this key is not from fencepost: the rules of `standoff.py` split it into sentences and words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from fencepost.errors import DataError
from fencepost.formats import jsonl
from fencepost.formats.entries import Entry, parse_with_entities, refuse
from fencepost.formats.settings import ReadSettings
from fencepost.formats.standoff import Mention, Passage, passages, sentence_breaks
from fencepost.structure import Parse, Sentence, Span
from fencepost.structure.serialization import DIGITS

KEY = "fencepost"  # of our data beside a text

_BLANKS = " \t\r\n"
_KEYS = ("offsets", "tags", "tree")  # of our data, as in JSON lines


class AnnotatedText(NamedTuple):
    """A text with its mentions."""

    text: str  # of a document or a sentence
    mentions: tuple[Mention, ...] | None  # None: not annotated
    name: str | None
    data: Mapping[str, Any] | None  # of a sentence that fencepost wrote


class Utf16:
    """Offsets in UTF-16 units, as in JavaScript and Java: characters beyond U+FFFF count twice.

    >>> places = Utf16("a😀b")
    >>> [places.of(place) for place in range(4)]
    [0, 1, 3, 4]
    >>> [places.characters(unit) for unit in (0, 1, 3, 4)]
    [0, 1, 2, 3]
    """

    def __init__(self, text: str) -> None:
        self._wide = [place for place, one in enumerate(text) if one > "\uffff"]
        self._units = [place + number for number, place in enumerate(self._wide)]

    def of(self, place: int) -> int:
        """The number of units before a character."""
        return place + bisect_left(self._wide, place)

    def characters(self, unit: int) -> int:
        """The number of characters before a unit."""
        return unit - bisect_left(self._units, unit)


def text_entries(
    line: int, load: Callable[[], AnnotatedText], settings: ReadSettings, *, stem: str
) -> Iterator[Entry]:
    """The sentences of a text.

    Args:
        line: the line of the text in its file.
        load: returns the text, or raises a `DataError`.
        settings: settings of reading.
        stem: the name of a text without a name.
    """
    try:
        text = load()
        if text.data is not None:
            yield Entry(line, partial(_read_data, text, settings))
            return
        sentences = list(
            passages(
                text.text,
                text.mentions or (),
                name=text.name or stem,
                breaks=sentence_breaks,
            )
        )
    except DataError as error:
        yield Entry(line, partial(refuse, error))
        return
    for passage in sentences:
        yield Entry(line, partial(_read, passage, text.mentions is not None, settings))


def _read(passage: Passage, is_annotated: bool, settings: ReadSettings) -> Iterator[Parse]:
    if is_annotated:
        yield parse_with_entities(
            passage.sentence, passage.entities, on_crossing=settings.on_crossing
        )
    else:
        yield Parse(passage.sentence)


def _read_data(text: AnnotatedText, settings: ReadSettings) -> Iterator[Parse]:
    data: dict[str, Any] = {key: (text.data or {}).get(key) for key in _KEYS}
    data |= {"text": text.text, "id": text.name}
    if text.mentions is not None:
        data["entities"] = [list(trimmed(mention, text.text)) for mention in text.mentions]
    yield jsonl.parse_of(data, settings)


def trimmed(mention: Mention, text: str) -> Mention:
    """The mention without blanks at its ends; one of only blanks stays, as it may be a word."""
    start, end, label = mention
    marked = text[max(0, start) : max(0, end)]
    if not marked.strip(_BLANKS):
        return mention
    left, right = (len(marked) - len(cut(_BLANKS)) for cut in (marked.lstrip, marked.rstrip))
    return Mention(start + left, end - right, label)


def data_in(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The data that fencepost wrote beside a text, if any."""
    ours = data.get(KEY)
    return ours if isinstance(ours, dict) and ours.get("offsets") is not None else None


def with_text(sentence: Sentence) -> Sentence:
    """A sentence with only its part of the text, or with its words joined by blanks."""
    alone = sentence.alone()
    text = alone.text or ""
    if alone.offsets is not None and alone.words == tuple(text[a:b] for a, b in alone.offsets):
        return alone
    words = sentence.words
    plain = Sentence.from_whitespace(words, (" ",) * len(words), tags=sentence.tags, id=sentence.id)
    return plain.alone()


def data_of(parse: Parse) -> dict[str, Any]:
    """The text and the name of a sentence, and our data of it."""
    sentence = with_text(parse.sentence)
    written = replace(parse.over(sentence), entities=None).to_dict(digits=DIGITS)
    data: dict[str, Any] = {"text": sentence.text}
    if sentence.id is not None:
        data["id"] = sentence.id
    return data | {KEY: {key: written[key] for key in _KEYS if key in written}}


def places_of(parse: Parse, spans: tuple[Span, ...]) -> list[tuple[int, int, str]]:
    """The character ranges of spans in the text of `data_of`, with their labels."""
    sentence = with_text(parse.sentence)
    places = []
    for span in spans:
        if not span.label:
            raise DataError(f"{span} has no label, which annotation tools need")
        place = sentence.characters(span.start, span.end)
        assert place is not None
        places.append((*place, span.label))
    return places
