"""Nested entities, three lines per sentence: words / `start,end LABEL|start,end LABEL` / empty."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial

from fencepost.errors import DataError
from fencepost.formats.entries import Entry, parse_with_entities
from fencepost.formats.files import Source, check_beginning
from fencepost.formats.settings import ReadSettings, WriteSettings
from fencepost.structure import Parse, Sentence, Span

_ENTITY = re.compile(r"(\d{1,18}),(\d{1,18}) (.+)", re.DOTALL)


def entries(source: Source, settings: ReadSettings) -> Iterator[Entry]:
    """The sentences of a file."""
    block: list[str] = []
    first = 1
    number = 0
    for number, line in enumerate(source.lines(), 1):
        block.append(line)
        if len(block) == 3:
            yield Entry(first, partial(_read, block, first, settings))
            block, first = [], number + 1
    while block and not block[-1]:
        block.pop()
    if block:  # the last sentence may lack its empty lines
        block += [""] * (3 - len(block))
        yield Entry(first, partial(_read, block, first, settings))


def _read(lines: list[str], first: int, settings: ReadSettings) -> Iterator[Parse]:
    words, entities, empty = lines
    if empty:
        raise DataError(
            "the third line of a sentence has to be empty: words / entities / empty line",
            line=first + 2,
        )
    if not words:
        raise DataError("this sentence has no words", kind="empty")
    try:
        sentence = Sentence(tuple(words.split(" ")))
    except DataError as error:
        raise DataError("two blanks stand between words, where one is right") from error
    try:
        spans = [_entity(text) for text in entities.split("|")] if entities else []
        yield parse_with_entities(sentence, spans, on_crossing=settings.on_crossing)
    except DataError as error:
        raise error.at("", first + 1) from None


def _entity(text: str) -> Span:
    match = _ENTITY.fullmatch(text)
    if not match:
        raise DataError(f"{text!r} is no entity; `start,end LABEL` is right, as in `0,2 PER`")
    start, end, label = match.groups()
    return Span(int(start), int(end), label)


def pieces(parses: Iterable[Parse], settings: WriteSettings) -> Iterator[str]:
    """The text of a file: three lines per sentence."""
    for number, parse in enumerate(parses):
        entities = entities_of(parse)
        if not parse.words:
            raise DataError("a sentence without words cannot be said in this format", kind="empty")
        if number == 0:
            check_beginning(parse.words[0])
        for word in parse.words:
            if re.search(r"[ \n\r]", word):
                raise DataError(f"the word {word!r} holds a blank, which this format cannot say")
        for span in entities:
            if not span.label or re.search(r"[|\n\r]", span.label):
                raise DataError(f"the label {span.label!r} cannot be said in this format")
        row = "|".join(f"{start},{end} {label}" for start, end, label in entities)
        yield f"{' '.join(parse.words)}\n{row}\n\n"


def entities_of(parse: Parse) -> tuple[Span, ...]:
    """The entities of a parse; a parse without this layer is an error."""
    if parse.entities is None:
        raise DataError("this sentence has no entities annotated, not even none", kind="layer")
    return parse.entities
