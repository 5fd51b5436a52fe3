"""A page with a drawing of every sentence, which needs no other file and no network."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from fencepost.drawing.html import page, parse_html
from fencepost.formats.files import without_halves
from fencepost.formats.settings import WriteSettings
from fencepost.structure import Parse

TITLE = "Trees and entities"


def pieces(parses: Iterable[Parse], settings: WriteSettings) -> Iterator[str]:
    """The text of a page: of each sentence, the tree and the entities that it has."""
    return page_of(map(parse_html, parses), settings)


def page_of(parts: Iterable[str], settings: WriteSettings) -> Iterator[str]:
    """The text of a page around drawings."""
    # A page says that it is UTF-8; in any other encoding, references stand for what is not ASCII.
    is_utf8 = codecs.lookup(settings.encoding).name == "utf-8"
    for piece in page(parts, title=TITLE):
        whole = without_halves(piece)
        yield whole if is_utf8 else whole.encode("ascii", "xmlcharrefreplace").decode("ascii")
