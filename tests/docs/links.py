"""Links: those of Markdown files as they are in the project, and those of the built site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

import markdown  # type: ignore[import-untyped]

from tests.docs.pages import name

EXTENSIONS = ["fenced_code", "tables", "toc", "md_in_html", "attr_list"]
INFO = re.compile(r"^(`{3,}[\w+-]+) .*$", re.MULTILINE)  # what Markdown does not know
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
STYLE = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


@dataclass
class Found:
    """What a page holds that others may point to, and what it points to itself."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)  # asked for when the page is opened
    bare: int = 0  # blocks of code without a language


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found = Found()
        self._before = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        self.found.ids.update(values[key] for key in ("id", "name") if key in values)
        if tag == "a" and "href" in values:
            self.found.links.append(values["href"])
        if values.get(LOADED.get(tag, "")) and values.get("rel") != "canonical":
            self.found.loaded.append(values[LOADED[tag]])
        if tag == "code" and self._before == "pre" and "language-" not in values.get("class", ""):
            self.found.bare += 1
        self._before = tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self._before = ""


def in_html(text: str) -> Found:
    """What there is in a page of HTML."""
    reader = _Reader()
    reader.feed(text)
    return reader.found


@cache
def in_markdown(page: Path) -> Found:
    """What there is in a Markdown file."""
    text = INFO.sub(r"\1", page.read_text(encoding="utf-8"))
    return in_html(markdown.markdown(text, extensions=EXTENSIONS))


def broken(page: Path) -> Iterator[str]:
    """The links of a Markdown file that lead nowhere."""
    found = in_markdown(page)
    for link in found.links + found.loaded:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            if parts.scheme not in ("https", "mailto") and parts.hostname != "127.0.0.1":
                yield f"{name(page)}: {link}: https is expected"
            continue
        target = _target(page, parts.path)
        # Pages of the Python API are made of docstrings: see the links of the built site.
        is_made = target.parent.name == "python"
        looked_up = target.suffix == ".md" and not is_made and target.exists()
        if problem := _problem(parts, target, in_markdown(target) if looked_up else None):
            yield f"{name(page)}: {link}: {problem}"


def broken_in_site(site: Path) -> Iterator[str]:
    """The links of a built site that lead nowhere, and whatever asks another host."""
    pages = {path: in_html(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    for page, found in pages.items():
        where = page.relative_to(site)
        for link in found.links + found.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in found.loaded and parts.scheme != "data":
                    yield f"{where}: {link}: another host is asked"
                continue
            root = site if parts.path.startswith("/") else page.parent  # only of the page for 404
            target = _target(root / page.name, parts.path.lstrip("/"))
            if target.is_dir():
                target /= "index.html"
            if problem := _problem(parts, target, pages.get(target)):
                yield f"{where}: {link}: {problem}"
    for sheet in site.rglob("*.css"):
        for match in STYLE.finditer(sheet.read_text(encoding="utf-8")):
            address = match[1] or match[2]
            if urlsplit(address).netloc:
                yield f"{sheet.relative_to(site)}: {address}: another host is asked"


def _target(page: Path, path: str) -> Path:
    return (page.parent / unquote(path)).resolve() if path else page


def _problem(link: SplitResult, target: Path, found: Found | None) -> str | None:
    if not target.exists():
        return "there is no such file"
    if link.fragment and found is not None and unquote(link.fragment) not in found.ids:
        return "there is no such heading"
    return None
