"""A plan depends on the inputs and settings alone, and nothing is written over anything."""

import gzip
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.run.corpus.plan import (
    LEAST_BYTES,
    MOST_BYTES,
    Plan,
    Portion,
    make_plan,
    portion_of,
)
from fencepost.run.corpus.rows import RowSettings, Shard
from tests.run.corpus.fakes import planned, rows_in


def shards_of(plan: Plan) -> list[Shard]:
    return [shard for portion in plan.portions for shard in portion.shards]


def names(plan: Plan) -> list[str]:
    return [shard.name for shard in shards_of(plan)]


def fill(folder: Path, *files: str, data: bytes = b"A b.\n") -> Path:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


class TestNames:
    def test_files_of_a_folder_keep_theirs(self, tmp_path: Path) -> None:
        fill(tmp_path, "b.txt", "a/x.jsonl", "a b#é.md", "v1.2.txt", "z.TXT", "picture.png")
        (tmp_path / "y.txt.gz").write_bytes(gzip.compress(b"a"))
        plan = planned(tmp_path)
        assert names(plan) == ["a b#é", "a/x", "b", "v1.2", "y", "z"]
        assert [shard.label for shard in shards_of(plan)] == [
            "a b#é.md",
            "a/x.jsonl",
            "b.txt",
            "v1.2.txt",
            "y.txt.gz",
            "z.TXT",
        ]
        assert [file.name for file in plan.files] == [shard.label for shard in shards_of(plan)]

    def test_hidden_files_are_left_out(self, tmp_path: Path) -> None:
        fill(tmp_path, "a.txt", ".b.txt", "_c.txt", ".d/e.txt", "_f/g.txt")
        assert names(planned(tmp_path)) == ["a"]

    def test_a_file_is_read_whatever_it_is_called(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fill(tmp_path, "_c.txt", ".hidden", "notes", "._", "x.log")
        monkeypatch.chdir(tmp_path)
        plan = planned(
            "./_c.txt", ".hidden", "./notes", tmp_path / "._", "../" + tmp_path.name + "/x.log"
        )
        # Who reads the output as a folder passes over names that begin so.
        assert names(plan) == ["c", "hidden", "notes", "text", "x"]
        assert len(rows_in(plan)) == 5

    def test_texts_and_standard_input_have_names(self) -> None:
        plan = planned("A b.", "C d.", "-")
        assert names(plan) == ["text", "text-2", "stdin"]
        assert plan.files == ()
        assert names(planned("-", "x.txt", is_text=True)) == ["text", "text-2"]

    def test_long_names_are_cut_and_stay_apart(self, tmp_path: Path) -> None:
        fill(tmp_path, f"{'x' * 250}1.txt", f"{'x' * 250}2.txt", f"{'語' * 80}.txt")
        found = names(planned(tmp_path))
        assert len(set(found)) == 3
        assert all(len(name.encode()) <= 200 for name in found)
        assert found == names(planned(tmp_path))

    def test_names_of_shards_are_in_order(self, tmp_path: Path) -> None:
        path = tmp_path / "x.txt"
        path.write_bytes(b"a\n" * 50_001)
        found = names(planned(path, shard_bytes=1))
        assert len(found) == 100_002
        assert found == sorted(found)
        assert found[0] == "x-000000"

    @pytest.mark.parametrize(
        ("one", "other"),
        [("a.txt", "a.md"), ("a.txt", "a.txt.gz"), ("d/a.txt", "e/a.txt"), ("text.txt", "A text.")],
    )
    def test_two_that_would_be_written_to_one_file_are_refused(
        self, tmp_path: Path, one: str, other: str
    ) -> None:
        fill(tmp_path, *(name for name in (one, other) if "/" in name or name[-1] != "."))
        inputs = [tmp_path / one, other if other[-1] == "." else tmp_path / other]
        with pytest.raises(DataError, match=r"^\S+ and \S+ would both be written to (a|text);"):
            planned(*inputs)

    def test_a_shard_and_a_file_of_its_name_are_refused(self, tmp_path: Path) -> None:
        fill(tmp_path, "a.txt", data=b"a\n\n" * 10)
        fill(tmp_path, "a-00001.txt")
        with pytest.raises(DataError, match="would both be written to a-00001"):
            planned(tmp_path, shard_bytes=15)

    def test_what_is_given_twice_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fill(tmp_path, "a.txt")
        monkeypatch.chdir(tmp_path)
        for inputs in (["a.txt", "./a.txt"], [".", "a.txt"], ["-", "-"]):
            with pytest.raises(DataError, match=r"(a\.txt|stdin): this input was given twice"):
                planned(*inputs)

    def test_links_are_followed(self, tmp_path: Path) -> None:
        fill(tmp_path / "in", "a.txt")
        (tmp_path / "in/b.txt").symlink_to(tmp_path / "in/a.txt")
        (tmp_path / "in/c.txt").symlink_to(tmp_path / "none")
        (tmp_path / "link").symlink_to(tmp_path / "in")
        (tmp_path / "in/loop").symlink_to(tmp_path / "in")
        assert names(planned(tmp_path / "link")) == ["a", "b"]


class TestWhatIsRead:
    @pytest.mark.parametrize(
        ("name", "kind", "format", "expected"),
        [
            ("x.txt", "text", None, "text"),
            ("x", "text", None, "text"),
            ("x.jsonl", "text", None, "jsonl"),
            ("x.ndjson.gz", "text", None, "jsonl"),
            ("x.ptb", "text", None, "annotated"),
            ("x.jsonl", "lines", None, "lines"),
            ("x.ptb", "words", None, "words"),
            ("x.txt", "text", "jsonl", "jsonl"),
            ("x.txt", "words", "conll", "annotated"),
        ],
    )
    def test_the_suffix_tells_unless_it_is_said(
        self, tmp_path: Path, name: str, kind: Any, format: str | None, expected: str
    ) -> None:
        fill(tmp_path, name)
        settings = RowSettings(format=format)
        (shard,) = shards_of(planned(tmp_path / name, rows=settings, kind=kind))
        assert shard.kind == expected

    def test_a_table_is_always_one(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"text": ["a"]}), tmp_path / "x.parquet")
        (shard,) = shards_of(planned(tmp_path, kind="lines"))
        assert (shard.name, shard.kind, shard.start, shard.end) == ("x", "parquet", 0, None)

    @pytest.mark.parametrize("packed", ["", ".gz"])
    def test_pairs_of_brat_are_one(self, tmp_path: Path, packed: str) -> None:
        fill(tmp_path, f"x.txt{packed}", f"x.ann{packed}", "y.txt", "d/x.txt")
        found = {shard.label: shard.kind for shard in shards_of(planned(tmp_path))}
        assert found == {"d/x.txt": "text", f"x.ann{packed}": "annotated", "y.txt": "text"}

    @pytest.mark.parametrize("scheme", ["", "file://"])
    def test_the_output_is_not_read(self, tmp_path: Path, scheme: str) -> None:
        fill(tmp_path, "a.txt", "out/a.jsonl", "out/d/b.jsonl", "outer.txt")
        folder = f"{scheme}{tmp_path}"
        for out in (f"{folder}/out", f"{folder}/out/"):
            assert names(planned(folder, without=out)) == ["a", "outer"]
        assert len(names(planned(folder, without=str(tmp_path.parent / "out")))) == 4

    def test_a_folder_without_text_is_refused(self, tmp_path: Path) -> None:
        fill(tmp_path, "a.png")
        with pytest.raises(DataError, match=r"no file of text in this folder \(\.txt, "):
            planned(tmp_path)
        with pytest.raises(DataError, match=r"no file of text in this folder \(\.data\)"):
            planned(tmp_path, rows=RowSettings(format="data"))

    def test_only_files_of_the_format_are_read_if_one_is_named(self, tmp_path: Path) -> None:
        fill(tmp_path, "a.txt", "b.ptb")
        assert names(planned(tmp_path, rows=RowSettings(format="ptb"))) == ["b"]

    def test_what_is_not_there_or_cannot_be_read_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="there is no such file"):
            planned(tmp_path / "none.txt")
        with pytest.raises(DataError, match="the format 'nonsense' is unknown"):
            planned("-", rows=RowSettings(format="nonsense"))
        with pytest.raises(DataError, match="pretty can only be written"):
            planned("-", rows=RowSettings(format="pretty"))

    def test_annotations_are_not_read_from_elsewhere(self, tmp_path: Path) -> None:
        fill(tmp_path, "a.ptb", "b.txt")
        for inputs, format in ((f"file://{tmp_path}", None), (f"file://{tmp_path}/b.txt", "conll")):
            with pytest.raises(DataError, match="are read from there; copy it here first"):
                planned(inputs, rows=RowSettings(format=format))

    def test_a_folder_elsewhere_gives_the_same_rows(self, tmp_path: Path) -> None:
        fill(tmp_path, "a b.txt", "50%.txt", "c/d#.jsonl", data=b'{"text": "a"}\n' * 20)
        pq.write_table(pa.table({"text": ["a", "b"]}), tmp_path / "t.parquet", row_group_size=1)
        here = planned(tmp_path, shard_bytes=60)
        there = planned(f"file://{tmp_path}", shard_bytes=60)
        assert names(here) == names(there)
        assert rows_in(here) == rows_in(there)
        assert len(rows_in(here)) == 24  # a file of text is one paragraph


