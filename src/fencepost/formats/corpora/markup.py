"""XML as a stream of events, in constant memory, without fetching or expanding anything."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple
from xml.parsers.expat import ErrorString, ExpatError, ParserCreate

from fencepost.errors import DataError
from fencepost.formats.files import Source

Kind = Literal["start", "end", "text"]
_CHUNK = 1 << 16  # bytes


class Event(NamedTuple):
    """The start or the end of an element, with its name, or the text in between."""

    kind: Kind
    value: str
    attributes: dict[str, str]
    line: int


def events(path: Path) -> Iterator[Event]:
    """The events of an XML file."""
    with Source(path).open() as file:
        yield from events_in(file, str(path))


def events_in(file: BinaryIO, name: str) -> Iterator[Event]:
    """The events of an open XML file.

    A document type, as GENIA has it, is not fetched. Declarations of entities are refused: a few
    lines of them can expand to more than any memory holds.
    """
    parser = ParserCreate()
    parser.buffer_text = True  # one event for text over several lines
    waiting: list[Event] = []

    def add(kind: Kind, value: str, attributes: dict[str, str] | None = None) -> None:
        waiting.append(Event(kind, value, attributes or {}, parser.CurrentLineNumber))

    def declared(name: str, *_: object) -> None:
        raise DataError(
            f"the entity {name!r} is declared here; files that declare entities are not read",
            line=parser.CurrentLineNumber,
        )

    def skipped(name: str, *_: object) -> None:
        # Expat skips entities that a document type might define: words would be lost.
        raise DataError(f"the entity {name!r} is unknown", line=parser.CurrentLineNumber)

    parser.StartElementHandler = partial(add, "start")
    parser.EndElementHandler = partial(add, "end")
    parser.CharacterDataHandler = partial(add, "text")
    parser.EntityDeclHandler = declared
    parser.SkippedEntityHandler = skipped
    data = b"-"
    while data:
        data = file.read(_CHUNK)
        try:
            parser.Parse(data, not data)
        except ExpatError as error:
            raise DataError(
                f"this is no XML: {ErrorString(error.code)}", line=error.lineno, path=name
            ) from error
        except (LookupError, ValueError) as error:  # the declared encoding is unknown or wrong
            raise DataError(f"cannot be decoded: {error}", path=name) from error
        except DataError as error:
            raise error.at(name, None) from None
        yield from waiting
        waiting.clear()
