"""A table of entities: a header line, then one line per entity.

    sentence  id  start  end  start_char  end_char  label  text          probability
    1             0      3    0           12        ORG    Bank of Oslo  0.910000

Columns are separated by tabs, and unknown values are empty. Nothing is quoted: tabs and line ends
in a text become blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fencepost.formats.data import entities_of
from fencepost.formats.files import without_surrogates
from fencepost.formats.settings import WriteSettings
from fencepost.structure import Parse
from fencepost.structure.table import COLUMNS, entity_rows

_BREAK = re.compile(r"\r\n|[\t\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")  # any reader's line ends


def pieces(parses: Iterable[Parse], settings: WriteSettings) -> Iterator[str]:
    """The text of a file: a header line, then one entity per line."""
    yield row_of(COLUMNS)
    for row in entity_rows(map(_with_entities, parses)):
        yield row_of(row.values())


def row_of(values: Iterable[object]) -> str:
    """A line with a tab between its values."""
    return "\t".join(map(_cell, values)) + "\n"


def _with_entities(parse: Parse) -> Parse:
    entities_of(parse)
    return parse


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6f}"
    return _BREAK.sub(" ", without_surrogates(str(value)))
