"""A run that is stopped at any point goes on, and gives the bytes of one that never was."""

import errno
import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fencepost
from fencepost.errors import ConfigError, DataError
from fencepost.formats.files import OutputError
from fencepost.parser.parser import Parser
from fencepost.run.corpus import run as module
from fencepost.run.corpus import work
from fencepost.run.corpus.plan import Plan, make_plan
from fencepost.run.corpus.results import Format, read_documents
from fencepost.run.corpus.rows import RowSettings
from fencepost.run.corpus.run import Run, absorbed, fingerprint, parse_here, portions_of
from fencepost.run.corpus.work import Done, Job
from fencepost.structure import Document, Sentence
from tests.models import lively_model
from tests.run.corpus.fakes import (
    ASKED,
    Splitter,
    as_parser,
    files_in,
    parsed,
    planned,
    run_of,
)


def fill(folder: Path) -> Path:
    """A corpus of several kinds of files, some small, some cut, some empty: 30 rows."""
    folder.mkdir()
    (folder / "a.txt").write_text("".join(f"Text {n}. More.\n\n" for n in range(12)))
    (folder / "b-empty.txt").write_text("")
    (folder / "c.jsonl").write_text('{"text": "One."}\n{"text": 5}\n{"id": "z", "words": ["w"]}\n')
    (folder / "d").mkdir()
    (folder / "d/e.txt.gz").write_bytes(gzip.compress(b"Packed.\n\nToo.\n"))
    table = pa.table({"text": [f"Row {n}." for n in range(10)], "id": range(10)})
    pq.write_table(table, folder / "f.parquet", row_group_size=4)
    (folder / "g.txt").write_bytes(b"caf\xe9\n\nfine\n\n\n")
    (folder / "h.ptb").write_text("(S (A a))\n")
    (folder / "z-empty.txt").write_text("\n")
    return folder


ROWS = 12 + 3 + 2 + 10 + 2 + 1


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return planned(fill(tmp_path_factory.mktemp("corpus") / "in"), shard_bytes=80)


@pytest.fixture(scope="module", params=["jsonl", "parquet"])
def format(request: pytest.FixtureRequest) -> Format:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def expected(
    plan: Plan, format: Format, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, bytes]:
    """What a run gives that is never stopped."""
    out = tmp_path_factory.mktemp("expected") / "out"
    parsed(plan, out, format=format)
    return files_in(out)


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser(lively_model("tree", "entities", "tags"))


