"""Rows: none is lost and none comes twice, wherever a file is cut, and whatever is in it."""

import gzip
import io
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fencepost.errors import ConfigError, DataError
from fencepost.run import texts as texts_module
from fencepost.run.corpus import rows as module
from fencepost.run.corpus.rows import Row, RowSettings, Shard, rows_of
from fencepost.run.texts import Kind
from fencepost.structure import Sentence
from tests.run.corpus.fakes import planned, rows_in

PARTS = [
    b"a",
    b"b c.",
    b"\n",
    b"\n\n",
    b"\r\n",
    b"\r",
    b" \t",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",  # U+2028, which ends no line
    b"\xc2\x85",  # nor does U+0085
    b"\x0b\x0c\x1c",
    b"\0",
    b"x" * 30,
    b'{"text": "It is."}',
    b'{"id": 7, "words": ["a"]}',
    b"{",
]
BROKEN = [b"\xff", b"\xc3", b"\xed\xa0\x80"]
ANYTHING = st.binary(max_size=80).filter(lambda data: not data.startswith(b"\x1f\x8b"))  # gzip
DATA = st.lists(st.sampled_from(PARTS + BROKEN), max_size=40).map(b"".join) | ANYTHING
CLEAN = st.lists(st.sampled_from(PARTS), max_size=40).map(b"".join)
SIZES = st.integers(1, 60)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rows") / "x.txt"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PART", 7)


def told(rows: list[Row]) -> list[tuple[str, Any, str | None]]:
    return [(row.id, row.given, row.problem) for row in rows]


