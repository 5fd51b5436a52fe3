import re
from html.parser import HTMLParser

import pytest
from hypothesis import given

from fencepost.drawing.html import STYLE, entities_html, page, parse_html
from fencepost.drawing.markup import shown_label, visible
from fencepost.structure import Document, Parse, Sentence, Span, Tree
from tests.drawing.wild import deep, parses

LAW = Sentence.from_whitespace(["Ann", "of", "Oslo", "."], [" ", " ", "", ""])
ANN = Parse(LAW, Tree(LAW, (Span(0, 4, "S"),)), (Span(0, 3, "PER"), Span(2, 3, "GPE")))


class Outline(HTMLParser):
    """What a fragment says, with every element closed in the right place."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.starts: list[tuple[str, dict[str, str | None]]] = []
        self.shown: list[tuple[str, str]] = []  # (element, text)
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.starts.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.starts.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.shown.append((self.open[-1] if self.open else "", data))

    def texts(self, tag: str) -> list[str]:
        return [text for element, text in self.shown if element == tag]

    def attributes(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for element, attributes in self.starts if element == tag]


@given(parses())
def test_boxes_are_nested_as_entities_are(parse: Parse) -> None:
    outline = Outline(entities_html(parse))
    entities = parse.entities or ()
    places = [(mark["data-start"], mark["data-end"]) for mark in outline.attributes("mark")]
    assert places == [(str(span.start), str(span.end)) for span in entities]
    words = [text for text in map(visible, parse.words) if text]
    assert outline.texts("bdi") == words
    assert sorted(outline.texts("b")) == sorted(map(shown_label, entities))
    assert len(outline.texts("li")) == len(parse.dropped)


@given(parses())
def test_a_parse_is_shown_with_all_its_layers(parse: Parse) -> None:
    outline = Outline(parse_html(parse))
    assert len(outline.attributes("svg")) == (parse.tree is not None)
    shows_words = parse.entities is not None or parse.tree is None
    assert len(outline.attributes("p")) == shows_words
    assert outline.texts("style") == [STYLE]


def test_blanks_are_those_of_the_text() -> None:
    shown = entities_html(ANN)
    assert "Ann</bdi> <bdi" in shown
    assert "PER</b></mark><bdi" in shown, "no blank before the full stop"


def test_labels_stand_at_the_end_of_their_boxes() -> None:
    outline = Outline(entities_html(ANN))
    assert [text for tag, text in outline.shown if tag in {"bdi", "b"}] == [
        *("Ann", "of", "Oslo", "GPE", "PER", ".")
    ]
    outer, inner = outline.attributes("mark")
    assert (outer["style"], inner["style"]) == ("--inside:1", "--inside:0")
    assert outer["title"] == "PER (0, 3): Ann of Oslo"


def test_right_to_left_text_is_told_to_be_so() -> None:
    outline = Outline(entities_html(Parse(Sentence(("הילד", "(", "OK")), entities=())))
    assert outline.attributes("p")[0]["dir"] == "rtl"
    assert [word["dir"] for word in outline.attributes("bdi")] == ["rtl", "rtl", "ltr"]


def test_a_document_shows_all_sentences() -> None:
    document = Document((ANN, ANN), "x")
    assert document.to_html().count("<section") == 2
    assert document.to_html().count("<svg") == 2
    assert document.to_html().count("<style") == 1
    assert document.entities_to_html().count('<p class="boxes"') == 2
    assert "<svg" not in document.entities_to_html()
    assert document._repr_html_() == document.to_html()


def test_a_document_that_was_not_parsed_tells_why() -> None:
    document = Document((), "x", "too <long>")
    for shown in (document.to_html(), document.entities_to_html()):
        assert "not parsed: too &lt;long&gt;" in shown
    assert Outline(Document(()).to_html()).attributes("section") == []


def test_a_page_has_one_style_sheet_and_asks_no_other_host() -> None:
    pieces = page([parse_html(ANN), entities_html(ANN)], title="A <b> & c")
    shown = "".join(pieces)
    assert shown.startswith("<!DOCTYPE html>")
    assert "<title>A &lt;b&gt; &amp; c</title>" in shown
    assert shown.count("<style>") == 1
    assert shown.count('class="boxes"') == 2
    outline = Outline(shown)
    for _, attributes in outline.starts:
        assert not {"src", "href"} & set(attributes)
    assert shown.count("http") == shown.count("http://www.w3.org/2000/svg") == 1
    assert "url(" not in shown
    assert "@import" not in shown


def test_a_page_is_written_piece_by_piece() -> None:
    drawn: list[int] = []

    def parts() -> list[str]:
        drawn.append(1)
        return []

    pieces = page((part for _ in range(2) for part in (*parts(), "x")), title="t")
    assert "<body>" in next(pieces)
    assert drawn == []
    assert (next(pieces), drawn) == ("x\n", [1])


def test_the_style_sheet_touches_nothing_else() -> None:
    inside = re.sub(r"@media[^{]*\{", "", STYLE).splitlines()
    for line in filter(None, inside):
        for selector in line.split("{")[0].split(","):
            assert ".fencepost" in selector


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_theme_can_be_set_on_what_is_around(theme: str) -> None:
    assert f"[data-theme={theme}] .fencepost" in STYLE
    assert "@media screen and (prefers-color-scheme:dark)" in STYLE


def test_paper_is_never_dark() -> None:
    dark = [line for line in STYLE.splitlines() if "color-scheme:dark;" in line]
    assert len(dark) == 2
    assert all(line.startswith("@media screen") for line in dark)


def test_depth_does_not_matter() -> None:
    tree = deep(3000)
    assert parse_html(Parse(tree.sentence, tree)).count('class="span"') == 3000
    spans = tuple(Span(0, 1, f"L{index:04}") for index in range(3000))
    assert entities_html(Parse(tree.sentence, entities=spans)).count("</mark>") == 3000
