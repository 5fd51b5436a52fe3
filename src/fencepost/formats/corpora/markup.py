"""XML as a stream of events: nothing is kept, nothing is fetched, nothing is expanded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple
from xml.parsers.expat import ErrorString, ExpatError, ParserCreate

from fencepost.errors import DataError
from fencepost.formats.files import Source

_CHUNK = 1 << 16  # bytes


class Event(NamedTuple):
    """An element that begins or ends, by its name, or text between two of those."""

    kind: Literal["start", "end", "text"]
    value: str
    attributes: dict[str, str]
    line: int


def events(path: Path) -> Iterator[Event]:
    """What stands in an XML file, from its beginning to its end."""
    with Source(path).open() as file:
        yield from events_in(file, str(path))


def events_in(file: BinaryIO, name: str) -> Iterator[Event]:
    """What stands in an open XML file.

    A document type may be named, as GENIA does; it is not looked for. One that declares entities
    is refused: a few lines of those can unfold to more than any memory holds.
    """
    parser = ParserCreate()
    parser.buffer_text = True  # one event for text over several lines
    waiting: list[Event] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        waiting.append(Event("start", name, attributes, parser.CurrentLineNumber))

    def end(name: str) -> None:
        waiting.append(Event("end", name, {}, parser.CurrentLineNumber))

    def text(data: str) -> None:
        waiting.append(Event("text", data, {}, parser.CurrentLineNumber))

    def declared(name: str, *_: object) -> None:
        raise DataError(
            f"the entity {name!r} is declared here; files that declare entities are not read",
            line=parser.CurrentLineNumber,
        )

    def skipped(name: str, *_: object) -> None:
        # Expat passes over what a document type might have defined: words would be lost.
        raise DataError(f"the entity {name!r} is unknown", line=parser.CurrentLineNumber)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
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
        except (LookupError, ValueError) as error:  # from the encoding that the file names
            raise DataError(f"cannot be decoded: {error}", path=name) from error
        except DataError as error:
            raise error.at(name, None) from None
        yield from waiting
        waiting.clear()