def lines_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their first bytes, the obvious way."""
    position = 0
    *whole, last = data.split(b"\n")
    for line in whole:
        yield position, line
        position += len(line) + 1
    if last:
        yield position, last


def read_alone(data: bytes, path: Path, **options: Any) -> list[Row]:
    path.write_bytes(data)
    return rows_in(planned(path, **options))


class TestLines:
    @given(DATA, SIZES, st.integers(1, 70))
    @example(b"\n", 1, 1)
    @example(b"a\n", 1, 1)
    @example(b"aa\nb", 1, 1)
    def test_each_line_is_one_row_wherever_a_file_is_cut(
        self, path: Path, data: bytes, size: int, most: int
    ) -> None:
        path.write_bytes(data)
        settings = RowSettings(most_bytes=most)
        plan = planned(path, rows=settings, kind="words", shard_bytes=size)
        found = rows_in(plan, settings)
        expected = list(lines_of(data))
        assert [row.id for row in found] == [f"x.txt#{start}" for start, _ in expected]
        for row, (start, line) in zip(found, expected, strict=True):
            bare = line.removeprefix(b"\xef\xbb\xbf") if start == 0 else line
            if len(line) > most:
                assert row.problem is not None
                assert row.problem.startswith("a line of ")
                assert "--max-row-size" in row.problem
            elif bare.decode("utf-8", "ignore") != bare.decode("utf-8", "replace"):
                assert row.problem is not None
                assert row.problem.startswith("not utf-8: byte 0x")
            else:
                assert row.problem is None
                assert row.given == Sentence(tuple(bare.decode().split()))

    @given(DATA, SIZES, st.sampled_from(["text", "lines", "words", "jsonl"]))
    def test_shards_have_the_rows_of_the_whole(
        self, path: Path, data: bytes, size: int, kind: str
    ) -> None:
        settings = RowSettings(format="jsonl" if kind == "jsonl" else None)
        how: Any = "text" if kind == "jsonl" else kind
        path.write_bytes(data)
        whole = planned(path, rows=settings, kind=how)
        parts = planned(path, rows=settings, kind=how, shard_bytes=size)
        assert len(parts.portions) >= len(data) // size
        expected = rows_in(whole, settings)
        assert told(rows_in(parts, settings)) == told(expected)
        assert sum(row.bytes for row in expected) <= len(data)

    @given(CLEAN)
    def test_an_id_tells_where_a_row_begins(self, path: Path, data: bytes) -> None:
        for row in read_alone(data, path, shard_bytes=9):
            start = int(row.id.removeprefix("x.txt#"))
            assert isinstance(row.given, str)
            first = row.given.split("\n")[0].encode()
            assert (
                data[start:].removeprefix(b"\xef\xbb\xbf" if start == 0 else b"").startswith(first)
            )

    @given(CLEAN, SIZES, st.integers(0, 20), st.integers(1, 30))
    def test_a_paragraph_that_has_to_be_cut_loses_no_line(
        self, path: Path, data: bytes, size: int, searched: int, most: int
    ) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_SEARCHED", searched)
            patch.setattr(texts_module, "_MOST", most)
            found = read_alone(data, path, shard_bytes=size)
        text = data.removeprefix(b"\xef\xbb\xbf").decode()
        expected = [line.rstrip("\r") for line in text.split("\n") if line.strip()]
        assert [line for row in found for line in str(row.given).split("\n")] == expected
        starts = [int(row.id.removeprefix("x.txt#")) for row in found]
        assert starts == sorted(set(starts))

    def test_a_long_paragraph_is_cut_after_a_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "_SEARCHED", 10)
        path = tmp_path / "x.txt"
        path.write_text("".join(f"line {n:03}\n" for n in range(100)))
        plan = planned(path, shard_bytes=100)
        assert len(plan.portions) == 9
        found = rows_in(plan)
        assert len(found) == 9
        assert "\n".join(str(row.given) for row in found) == path.read_text().strip()

    def test_what_is_given_as_a_text_is_one_row_and_lines_are_several(self) -> None:
        (row,) = rows_in(planned("A b.\n\nC d."))
        assert (row.id, row.given, row.bytes) == ("text", "A b.\n\nC d.", 10)
        found = rows_in(planned("A b.\n\nC \ud800", kind="lines"))
        assert [row.id for row in found] == ["text#0", "text#5", "text#6"]
        assert found[0].given == Sentence(("A", "b", "."), None, "A b.", ((0, 1), (2, 3), (3, 4)))
        assert found[1].given == Sentence((), None, "", ())
        assert found[2].problem is not None  # half of a pair has no bytes

    def test_a_row_that_is_too_long_is_not_kept(self, tmp_path: Path, small: None) -> None:
        path = tmp_path / "x.jsonl"
        path.write_bytes(b'{"text": "' + b"y" * 100 + b'"}\n{"text": "b"}\n' + b"z" * 100)
        settings = RowSettings(most_bytes=20)
        found = rows_in(planned(path), settings)
        assert [(row.id, row.given) for row in found] == [
            ("x.jsonl#0", ""),
            ("x.jsonl#113", "b"),
            ("x.jsonl#127", ""),
        ]
        assert found[0].problem == (
            "a line of 113 bytes is longer than 20; --max-row-size would allow it"
        )


class TestJsonLines:
    @pytest.mark.parametrize(
        ("line", "id", "given", "problem"),
        [
            ('{"id": "a", "text": "It is."}', "a", "It is.", None),
            ('{"id": 7, "text": ""}', "7", "", None),
            ('{"id": 1.5, "words": ["a", "b"]}', "1.5", Sentence(("a", "b")), None),
            ('{"id": "", "tokens": ["a"]}', "x.jsonl#0", Sentence(("a",)), None),
            ('{"tree": "(S (A a))"}', "x.jsonl#0", Sentence(("a",), ("A",)), None),
            ('{"text": "a b", "offsets": [[0, 1]]}', "x.jsonl#0", None, None),
            ('{"id": "\\ud800", "text": "\\udfff"}', "\ud800", "\udfff", None),
            ('{"id": 7, "text": null}', "7", "", "this row has no 'text', and no words"),
            ('{"id": 7, "text": 5}', "7", "", "'text' has to be a string, not 5"),
            ('{"id": 7, "words": "a"}', "7", "", "'words' has to be a list of strings"),
            ('{"id": 7, "words": ["a", ""]}', "7", "", "word 1 is empty"),
            ('{"id": [7], "text": "a"}', "x.jsonl#0", "", "'id' has to be a string or a number"),
            ('{"id": true, "text": "a"}', "x.jsonl#0", "", "'id' has to be"),
            ("[1]", "x.jsonl#0", "", "an object is expected on each line, not [1]"),
            ("7", "x.jsonl#0", "", "an object is expected"),
            ("{", "x.jsonl#0", "", "no JSON: "),
            ("[" * 100_000, "x.jsonl#0", "", "no JSON: "),
            ("\ufeff{}", "x.jsonl#0", "", "this row has no 'text'"),
        ],
        ids=lambda one: ascii(one)[:30],
    )
    def test_an_object_is_a_row(
        self, tmp_path: Path, line: str, id: str, given: Any, problem: str | None
    ) -> None:
        (row,) = read_alone(line.encode(), tmp_path / "x.jsonl")
        assert row.id == id
        if given is not None:
            assert row.given == given
        assert (row.problem is None) == (problem is None)
        assert (row.problem or "").startswith(problem or "")

    def test_nesting_without_end_takes_nothing_down(self, tmp_path: Path) -> None:
        """Deep enough to be read, and perhaps too deep to be shown."""
        lines = ['{"id": ' + "[" * depth + "]" * depth + "}" for depth in range(880, 1000, 3)]
        found = read_alone("\n".join(lines).encode(), tmp_path / "x.jsonl")
        assert len(found) == len(lines)
        assert all(row.problem for row in found)

    def test_columns_may_have_other_names(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        rows = [
            {"key": 1, "body": "A.", "text": "no", "id": "no"},
            {"text": "no"},
            {"words": ["w"]},
        ]
        path.write_text("\n".join(map(json.dumps, rows)))
        settings = RowSettings(text_column="body", id_column="key")
        found = rows_in(planned(path, rows=settings), settings)
        assert told(found) == [
            ("1", "A.", None),
            ("x.jsonl#51", "", "this row has no 'body', and no words"),
            ("x.jsonl#66", Sentence(("w",)), None),
        ]

    def test_blank_lines_are_no_rows(self, tmp_path: Path) -> None:
        data = b'\n \r\n{"text": "a"}\r\n\n'
        (row,) = read_alone(data, tmp_path / "x.jsonl")
        assert (row.id, row.given) == ("x.jsonl#4", "a")


class TestPackedAndPiped:
    @pytest.mark.parametrize("kind", ["text", "lines", "words"])
    def test_what_is_packed_is_read_as_it_was(self, tmp_path: Path, kind: Kind) -> None:
        data = b"One two.\nThree.\n\nFour \xff\n\n" * 50
        expected = read_alone(data, tmp_path / "x.txt", kind=kind)
        packed = tmp_path / "x.txt.gz"
        found = read_alone(gzip.compress(data), packed, kind=kind, shard_bytes=10)
        assert [(row.given, row.problem) for row in found] == [
            (row.given, row.problem) for row in expected
        ]
        assert found[1].id == expected[1].id.replace(".txt", ".txt.gz")
        assert sum(row.bytes for row in found) == packed.stat().st_size

    @pytest.mark.parametrize("packed", [False, True])
    def test_standard_input_is_read(self, monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
        data = b"One.\n\nTwo.\n"
        stdin = io.TextIOWrapper(io.BytesIO(gzip.compress(data) if packed else data))
        monkeypatch.setattr(sys, "stdin", stdin)
        found = rows_in(planned("-"))
        assert told(found) == [("stdin#0", "One.", None), ("stdin#6", "Two.", None)]
        assert not stdin.buffer.closed

    def test_standard_input_may_be_annotated(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for format, data in (("conll", b"a\tO\nb\tO\n"), ("jsonl", b'{"words": ["a", "b"]}\n')):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
            settings = RowSettings(format=format)
            (row,) = rows_in(planned("-", rows=settings), settings)
            assert (row.id, row.given) == ("stdin#0", Sentence(("a", "b")))

    def test_standard_input_that_breaks_off_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        data = gzip.compress(b"One.\n" * 1000)[:-12]
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        with pytest.raises(DataError, match="stdin: cannot be read: "):
            rows_in(planned("-"))

    def test_a_pipe_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "pipe"
        os.mkfifo(path)
        writer = threading.Thread(target=path.write_bytes, args=(b"One.\n\nTwo.\n",))
        writer.start()
        found = rows_in(planned(path, shard_bytes=2))
        writer.join()
        assert told(found) == [("pipe#0", "One.", None), ("pipe#6", "Two.", None)]

    @pytest.mark.parametrize(
        "data",
        [
            gzip.compress(b"A b.\n" * 1000)[:-12],
            b"\x1f\x8b nothing",
            b"\x1f\x8b",
            gzip.compress(b"A b.\n") + b"and more",
            gzip.compress(b"A b.\n" * 9)[:20] + b"\xff" * 20,
        ],
        ids=["cut", "nothing", "empty", "more", "broken"],  # gzip has the time in it
    )
    def test_damage_is_told(self, tmp_path: Path, data: bytes) -> None:
        with pytest.raises(DataError, match=r"x\.txt: cannot be read: "):
            read_alone(data, tmp_path / "x.txt")


class TestOtherEncodings:
    @given(
        st.text(st.sampled_from("a\n \réĊ語\u0a0a\u2028\U0001f41f\x00"), max_size=30),
        st.sampled_from(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7"]),
        st.sampled_from(["lines", "text"]),
    )
    def test_wide_lines_are_those_of_the_text(
        self, path: Path, text: str, encoding: str, kind: Kind
    ) -> None:
        path.write_bytes(text.encode(encoding))
        settings = RowSettings(encoding=encoding)
        plan = planned(path, rows=settings, kind=kind, shard_bytes=1)
        assert len(plan.portions) == 1, "it cannot be cut"
        found = [row.given for row in rows_in(plan, settings)]
        path.write_bytes(text.encode())
        expected = [row.given for row in rows_in(planned(path, kind=kind))]
        assert found == expected

    def test_their_rows_are_numbered(self, tmp_path: Path) -> None:
        path = tmp_path / "x.txt"
        path.write_text("one\r\n\ntwo\nthree", encoding="utf-16", newline="")
        settings = RowSettings(encoding="utf-16")
        found = rows_in(planned(path, rows=settings), settings)
        assert told(found) == [("x.txt#1", "one", None), ("x.txt#3", "two\nthree", None)]
        packed = tmp_path / "y.txt.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        assert len(rows_in(planned(packed, rows=settings), settings)) == 2

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
    def test_a_broken_line_takes_no_other_down(self, tmp_path: Path, encoding: str) -> None:
        path = tmp_path / "x.txt"
        lines = ["one", "half \ud800.", "three \ufffd"]
        path.write_bytes("\n".join(lines).encode(encoding, "surrogatepass") + b"\0")
        settings = RowSettings(encoding=encoding)
        found = rows_in(planned(path, rows=settings, kind="words"), settings)
        assert [row.id for row in found] == ["x.txt#1", "x.txt#2", "x.txt#3"]
        assert found[0].given == Sentence(("one",))
        assert found[1].problem == f"not {encoding}: illegal UTF-16 surrogate"
        assert found[2].problem == f"not {encoding}: truncated data"
        path.write_bytes("three \ufffd\n".encode(encoding))
        (row,) = rows_in(planned(path, rows=settings, kind="words"), settings)
        assert row.given == Sentence(("three", "\ufffd"))

    def test_a_long_line_takes_no_other_down(self, tmp_path: Path, small: None) -> None:
        path = tmp_path / "x.txt"
        path.write_text("one\n" + "é" * 101 + "\ntwo\n" + "x" * 31, encoding="utf-16")
        settings = RowSettings(encoding="utf-16", most_bytes=30)
        found = rows_in(planned(path, rows=settings, kind="words"), settings)
        problem = "a line is longer than 30; --max-row-size would allow it"
        assert [row.problem for row in found] == [None, problem, None, problem]
        assert [row.given for row in found] == [Sentence(("one",)), "", Sentence(("two",)), ""]

    def test_a_file_of_another_encoding_is_told(self, tmp_path: Path) -> None:
        path = tmp_path / "x.txt"
        path.write_bytes(b"no mark\n")
        settings = RowSettings(encoding="utf-16")
        with pytest.raises(DataError, match=r"x\.txt: UTF-16 stream does not start with BOM"):
            rows_in(planned(path, rows=settings), settings)

    def test_an_unknown_encoding_is_refused_at_once(self, tmp_path: Path) -> None:
        (tmp_path / "x.txt").write_text("a")
        with pytest.raises(ConfigError, match="the encoding 'nonsense' is unknown"):
            planned(tmp_path, rows=RowSettings(encoding="nonsense"))


class TestParquet:
    @staticmethod
    def write(path: Path, columns: dict[str, Any], *, group: int = 2) -> Path:
        pq.write_table(pa.table(columns), path, row_group_size=group)
        return path

    @given(st.lists(st.none() | st.text(max_size=5), max_size=9), st.integers(1, 4), SIZES)
    def test_shards_have_the_rows_of_the_whole(
        self, path: Path, texts: list[str | None], group: int, size: int
    ) -> None:
        texts = [text and text.encode("utf-8", "replace").decode() for text in texts]
        table = path.with_name("x.parquet")
        self.write(table, {"text": pa.array(texts, pa.string()), "other": texts}, group=group)
        found = rows_in(planned(table, shard_bytes=size))
        assert told(found) == told(rows_in(planned(table)))
        assert told(found) == [
            (
                f"x.parquet#{number}",
                text or "",
                "this row has no 'text', and no words" if text is None else None,
            )
            for number, text in enumerate(texts)
        ]

    def test_several_row_groups_are_several_shards(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "x.parquet", {"text": [f"T{n}." for n in range(7)]})
        plan = planned(path, shard_bytes=1)
        shards = [shard for portion in plan.portions for shard in portion.shards]
        assert [(shard.name, shard.start, shard.end) for shard in shards] == [
            ("x-00000", 0, 1),
            ("x-00001", 1, 2),
            ("x-00002", 2, 3),
            ("x-00003", 3, 4),
        ]
        assert [row.id for row in rows_of(shards[2], RowSettings())] == [
            "x.parquet#4",
            "x.parquet#5",
        ]

    def test_words_and_ids_are_taken(self, tmp_path: Path) -> None:
        path = self.write(
            tmp_path / "x.parquet",
            {"id": [5, None], "words": [["a", "b"], None], "text": [None, "C."]},
        )
        assert told(rows_in(planned(path))) == [
            ("5", Sentence(("a", "b")), None),
            ("x.parquet#1", "C.", None),
        ]

    def test_columns_may_have_other_names(self, tmp_path: Path) -> None:
        path = self.write(
            tmp_path / "x.pq", {"text": ["no"], "id": ["no"], "body": ["B."], "key": [1.5]}
        )
        settings = RowSettings(text_column="body", id_column="key")
        assert told(rows_in(planned(path, rows=settings), settings)) == [("1.5", "B.", None)]

    @pytest.mark.parametrize(
        ("value", "id"),
        [(date(2020, 2, 3), "2020-02-03"), (Decimal("1.50"), "1.50"), (b"abc", "abc")],
    )
    def test_an_id_may_be_of_any_kind(self, tmp_path: Path, value: Any, id: str) -> None:
        path = self.write(tmp_path / "x.parquet", {"id": [value], "text": ["A."]})
        assert told(rows_in(planned(path))) == [(id, "A.", None)]

    def test_text_may_be_stored_as_bytes(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "x.parquet", {"text": ["é".encode(), b"\xff", b"c"]})
        found = rows_in(planned(path))
        assert [row.given for row in found] == ["é", "", "c"]
        assert found[1].problem is not None
        assert found[1].problem.startswith("this row cannot be read: 'utf-8' codec can't decode")

    def test_a_string_that_is_none_takes_no_other_down(self, tmp_path: Path) -> None:
        offsets = pa.array([0, 1, 2, 3], pa.int32()).buffers()[1]
        broken = pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"a\xffc"))
        path = self.write(tmp_path / "x.parquet", {"id": [7, 8, 9], "text": broken}, group=3)
        found = rows_in(planned(path))
        assert [(row.id, row.given) for row in found] == [("7", "a"), ("8", ""), ("9", "c")]
        assert (found[1].problem or "").startswith("this row cannot be read: ")
        path = self.write(tmp_path / "x.parquet", {"id": broken, "text": ["a", "b", "c"]}, group=3)
        found = rows_in(planned(path))
        assert [row.id for row in found] == ["a", "x.parquet#1", "c"]

    def test_a_date_that_python_does_not_know_takes_no_other_down(self, tmp_path: Path) -> None:
        ids = pa.array([0, 10**15], pa.timestamp("ms"))
        path = self.write(tmp_path / "x.parquet", {"id": ids, "text": ["a", "b"]})
        found = rows_in(planned(path))
        assert [(row.id, row.given) for row in found] == [
            ("1970-01-01 00:00:00", "a"),
            ("x.parquet#1", ""),
        ]

    @pytest.mark.parametrize(
        ("columns", "problem"),
        [
            ({"text": [5]}, "'text' has to be a string, not 5"),
            ({"text": [["a"]]}, "'text' has to be a string, not"),
            ({"text": [{"a": date(2020, 2, 3)}]}, "'text' has to be a string, not {\"a\""),
            ({"words": ["a"]}, "'words' has to be a list of strings"),
            ({"words": [[1]]}, "'words' has to be a list of strings"),
            ({"words": [["a", None]]}, "'words' has to be a list of strings"),
            ({"words": [["a"]], "offsets": [[["x"]]], "text": ["a"]}, "'offsets' has to be"),
            ({"id": [True], "text": ["a"]}, "'id' has to be a string or a number"),
            ({"text": ["x" * 31]}, "a text of 31 characters is longer than 30"),
        ],
        ids=str,
    )
    def test_rows_of_other_kinds_have_a_problem(
        self, tmp_path: Path, columns: dict[str, Any], problem: str
    ) -> None:
        path = self.write(tmp_path / "x.parquet", columns)
        (row,) = rows_in(planned(path), RowSettings(most_bytes=30))
        assert (row.problem or "").startswith(problem)

    def test_nothing_is_no_row(self, tmp_path: Path) -> None:
        empty = self.write(tmp_path / "x.parquet", {"text": pa.array([], pa.string())})
        assert rows_in(planned(empty)) == []
        with pq.ParquetWriter(empty, pa.schema([("text", pa.string())])):
            pass
        assert pq.ParquetFile(empty).num_row_groups == 0
        assert rows_in(planned(empty)) == []
        assert read_alone(b"", tmp_path / "x.txt") == []
        assert read_alone(b"\xef\xbb\xbf", tmp_path / "x.txt") == []
        assert read_alone(b"", tmp_path / "x.jsonl") == []

    def test_a_table_without_text_is_refused(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "x.parquet", {"body": ["a"], "id": [1]})
        with pytest.raises(DataError) as raised:
            planned(path)
        assert str(raised.value) == (
            f"{path}: no column 'text', and none of words; there are body, id: name the one with "
            "the text (--text-column)"
        )

    def test_what_is_no_parquet_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "x.parquet"
        whole = self.write(path, {"text": ["a" * 1000] * 10}).read_bytes()
        for data in (b"", b"nonsense", whole[:-20], whole[:-9] + b"\xff" + whole[-8:]):
            path.write_bytes(data)
            with pytest.raises(DataError, match=r"x\.parquet: "):
                planned(path)

    def test_what_is_said_of_a_column_may_be_wrong(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "x.parquet", {"text": ["a", "b"]})
        optional = b"\x15\x0c\x25\x02\x18\x04text"  # which the statistics of its levels rely on
        data = path.read_bytes()
        assert optional in data
        path.write_bytes(data.replace(optional, optional.replace(b"\x02", b"\x00")))
        # In a process of its own, for pyarrow can end it.
        command = (sys.executable, "-m", "fencepost", "parse", str(path), "-o", f"{tmp_path}/out/")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert re.search(r"x\.parquet: cannot be read: \w+ level histogram", done.stderr)

    def test_the_name_of_a_column_may_be_no_text(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "x.parquet", {"text": ["a", "b"], "unread": [1, 2]})
        path.write_bytes(path.read_bytes().replace(b"\x18\x06unread", b"\x18\x06unr\xe1ad"))
        with pytest.raises(DataError, match=r"x\.parquet: no Parquet: 'utf-8' codec can't decode"):
            planned(path)

    def test_damage_in_the_middle_is_told(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "x.parquet", {"text": [f"row {n}" for n in range(1000)]})
        plan = planned(path)
        data = path.read_bytes()
        for damaged in (data[:50] + b"\xff" * 2000 + data[2050:], b"something else"):
            path.write_bytes(damaged)
            with pytest.raises(DataError, match=r"x\.parquet: "):
                rows_in(plan)


class TestAnnotated:
    def test_a_sentence_is_a_row_and_a_broken_one_takes_no_other_down(self, tmp_path: Path) -> None:
        path = tmp_path / "x.ptb"
        path.write_bytes(b"(S (A a))\n(S (B b)\n(S (C c))\n(S (D \xff))\n(S (")
        found = rows_in(planned(path, shard_bytes=1))
        assert [row.id for row in found] == [f"x.ptb#{n}" for n in range(5)]
        assert [row.given for row in found if row.problem is None] == [
            Sentence(("a",), ("A",)),
            Sentence(("c",), ("C",)),
        ]
        assert found[1].problem == f"{path}:2: this bracket is never closed"
        assert sum(row.bytes for row in found) <= path.stat().st_size

    def test_brat_is_read_as_a_pair(self, tmp_path: Path) -> None:
        (tmp_path / "x.txt").write_text("Ann met Bo.")
        (tmp_path / "x.ann").write_text("T1\tperson 0 3\tAnn\n")
        (row,) = rows_in(planned(tmp_path))
        assert isinstance(row.given, Sentence)
        assert row.given.words == ("Ann", "met", "Bo", ".")

    def test_a_damaged_file_is_told(self, tmp_path: Path) -> None:
        data = gzip.compress(b"(S (A a))\n" * 1000)[:-12]
        with pytest.raises(DataError, match=r"x\.ptb\.gz: the gzip data is damaged"):
            read_alone(data, tmp_path / "x.ptb.gz")


class TestChanges:
    @pytest.mark.parametrize("change", [b"One.\n", b"One.\n\nTwo.\n\nThree.\n", None])
    def test_a_file_that_is_changed_while_it_is_read_is_told(
        self, tmp_path: Path, change: bytes | None
    ) -> None:
        path = tmp_path / "x.txt"
        path.write_bytes(b"One.\n\nTwo.\n")
        plan = planned(path)
        (shard,) = plan.portions[0].shards
        rows = rows_of(shard, RowSettings())
        assert next(rows).given == "One."
        if change is None:
            path.unlink()
        else:
            path.write_bytes(change)
        with pytest.raises(DataError, match=r"x\.txt: (this file was changed|cannot be read)"):
            list(rows)
        if change is not None:
            assert list(rows_of(replace(shard, version=None), RowSettings()))

    def test_what_cannot_be_opened_is_told(self, tmp_path: Path) -> None:
        shard = Shard(name="x", source=str(tmp_path), label="x", kind="text")
        with pytest.raises(DataError, match="cannot be read: Is a directory"):
            list(rows_of(shard, RowSettings()))
