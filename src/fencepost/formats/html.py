"""A self-contained HTML page with a drawing of every sentence."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from fencepost.drawing.html import page, parse_html
from fencepost.formats.files import without_surrogates
from fencepost.formats.settings import WriteSettings
from fencepost.structure import Parse

TITLE = "Trees and entities"


def pieces(parses: Iterable[Parse], settings: WriteSettings) -> Iterator[str]:
    """The text of a page with the tree and the entities of each sentence."""
    return page_of(map(parse_html, parses), settings)


def page_of(parts: Iterable[str], settings: WriteSettings) -> Iterator[str]:
    """The text of a page around drawings."""
    # The page declares UTF-8; other encodings get character references for non-ASCII.
    is_utf8 = codecs.lookup(settings.encoding).name == "utf-8"
    for piece in page(parts, title=TITLE):
        whole = without_surrogates(piece)
        yield whole if is_utf8 else whole.encode("ascii", "xmlcharrefreplace").decode("ascii")
