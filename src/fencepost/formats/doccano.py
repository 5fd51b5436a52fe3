"""doccano's JSON lines: a text, and labels of character ranges.

    {"id": 1, "text": "Ann slept", "label": [[0, 3, "PER"]]}

Projects with relations export `entities` with `start_offset`, `end_offset` and `label` instead.
These are read, too; relations are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from fencepost.errors import DataError
from fencepost.formats import jsonl
from fencepost.formats.annotations import AnnotatedText, data_in, data_of, places_of, text_entries
from fencepost.formats.entries import Entry
from fencepost.formats.files import Source
from fencepost.formats.settings import ReadSettings, WriteSettings
from fencepost.formats.standoff import Mention
from fencepost.structure import Parse

_OFFSETS = ("start_offset", "end_offset", "label")


def entries(source: Source, settings: ReadSettings) -> Iterator[Entry]:
    """The texts of a file, sentence by sentence."""
    for number, line in enumerate(source.lines(), 1):
        if line.strip():
            yield from text_entries(
                number, partial(_text, line), settings, stem=f"{source.stem}-{number}"
            )


def _text(line: str) -> AnnotatedText:
    data = jsonl.object_in(line)
    if not isinstance(data, dict) or not isinstance(data.get("text"), str):
        raise DataError("an object with a `text` is expected on each line")
    labels = data.get("label", data.get("labels"))
    if labels is None and isinstance(data.get("entities"), list):
        labels = [
            [one.get(key) for key in _OFFSETS] if isinstance(one, dict) else one
            for one in data["entities"]
        ]
    mentions = None if labels is None else tuple(_mentions(labels))
    return AnnotatedText(data["text"], mentions, jsonl.id_of(data), data_in(data))


def _mentions(labels: Any) -> Iterator[Mention]:
    for label in labels if isinstance(labels, list) else [labels]:
        if not isinstance(label, list) or [*map(type, label)] != [int, int, str] or not label[2]:
            raise DataError(f"[start, end, label] is expected for each label, not {label!r:.100}")
        yield Mention(*label)


def pieces(parses: Iterable[Parse], settings: WriteSettings) -> Iterator[str]:
    """The text of a file: one object per line."""
    for parse in parses:
        data: dict[str, Any] = data_of(parse)
        if parse.entities is not None:
            data["label"] = places_of(parse, parse.entities)
        yield jsonl.line_of(data)
