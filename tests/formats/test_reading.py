from pathlib import Path

import pytest

from fencepost.errors import ConfigError, DataError
from fencepost.formats import ParseReader, read
from fencepost.formats.settings import Relabel

TREE = "(S (A a))\n"


def test_the_suffix_tells_the_format(tmp_path: Path) -> None:
    for name in ("a.ptb", "b.mrg", "c.ptb.gz"):
        (tmp_path / name).write_text(TREE)
        assert len(list(read(tmp_path / name))) == 1


def test_a_format_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "trees.txt"
    path.write_text(TREE)
    assert len(list(read(path, format="ptb"))) == 1
    with pytest.raises(DataError, match=r"the suffix '\.txt' does not tell the format") as raised:
        read(path)
    assert "html" not in str(raised.value)
    assert str(raised.value).endswith("; name it with format= (--from)")
    with pytest.raises(DataError, match="the format 'xml' is unknown; known are ptb, pretty"):
        read(path, format="xml")
    with pytest.raises(DataError, match="pretty can only be written; readable are ptb, data"):
        read(path, format="pretty")


def test_standard_input_needs_a_format() -> None:
    with pytest.raises(DataError, match="standard input does not tell the format"):
        read("-")


def test_a_missing_file_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.ptb: there is no such file"):
        read(tmp_path / "none.ptb")


def test_a_name_that_no_file_can_have_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"x\.ptb: there is no such file"):
        read(tmp_path / ("x" * 300 + ".ptb"))


def test_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "x.ann").write_text("")
    (tmp_path / "x.txt").write_text("a")
    assert read(tmp_path).files == (tmp_path / "x.txt", tmp_path / "x.ann")
    assert read("-", format="ptb").files == ()


def test_an_unknown_setting_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="drop_everything"):
        read(tmp_path, drop_everything=True)


class TestFolder:
    def test_its_files_are_read_in_order_of_name(self, tmp_path: Path) -> None:
        for name in ("02/wsj_0202.mrg", "02/wsj_0201.mrg", "01/wsj_0101.mrg"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(f"(S (A {name}))")
        (tmp_path / "README").write_text("no trees")
        reading = read(tmp_path)
        assert [p.words[0][3:] for p in reading] == ["wsj_0101.mrg", "wsj_0201.mrg", "wsj_0202.mrg"]
        assert reading.bytes_read == reading.bytes_total > 0

    def test_hidden_files_are_not_read(self, tmp_path: Path) -> None:
        for name in ("a.ptb", "._a.ptb", ".hidden/b.ptb", ".c.data"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(TREE)
        assert len(list(read(tmp_path))) == 1

    def test_errors_name_the_file_in_it(self, tmp_path: Path) -> None:
        (tmp_path / "a.ptb").write_text(TREE)
        (tmp_path / "b.ptb").write_text(TREE + "(S")
        with pytest.raises(DataError, match=r"b\.ptb:2: this bracket is never closed"):
            list(read(tmp_path))

    def test_several_formats_are_told_apart_by_name_only(self, tmp_path: Path) -> None:
        (tmp_path / "a.ptb").write_text(TREE)
        (tmp_path / "a.data").write_text("a\n\n\n")
        with pytest.raises(DataError, match=r"several formats \(ptb, data\)"):
            read(tmp_path)
        assert [p.entities for p in read(tmp_path, format="data")] == [()]

    def test_without_a_file_that_can_be_read_it_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="no file with a known suffix"):
            read(tmp_path)
        with pytest.raises(DataError, match=r"no file with \.data"):
            read(tmp_path, format="data")


def test_bytes_of_another_encoding_cost_only_their_sentence(tmp_path: Path) -> None:
    path = tmp_path / "x.ptb"
    path.write_bytes(
        b"(S (A a))\n(S (A \xe9))\n(S (\xe9 a))\n(\xe9 (A a) (B b))\n(S (A \xc3\xa9))\n"
    )
    reading = read(path, skip_bad=True)
    assert [parse.words for parse in reading] == [("a",), ("é",)]
    assert reading.counts == {"bad sentences": 3}
    entities = tmp_path / "x.data"
    entities.write_bytes(b"a\n0,1 \xe9\n\nb\n0,1 X\n\n")
    assert [parse.words for parse in read(entities, skip_bad=True)] == [("b",)]
    columns = tmp_path / "x.conll"
    columns.write_bytes(b"a B-X\n\n\xe9 B-X\n\nc O\n\n")
    assert [parse.words for parse in read(columns, skip_bad=True)] == [("a",), ("c",)]
    with pytest.raises(DataError, match=r"x\.ptb:2: not utf-8: byte 0xe9"):
        list(read(path))


def test_problems_can_be_collected(tmp_path: Path) -> None:
    path = tmp_path / "x.ptb"
    path.write_text("(S (A a)\n" + TREE + "(S (A a)))\n")
    problems: list[DataError] = []
    reading = ParseReader(path, on_problem=problems.append)
    assert len(list(reading)) == 1
    assert [str(problem) for problem in problems] == [
        f"{path}:1: this bracket is never closed",
        f"{path}:3: this bracket closes nothing",
    ]
    assert reading.place == (str(path), 3)
    assert iter(reading) is reading


def test_names_of_a_mapping_that_match_nothing_are_known(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"words": ["a"], "entities": []}\n{"words": ["b"], "tree": "(S (NP-SBJ (N b)))"}\n'
    )
    reader = read(
        path,
        drop_functions=True,
        rename={"NP": "X", "Q": "R"},
        rename_tags={"N": "M", "V": "W"},
        relabel=(Relabel("X", ("M", "N"), "Y"), Relabel("NP", ("M",), "Z")),
        splice=("Y", "Z", "NP", "S"),
    )
    parses = list(reader)
    assert [str(parse.tree) for parse in parses] == ["None", "(S (M b))"]
    assert reader.unmatched == [
        ("rename", "Q"),
        ("rename_tags", "V"),
        ("relabel", "X/N"),
        ("relabel", "NP/M"),
        ("splice", "Z"),
        ("splice", "NP"),
    ]
    assert read(path).unmatched == []
