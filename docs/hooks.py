"""Hooks of MkDocs: titles and notes of code blocks, and a link to the page in the browser.

The words behind the language of a block tell the tests what to do with it (`tests/docs/pages.py`);
some of them become its title or a line below. With FENCEPOST_SITE=1, as `make site` sets it, the
navigation has a link to `try/`.
"""

import os
import re
from typing import Any

from mkdocs.structure.nav import Link, Navigation

_BLOCK = re.compile(r"^(`{3,})([\w+-]+) ([^\n]+)\n(.*?\n)\1$", re.DOTALL | re.MULTILINE)


def plain_fences(markdown: str) -> str:
    """A page whose blocks have nothing but their language, or a title, on the first line."""

    def plain(match: re.Match[str]) -> str:
        fence, language, info, text = match.groups()
        block = f"{fence}{language}\n{text}{fence}"
        if info.startswith("not-run:"):
            return f'{block}\n\n<p class="told">Not run by the tests: {info[8:].strip()}.</p>\n'
        if info.startswith("file="):
            return f'{fence}{language} title="{info[5:]}"\n{text}{fence}'
        return block

    return _BLOCK.sub(plain, markdown)


def on_nav(nav: Navigation, **_: Any) -> Navigation:
    """Link to the page that parses in the browser, which `make site` puts beside the docs."""
    if os.environ.get("FENCEPOST_SITE"):
        nav.items.append(Link("Try it", "try/"))
    return nav


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """What MkDocs calls for each page."""
    return plain_fences(markdown)
