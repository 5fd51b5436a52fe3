"""Outputs are whole or not at all, and wrong inputs are told, whatever befalls disk and process."""

from __future__ import annotations

import gzip
import os
import signal
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fencepost.errors import DataError
from fencepost.formats import read
from fencepost.run.corpus.rows import RowSettings, rows_of
from tests.reliability.driver import Driver, Ended
from tests.run.corpus.fakes import planned

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="faults are made as Linux does")

TREE = "(S (NP (DT a) (NN b)) (VP (VB c)))\n"
ENTITIES = "a b c\n0,2 X\n\n"
# What is read is `in.*`; what is written, `out*`.
COMMANDS = {
    "parse, a file": "parse in.txt -m MODEL -o out.jsonl -q",
    "parse, a folder": "parse in.txt -m MODEL -o out/ --to ptb --task tree -q",
    "parse, a corpus": "parse in.txt -m MODEL -o out/ -q",
    "convert": "convert in.ptb -o out.jsonl -q",
    "convert, packed": "convert in.ptb -o out.jsonl.gz -q",
    "convert to brat": "convert in.data -o out.ann -q",
    "convert to spacy": "convert in.data -o out.spacy -q",
    "merge": "merge in.ptb in.data -o out.jsonl -q",
    "draw": "draw in.ptb -o out.html -q",
    "analyse": "analyse in.ptb in.ptb -o out.html -q --samples 10",
    "audit": "audit in.ptb -m MODEL --out out.tsv -q",
}


def command(name: str, model: Path) -> list[str]:
    return COMMANDS[name].replace("MODEL", str(model)).split()


def fill(folder: Path, *, sentences: int) -> None:
    """Inputs for all commands."""
    (folder / "in.txt").write_text("a b c.\n\n" * sentences)
    (folder / "in.ptb").write_text(TREE * sentences)
    (folder / "in.data").write_text(ENTITIES * sentences)