class TestDivision:
    def test_large_files_are_cut_into_parts_of_similar_size(self, tmp_path: Path) -> None:
        fill(tmp_path, "a.txt", data=b"a\n\n" * 1000)
        plan = planned(tmp_path, shard_bytes=700)
        shards = shards_of(plan)
        assert [shard.name for shard in shards] == [f"a-{n:05}" for n in range(5)]
        assert [shard.start for shard in shards] == [0, 600, 1200, 1800, 2400]
        assert [shard.end for shard in shards] == [600, 1200, 1800, 2400, None]
        assert [shard.bytes for shard in shards] == [600] * 5
        assert plan.bytes == 3000

    def test_what_cannot_be_entered_in_the_middle_is_not_cut(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt.gz").write_bytes(gzip.compress(bytes(range(256)) * 10))
        fill(tmp_path, "b.ptb", data=b"(S (A a))\n" * 100)
        fill(tmp_path, "c.txt", data=gzip.compress(b"no suffix tells " * 500))
        assert names(planned(tmp_path, shard_bytes=20)) == ["a", "b", "c"]
        fill(tmp_path, "d.txt", data="a\n".encode("utf-16") * 100)
        settings = RowSettings(encoding="utf-16")
        assert names(planned(tmp_path / "d.txt", rows=settings, shard_bytes=20)) == ["d"]
        assert len(names(planned("A text " * 100, shard_bytes=20))) == 1

    def test_small_files_go_together(self, tmp_path: Path) -> None:
        fill(tmp_path, *(f"{n:02}.txt" for n in range(10)), data=b"x" * 30)
        plan = planned(tmp_path, shard_bytes=100)
        assert [len(portion.shards) for portion in plan.portions] == [3, 3, 3, 1]
        assert [portion.bytes for portion in plan.portions] == [90, 90, 90, 30]
        assert [portion.number for portion in plan.portions] == [0, 1, 2, 3]

    @pytest.mark.parametrize(
        ("size", "expected"),
        [(0, LEAST_BYTES), (10, LEAST_BYTES), (64 * 100_000, 100_000), (1 << 30, MOST_BYTES)],
    )
    def test_the_size_of_shards_suits_that_of_the_corpus(
        self, tmp_path: Path, size: int, expected: int
    ) -> None:
        path = tmp_path / "x.txt"
        with open(path, "wb") as file:
            file.truncate(size)  # which takes no room
        assert make_plan([str(path)], settings=RowSettings()).shard_bytes == expected

    def test_of_nothing_there_are_no_portions(self) -> None:
        assert planned().portions == ()

    def test_the_same_plan_comes_twice(self, tmp_path: Path) -> None:
        fill(tmp_path, "c.txt", "a.jsonl", "b/x.txt", data=b"a\n" * 100)
        assert planned(tmp_path, shard_bytes=50) == planned(tmp_path, shard_bytes=50)

    @given(
        st.builds(
            Portion,
            st.integers(0),
            st.lists(
                st.builds(
                    Shard,
                    name=st.text(),
                    source=st.text(),
                    label=st.text(),
                    kind=st.sampled_from(["text", "jsonl", "parquet"]),
                    place=st.sampled_from(["file", "given"]),
                    start=st.integers(0),
                    end=st.none() | st.integers(0),
                    bytes=st.integers(0),
                    version=st.none() | st.text(),
                )
            ).map(tuple),
        )
    )
    def test_a_portion_comes_back_from_json(self, portion: Portion) -> None:
        assert portion_of(json.loads(json.dumps(asdict(portion)))) == portion