class TestAWholeRun:
    def test_each_row_comes_once_and_in_order(
        self, plan: Plan, format: Format, tmp_path: Path
    ) -> None:
        assert len(plan.portions) > 4
        summary = parsed(plan, tmp_path / "out", format=format)
        found = list(read_documents(str(tmp_path / "out")))
        assert len(found) == summary.rows == ROWS
        assert len({one.id for one in found}) == ROWS
        assert [one.text for one in found][:12] == [f"Text {n}. More." for n in range(12)]
        assert [one.id for one in found if not one.is_ok] == ["c.jsonl#17", "g.txt#0"]
        assert summary.failures == {
            "'text' has to be a string, not …": 1,
            "not utf-8: byte … at column …; pass the right encoding (--encoding)": 1,
        }
        assert set(summary.first.values()) == {"c.jsonl#17", "g.txt#0"}
        assert summary.errors == []
        assert summary.words == summary.words_now
        assert list(summary.stages) == ["reading", "parsing", "writing"]

    def test_the_manifest_says_what_is_there(
        self, plan: Plan, format: Format, expected: dict[str, bytes]
    ) -> None:
        manifest = json.loads(expected["_manifest.json"])
        shards = manifest["shards"]
        assert {shard["file"] for shard in shards} == expected.keys() - {"_manifest.json"}
        for shard in shards:
            assert len(expected[shard["file"]]) == shard["bytes"]
        assert sum(shard["rows"] for shard in shards) == manifest["totals"]["rows"] == ROWS
        assert manifest["inputs"] == {file.name: file.bytes for file in plan.files}
        assert manifest["to"] == format
        assert manifest["model"] == "fake"

    def test_who_does_the_work_and_in_what_order_does_not_matter(
        self, plan: Plan, format: Format, expected: dict[str, bytes], tmp_path: Path
    ) -> None:
        run = run_of(plan, tmp_path / "out", format=format)
        order = portions_of(run)
        assert [portion.bytes for portion in order] == sorted(
            (portion.bytes for portion in plan.portions), reverse=True
        )
        found = [
            work.parse_portion(as_parser(Splitter(chunk=100)), run.job, portion, ASKED)
            for portion in order
        ]
        absorbed(run, found)
        assert files_in(tmp_path / "out") == expected

    def test_a_folder_elsewhere_gets_the_same(
        self, plan: Plan, format: Format, expected: dict[str, bytes], tmp_path: Path
    ) -> None:
        out = f"file://{tmp_path}/out%20put"
        parsed(plan, out, format=format)
        assert files_in(tmp_path / "out put") == expected
        parsed(plan, f"{out}/", format=format, resume=True)
        assert files_in(tmp_path / "out put") == expected

    def test_progress_ends_at_the_total(self, plan: Plan, tmp_path: Path) -> None:
        heard: list[tuple[int, int]] = []

        def tell(words: int, size: int) -> None:
            heard.append((words, size))

        summary = parsed(plan, tmp_path / "out", tell=tell)
        assert [words for words, _ in heard] == sorted(words for words, _ in heard)
        assert [size for _, size in heard] == sorted(size for _, size in heard)
        assert heard[-1] == (summary.words, plan.bytes)


