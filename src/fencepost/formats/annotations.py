"""Texts with marked characters, as annotation tools take them and give them back.

A tool knows a text and labels for stretches of its characters. It hands data that it does not know
back as it came, so the words of a sentence, its tags and its tree go there, under `KEY`. A text
without them was never ours: its words and sentences are found by the rules of `standoff.py`.
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

KEY = "fencepost"  # under which our own data stand beside a text

_BLANKS = " \t\r\n"
_OWN = ("offsets", "tags", "tree")  # as JSON lines have them


class Marked(NamedTuple):
    """A text with its mentions.

    Attributes:
        text: of one document or one sentence.
        mentions: None if nobody has looked for any.
        name: of the text.
        own: our data of a sentence, if we wrote it.
    """

    text: str
    mentions: tuple[Mention, ...] | None
    name: str | None
    own: Mapping[str, Any] | None


class Utf16:
    """Places in a text as JavaScript and Java count them: a character beyond U+FFFF is two.

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
        """The units before a character."""
        return place + bisect_left(self._wide, place)

    def characters(self, unit: int) -> int:
        """The characters before a unit."""
        return unit - bisect_left(self._units, unit)


def text_entries(
    line: int, marked: Callable[[], Marked], settings: ReadSettings, *, stem: str
) -> Iterator[Entry]:
    """The sentences of a text, still to be read.

    Args:
        line: where the text stands.
        marked: gives the text, or fails.
        settings: how it is read.
        stem: names the text if it has no name of its own.
    """
    try:
        found = marked()
        if found.own is not None:
            yield Entry(line, partial(_read_own, found, settings))
            return
        sentences = list(
            passages(
                found.text,
                found.mentions or (),
                name=found.name or stem,
                breaks=sentence_breaks,
            )
        )
    except DataError as error:
        yield Entry(line, partial(refuse, error))
        return
    is_marked = found.mentions is not None
    for passage in sentences:
        yield Entry(line, partial(_read, passage, is_marked, settings))


def _read(passage: Passage, is_marked: bool, settings: ReadSettings) -> Iterator[Parse]:
    if is_marked:
        yield parse_with_entities(
            passage.sentence, passage.entities, on_crossing=settings.on_crossing
        )
    else:
        yield Parse(passage.sentence)


def _read_own(marked: Marked, settings: ReadSettings) -> Iterator[Parse]:
    data: dict[str, Any] = {key: (marked.own or {}).get(key) for key in _OWN}
    data |= {"text": marked.text, "id": marked.name}
    if marked.mentions is not None:
        data["entities"] = [list(trimmed(mention, marked.text)) for mention in marked.mentions]
    yield jsonl.parse_of(data, settings)


def trimmed(mention: Mention, text: str) -> Mention:
    """The mention without blanks that people mark along; other blanks may be words."""
    start, end, label = mention
    marked = text[max(0, start) : max(0, end)]
    if not marked.strip(_BLANKS):
        return mention
    left, right = (len(marked) - len(cut(_BLANKS)) for cut in (marked.lstrip, marked.rstrip))
    return Mention(start + left, end - right, label)


def own_of(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Our data beside a text; None if there are none."""
    own = data.get(KEY)
    return own if isinstance(own, dict) and own.get("offsets") is not None else None


def with_text(sentence: Sentence) -> Sentence:
    """A sentence with its own part of the text; without one, its words with blanks between."""
    own = sentence.alone()
    text = own.text or ""
    if own.offsets is not None and own.words == tuple(text[a:b] for a, b in own.offsets):
        return own
    words = sentence.words
    plain = Sentence.from_whitespace(words, (" ",) * len(words), tags=sentence.tags, id=sentence.id)
    return plain.alone()


def data_of(parse: Parse) -> dict[str, Any]:
    """The text of a sentence, its name, and our own data of it."""
    sentence = with_text(parse.sentence)
    written = replace(parse.over(sentence), entities=None).to_dict(digits=DIGITS)
    data: dict[str, Any] = {"text": sentence.text}
    if sentence.id is not None:
        data["id"] = sentence.id
    return data | {KEY: {key: written[key] for key in _OWN if key in written}}


def places_of(parse: Parse, spans: tuple[Span, ...]) -> list[tuple[int, int, str]]:
    """The characters of spans in the text of `data_of`, with their labels."""
    sentence = with_text(parse.sentence)
    found = []
    for span in spans:
        if not span.label:
            raise DataError(f"{span} has no label, which annotation tools need")
        place = sentence.characters(span.start, span.end)
        assert place is not None
        found.append((*place, span.label))
    return found
