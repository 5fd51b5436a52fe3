"""Pages with drawings."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.formats import WriteSettings, write
from fencepost.formats.html import pieces
from fencepost.structure import Parse, Sentence, Span, Tree
from tests.strategies import parses


class Page(HTMLParser):
    """What a browser would find: elements with their classes, and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.classes: list[set[str]] = []
        self.words: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.classes.append(set((found.get("class") or "").split()))
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def count(self, name: str) -> int:
        return sum(name in classes for classes in self.classes)


def page(*found: Parse) -> Page:
    return Page("".join(pieces(found, WriteSettings())))


@given(st.lists(parses(), max_size=3))
def test_every_span_of_every_sentence_is_on_the_page(found: list[Parse]) -> None:
    made = page(*found)
    spans = [len(p.entities or ()) + (len(p.tree.spans) if p.tree else 0) for p in found]
    assert made.count("span") == sum(spans)
    assert made.count("fencepost-tree") == sum(parse.tree is not None for parse in found)
    assert not made.fetched


def test_what_looks_like_markup_is_text() -> None:
    sentence = Sentence(("<script>alert(1)</script>", "&amp;"))
    made = page(Parse(sentence, entities=(Span(0, 1, '"><b>'),)))
    assert {"<script>alert(1)</script>", "&amp;"} <= set(made.words)


def test_a_page_is_written_as_its_sentences_come(tmp_path: Path) -> None:
    tree = Tree.from_brackets("(S (A a))")
    taken = 0

    def many() -> Iterator[Parse]:
        nonlocal taken
        while True:
            taken += 1
            yield Parse(tree.sentence, tree)

    some = pieces(many(), WriteSettings())
    for _ in range(5):
        next(some)
    assert taken <= 5


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "latin-1", "ascii", "gb18030", "utf-16"])
def test_no_encoding_loses_a_word(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "x.html"
    words = ("Ærø", "中国", "😀", "\ud800")
    write([Parse(Sentence(words), entities=())], path, encoding=encoding)
    data = path.read_bytes()
    # A browser goes by the byte order mark, and without one by what the page says of itself.
    text = data.decode("utf-16" if encoding == "utf-16" else "utf-8")
    assert re.search("charset=.utf-8", text)
    assert {"Ærø", "中国", "😀", "\ufffd"} <= set(Page(text).words)
    assert ("Ærø" in text) == (encoding.lower() in ("utf-8", "utf8"))


def test_the_suffix_tells_it(tmp_path: Path) -> None:
    for name in ("x.html", "x.htm"):
        assert write([Parse(Sentence(("a",)), entities=())], tmp_path / name) == 1
        assert (tmp_path / name).read_text().startswith("<!DOCTYPE html>")
