"""Drawings as files."""

import gzip
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from fencepost.drawing.html import parse_html
from fencepost.drawing.svg import entities_svg, tree_svg
from fencepost.errors import ConfigError, DataError
from fencepost.formats import ParseReader, ReadSettings, read, write
from fencepost.run import draw as module
from fencepost.run.draw import Wanted
from fencepost.structure import Entity, Parse, Sentence, Span, Tree


def draw(reading: ParseReader, out: Any, **options: Any) -> int:
    """Draws all that there is, and counts it."""
    count, missed = module.draw(reading, out, **options)
    assert missed == []
    return count


PNG = b"\x89PNG\r\n\x1a\n"


def parse_of(text: str, *entities: Span) -> Parse:
    tree = Tree.from_brackets(text)
    return Parse(tree.sentence, tree, entities if entities else None)


CAT = parse_of("(S (NP (DT The) (NN cat)) (VP (VBD sat)))")
ANN = parse_of("(S (NP (NNP Ann)) (VP (VBD slept)))", Span(0, 1, "PER"))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Three sentences: a tree, words alone, and a tree with an entity."""
    path = tmp_path / "x.jsonl"
    write([CAT, Parse(Sentence(("Oh",))), ANN], path)
    return path


def pages_of(pdf: bytes) -> list[tuple[float, float]]:
    """Width and height of the pages of a PDF."""
    boxes = re.findall(rb"/MediaBox ?\[ ?0 0 ([0-9.]+) ([0-9.]+) ?\]", pdf)
    return [(float(width), float(height)) for width, height in boxes]


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(PNG)
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])


class TestFolders:
    def test_each_layer_of_each_sentence_is_a_file(self, source: Path, tmp_path: Path) -> None:
        out = tmp_path / "deep/out"
        assert draw(ParseReader(source), f"{out}/") == 3
        files = sorted(path.name for path in out.iterdir())
        assert files == ["0001-tree.svg", "0003-entities.svg", "0003-tree.svg"]
        assert CAT.tree is not None
        assert (out / "0001-tree.svg").read_text() == tree_svg(CAT.tree)
        assert (out / "0003-entities.svg").read_text() == entities_svg(ANN)
        for path in out.iterdir():
            assert ElementTree.parse(path).getroot().tag.endswith("svg")

    @pytest.mark.parametrize("kind", ["pdf", "png"])
    def test_files_may_be_of_another_kind(self, source: Path, tmp_path: Path, kind: Any) -> None:
        out = tmp_path / "out"
        out.mkdir()
        assert draw(ParseReader(source), out, kind=kind, wanted=Wanted(task="tree")) == 2
        for name in ("0001-tree", "0003-tree"):
            data = (out / f"{name}.{kind}").read_bytes()
            assert data.startswith({"pdf": b"%PDF", "png": PNG}[kind])

    def test_a_page_for_all_is_no_file_each(self, source: Path, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"html is one page for all drawings: name a file"):
            draw(ParseReader(source), tmp_path, kind="html")

    def test_a_folder_that_cannot_be_made_is_told(self, source: Path) -> None:
        with pytest.raises(DataError, match=r"x\.jsonl: cannot be written: File exists"):
            draw(ParseReader(source), f"{source}/")


class TestOneDrawing:
    def test_it_is_what_was_asked_for(self, source: Path, tmp_path: Path) -> None:
        out = tmp_path / "x.svg"
        wanted = Wanted(sentence=3, task="entities", theme="dark", boundaries=True)
        assert draw(ParseReader(source), out, wanted=wanted) == 1
        assert out.read_text() == entities_svg(ANN, theme="dark", boundaries=True)
        assert ANN.tree is not None
        draw(ParseReader(source), out, wanted=Wanted(sentence=3, task="tree", boundaries=True))
        assert out.read_text() == tree_svg(ANN.tree, boundaries=True)

    def test_a_png_has_two_pixels_for_one_of_the_drawing(
        self, source: Path, tmp_path: Path
    ) -> None:
        out = tmp_path / "x.png"
        assert draw(ParseReader(source), out, wanted=Wanted(sentence=1)) == 1
        assert CAT.tree is not None
        root = ElementTree.fromstring(tree_svg(CAT.tree))
        width, height = (float(root.attrib[name]) for name in ("width", "height"))
        assert size_of(out.read_bytes()) == pytest.approx((1.5 * width, 1.5 * height), abs=1)

    @pytest.mark.parametrize("name", ["x.svg", "x.png"])
    def test_several_sentences_are_too_many(self, source: Path, tmp_path: Path, name: str) -> None:
        out = tmp_path / name
        with pytest.raises(DataError) as raised:
            draw(ParseReader(source), out)
        assert str(raised.value) == (
            f"{out}: there are several sentences, and this holds one drawing; choose one with "
            "--sentence N, or name a folder (-o DIR/), a .pdf or an .html"
        )
        assert not out.exists()

    def test_so_are_two_layers(self, source: Path, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="choose with --task tree or --task entities"):
            draw(ParseReader(source), tmp_path / "x.svg", wanted=Wanted(sentence=3))

    def test_the_only_one_that_has_the_layer_is_one(self, source: Path, tmp_path: Path) -> None:
        wanted = Wanted(task="entities")
        assert draw(ParseReader(source), tmp_path / "x.svg", wanted=wanted) == 1

    def test_it_can_go_into_a_pipe(
        self, source: Path, capsysbinary: pytest.CaptureFixture[bytes]
    ) -> None:
        wanted = Wanted(sentence=1)
        assert draw(ParseReader(source), "-", wanted=wanted) == 1
        assert capsysbinary.readouterr().out.startswith(b"<svg ")
        assert draw(ParseReader(source), "-", kind="png", wanted=wanted) == 1
        assert capsysbinary.readouterr().out.startswith(PNG)


class TestOneFileForAll:
    def test_a_pdf_has_a_page_for_each_drawing(self, source: Path, tmp_path: Path) -> None:
        out = tmp_path / "x.pdf"
        assert draw(ParseReader(source), out) == 3
        assert CAT.tree is not None
        root = ElementTree.fromstring(tree_svg(CAT.tree))
        pages = pages_of(out.read_bytes())
        assert len(pages) == 3
        width, height = (0.75 * float(root.attrib[name]) for name in ("width", "height"))
        assert pages[0] == pytest.approx((width, height), abs=0.1)

    def test_the_same_drawings_give_the_same_pdf(self, source: Path, tmp_path: Path) -> None:
        for name in ("a.pdf", "b.pdf"):
            draw(ParseReader(source), tmp_path / name)
        assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()

    def test_a_page_of_html_has_all(self, source: Path, tmp_path: Path) -> None:
        out = tmp_path / "x.html"
        assert draw(ParseReader(source), out) == 3
        text = out.read_text()
        assert text.startswith("<!DOCTYPE html>")
        assert text.count("fencepost-tree") == 2
        assert text.count('data-label="PER"') == 1
        assert "color-scheme:dark}</style>" not in text.split("</head>")[1]

    def test_a_page_has_only_the_layer_that_is_wanted(self, source: Path, tmp_path: Path) -> None:
        out = tmp_path / "x.html"
        assert draw(ParseReader(source), out, wanted=Wanted(task="entities")) == 1
        assert "fencepost-tree" not in out.read_text().split("</head>")[1]
        assert draw(ParseReader(source), out, wanted=Wanted(task="tree")) == 2
        assert 'data-label="PER"' not in out.read_text()

    @pytest.mark.parametrize("boundaries", [False, True])
    def test_a_page_has_the_theme_and_the_boundaries_that_are_wanted(
        self, source: Path, tmp_path: Path, boundaries: bool
    ) -> None:
        out = tmp_path / "x.html"
        draw(ParseReader(source), out, wanted=Wanted(theme="dark", boundaries=boundaries))
        body = out.read_text().split("</head>")[1]
        assert "<style>:root{color-scheme:dark}</style>" in body
        assert body.count('data-theme="dark"') == 2
        assert body.count('class="boundary"') == (4 + 3 + 3 if boundaries else 0)


class TestWhichSentences:
    def test_a_limit_stops_reading(self, tmp_path: Path) -> None:
        path = tmp_path / "x.ptb"
        path.write_text("(S (A a))\n(S (A b))\n(S (A c)\n")
        assert draw(ParseReader(path), f"{tmp_path}/out/", wanted=Wanted(limit=2)) == 2
        with pytest.raises(DataError, match=r"x\.ptb:3: this bracket is never closed"):
            draw(ParseReader(path), tmp_path / "x.pdf")
        with pytest.raises(DataError, match="this bracket is never closed"):
            draw(ParseReader(path), tmp_path / "x.html")
        assert sorted(file.name for file in tmp_path.iterdir()) == ["out", "x.ptb"]

    @pytest.mark.parametrize("name", ["x.svg", "x.png", "x.pdf", "x.html", "out/"])
    def test_nothing_to_draw_is_told_and_leaves_no_file(
        self, source: Path, tmp_path: Path, name: str
    ) -> None:
        before = sorted(tmp_path.iterdir())
        for wanted, message in (
            (Wanted(sentence=2), "nothing to draw: this sentence does not have either"),
            (Wanted(sentence=1, task="entities"), "this sentence does not have entities"),
            (Wanted(limit=1, task="entities"), "nothing to draw: no sentence has entities"),
            (Wanted(sentence=4), "there is no sentence 4, only 3"),
        ):
            with pytest.raises(DataError) as raised:
                draw(ParseReader(source), f"{tmp_path}/{name}", wanted=wanted)
            assert str(raised.value).startswith(f"{source}: ")
            assert str(raised.value).endswith(message)
        assert sorted(tmp_path.iterdir()) == before

    @pytest.mark.parametrize("wanted", [Wanted(), Wanted(sentence=2), Wanted(task="tree")])
    def test_without_sentences_it_is_told_what_was_left_out(
        self, tmp_path: Path, wanted: Wanted
    ) -> None:
        path = tmp_path / "x.data"
        for text, message in (
            ("", "there are no sentences in it"),
            (
                "a b c\n0,2 X|1,3 X\n\n",
                "there are no sentences in it; left out: 1 sentences with crossing entities",
            ),
        ):
            path.write_text(text)
            settings = ReadSettings(on_crossing="drop-sentence")
            with pytest.raises(DataError) as raised:
                draw(ParseReader(path, settings=settings), tmp_path / "x.svg", wanted=wanted)
            assert str(raised.value) == f"{path}: nothing to draw: {message}"

    def test_one_of_them_and_the_first_few_are_not_both(self) -> None:
        with pytest.raises(ConfigError, match="--sentence and --limit: one of them, not both"):
            Wanted(sentence=2, limit=1)

    @pytest.mark.parametrize("name", ["x.svg", "x.html", "out/"])
    def test_a_sentence_without_words_has_a_boundary(self, tmp_path: Path, name: str) -> None:
        write([Parse(Sentence(()), entities=())], tmp_path / "x.jsonl")
        wanted = Wanted(boundaries=True)
        assert draw(ParseReader(tmp_path / "x.jsonl"), f"{tmp_path}/{name}", wanted=wanted) == 1


class TestKinds:
    def test_a_name_has_to_tell_what_it_is(self, source: Path) -> None:
        with pytest.raises(ConfigError, match=r"a folder that is not there yet, with a slash"):
            draw(ParseReader(source), "pictures")
        with pytest.raises(ConfigError, match=r"x\.svg says svg, and --to says png"):
            draw(ParseReader(source), "x.svg", kind="png")

    @pytest.mark.parametrize(
        ("name", "kind"),
        [("X.SVG", "svg"), ("x.Png", "png"), ("x.htm", "html"), ("x.HTM.GZ", "html")],
    )
    def test_capital_letters_short_names_and_packing_are_understood(
        self, source: Path, tmp_path: Path, name: str, kind: str
    ) -> None:
        draw(ParseReader(source), tmp_path / name, wanted=Wanted(sentence=1))
        data = (tmp_path / name).read_bytes()
        data = gzip.decompress(data) if name.endswith("GZ") else data
        assert data.startswith({"svg": b"<svg", "png": PNG, "html": b"<!DOCTYPE"}[kind])

    def test_a_place_that_is_not_there_is_told_before_anything_is_drawn(
        self, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "typeset", None)
        with pytest.raises(DataError, match=r"none/x\.pdf: cannot be written: No such file"):
            draw(ParseReader(source), tmp_path / "none/x.pdf")

    def test_or_be_told(self, source: Path, tmp_path: Path) -> None:
        draw(ParseReader(source), tmp_path / "picture", kind="pdf")
        assert (tmp_path / "picture").read_bytes().startswith(b"%PDF")

    @pytest.mark.parametrize("name", ["x.pdf", "x.png", "out/"])
    def test_without_typst_it_is_named(
        self, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        monkeypatch.setitem(sys.modules, "typst", None)
        kind: Any = "png" if name == "out/" else None
        with pytest.raises(ConfigError, match=r"pip install 'fencepost\[draw\]'"):
            draw(ParseReader(source), f"{tmp_path}/{name}", kind=kind, wanted=Wanted(sentence=1))
        assert [path.name for path in tmp_path.iterdir()] == ["x.jsonl"]
        assert draw(ParseReader(source), f"{tmp_path}/svg/") == 3
        assert draw(ParseReader(source), tmp_path / "x.html") == 3


class TestHugeDrawings:
    WORDS = 2000

    @pytest.fixture
    def wide(self, tmp_path: Path) -> Path:
        path = tmp_path / "wide.ptb"
        path.write_text("(S " + "(NP (DT the) (NN cat)) " * (self.WORDS // 2) + ")\n")
        return path

    @pytest.fixture
    def deep(self, tmp_path: Path) -> Path:
        path = tmp_path / "deep.ptb"
        path.write_text("(S (A a) " * self.WORDS + "(B b)" + ")" * self.WORDS + "\n")
        return path

    def test_a_page_is_no_larger_than_readers_take(
        self, wide: Path, deep: Path, tmp_path: Path
    ) -> None:
        for source in (wide, deep):
            draw(ParseReader(source), tmp_path / "x.pdf")
            ((width, height),) = pages_of((tmp_path / "x.pdf").read_bytes())
            assert max(width, height) == pytest.approx(14_400, abs=1)

    def test_a_png_of_too_many_pixels_is_refused(self, deep: Path, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"pixels, which is too many; \.svg, \.pdf and \.html"):
            draw(ParseReader(deep), tmp_path / "x.png")
        assert not (tmp_path / "x.png").exists()
        assert draw(ParseReader(deep), tmp_path / "x.svg") == 1

    def test_in_a_folder_it_takes_no_other_down(self, deep: Path, tmp_path: Path) -> None:
        small = "(S (A a) (B b))\n"
        deep.write_text(small + deep.read_text() + small)
        out = tmp_path / "out"
        count, missed = module.draw(ParseReader(deep), f"{out}/", kind="png")
        assert count == 2
        assert [str(error).split(" would have ")[0] for error in missed] == [
            f"{deep}: sentence 2, tree: a PNG of this sentence"
        ]
        assert sorted(path.name for path in out.iterdir()) == ["0001-tree.png", "0003-tree.png"]

    def test_a_wide_one_is_drawn(self, wide: Path, tmp_path: Path) -> None:
        draw(ParseReader(wide), tmp_path / "x.png")
        assert size_of((tmp_path / "x.png").read_bytes())[0] > 50 * self.WORDS


class TestFailures:
    @pytest.fixture
    def fail(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        import typst

        def failing(error: BaseException) -> None:
            def compile(*given: Any, **options: Any) -> bytes:
                raise error

            monkeypatch.setattr(typst, "compile", compile)

        return failing

    def test_what_typst_refuses_is_told(
        self, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        broken = '<svg xmlns="http://www.w3.org/2000/svg" width="5" height="5"><g></svg>'
        monkeypatch.setattr(module, "tree_svg", lambda tree, **options: broken)
        with pytest.raises(DataError, match=r"^typst could not draw this: .*(parse|SVG|svg)"):
            draw(ParseReader(source), tmp_path / "x.pdf")
        assert not (tmp_path / "x.pdf").exists()

    def test_a_panic_is_told(self, source: Path, tmp_path: Path, fail: Any) -> None:
        class PanicException(BaseException):
            pass

        fail(PanicException("out of luck"))
        with pytest.raises(DataError, match="typst broke off: out of luck"):
            draw(ParseReader(source), tmp_path / "x.pdf")
        fail(KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            draw(ParseReader(source), tmp_path / "x.pdf")

    def test_a_failure_half_way_leaves_what_was_there(
        self, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        out = tmp_path / "x.html"
        out.write_text("before")

        def failing(parse: Parse) -> str:
            if parse == ANN:
                raise ValueError
            return parse_html(parse)

        monkeypatch.setattr(module, "parse_html", failing)
        with pytest.raises(ValueError, match=r"^$"):
            draw(ParseReader(source), out)
        assert out.read_text() == "before"
        assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("name", ["x.svg", "x.png", "x.pdf", "x.html"])
def test_odd_words_can_be_drawn(tmp_path: Path, name: str) -> None:
    words = Sentence(("<&>\"'", "\x00\x1b", "\ud800", "العربية", "中国", "👩‍🚀", "a b", "]]>"))
    entities = (Entity(0, 8, "<x>&\x01", words, 0.4), Entity(2, 4, '"', words, 0.9))
    source = tmp_path / "in.jsonl"
    for parse in (Parse(words, Tree(words, (Span(0, 8, "<S&"),))), Parse(words, entities=entities)):
        write([parse], source)
        assert list(read(source)) == [parse]
        assert draw(ParseReader(source), tmp_path / name) == 1
        if name == "x.svg":
            ElementTree.parse(tmp_path / name)
