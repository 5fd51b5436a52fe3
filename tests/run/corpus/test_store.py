"""Files here and elsewhere: pyarrow's way gives what ours does."""

import os
import sys
from pathlib import Path

import pytest

from fencepost.errors import ConfigError, DataError
from fencepost.formats.files import OutputError
from fencepost.run.corpus import store
from fencepost.run.corpus.store import (
    File,
    files_at,
    is_remote,
    joined,
    make_folder,
    names_in,
    opened,
    pyarrow,
    read_whole,
    remove_folder,
    size_of,
    whole,
)

ODD = ["a b.txt", "a#b.txt", "50%.txt", "100%20.txt", "é語.txt", "why?.txt", "a+b&c=d.txt"]


def uri(path: Path) -> str:
    return f"file://{path}"


@pytest.fixture(params=["local", "remote"])
def at(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The same folder, under either kind of path."""
    return str(tmp_path) if request.param == "local" else uri(tmp_path)


class TestPaths:
    def test_what_begins_with_a_scheme_is_remote(self) -> None:
        assert is_remote("s3://bucket/x")
        assert is_remote("file:///x y")
        assert not is_remote("/a/b")
        assert not is_remote("See http://example.org now.")
        assert not is_remote("://")

    def test_a_question_mark_belongs_to_the_file_system(self) -> None:
        assert joined("s3://b/x/?region=y", "a?b.txt") == "s3://b/x/a%3Fb.txt?region=y"

    def test_one_file_system_serves_all_paths_of_a_bucket(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "x").write_bytes(b"1")
        assert size_of(uri(tmp_path / "x")) == 1
        monkeypatch.setattr(store, "pyarrow", None)  # so that none can be made
        assert store._at(uri(tmp_path / "y z"))[1] == str(tmp_path / "y z")

    def test_an_unknown_scheme_is_told(self) -> None:
        for ask in (files_at, size_of, names_in, make_folder, read_whole, remove_folder):
            with pytest.raises(DataError, match="nope://x/: pyarrow cannot open this: Unrec"):
                ask("nope://x/y")

    def test_without_pyarrow_it_is_told_how_to_get_it(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "x.txt").write_text("a")
        for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        for ask in (pyarrow, lambda: files_at("s3://nobody/x")):
            with pytest.raises(ConfigError, match=r"pip install 'fencepost\[parquet\]'"):
                ask()
        assert [file.name for file in files_at(str(tmp_path))] == ["x.txt"]


class TestReading:
    def test_files_are_listed_in_order_of_name(self, tmp_path: Path, at: str) -> None:
        for name in ["b.txt", "a/z.txt", "a.txt", ".hidden", "_own", ".h/x", "_w/x", *ODD]:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(name.encode())
        found = files_at(at)
        assert [file.name for file in found] == sorted(["b.txt", "a/z.txt", "a.txt", *ODD])
        for file in found:
            assert read_whole(file.path) == file.name.encode()
            assert file.bytes == size_of(file.path) == len(file.name.encode())
            assert file.modified == pytest.approx((tmp_path / file.name).stat().st_mtime)
            assert files_at(file.path)[0].version == file.version

    def test_a_file_is_one_whatever_it_is_called(
        self, tmp_path: Path, at: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "_x").write_bytes(b"abc")
        (file,) = files_at(joined(at, "_x"))
        assert (file.path, file.name, file.bytes) == (joined(at, "_x"), "_x", 3)
        monkeypatch.chdir(tmp_path)
        (file,) = files_at("./_x")
        assert (file.path, file.name) == ("./_x", "_x")

    def test_what_is_not_there_is_told(self, at: str) -> None:
        for ask in (files_at, read_whole):
            with pytest.raises(DataError, match=r"none: (there is no such|cannot be read)"):
                ask(joined(at, "none"))
        assert size_of(joined(at, "none")) is None
        assert names_in(joined(at, "none")) == []
        remove_folder(joined(at, "none"))

    def test_one_can_move_about_in_a_file(self, tmp_path: Path, at: str) -> None:
        (tmp_path / "x").write_bytes(bytes(range(256)) * 4000)
        with opened(joined(at, "x")) as file:
            file.seek(600_001)
            assert file.read(2) == bytes([600_001 % 256, 600_002 % 256])
            assert file.tell() == 600_003
            file.seek(0)
            assert file.readline() == bytes(range(11))
            file.seek(2_000_000)
            assert file.read(1) == b""

    def test_what_goes_wrong_in_between_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_bytes(b"abc")
        with (
            pytest.raises(DataError, match=r"x: cannot be read: Input/output error"),
            opened(str(tmp_path / "x")),
        ):
            raise OSError(5, "Input/output error")

    def test_a_pipe_has_no_size(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        assert files_at(str(tmp_path / "pipe")) == [File(str(tmp_path / "pipe"), "pipe", 0, 0.0)]


class TestWriting:
    @pytest.mark.parametrize("name", ["x.txt", "a/b/x.txt", *ODD])
    def test_a_file_appears_whole(self, tmp_path: Path, at: str, name: str) -> None:
        path, drafts = joined(at, name), joined(at, "_work")
        for data in (b"first", b"second"):  # also over one that is there
            with whole(path, drafts) as file:
                file.write(data[:2])
                assert len(names_in(drafts)) == 1
                assert (tmp_path / name).exists() == (data == b"second")
                file.write(data[2:])
            assert (tmp_path / name).read_bytes() == data == read_whole(path)
            assert names_in(drafts) == []
        assert size_of(path) == 6

    @staticmethod
    def fail(at: str, error: BaseException) -> None:
        with whole(joined(at, "x.txt"), joined(at, "_work")) as file:
            file.write(b"half")
            raise error

    @pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt()])
    def test_a_write_that_fails_leaves_nothing(
        self, tmp_path: Path, at: str, error: BaseException
    ) -> None:
        (tmp_path / "x.txt").write_bytes(b"before")
        kind = OutputError if isinstance(error, OSError) else KeyboardInterrupt
        with pytest.raises(kind) as raised:
            self.fail(at, error)
        if isinstance(error, OSError):
            assert str(raised.value) == f"{joined(at, 'x.txt')}: cannot be written: No space left"
        assert (tmp_path / "x.txt").read_bytes() == b"before"
        assert names_in(at) == ["_work", "x.txt"]
        assert names_in(joined(at, "_work")) == []

    def test_a_folder_that_is_a_file_is_told(self, tmp_path: Path, at: str) -> None:
        (tmp_path / "x").write_text("")
        with pytest.raises(OutputError, match="x: no folder can be made: "):
            make_folder(joined(at, "x"))
        with pytest.raises(OutputError, match="x: this folder cannot be read: "):
            names_in(joined(at, "x"))
        with (
            pytest.raises(OutputError, match=r"no folder can be made|cannot be written"),
            whole(joined(at, "x/y.txt"), joined(at, "_work")),
        ):
            pytest.fail("there is no such folder")

    def test_a_folder_is_removed_with_all_that_is_in_it(self, tmp_path: Path, at: str) -> None:
        make_folder(joined(at, "a/b"))
        (tmp_path / "a/b/x").write_text("")
        remove_folder(joined(at, "a"))
        assert names_in(at) == []
