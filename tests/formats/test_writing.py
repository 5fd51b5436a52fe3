from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fencepost.errors import ConfigError, DataError
from fencepost.formats import read, write
from fencepost.formats.registry import FORMATS, READABLE, Format
from fencepost.structure import Parse, Sentence, Span, Tree
from fencepost.structure.span import by_place
from tests.strategies import nested_spans


def parse(text: str) -> Parse:
    tree = Tree.from_brackets(text)
    return Parse(tree.sentence, tree)


def test_a_failure_half_way_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "out.ptb"
    path.write_text("old")

    def parses() -> Iterator[Parse]:
        yield parse("(S (A a))")
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        write(parses(), path)
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_the_encoding_can_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "out.ptb"
    write([parse("(S (NN 中国))")], path, encoding="gb18030")
    assert path.read_bytes() == "(S (NN 中国))\n".encode("gb18030")
    with pytest.raises(DataError, match=r"out\.ptb: sentence 1: latin-1 has no '中'"):
        write([parse("(S (NN 中国))")], path, encoding="latin-1")
    with pytest.raises(ConfigError, match="the encoding 'klingon' is unknown"):
        write([parse("(S (NN 中国))")], path, encoding="klingon")


def test_a_wide_encoding_marks_its_order_once(tmp_path: Path) -> None:
    path = tmp_path / "out.ptb"
    write([parse("(S (A a))")] * 3, path, encoding="utf-16")
    assert path.read_bytes() == ("(S (A a))\n" * 3).encode("utf-16")
    assert [p.words for p in read(path, encoding="utf-16")] == [("a",)] * 3


def test_a_file_can_be_rewritten_in_place(tmp_path: Path) -> None:
    path = tmp_path / "x.ptb.gz"
    write([parse("(S (NP-SBJ (A a)) (B b))")] * 3, path)
    assert write(read(path, drop_functions=True), path) == 3
    assert [str(p.tree) for p in read(path)] == ["(S (NP (A a)) (B b))"] * 3


def test_errors_of_reading_keep_their_place(tmp_path: Path) -> None:
    path = tmp_path / "x.ptb"
    path.write_text("(S (A a))\n(S (A a)\n")
    with pytest.raises(DataError, match=r"x\.ptb:2: this bracket is never closed"):
        write(read(path), tmp_path / "out.ptb")
    assert not (tmp_path / "out.ptb").exists()


def test_an_unknown_setting_is_told() -> None:
    with pytest.raises(ConfigError, match="colour"):
        write([], "-", format="ptb", colour="blue")


def test_what_is_no_single_text_cannot_go_to_standard_output() -> None:
    for format, name in (("brat", "brat.ann"), ("spacy", "spacy.spacy")):
        with pytest.raises(DataError) as raised:
            write([], "-", format=format)
        assert str(raised.value) == (
            f"{format} cannot be written to standard output; name a file or a folder, as in -o "
            f"{name}"
        )


