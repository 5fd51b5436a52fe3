"""Drawings opened as documents in a browser: words and labels run nothing and ask nobody."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser, Dialog, Page

from fencepost.formats import ParseReader, write
from fencepost.run.draw import Kind, Wanted, draw
from fencepost.structure import Parse, Sentence, Span, Tree
from tests.reliability.strategies import hostile_text
from tests.web.pages import PATIENCE

SEED, COUNT = 1, 30
MARKUP = (
    "<script>alert(1)</script>",
    "</text></svg><svg onload='alert(1)'>",
    '"><image href="x" onerror="alert(1)"/>',
    "' onload='alert(1)' x='",
    '" onmouseover="alert(1)',
    "]]></text><script>alert(1)</script><![CDATA[",
    "--><script xlink:href='http://elsewhere.test/x.js'/><!--",
    "<?xml-stylesheet href='http://elsewhere.test/x.xsl' type='text/xsl'?>",
    "<!DOCTYPE svg [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>&x;",
    "<foreignObject><iframe xmlns='http://www.w3.org/1999/xhtml' src='javascript:alert(1)'/>",
    "<set attributeName='onmouseover' to='alert(1)'/>",
    "<a href='javascript:alert(1)'>",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "url(javascript:alert(1))",
    "{}</style>*{background:url(http://elsewhere.test/x)}",
    "&#60;script&#62;alert(1)&lt;/script&gt;",
    "\ud800<script>\x00alert(1)</script>",
)
# Elements that run, fetch or embed something, and attributes that do.
ACTIVE = """() => [...document.querySelectorAll("*")].flatMap(element => [
    ...(/^(script|iframe|object|embed|image|img|use|foreignObject|set|animate.*|link|base|form|meta)$/i
        .test(element.localName) && !element.matches("meta[charset], meta[name], meta[http-equiv]")
        ? [element.outerHTML] : []),
    ...[...element.attributes]
        .filter(({ name, value }) => /^on/i.test(name) || /javascript:/i.test(value) &&
            /href|src|style|action/i.test(name))
        .map(({ name, value }) => `${element.localName} ${name}=${value}`),
])"""
# Each kind of event that a document may have waited for.
EVENTS = """() => { for (const element of document.querySelectorAll("*"))
    for (const kind of ["load", "error", "click", "mouseover", "focus", "begin"])
        element.dispatchEvent(new Event(kind)); }"""


def hostile_parses() -> Iterator[Parse]:
    """Each piece of markup as word, tag, label and text, and then odd ones drawn at random."""
    random = Random(SEED)

    def odd() -> str:
        draws = (random.choice(MARKUP), hostile_text(random)[:200] + random.choice(MARKUP))
        return random.choice(draws)

    for number in range(COUNT):
        words = (MARKUP[number],) * 3 if number < len(MARKUP) else tuple(odd() for _ in range(3))
        labels = [words[0] if number < len(MARKUP) else odd() for _ in range(3)]
        sentence = Sentence(words, tuple(labels), id=labels[0])
        spans = (Span(0, 3, labels[0]), Span(0, 2, labels[1]), Span(2, 3, labels[2]))
        yield Parse(sentence, Tree(sentence, spans), spans, (Span(1, 3, labels[0]),))


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in which no dialog opens and nothing but files is asked for."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    wrong: list[str] = []

    def refuse(dialog: object) -> None:
        wrong.append("a dialog")
        dialog.dismiss()  # type: ignore[attr-defined]

    page.on("dialog", refuse)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("request", lambda one: asked.append(one.url))
    asked: list[str] = []
    yield page
    page.wait_for_timeout(100)
    context.close()
    assert wrong == []
    assert {url.partition(":")[0] for url in asked} == {"file"}
    assert len(asked) == len(set(asked))  # the documents, and nothing besides


def check_opened(page: Page, path: Path) -> None:
    page.goto(path.as_uri())
    assert page.locator("parsererror").count() == 0
    assert page.evaluate(ACTIVE) == []
    page.evaluate(EVENTS)


@pytest.mark.slow
@pytest.mark.parametrize("boundaries", [False, True])
def test_an_svg_that_is_opened_as_a_document_runs_nothing(
    page: Page, tmp_path: Path, boundaries: bool
) -> None:
    path = tmp_path / "x.jsonl"
    write(hostile_parses(), path)
    drawn = draw(ParseReader(path), f"{tmp_path}/out/", wanted=Wanted(boundaries=boundaries))
    assert drawn == (2 * COUNT, [])
    for file in sorted((tmp_path / "out").iterdir()):
        check_opened(page, file)
        assert page.evaluate("document.contentType") == "image/svg+xml"
        assert page.locator("text").count() >= 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["svg", "html"])
def test_what_is_drawn_of_words_in_memory_runs_nothing(
    page: Page, tmp_path: Path, kind: Kind
) -> None:
    parses = list(hostile_parses())
    if kind == "html":
        path = tmp_path / "x.html"
        write(parses, path)
        check_opened(page, path)
        return
    for number, parse in enumerate(parses):
        assert parse.tree is not None
        for layer, svg in (("tree", parse.tree.to_svg()), ("entities", parse.entities_to_svg())):
            path = tmp_path / f"{number}-{layer}.svg"
            path.write_bytes(svg.encode())
            check_opened(page, path)


def test_a_script_would_be_noticed(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "x.svg"
    opened = '<svg xmlns="http://www.w3.org/2000/svg"'
    path.write_text(f'{opened} onload="alert(1)"><script>alert(2)</script></svg>')
    heard: list[str] = []
    page = browser.new_page()

    def hear(dialog: Dialog) -> None:
        heard.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", hear)
    page.goto(path.as_uri())
    assert len(page.evaluate(ACTIVE)) == 2
    page.close()
    assert sorted(heard) == ["1", "2"]
