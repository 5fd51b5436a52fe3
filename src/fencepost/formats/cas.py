"""UIMA CAS in XMI (`.xmi`), as INCEpTION and WebAnno export and import it: one document per file.

    <type:Sentence xmi:id="1" sofa="6" begin="0" end="10"/>
    <type:Token xmi:id="2" sofa="6" begin="0" end="3"/>
    <ner:NamedEntity xmi:id="3" sofa="6" begin="0" end="3" value="PER"/>
    <cas:Sofa xmi:id="6" sofaNum="1" sofaID="_InitialView" sofaString="Ann slept."/>

Entities are named entities and the spans of custom layers. Their type is their `value` or `label`,
or else the name of the layer. Offsets count UTF-16 units. A description of types is not needed,
since XMI names the type of every element; see decision 0023.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from xml.sax.saxutils import quoteattr

from fencepost.errors import DataError
from fencepost.formats.annotations import (
    AnnotatedText,
    Utf16,
    places_of,
    text_entries,
    trimmed,
    with_text,
)
from fencepost.formats.corpora.markup import Event, events_in
from fencepost.formats.data import entities_of
from fencepost.formats.entries import Entry, parse_with_entities
from fencepost.formats.files import Source
from fencepost.formats.settings import ReadSettings, WriteSettings
from fencepost.formats.standoff import Mention
from fencepost.structure import Parse, Sentence, Span

_CORE = "http:///de/tudarmstadt/ukp/dkpro/core/api/"
_SEGMENTS = f"{_CORE}segmentation/type.ecore"
_TAGS = f"{_CORE}lexmorph/type/pos.ecore"
_ENTITIES = f"{_CORE}ner/type.ecore"
_CUSTOM = "http:///webanno/custom.ecore"  # layers that users define
_CAS = "http:///uima/cas.ecore"
_XMI = "http://www.omg.org/XMI"
_VIEW = "_InitialView"

_PREFIXES = {
    "xmi": _XMI,
    "cas": _CAS,
    "type": _SEGMENTS,
    "pos": _TAGS,
    "ner": _ENTITIES,
}
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HEAD = (
    "<xmi:XMI "
    + " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in _PREFIXES.items())
    + ' xmi:version="2.0">\n<cas:NULL xmi:id="0"/>\n'
)


@dataclass(slots=True)
class _Document:
    """The text of a file and its annotations, with offsets in characters."""

    text: str
    tokens: list[tuple[int, int]] = field(default_factory=list)
    sentences: dict[tuple[int, int], str | None] = field(default_factory=dict)  # with their ids
    tags: dict[tuple[int, int], str] = field(default_factory=dict)
    entities: list[Mention] = field(default_factory=list)


def entries(source: Source, settings: ReadSettings) -> Iterator[Entry]:
    """The sentences of a document."""
    document = _document(source)
    if not document.tokens:
        text = AnnotatedText(document.text, tuple(document.entities), source.stem, None)
        yield from text_entries(1, lambda: text, settings, stem=source.stem)
        return
    sentences = sorted(document.sentences or {(0, len(document.text)): None})
    tokens, entities = sorted(set(document.tokens)), sorted(document.entities)
    used = 0
    for number, (start, end) in enumerate(sentences, 1):
        words = tokens[bisect_left(tokens, (start,)) : bisect_left(tokens, (end,))]
        inside = entities[bisect_left(entities, (start,)) : bisect_left(entities, (end,))]
        used += len(words) + len(inside)
        if words:
            name = document.sentences.get((start, end)) or f"{source.stem}-{number}"
            yield Entry(1, partial(_read, document, words, inside, (start, end), name, settings))
    if used != len(tokens) + len(entities):
        raise DataError(
            "tokens or entities lie outside of all sentences, or in two of them", path=source.name
        )


def _read(
    document: _Document,
    words: list[tuple[int, int]],
    entities: list[Mention],
    place: tuple[int, int],
    name: str,
    settings: ReadSettings,
) -> Iterator[Parse]:
    first, last = place
    text = document.text[first:last]
    sentence = Sentence(
        tuple(document.text[start:end] for start, end in words),
        tuple(document.tags.get(word, "") for word in words) if document.tags else None,
        text,
        tuple((start - first, end - first) for start, end in words),
        name,
    ).alone()
    first_words = {start: number for number, (start, _) in enumerate(words)}
    last_words = {end: number for number, (_, end) in enumerate(words, 1)}
    spans = []
    for mention in entities:
        start, end, label = mention
        if start not in first_words or end not in last_words:  # a word may end with a blank
            start, end, label = trimmed(mention, document.text)
        begin, behind = first_words.get(start), last_words.get(end)
        if begin is None or behind is None or begin >= behind:
            raise DataError(
                f"{label} at characters {start} to {end} does not begin and end with words of its "
                f"sentence: {document.text[start:end]!r:.100}",
                kind="misaligned",
            )
        spans.append(Span(begin, behind, label))
    yield parse_with_entities(sentence, spans, on_crossing=settings.on_crossing)


def _document(source: Source) -> _Document:
    """The document in a file; offsets are converted when the text is known."""
    elements: list[tuple[str, str, Mapping[str, str], int]] = []
    texts: dict[str, tuple[str, str]] = {}  # by number: the name of a view, and its text
    spaces: dict[str, str] = {}
    for event in events_in(BytesIO(source.read_whole()), source.name):
        if event.kind == "start":
            space, kind, attributes = _element(event, spaces)
            if (space, kind) == (_CAS, "Sofa"):
                number = attributes.get("xmi:id", "")
                texts[number] = (attributes.get("sofaID", ""), attributes.get("sofaString", ""))
            elif space in (_SEGMENTS, _TAGS, _ENTITIES, _CUSTOM) and "begin" in attributes:
                elements.append((space, kind, attributes, event.line))
    view = next((key for key, (name, _) in texts.items() if name == _VIEW), None)
    if view is None:
        raise DataError(f"there is no text here: no Sofa with the id {_VIEW}", path=source.name)
    document = _Document(texts[view][1])
    places = Utf16(document.text)
    for space, kind, attributes, line in elements:
        if attributes.get("sofa") == view:
            try:
                _add(document, space, kind, attributes, places)
            except DataError as error:
                raise error.at(source.name, line) from None
    return document


def _element(event: Event, spaces: dict[str, str]) -> tuple[str, str, Mapping[str, str]]:
    """The namespace of an element, its name without the prefix, and its attributes."""
    for name, value in event.attributes.items():
        if name.startswith("xmlns:"):
            spaces[name[6:]] = value
    prefix, _, kind = event.value.rpartition(":")
    return spaces.get(prefix, ""), kind, event.attributes


def _add(
    document: _Document, space: str, kind: str, attributes: Mapping[str, str], places: Utf16
) -> None:
    """Add the annotation of one element."""
    try:
        start, end = (places.characters(int(attributes[name])) for name in ("begin", "end"))
    except (KeyError, ValueError) as error:
        raise DataError(f"{kind}: `begin` and `end` have to be numbers") from error
    if not 0 <= start <= end <= len(document.text):
        raise DataError(
            f"{kind} at {start} to {end} is not within a text of {len(document.text)} characters",
            kind="out of range",
        )
    if space == _SEGMENTS:
        if kind == "Sentence":
            document.sentences[start, end] = attributes.get("id")
        elif kind == "Token" and document.text[start:end].strip():
            document.tokens.append((start, end))
    elif space == _TAGS:
        document.tags[start, end] = attributes.get("PosValue", "")
    elif space == _ENTITIES or "Governor" not in attributes:  # relations have a Governor
        label = attributes.get("value", attributes.get("label", ""))
        if not label and space == _ENTITIES:
            raise DataError(f"{kind} at {start} to {end} has no value", kind="layer")
        document.entities.append(Mention(start, end, label or kind))


def pieces(parses: Iterable[Parse], settings: WriteSettings) -> Iterator[str]:
    """The text of a file: one document, with one sentence per line."""
    yield f'<?xml version="1.0" encoding="{settings.encoding}"?>\n{_HEAD}'
    lines: list[str] = []
    position = number = 0
    for parse in parses:
        sentence = with_text(parse.sentence)
        text = sentence.text or ""
        if not sentence.words:
            raise DataError("a sentence without words cannot be said in a CAS", kind="empty")
        if not all(word.strip() for word in sentence.words):
            raise DataError("a word of blanks alone cannot be said in a CAS", kind="empty")
        _check_xml(text, parse.id or "", *(parse.tags or ()))
        units = Utf16(text)
        last = units.of(len(text))
        named = {} if parse.id is None else {"id": parse.id}
        rows = [("type:Sentence", 0, last, named)]
        for index, (start, end) in enumerate(sentence.offsets or ()):
            tag = parse.tags[index] if parse.tags else ""
            if tag:
                rows.append(("pos:POS", units.of(start), units.of(end), {"PosValue": tag}))
            rows.append(("type:Token", units.of(start), units.of(end), {}))
        for start, end, label in places_of(parse, entities_of(parse)):
            _check_xml(label)
            rows.append(("ner:NamedEntity", units.of(start), units.of(end), {"value": label}))
        for name, start, end, features in rows:
            number += 1
            offsets = {"begin": position + start, "end": position + end, **features}
            yield _element_text(name, {"xmi:id": number + 1, "sofa": 1, **offsets})
        lines.append(text)
        position += last + 1
    text = "\n".join(lines)
    view = {"xmi:id": 1, "sofaNum": 1, "sofaID": _VIEW, "mimeType": "text", "sofaString": text}
    yield _element_text("cas:Sofa", view)
    members = " ".join(map(str, range(2, number + 2)))
    yield _element_text("cas:View", {"sofa": 1, "members": members}) + "</xmi:XMI>\n"


def _check_xml(*texts: str) -> None:
    for text in texts:
        match = _NO_XML.search(text)
        if match:
            raise DataError(f"{text!r:.100} holds {match[0]!r}, which XML cannot say")


def _element_text(name: str, attributes: Mapping[str, object]) -> str:
    values = (f"{key}={quoteattr(str(value))}" for key, value in attributes.items())
    return f"<{name} {' '.join(values)}/>\n"