class TestStopped:
    @pytest.mark.parametrize(
        "error",
        [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")],
        ids=["interrupt", "disk"],
    )
    @pytest.mark.parametrize("row", range(ROWS))
    def test_at_any_row(
        self,
        plan: Plan,
        format: Format,
        expected: dict[str, bytes],
        tmp_path: Path,
        row: int,
        error: BaseException,
    ) -> None:
        out = tmp_path / "out"
        kind = OutputError if isinstance(error, OSError) else type(error)
        with pytest.raises(kind):
            parsed(plan, out, format=format, splitter=Splitter(stop=row, error=error))
        assert "_manifest.json" not in files_in(out)
        for name, data in files_in(out).items():
            assert name.startswith("_work/") or data == expected[name]
        heard: list[int] = []
        again = Splitter()
        summary = parsed(
            plan,
            out,
            format=format,
            resume=True,
            splitter=again,
            tell=lambda _, size: heard.append(size),
        )
        assert files_in(out) == expected
        assert not (out / "_work").exists()
        assert summary.rows == ROWS
        assert heard[-1] == plan.bytes
        if row == ROWS - 1:
            assert again.rows < ROWS / 2, "what was done is not done again"

    def test_at_any_write(
        self, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whenever a file is moved to its place: just before that, and just after."""
        parsed(plan, tmp_path / "whole")
        expected = files_in(tmp_path / "whole")
        replaced = os.replace
        moved = 0

        def stop(*given: Any) -> None:
            nonlocal moved
            moved += 1
            if moved <= count // 2:
                replaced(*given)
                return
            if count % 2:
                replaced(*given)
            raise KeyboardInterrupt

        for count in range(1000):
            out, moved = tmp_path / str(count), 0
            with monkeypatch.context() as patch:
                patch.setattr(os, "replace", stop)
                try:
                    parsed(plan, out)
                    break
                except (KeyboardInterrupt, OutputError):
                    assert moved == count // 2 + 1
            parsed(plan, out, resume=True)
            assert files_in(out) == expected
            assert not (out / "_work").exists()
        assert count == 2 * (len(expected) + len(plan.portions) + 1), "shards, records and the plan"

    def test_before_anything_was_written(self, plan: Plan, tmp_path: Path) -> None:
        out = tmp_path / "out"
        (out / "_work").mkdir(parents=True)
        (out / "_work/.plan.json.abc").write_text("half")
        with pytest.raises(ConfigError, match="not empty; pass --resume"):
            parsed(plan, out)
        assert parsed(plan, out, resume=True).rows == ROWS
        assert not (out / "_work").exists()

    def test_after_the_manifest(
        self,
        plan: Plan,
        expected: dict[str, bytes],
        format: Format,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        out = tmp_path / "out"
        with monkeypatch.context() as patch:
            patch.setattr(module, "remove_folder", lambda path: None)
            parsed(plan, out, format=format)
        assert (out / "_work").exists()
        parsed(plan, out, format=format, resume=True)
        assert files_in(out) == expected

    @pytest.mark.slow
    @pytest.mark.parametrize("seconds", [0.0, 0.05, 0.1, 0.2, 0.4, 0.8])
    def test_killed(self, tmp_path: Path, seconds: float) -> None:
        """By the system, which lets nothing be cleared up."""
        source, out = fill(tmp_path / "in"), tmp_path / "out"
        program = (
            "import sys, time\n"
            "from tests.run.corpus.fakes import *\n"
            "plan = planned(sys.argv[1], shard_bytes=80)\n"
            "print('begun', flush=True)\n"
            "parsed(plan, sys.argv[2], splitter=Splitter(heard=lambda x: time.sleep(0.04)))\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", program, str(source), str(out)],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[3],
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"begun\n"
            time.sleep(seconds)
            os.kill(process.pid, signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        plan = planned(source, shard_bytes=80)
        assert parsed(plan, out, resume=True).rows == ROWS
        parsed(plan, tmp_path / "other")
        assert files_in(out) == files_in(tmp_path / "other")
        assert not (out / "_work").exists()


class TestGoingOn:
    @pytest.fixture
    def stopped(self, plan: Plan, format: Format, tmp_path: Path) -> Path:
        out = tmp_path / "out"
        with pytest.raises(KeyboardInterrupt):
            parsed(plan, out, format=format, splitter=Splitter(stop=20))
        return out

    def test_a_finished_run_does_nothing_again(
        self, plan: Plan, format: Format, expected: dict[str, bytes], tmp_path: Path
    ) -> None:
        out = tmp_path / "out"
        first = parsed(plan, out, format=format)
        times = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
        splitter = Splitter(stop=0)
        heard: list[Any] = []
        again = parsed(
            plan,
            out,
            format=format,
            resume=True,
            splitter=splitter,
            tell=lambda *x: heard.append(x),
        )
        assert (again.rows, again.words, again.bytes) == (first.rows, first.words, first.bytes)
        assert again.words_now == 0
        assert heard == []
        assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == times
        assert files_in(out) == expected

    def test_a_shard_that_is_gone_is_made_again(
        self, plan: Plan, format: Format, expected: dict[str, bytes], tmp_path: Path
    ) -> None:
        out = tmp_path / "out"
        parsed(plan, out, format=format)
        names = sorted(expected.keys() - {"_manifest.json"})
        for name in names:
            path = out / name
            for data in (None, expected[name][:-1] or b"x", expected[name] + b"x"):
                path.unlink()
                if data is not None:
                    path.write_bytes(data)
                splitter = Splitter()
                parsed(plan, out, format=format, resume=True, splitter=splitter)
                assert files_in(out) == expected
                assert splitter.rows < ROWS / 2

    def test_a_shard_with_other_bytes_of_the_same_size_is_made_again(
        self, plan: Plan, format: Format, expected: dict[str, bytes], tmp_path: Path
    ) -> None:
        out = tmp_path / "out"
        parsed(plan, out, format=format)
        for name in sorted(expected.keys() - {"_manifest.json"}):
            before = (out / name).stat()
            (out / name).write_bytes(bytes(len(expected[name])))
            os.utime(out / name, ns=(before.st_atime_ns, before.st_mtime_ns))
            parsed(plan, out, format=format, resume=True)
            assert files_in(out) == expected

    @pytest.mark.parametrize("is_finished", [False, True])
    @pytest.mark.parametrize("name", ["g.txt", "pair.ann", "pair.txt"])
    def test_an_input_with_other_bytes_of_the_same_size_and_time_is_refused(
        self, tmp_path: Path, is_finished: bool, name: str
    ) -> None:
        source, out = fill(tmp_path / "in"), tmp_path / "out"
        (source / "pair.txt").write_text("Ann met Bo .\n")
        (source / "pair.ann").write_text("T1\tPER 0 3\tAnn\n")
        splitter = Splitter(stop=None if is_finished else 20)
        try:
            parsed(planned(source, shard_bytes=80), out, splitter=splitter)
        except KeyboardInterrupt:
            assert not is_finished
        before, data = (source / name).stat(), (source / name).read_bytes()
        (source / name).write_bytes(data[:-1] + b" ")
        os.utime(source / name, ns=(before.st_atime_ns, before.st_mtime_ns))
        shown = name.replace("pair.txt", "pair.ann")
        with pytest.raises(ConfigError, match=f"  checksums: {shown}: .* then, .* now"):
            parsed(planned(source, shard_bytes=80), out, resume=True)
        (source / name).write_bytes(data)  # at another time, which does not matter
        parsed(planned(source, shard_bytes=80), out, resume=True)

    def test_what_is_damaged_is_made_again(
        self, plan: Plan, format: Format, expected: dict[str, bytes], stopped: Path
    ) -> None:
        records = sorted((stopped / "_work").glob("0*.json"))
        assert len(records) >= 3
        records[0].write_bytes(records[0].read_bytes()[:-5])
        records[1].write_bytes(b"")
        shard, *_ = stopped.glob("a-*")
        shard.write_bytes(shard.read_bytes()[:-1])
        parsed(plan, stopped, format=format, resume=True)
        assert files_in(stopped) == expected

    @pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"5", b"\xff"])
    def test_a_damaged_plan_is_refused(
        self, plan: Plan, format: Format, stopped: Path, damage: bytes
    ) -> None:
        (stopped / "_work/plan.json").write_bytes(damage)
        with pytest.raises(ConfigError, match=r"plan\.json: (no JSON|an object is expected)"):
            parsed(plan, stopped, format=format, resume=True)

    def test_a_damaged_manifest_is_refused(self, plan: Plan, tmp_path: Path) -> None:
        out = tmp_path / "out"
        parsed(plan, out)
        manifest = json.loads((out / "_manifest.json").read_bytes())
        record = manifest["shards"][0]
        wrong = [{**record, "rows": "5"}, {**record, "failures": 5}, {**record, "file": []}]
        damaged: list[Any] = [None, [5], [{}], [{"file": "x"}], *([one] for one in wrong)]
        for shards in damaged:
            (out / "_manifest.json").write_text(json.dumps({**manifest, "shards": shards}))
            with pytest.raises(ConfigError, match=r"_manifest\.json: no manifest of a run"):
                parsed(plan, out, resume=True)

    @pytest.mark.parametrize("is_finished", [False, True])
    def test_another_run_is_refused_and_it_is_told_what_differs(
        self, tmp_path: Path, is_finished: bool
    ) -> None:
        source, out = fill(tmp_path / "in"), tmp_path / "out"
        splitter = Splitter(stop=None if is_finished else 20)
        before = {"model": "a", "tasks": ("tree",), "labels": None}
        try:
            parsed(planned(source, shard_bytes=80), out, settings=before, splitter=splitter)
        except KeyboardInterrupt:
            assert not is_finished

        def refused(now: dict[str, Any] = before, size: int = 80, **options: Any) -> list[str]:
            with pytest.raises(ConfigError) as raised:
                parsed(planned(source, shard_bytes=size), out, settings=now, resume=True, **options)
            first, *lines = str(raised.value).split("\n")
            assert first == f"{out}: this run was begun with other settings or inputs:"
            return lines

        assert refused({**before, "model": "b"}) == ['  model: "a" then, "b" now']
        assert refused({**before, "tasks": ("tags",)}) == ['  tasks: ["tree"] then, ["tags"] now']
        assert refused(size=90) == ["  shard_bytes: 80 then, 90 now"]
        assert refused(format="parquet") == ['  to: "jsonl" then, "parquet" now']
        assert refused(rows=RowSettings(id_column="key")) == [
            '  rows: id_column: "id" then, "key" now'
        ]
        (source / "new.txt").write_text("New.")
        assert refused()[0] == "  inputs: new.txt: null then, 4 now"
        (source / "new.txt").unlink()
        text = (source / "g.txt").read_bytes()
        (source / "g.txt").write_bytes(text + b"more")
        assert refused()[0] == f"  inputs: g.txt: {len(text)} then, {len(text) + 4} now"
        (source / "g.txt").unlink()
        assert refused()[0] == f"  inputs: g.txt: {len(text)} then, null now"

    def test_another_text_is_refused(self, tmp_path: Path) -> None:
        parsed(planned("A text."), tmp_path / "out")
        with pytest.raises(ConfigError, match="  inputs: text: "):
            parsed(planned("B text."), tmp_path / "out", resume=True)
        parsed(planned("A text."), tmp_path / "out", resume=True)

    def test_where_one_stands_does_not_matter(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        source, out = fill(tmp_path / "in"), tmp_path / "out"
        parsed(planned(source, shard_bytes=80), out)
        monkeypatch.chdir(tmp_path)
        parsed(planned("in", shard_bytes=80), "out", resume=True)

    def test_a_run_that_is_not_there_is_begun(self, plan: Plan, tmp_path: Path) -> None:
        assert parsed(plan, tmp_path / "a/b/out", resume=True).rows == ROWS

    def test_a_folder_with_something_in_it_is_refused(self, plan: Plan, tmp_path: Path) -> None:
        (tmp_path / "mine.txt").write_text("")
        for resume in (False, True):
            with pytest.raises(ConfigError, match="not empty, and holds no run to go on with"):
                parsed(plan, tmp_path, resume=resume)
        assert files_in(tmp_path) == {"mine.txt": b""}


class TestWhatCannotBeRead:
    def test_a_shard_takes_nothing_else_down_and_is_tried_again(self, tmp_path: Path) -> None:
        source, out = fill(tmp_path / "in"), tmp_path / "out"
        good = gzip.compress(b"Packed.\n\nToo.\n")
        (source / "d/e.txt.gz").write_bytes(good[:-6])
        plan = planned(source, shard_bytes=80)
        summary = parsed(plan, out)
        (record,) = summary.errors
        assert record.file == "d/e.jsonl"
        assert (record.error or "").startswith(f"{source}/d/e.txt.gz: cannot be read: ")
        assert summary.rows == ROWS - 2
        assert len(list(read_documents(str(out)))) == ROWS - 2
        assert "_manifest.json" not in files_in(out)
        splitter = Splitter()
        assert len(parsed(plan, out, resume=True, splitter=splitter).errors) == 1
        assert splitter.rows < ROWS / 2

    def test_progress_never_goes_back_for_it(self, tmp_path: Path) -> None:
        (tmp_path / "in").mkdir()
        for number in range(4):
            data = gzip.compress(b"".join(b"Word %d.\n\n" % n for n in range(3000)))
            cut = data[:-9] if number % 2 else data
            (tmp_path / f"in/{number}.txt.gz").write_bytes(cut)
        heard: list[tuple[int, int]] = []

        def tell(words: int, size: int) -> None:
            heard.append((words, size))

        plan = planned(tmp_path / "in", shard_bytes=10)
        parsed(plan, tmp_path / "out", tell=tell)
        for at in (0, 1):
            assert [one[at] for one in heard] == sorted(one[at] for one in heard)
        assert heard[-1][1] == plan.bytes

    @pytest.mark.parametrize("change", [b"", b"One.\n\nTwo.\n\nThree.\n\nFour."])
    def test_a_file_that_changes_is_told_and_not_taken_for_done(
        self, tmp_path: Path, change: bytes
    ) -> None:
        path = tmp_path / "x.txt"
        path.write_bytes(b"One.\n\nTwo.\n\nThree.")
        plan = planned(path, shard_bytes=8)

        def heard(sentences: tuple[Sentence, ...]) -> None:
            if [one.text for one in sentences] == ["One."]:
                path.write_bytes(change)

        summary = parsed(plan, tmp_path / "out", splitter=Splitter(chunk=1, heard=heard))
        assert len(summary.errors) == 3
        assert "this file was changed while it was read" in (summary.errors[0].error or "")
        assert files_in(tmp_path / "out").keys() == {"_work/plan.json"}
        with pytest.raises(ConfigError, match=r"x\.txt"):
            parsed(planned(path, shard_bytes=8), tmp_path / "out", resume=True)


class TestWhatCannotBeWritten:
    def test_a_folder_that_is_a_file_is_told(self, plan: Plan, tmp_path: Path) -> None:
        (tmp_path / "x").write_text("")
        for out in (tmp_path / "x", tmp_path / "x/y"):
            with pytest.raises(DataError, match="Not a directory"):
                parsed(plan, out)

    @pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
    def test_a_folder_that_is_forbidden_is_told(self, plan: Plan, tmp_path: Path) -> None:
        tmp_path.chmod(0o500)
        with pytest.raises(OutputError, match="no folder can be made: Permission denied"):
            parsed(plan, tmp_path / "out")

    def test_odd_and_long_names_are_written(self, tmp_path: Path) -> None:
        source = tmp_path / "in"
        source.mkdir()
        names = [
            "a b",
            "a#b",
            "50%",
            "é語",
            "why?",
            "x" * 240,
            os.fsdecode(b"\xff\xfe"),
            "new\nline",
        ]
        for name in names:
            (source / f"{name}.txt").write_text("Text.")
        out = tmp_path / "out"
        plan = planned(source)
        assert parsed(plan, out, format="parquet").rows == len(names)
        assert len(list(read_documents(str(out)))) == len(names)
        assert parsed(plan, out, format="parquet", resume=True).words_now == 0

    def test_a_link_as_folder_is_followed(
        self, plan: Plan, expected: dict[str, bytes], format: Format, tmp_path: Path
    ) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "real")
        parsed(plan, tmp_path / "link", format=format)
        assert files_in(tmp_path / "real") == expected

    def test_two_at_once_give_the_right_files_or_an_error_of_ours(
        self, plan: Plan, expected: dict[str, bytes], format: Format, tmp_path: Path
    ) -> None:
        out = tmp_path / "out"
        found: list[object] = []

        def go_on() -> None:
            splitter = Splitter(heard=lambda x: time.sleep(0.001))
            try:
                found.append(parsed(plan, out, format=format, resume=True, splitter=splitter).rows)
            except fencepost.FencepostError as error:
                found.append(error)

        threads = [threading.Thread(target=go_on) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 3
        assert ROWS in found
        parsed(plan, out, format=format, resume=True)
        assert files_in(out) == expected


class TestMemory:
    @staticmethod
    def peak(path: Path, out: Path, rows: int) -> tuple[int, int]:
        """How many bytes there are, and how many are kept at most while they are parsed.

        What bounds it: the buffers of two files, the parser's chunk, one record a shard. Each text
        is one word, so that splitting does not take the test's time.
        """
        with open(path, "wb") as file:
            for number in range(rows):
                file.write(b'{"id": %d, "text": "%s"}\n' % (number, b"x" * 2890))
        plan = planned(path)
        tracemalloc.start()
        try:
            parsed(plan, out, splitter=Splitter(chunk=10, parse=lambda x: Document(())))
            return path.stat().st_size, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    @pytest.mark.slow
    def test_it_does_not_grow_with_the_input(self, tmp_path: Path) -> None:
        few, little = self.peak(tmp_path / "a.jsonl", tmp_path / "a", 1_000)
        many, most = self.peak(tmp_path / "b.jsonl", tmp_path / "b", 10_000)
        assert many > 29_000_000
        assert many > 9 * few
        assert most < many / 50
        assert most < little + 200_000  # a file that is cut has more shards, with a record each

    def test_large_rows_do_not_wait_for_each_other(self, tmp_path: Path) -> None:
        for name, rows in (("first", 1), ("x", 60)):
            with open(tmp_path / f"{name}.jsonl", "wb") as file:
                for _ in range(rows):
                    file.write(b'{"text": "%s"}\n' % (b" " * 500_000))
        path = tmp_path / "x.jsonl"

        def parse(name: str) -> None:
            plan = planned(tmp_path / f"{name}.jsonl")
            parsed(plan, tmp_path / name, format="parquet", splitter=Splitter(chunk=1))

        parse("first")  # which loads all that it needs
        tracemalloc.start()
        try:
            parse("x")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < path.stat().st_size / 5


class TestWithAModel:
    def done(self, parser: Parser, plan: Plan, out: Path, **options: Any) -> int:
        run = run_of(plan, out, **options)
        return absorbed(run, parse_here(run, parser, parser.check_options())).rows

    def test_rows_are_what_the_parser_gives_and_stay_the_same(
        self, parser: Parser, plan: Plan, format: Format, tmp_path: Path
    ) -> None:
        for name in ("one", "two"):
            assert self.done(parser, plan, tmp_path / name, format=format) == ROWS
        assert files_in(tmp_path / "one") == files_in(tmp_path / "two")
        found = [one for one in read_documents(str(tmp_path / "one")) if one.text]
        for one in found[:12]:
            (alone,) = parser.parse_many([one.text or ""])
            assert one.sentences == alone.sentences

    @pytest.mark.slow
    def test_a_very_long_sentence_takes_no_other_down(self, parser: Parser, tmp_path: Path) -> None:
        lines = [f"Short sentence number {n} ." for n in range(200)]
        lines.insert(100, " ".join(["word", "and"] * 2500))
        path = tmp_path / "x.txt"
        path.write_text("\n".join(lines))
        assert self.done(parser, planned(path, kind="words"), tmp_path / "out") == 201
        found = list(read_documents(str(tmp_path / "out")))
        assert all(one.is_ok for one in found)
        assert [" ".join(one.only().words) for one in found] == lines


def test_the_fingerprint_of_a_model_is_that_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(b"1")
    first = fingerprint(tmp_path)
    (tmp_path / "notes.txt").touch()
    os.truncate(tmp_path / "notes.txt", 2**40)
    assert first == fingerprint(tmp_path)
    (tmp_path / "config.json").write_bytes(b"2")
    second = fingerprint(tmp_path)
    (tmp_path / "config.json").rename(tmp_path / "labels.json")
    assert len({first, second, fingerprint(tmp_path)}) == 3


def test_a_run_that_ends_before_anything_is_done_can_be_begun_anew(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text("One.\n\nTwo.\n")
    plan = make_plan([str(source)], settings=RowSettings())
    job = Job(out=str(tmp_path / "out"), format="jsonl", rows=RowSettings())

    def refused() -> Iterator[Done]:
        raise ConfigError("no such cluster")
        yield

    for _ in range(2):
        with pytest.raises(ConfigError, match="no such cluster"):
            absorbed(Run(job, plan, {}), refused())
        assert list((tmp_path / "out").iterdir()) == []
