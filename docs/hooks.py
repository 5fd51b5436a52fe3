"""For the built pages: the words behind the language of a block become its title or a line below.

They tell the tests what to do with the block (`tests/docs/pages.py`), and some of them are worth
telling the reader, too.
"""

import re
from typing import Any

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


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """What MkDocs calls for each page."""
    return plain_fences(markdown)
