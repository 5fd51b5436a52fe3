"""A portion: each row one document in its own shard, whatever happens to the others."""

import gzip
import json
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.parser.options import CheckedOptions
from fencepost.run.corpus.plan import Portion
from fencepost.run.corpus.results import Format, read_documents
from fencepost.run.corpus.rows import RowSettings
from fencepost.run.corpus.work import (
    MOST_TRIES,
    Job,
    Record,
    done_before,
    given_up,
    parse_portion,
    reason_of,
    tries_of,
)
from fencepost.structure import Sentence
from tests.run.corpus.fakes import ASKED, Splitter, as_parser, planned

BROKEN = gzip.compress(b"Some text.\n\n" * 100)[:-10]


def portion_in(folder: Path, *files: bytes, **options: Any) -> Portion:
    """One portion of all files, in order."""
    for number, data in enumerate(files):
        (folder / f"{number}.txt").write_bytes(data)
    (portion,) = planned(folder, shard_bytes=1 << 20, **options).portions
    return portion


def job_of(folder: Path, format: Format = "jsonl") -> Job:
    return Job(out=str(folder / "out"), format=format, rows=RowSettings())


def texts_in(path: Path) -> list[str | None]:
    return [document.text for document in read_documents(str(path))]


class TestShards:
    @pytest.mark.parametrize("chunk", [1, 3, 100])
    @settings(max_examples=20)
    @given(st.lists(st.integers(0, 4) | st.none(), min_size=1, max_size=7))
    def test_each_gets_its_rows(
        self, tmp_path_factory: pytest.TempPathFactory, chunk: int, counts: list[int | None]
    ) -> None:
        """Shards of so many rows; None is one that cannot be read."""
        tmp_path = tmp_path_factory.mktemp("work")
        files = [
            BROKEN if count is None else b"".join(b"%d-%d\n\n" % (n, k) for k in range(count))
            for n, count in enumerate(counts)
        ]
        job = job_of(tmp_path)
        portion = portion_in(tmp_path, *files)
        done = parse_portion(as_parser(Splitter(chunk=chunk)), job, portion, ASKED)
        for n, (count, record) in enumerate(zip(counts, done.records, strict=True)):
            path = tmp_path / f"out/{n}.jsonl"
            assert record.file == f"{n}.jsonl"
            if count is None:
                assert record.rows == 0
                assert "cannot be read" in (record.error or "")
                assert not path.exists()
            else:
                assert record.error is None
                assert record.rows == count
                assert record.bytes == path.stat().st_size
                if count:
                    assert texts_in(path) == [f"{n}-{k}" for k in range(count)]
        # What has to be tried again is not put down as done.
        assert (done_before(job, portion) is not None) == (None not in counts)

    def test_rows_have_their_names_and_what_was_wrong(self, tmp_path: Path) -> None:
        data = b'{"id": 7, "text": "A b."}\n{"text": 5}\n{"words": ["c", "d"]}\n'
        (tmp_path / "x.jsonl").write_bytes(data)
        (portion,) = planned(tmp_path).portions
        done = parse_portion(as_parser(Splitter()), job_of(tmp_path), portion, ASKED)
        found = list(read_documents(str(tmp_path / "out")))
        assert [one.id for one in found] == ["7", "x.jsonl#26", "x.jsonl#38"]
        assert [one.status for one in found] == ["ok", "'text' has to be a string, not 5", "ok"]
        assert [len(one.sentences) for one in found] == [1, 0, 1]
        (record,) = done.records
        assert (record.rows, record.sentences, record.words) == (3, 2, 5)
        assert record.failures == {"'text' has to be a string, not …": 1}
        assert record.first == {"'text' has to be a string, not …": "x.jsonl#26"}

    def test_only_the_first_row_is_named_for_each_reason(self, tmp_path: Path) -> None:
        names = ["x" * 1000, "b"]
        rows = [f'{{"id": "{name}", "text": {k}}}\n' for k, name in enumerate(names)]
        (tmp_path / "x.jsonl").write_text("".join(rows))
        (portion,) = planned(tmp_path).portions
        (record,) = parse_portion(as_parser(Splitter()), job_of(tmp_path), portion, ASKED).records
        assert list(record.failures.values()) == [2]
        ((name,),) = [record.first.values()]
        assert name == "x" * 99 + " …"

    def test_tags_of_a_file_are_kept_only_if_the_model_has_none(self, tmp_path: Path) -> None:
        (tmp_path / "x.ptb").write_text("(S (A a))")
        (portion,) = planned(tmp_path).portions
        heard: list[Any] = []
        parser = as_parser(Splitter(heard=heard.append))
        parse_portion(parser, job_of(tmp_path), portion, ASKED)
        parse_portion(parser, job_of(tmp_path), portion, CheckedOptions(tasks=("tree", "tags")))
        assert heard == [(Sentence(("a",), ("A",)),), (Sentence(("a",)),)]

    def test_the_time_is_told_by_stages(self, tmp_path: Path) -> None:
        portion = portion_in(tmp_path, b"a\n\n" * 100)
        done = parse_portion(as_parser(Splitter()), job_of(tmp_path), portion, ASKED)
        assert list(done.seconds) == ["reading", "parsing", "writing"]
        assert all(seconds > 0 for seconds in done.seconds.values())

    def test_reasons_are_told_without_numbers(self) -> None:
        told = "not utf-8: byte 0xff at column 1,234, nor iso-8859-1"
        assert reason_of(told) == "not utf-8: byte … at column …, nor iso-8859-1"