def written(folder: Path, *, hidden: bool = True) -> dict[str, bytes]:
    """All files that were not there before."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_relative_to(folder / "in.txt")
        if not path.name.startswith("in.") and (hidden or not path.name.startswith("."))
    }


def complain(ended: Ended) -> str:
    return f"{ended.status}: {ended.err}"


@pytest.mark.parametrize("name", COMMANDS)
class TestWhole:
    def test_a_kill_at_any_moment_leaves_all_or_nothing(
        self, driver: Driver, model: Path, tmp_path: Path, name: str
    ) -> None:
        first, *others = (tmp_path / str(number) for number in range(3))
        first.mkdir()
        fill(first, sentences=12)
        ended = driver.run(first, *command(name, model))
        assert ended.status == 0, complain(ended)
        whole = written(first)
        old = {} if name == "parse, a corpus" else dict.fromkeys(whole, b"old")
        for folder, share in zip(others, (0.6, 0.95), strict=True):
            folder.mkdir()
            fill(folder, sentences=12)
            for path, data in old.items():
                (folder / path).parent.mkdir(exist_ok=True)
                (folder / path).write_bytes(data)
            moment = share * ended.seconds
            driver.run(folder, *command(name, model), signal=signal.SIGKILL, after=moment)
            # A corpus has a folder of its own for drafts, and notes of how long it took.
            found = written(folder, hidden=False)
            assert found.keys() >= old.keys()
            for path in (path for path in found if "_" not in path):
                assert found[path] in (whole[path], old.get(path))

    def test_a_full_disk_leaves_nothing_and_is_told(
        self, driver: Driver, model: Path, tmp_path: Path, name: str
    ) -> None:
        fill(tmp_path, sentences=20)
        ended = driver.run(tmp_path, *command(name, model), limit=30)
        assert ended.status == 2, complain(ended)
        assert "File too large" in ended.err
        assert "Traceback" not in ended.err
        assert not any(written(tmp_path).values()) or name == "parse, a corpus"
        assert not any(path.endswith((".jsonl", ".ptb")) for path in written(tmp_path))

    def test_an_interrupt_leaves_nothing_and_130(
        self, driver: Driver, model: Path, tmp_path: Path, name: str
    ) -> None:
        fill(tmp_path, sentences=5)
        (source,) = {word for word in COMMANDS[name].split() if word.startswith("in.")} - {
            "in.data" if name == "merge" else ""
        }
        ended = driver.run(
            tmp_path, *command(name, model), fed=source, signal=signal.SIGINT, after=0.2
        )
        (tmp_path / source).unlink()
        assert ended.status == 130, complain(ended)
        assert "Traceback" not in ended.err
        if name != "parse, a corpus":  # which keeps what is done, to go on with
            assert written(tmp_path) == {}

    def test_a_place_where_nothing_can_be_written_is_told(
        self, driver: Driver, model: Path, tmp_path: Path, name: str
    ) -> None:
        fill(tmp_path, sentences=1)
        (tmp_path / "file").touch()
        for folder in ("file", "/proc/self"):
            arguments = [
                f"{folder}/{word}" if word.startswith("out") else word
                for word in command(name, model)
            ]
            ended = driver.run(tmp_path, *arguments)
            assert ended.status == 2, complain(ended)
            assert "Traceback" not in ended.err
            assert ended.err.startswith("fencepost: ")
        assert written(tmp_path) == {"file": b""}


@pytest.mark.parametrize(
    "arguments",
    [
        "parse in.txt -m MODEL -o /dev/full --to tsv",
        "convert in.ptb /dev/full --to jsonl",
        "merge in.ptb in.data /dev/full --to jsonl",
        "parse in.txt -m MODEL --to jsonl >/dev/full",
        "convert in.ptb - --to jsonl >/dev/full",
    ],
)
def test_a_device_that_is_full_is_told(
    driver: Driver, model: Path, tmp_path: Path, arguments: str
) -> None:
    fill(tmp_path, sentences=3)
    given, _, target = arguments.replace("MODEL", str(model)).partition(" >")
    ended = driver.run(tmp_path, *given.split(), stdout=target)
    assert ended.status == 2, complain(ended)
    assert "No space left on device" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    "arguments",
    [
        "parse in.txt -m MODEL --to jsonl -q",
        "convert in.ptb - --to jsonl -q",
        "draw in.ptb -o - --to svg --sentence 1 -q",
    ],
)
def test_a_pipe_that_nobody_reads_is_no_reason_to_complain(
    driver: Driver, model: Path, tmp_path: Path, arguments: str
) -> None:
    fill(tmp_path, sentences=30)
    given = arguments.replace("MODEL", str(model)).split()
    ended = driver.run(tmp_path, *given, closed=True)
    assert (ended.status, ended.err) == (1, "")


# What is given by mistake: `x` has any suffix that the command reads.
READING = {
    "parse, a text": ("parse x.txt -m MODEL -o out.jsonl -q", ".txt"),
    "parse, a corpus": ("parse x.txt -m MODEL -o out/ -q", ".txt"),
    "parse, trees": ("parse x.ptb -m MODEL -o out.jsonl -q", ".ptb"),
    "convert ptb": ("convert x.ptb -o out.jsonl -q", ".ptb"),
    "convert data": ("convert x.data -o out.jsonl -q", ".data"),
    "convert jsonl": ("convert x.jsonl -o out.ptb -q", ".jsonl"),
    "convert conll": ("convert x.conll -o out.jsonl -q", ".conll"),
    "convert spacy": ("convert x.spacy -o out.jsonl -q", ".spacy"),
    "convert brat": ("convert x.ann -o out.jsonl -q", ".ann"),
    "merge": ("merge in.ptb x.data -o out.jsonl -q", ".data"),
    "score": ("score in.ptb x.ptb -q", ".ptb"),
    "inspect": ("inspect x.ptb -q", ".ptb"),
    "trace": ("trace x.ptb", ".ptb"),
    "draw": ("draw x.ptb -o out.html -q", ".ptb"),
    "analyse": ("analyse in.ptb x.ptb -o out.html -q", ".ptb"),
    "audit": ("audit x.ptb -m MODEL -q", ".ptb"),
    "gazetteer": ("parse in.txt -m MODEL --gazetteer x.txt -q", ".txt"),
}
ZEROS_ARE_TEXT = ("parse, a text", "parse, a corpus", "convert data", "gazetteer")
# The others read as one of these does; to see that they are bounded too, less will do.
OF_EACH_READER = (
    *("parse, a text", "parse, a corpus", "convert ptb", "convert conll", "convert spacy"),
    *("convert brat", "score", "gazetteer"),
)
MOST_MEBIBYTES = 400  # beyond what a command takes for a good file


MISTAKES = {
    "a picture": b"\x89PNG\r\n\x1a\n" + zlib.compress(os.urandom(2_000)),
    "zeros": b"\0" * 1_000,
}


@pytest.mark.parametrize("name", READING)
class TestMistakes:
    def run(self, driver: Driver, model: Path, folder: Path, name: str, **options: Any) -> Ended:
        arguments, suffix = READING[name]
        if suffix == ".ann":
            os.link(folder / "x.ann", folder / "x.txt")
        ended = driver.run(folder, *arguments.replace("MODEL", str(model)).split(), **options)
        assert "Traceback" not in ended.err, ended.err
        return ended

    def path(self, folder: Path, name: str) -> Path:
        fill(folder, sentences=1)
        return folder / f"x{READING[name][1]}"

    def test_what_is_no_text_is_told(
        self, driver: Driver, model: Path, tmp_path: Path, name: str
    ) -> None:
        for number, (what, data) in enumerate(MISTAKES.items()):
            folder = tmp_path / str(number)
            folder.mkdir()
            self.path(folder, name).write_bytes(data)
            ended = self.run(driver, model, folder, name)
            if what == "zeros" and name in ZEROS_ARE_TEXT:
                continue  # which is a text of one word
            expected = {"inspect": (1, 2), "parse, a corpus": (0,)}.get(name, (2,))
            assert ended.status in expected, (what, complain(ended))
            assert ended.err.startswith("fencepost: ") or ended.status < 2

    def test_an_empty_file_is_told_or_has_nothing(
        self, driver: Driver, model: Path, tmp_path: Path, name: str
    ) -> None:
        self.path(tmp_path, name).touch()
        ended = self.run(driver, model, tmp_path, name)
        assert ended.status in (0, 1 if name == "inspect" else 2), complain(ended)
        assert ended.status < 2 or ended.err.startswith("fencepost: ")

    def test_an_enormous_file_is_refused_soon(
        self, driver: Driver, model: Path, tmp_path: Path, name: str, usual: float
    ) -> None:
        with open(self.path(tmp_path, name), "wb") as file:
            file.truncate(ENORMOUS if name != "parse, a corpus" else ENORMOUS // 100)
        bound = 0 if name in OF_EACH_READER else 1 << 20
        ended = self.run(driver, model, tmp_path, name, bound=bound)
        expected = {"inspect": (1, 2), "parse, a corpus": (0,)}.get(name, (2,))
        assert ended.status in expected, complain(ended)
        assert ended.mebibytes < usual + MOST_MEBIBYTES


ENORMOUS = 10 << 30


@pytest.fixture(scope="module")
def usual(driver: Driver) -> float:
    """MiB that a command has in use that does nothing."""
    return driver.run(Path("/"), "--version").mebibytes


@pytest.fixture(scope="module")
def blanks() -> bytes:
    """Blanks without an end of line, more than a line may have, packed."""
    part = gzip.compress(b" " * (1 << 20))
    return part * 70


@pytest.mark.parametrize("name", ["parse, a text", "convert conll", "convert spacy", "score"])
def test_a_packed_file_that_is_enormous_is_refused_soon(
    driver: Driver, model: Path, tmp_path: Path, name: str, usual: float, blanks: bytes
) -> None:
    fill(tmp_path, sentences=1)
    arguments, suffix = READING[name]
    (tmp_path / f"x{suffix}").write_bytes(blanks)
    ended = driver.run(tmp_path, *arguments.replace("MODEL", str(model)).split())
    assert ended.status == 2, complain(ended)
    assert ended.err.startswith("fencepost: x")
    assert ended.mebibytes < usual + MOST_MEBIBYTES


class TestEncodings:
    TEXT = "(S (A ä) (B 猫))\n(S (A b))\n"

    def words(self, path: Path, encoding: str) -> list[Sequence[str]]:
        return [parse.words for parse in read(path, encoding=encoding)]

    @pytest.mark.parametrize(
        ("encoding", "mark"),
        [
            *(("utf-8", b""), ("utf-8", b"\xef\xbb\xbf"), ("utf-8-sig", b"\xef\xbb\xbf")),
            *(("utf-16", b""), ("utf-32", b"")),  # which write a mark of their own
            *(("utf-16-le", b""), ("utf-16-be", b""), ("utf-32-le", b""), ("utf-32-be", b"")),
            *(("utf-7", b""), ("gb18030", b""), ("utf_8", b"")),
        ],
    )
    def test_each_gives_the_same_words(self, tmp_path: Path, encoding: str, mark: bytes) -> None:
        path = tmp_path / "x.ptb"
        data = self.TEXT.encode(encoding)
        path.write_bytes(data if data.startswith(mark) else mark + data)
        assert self.words(path, encoding) == [("ä", "猫"), ("b",)]

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
    @pytest.mark.parametrize("order", ["le", "be"])
    def test_a_mark_tells_the_order_and_without_one_that_is_asked_for(
        self, tmp_path: Path, encoding: str, order: str
    ) -> None:
        path = tmp_path / "x.ptb"
        path.write_bytes(f"\ufeff{self.TEXT}".encode(f"{encoding}-{order}"))
        assert self.words(path, encoding) == [("ä", "猫"), ("b",)]
        path.write_bytes(self.TEXT.encode(f"{encoding}-{order}"))
        with pytest.raises(DataError, match=rf"x.ptb:1: not {encoding}: .*--encoding"):
            self.words(path, encoding)

    @pytest.mark.parametrize("encoding", ["shift_jis", "iso2022_jp", "big5", "gb18030", "utf-8"])
    def test_bytes_that_no_stand_in_can_stand_for_are_left_out(
        self, tmp_path: Path, encoding: str
    ) -> None:
        path = tmp_path / "x.ptb"
        path.write_bytes(b"(S (A a))\n(S (A \x81 \x1b$(x\xff))\n(S (A b))\n")
        assert [p.words for p in read(path, encoding=encoding, skip_bad=True)] == [("a",), ("b",)]

    def test_latin_1_reads_any_bytes(self, tmp_path: Path) -> None:
        path = tmp_path / "x.ptb"
        path.write_bytes(b"(S (A na\xefve))\n")
        assert self.words(path, "latin-1") == [("naïve",)]
        with pytest.raises(DataError, match="not utf-8: byte 0xef"):
            self.words(path, "utf-8")

    def test_the_command_tells_what_is_wrong(self, driver: Driver, tmp_path: Path) -> None:
        (tmp_path / "x.ptb").write_bytes(TREE.encode("utf-16-le"))
        for encoding in ("utf-16", "utf-8", "ascii", "nothing", "idna"):
            ended = driver.run(
                tmp_path, "convert", "x.ptb", "-o", "o.jsonl", "--encoding", encoding
            )
            assert ended.status == 2, complain(ended)
            assert ended.err.startswith("fencepost: ")
            assert ended.err.count("\n") == 1


def test_what_comes_through_a_pipe_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.formats.files.MOST_BYTES", 100)
    with pytest.raises(DataError, match=r"zero:1: this line has more than 100 bytes"):
        list(read("/dev/zero", format="conll"))


class TestRowsWithoutEnd:
    @pytest.mark.parametrize("suffix", [".txt", ".jsonl"])
    def test_each_byte_of_a_line_without_an_end_is_read_a_few_times_at_most(
        self, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / f"x{suffix}"
        with open(path, "wb") as file:
            file.write(b'"a"\n\n')
            file.truncate(6 << 20)
            file.seek(0, os.SEEK_END)
            file.write(b'\n\n"b"\n')
        monkeypatch.setattr("fencepost.run.corpus.rows._SEARCHED", 1 << 14)
        settings = RowSettings(most_bytes=1 << 16)
        plan = planned(path, rows=settings, shard_bytes=1 << 16)
        shards = [shard for portion in plan.portions for shard in portion.shards]
        assert len(shards) > 90
        read_before = _bytes_read()
        rows = [row for shard in shards for row in rows_of(shard, settings)]
        assert _bytes_read() - read_before < 10 * path.stat().st_size  # and not 50
        problems = [row.problem or "" for row in rows]
        assert len(rows) == 3
        assert [bool(problem) for problem in problems] in (
            [False, True, False],
            [True, True, True],  # a line of JSON is an object
        )
        assert "is longer than 65,536; --max-row-size would allow it" in problems[1]


def _bytes_read() -> int:
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("rchar"))