def test_text_goes_to_standard_output(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert write([parse("(S (A a))")], "-", format="ptb") == 1
    assert capsysbinary.readouterr().out == b"(S (A a))\n"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x.foo", r"x\.foo: the suffix '\.foo' does not tell .*; name it with format= \(--to\)"),
        ("x", r"x: a name without a suffix does not tell .*; name it with format= \(--to\)"),
        ("x/", r"x/?: a folder does not tell the format; brat has a pair of files for each"),
        ("x.parquet", r"x\.parquet: Parquet is written to a folder of many files"),
        ("x.png", r"x\.png: fencepost draw makes pictures"),
        (
            "x.json.gz",
            r"'\.json' may be labelstudio: name it with format= \(--to\); JSON lines are",
        ),
    ],
)
def test_a_name_that_does_not_tell_the_format_says_what_would(
    tmp_path: Path, name: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        write([], f"{tmp_path}/{name}")
    assert list(tmp_path.iterdir()) == []


def test_what_a_suffix_may_mean_in_two_ways_is_asked_for(tmp_path: Path) -> None:
    tree = parse("(S (A a))").tree
    assert tree is not None
    found = Parse(tree.sentence, entities=(Span(0, 1, "X"),))
    for name in ("x.tsv", "x.tsv.gz"):
        path = tmp_path / name
        with pytest.raises(DataError) as raised:
            write([found], path)
        assert str(raised.value) == (
            f"{path}: '.tsv' may be tsv (a table of entities) or conll (columns): "
            "name it with format= (--to)"
        )
        assert not path.exists()
        write([found], path, format="tsv")
        write([found], path, format="conll")
        assert [parse.entities for parse in read(path)] == [(Span(0, 1, "X"),)], "columns"


def test_only_what_can_be_read_is_looked_for_in_a_folder(tmp_path: Path) -> None:
    write([parse("(S (A a))")], tmp_path / "x.ptb")
    write([parse("(S (A a))")], tmp_path / "x.html")
    assert len(list(read(tmp_path))) == 1
    for path, format in ((tmp_path / "x.html", None), (tmp_path, "tsv")):
        with pytest.raises(DataError, match=r"(html can only be written|no file with )"):
            read(path, format=format)


@pytest.mark.parametrize("format", FORMATS.values(), ids=lambda format: format.name)
def test_a_new_file_has_a_suffix_of_its_format(format: Format, tmp_path: Path) -> None:
    path = tmp_path / f"x{format.suffix}"
    write([], path, format=format.name)
    assert path.exists()
    if format.entries is not None:
        assert list(read(path, format=None if format.suffixes else format.name)) == []


# What lines, columns, marks of encodings and readers of text may take for their own.
WILD = st.text("aB1O#|,.()- \t\n\r\v\x1c\x85\u00a0\u2028\ufeff\u0301\x00\\", max_size=3)
FIRST, LAST = Span(0, 1, "X"), Span(1, 2, "X")


@st.composite
def wild_parses(draw: st.DrawFn) -> Parse:
    words = tuple(draw(st.lists(WILD.filter(bool), max_size=3)))
    sentence = Sentence(words, tuple(draw(WILD) for _ in words))
    entities = tuple(draw(nested_spans(len(words), WILD)))
    root = Span(0, len(words), draw(WILD))
    spans = by_place([root, *draw(nested_spans(len(words), WILD))])
    tree = Tree(sentence, tuple(spans)) if words else None
    return Parse(sentence, tree, entities)


def said(parse: Parse, format: Format) -> object:
    """What a format promises to give back of a parse."""
    if format.name == "brat":  # finds words anew, in the same text
        texts = [("".join(parse.words[s:e]), label or "") for s, e, label in parse.entities or ()]
        entities = sorted(("".join(text.split()), label) for text, label in texts)
        return "".join("".join(parse.words).split()), entities
    tree = parse.tree.spans if parse.tree and "tree" in format.layers else None
    return parse.words, tree, parse.entities if "entities" in format.layers else None


@pytest.mark.parametrize("format", READABLE, ids=lambda format: format.name)
@given(parses=st.lists(wild_parses(), min_size=1, max_size=3))
@example([Parse(Sentence(("a", "b\r")), entities=(FIRST,))])
@example([Parse(Sentence(("a ", " b", " ")), entities=(Span(0, 3, "X"), FIRST, LAST))])
@example([Parse(Sentence(("a", "b")), entities=(Span(0, 1, "X\r"),))])
@example([Parse(Sentence(("\ufeffa", "b")), entities=(FIRST, LAST))])
@example([Parse(Sentence(("a", "b")), entities=(FIRST, Span(1, 2, "")))])
@example([Parse(Sentence(("1 ", "\n1")), entities=(FIRST, LAST))])
@example([Parse(Sentence(()), entities=()), Parse(Sentence(("a", "b")), entities=(FIRST, LAST))])
@example([Parse(Sentence(("a", "b")), entities=()), Parse(Sentence(("\ufeffa",)), entities=())])
def test_what_is_written_is_read_again_or_was_refused(
    tmp_path_factory: pytest.TempPathFactory, format: Format, parses: list[Parse]
) -> None:
    path = tmp_path_factory.getbasetemp() / f"wild{format.suffix}"
    try:
        write(parses, path)
    except DataError:
        return
    assert [said(parse, format) for parse in read(path)] == [said(p, format) for p in parses]