class TestProgress:
    @pytest.mark.parametrize("packed", [False, True])
    def test_it_never_goes_back_or_beyond_the_end(self, tmp_path: Path, packed: bool) -> None:
        rows = [b"a " * 50, b"x" * 3000, b"\xff" * 100, b"b " * 300, b"y"] * 20
        data = b"\n\n".join(rows)
        portion = portion_in(tmp_path, gzip.compress(data) if packed else data, BROKEN)
        heard: list[tuple[int, int]] = []

        def tell(words: int, size: int) -> None:
            heard.append((words, size))

        parse_portion(as_parser(Splitter()), job_of(tmp_path), portion, ASKED, tell=tell)
        assert len(heard) > 20
        for before, after in pairwise(heard):
            assert before[0] <= after[0]
            assert before[1] <= after[1]
        assert heard[-1][1] <= portion.bytes


class TestWhatWasDone:
    @pytest.fixture
    def job(self, tmp_path: Path) -> Job:
        return job_of(tmp_path)

    @pytest.fixture
    def portion(self, tmp_path: Path, job: Job) -> Portion:
        portion = portion_in(tmp_path, b"One.", b"", b"Two.")
        parse_portion(as_parser(Splitter()), job, portion, ASKED)
        return portion

    def test_it_is_known(self, job: Job, portion: Portion) -> None:
        done = done_before(job, portion)
        assert done is not None
        assert [record.rows for record in done.records] == [1, 0, 1]

    @pytest.mark.parametrize(
        "damage",
        [b"", b"{", b"5", b"null", b"{}", b"[]", b"[1]", b'{"a": 1}', b'[{"a": 1}]', b"\xff"],
    )
    def test_a_damaged_record_counts_for_nothing(
        self, job: Job, portion: Portion, damage: bytes
    ) -> None:
        Path(job.record(portion)).write_bytes(damage)
        assert done_before(job, portion) is None

    def test_a_record_of_other_shards_counts_for_nothing(self, job: Job, portion: Portion) -> None:
        path = Path(job.record(portion))
        records = json.loads(path.read_bytes())
        records[0]["end"] = 3
        path.write_text(json.dumps(records))
        assert done_before(job, portion) is None

    @pytest.mark.parametrize("name", ["0.jsonl", "1.jsonl", "2.jsonl"])
    def test_a_shard_that_is_gone_or_cut_off_has_to_be_made_again(
        self, tmp_path: Path, job: Job, portion: Portion, name: str
    ) -> None:
        path = tmp_path / "out" / name
        path.write_bytes(path.read_bytes()[:-1] or b"x")
        assert done_before(job, portion) is None
        path.unlink()
        assert done_before(job, portion) is None

    @pytest.mark.parametrize(
        ("key", "value"),
        [("rows", "5"), ("failures", 5), ("failures", {"x": "y"}), ("words", None), ("first", 5)],
    )
    def test_a_record_of_wrong_types_counts_for_nothing(
        self, job: Job, portion: Portion, key: str, value: object
    ) -> None:
        path = Path(job.record(portion))
        records = json.loads(path.read_bytes())
        records[0][key] = value
        path.write_text(json.dumps(records))
        assert done_before(job, portion) is None

    def test_a_record_comes_back_from_json(self) -> None:
        record = Record(file="a", source="b", start=0, end=None, failures={"c": 1})
        assert Record(**json.loads(json.dumps(asdict(record)))) == record

    def test_tries_are_counted(self, job: Job, portion: Portion) -> None:
        assert [tries_of(job, portion) for _ in range(4)] == [0, 1, 2, 3]
        assert tries_of(job, Portion(17, portion.shards)) == 0

    def test_a_portion_can_be_given_up(self, job: Job, portion: Portion) -> None:
        done = given_up(job, portion)
        assert [record.file for record in done.records] == ["0.jsonl", "1.jsonl", "2.jsonl"]
        assert {record.error for record in done.records} == {
            f"{MOST_TRIES} workers died while they parsed this; memory may be short"
        }
