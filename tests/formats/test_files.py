import gzip
import io
import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.formats.files import (
    Source,
    atomic_output,
    check_not_read,
    files_below,
    has_byte_lines,
    is_folder,
    is_stream,
    output_path,
    place_of_output,
)

TEXTS = st.lists(st.text(st.characters(exclude_characters="\n\r", codec="utf-8"), max_size=8))


def write_bytes(path: Path, data: bytes) -> None:
    with atomic_output(path) as file:
        file.write(data)


@given(TEXTS, st.sampled_from(["utf-8", "utf-16", "gb18030"]), st.booleans())
def test_lines_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], encoding: str, packed: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / ("lines.txt.gz" if packed else "lines.txt")
    lines = [line.lstrip("\ufeff") for line in lines]
    write_bytes(path, "".join(f"{line}\n" for line in lines).encode(encoding))
    source = Source(path, encoding=encoding)
    assert list(source.lines()) == lines
    assert source.line == len(lines)
    assert source.bytes_read == path.stat().st_size


def test_line_ends_of_other_systems_and_a_byte_order_mark_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    assert list(Source(path).lines()) == ["one", "two"]


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("a\u2028b\x0bc\x85d\n", encoding="utf-8")
    assert list(Source(path).lines()) == ["a\u2028b\x0bc\x85d"]


def test_gzip_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(gzip.compress(b"one\ntwo\n"))
    assert list(Source(path).lines()) == ["one", "two"]


def test_damaged_gzip_is_an_error_of_ours(tmp_path: Path) -> None:
    whole = gzip.compress(os.urandom(100_000))
    for data in (whole[:-20], whole[:500] + b"\0\0\0" + whole[503:]):
        path = tmp_path / "x.gz"
        path.write_bytes(data)
        with pytest.raises(DataError, match="gzip data is damaged"):
            list(Source(path, encoding="latin-1").lines())


def test_wrong_bytes_are_named_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"fine\nna\xefve\n")
    with pytest.raises(DataError, match=r"x:2: not utf-8: byte 0xef at column 3"):
        list(Source(path).lines())
    assert list(Source(path, encoding="latin-1").lines()) == ["fine", "naïve"]


def test_wrong_bytes_of_a_wide_encoding_are_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"\xff\xfea\x00\n\x00\x00")
    with pytest.raises(DataError, match="not utf-16"):
        list(Source(path, encoding="utf-16").lines())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_mark_that_is_missing_is_told_with_an_encoding_that_needs_none(
    tmp_path: Path, encoding: str
) -> None:
    path = tmp_path / "x"
    path.write_bytes("a\nb\n".encode(f"{encoding}-le"))
    with pytest.raises(DataError, match=rf"x:1: not {encoding}: .*, as in {encoding}-le"):
        list(Source(path, encoding=encoding).lines())
    assert list(Source(path, encoding=f"{encoding}-le").lines()) == ["a", "b"]


@pytest.mark.parametrize(
    ("encoding", "data", "expected"),
    [
        ("utf-8", b"a \xff b", "a \udcff b"),
        ("iso2022_jp", b"a \x1b$(x b", "\udc80a \x1b$(x b"),  # an escape that says nothing
    ],
)
def test_bytes_that_do_not_belong_are_kept_as_stand_ins_if_one_forgives(
    tmp_path: Path, encoding: str, data: bytes, expected: str
) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    source = Source(path, encoding=encoding, forgiving=True)
    assert list(source.lines()) == [expected]
    assert source.has_escapes


class TestBounds:
    @pytest.fixture(autouse=True)
    def _small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("fencepost.formats.files.MOST_BYTES", 100)

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
    def test_a_line_that_does_not_end_is_named(self, tmp_path: Path, encoding: str) -> None:
        path = tmp_path / "x"
        path.write_bytes(("a" * 99 + "\n" + "a" * 101).encode(encoding))
        lines = Source(path, encoding=encoding).lines()
        assert next(lines) == "a" * 99
        with pytest.raises(DataError, match="x:2: this line has more than 100 bytes"):
            next(lines)

    def test_what_is_read_in_one_piece_may_not_be_longer(self, tmp_path: Path) -> None:
        path = tmp_path / "x"
        path.write_bytes(b"a\n" * 50)
        assert Source(path).read_whole() == b"a\n" * 50
        path.write_bytes(b"a\n" * 50 + b"a")
        with pytest.raises(DataError, match=r"x: more than 100 bytes, which is no text of one"):
            Source(path).read_whole()


def test_a_missing_file_and_a_folder_are_errors_of_ours(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read: No such file"):
        list(Source(tmp_path / "none").lines())
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        list(Source(tmp_path).lines())


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
    source = Source("-")
    assert source.name == "<stdin>"
    assert list(source.lines()) == ["a", "b"]
    assert not sys.stdin.closed


def test_standard_output_is_written(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    with atomic_output("-") as file:
        file.write(b"text")
    assert capsysbinary.readouterr().out == b"text"


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("before")

    def fail(error: type[BaseException]) -> None:
        with atomic_output(path) as file:
            file.write(b"half")
            file.flush()
            raise error

    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error):
            fail(error)
        assert path.read_text() == "before"
        assert [p.name for p in tmp_path.iterdir()] == ["out"]
    write_bytes(path, b"after")
    assert path.read_text() == "after"


def test_a_new_file_gets_the_usual_mode_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    path = tmp_path / "out"
    write_bytes(path, b"x")
    (tmp_path / "usual").write_bytes(b"x")
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode
    path.chmod(0o600)
    write_bytes(path, b"y")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_keeps_pointing_to_what_is_written(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"x")
    link.symlink_to(target)
    write_bytes(link, b"y")
    assert link.is_symlink()
    assert target.read_bytes() == b"y"


def test_packed_files_are_the_same_each_time(tmp_path: Path) -> None:
    one, other = tmp_path / "a.gz", tmp_path / "b.gz"
    write_bytes(one, b"text")
    write_bytes(other, b"text")
    assert one.read_bytes() == other.read_bytes()
    assert gzip.decompress(one.read_bytes()) == b"text"


def test_a_folder_that_is_not_there_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none/out: cannot be written: No such file"):
        write_bytes(tmp_path / "none" / "out", b"x")


@pytest.mark.parametrize("name", ["x" * 255, "x" * 249, "é" * 127, "😀" * 63])
def test_any_name_that_a_file_can_have_will_do(tmp_path: Path, name: str) -> None:
    write_bytes(tmp_path / name, b"x")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_name_that_no_file_can_have_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written: File name too long"):
        write_bytes(tmp_path / ("x" * 256), b"x")


def test_a_place_for_a_file_can_be_checked_beforehand(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert output_path(tmp_path / "file") == tmp_path / "file"
    for name, reason in (
        ("none/x", "No such file"),
        ("file/x", "Not a directory"),
        ("x" * 256, "File name too long"),
    ):
        with pytest.raises(DataError, match=f"cannot be written: {reason}"):
            output_path(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_is_read_is_known_by_any_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "x")
    (tmp_path / "deep").mkdir()
    check_not_read([tmp_path / "y"], [tmp_path / "link"])
    for name in ("x", "link", "deep/../x"):
        with pytest.raises(DataError, match=f"{name}: this input would be written over"):
            check_not_read([tmp_path / "y", tmp_path / name], [tmp_path / "link"])


def test_a_folder_is_there_or_ends_with_a_slash(tmp_path: Path) -> None:
    (tmp_path / "x.svg").mkdir()
    assert [is_folder(f"{tmp_path}/{name}") for name in ("x.svg", "y.svg", "y/", "y")] == [
        True,
        False,
        True,
        False,
    ]
    assert not is_folder("-")


def test_hidden_files_are_not_below_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / ".given"
    for name in ("b/c", "a", ".a", "._b", ".d/e", "b/.f/g"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert files_below(folder) == [folder / "a", folder / "b/c"]


def test_a_name_in_capital_letters_is_packed_too(tmp_path: Path) -> None:
    write_bytes(tmp_path / "X.GZ", b"text")
    assert gzip.decompress((tmp_path / "X.GZ").read_bytes()) == b"text"


def test_devices_are_written_to_directly() -> None:
    write_bytes(Path("/dev/null"), b"x")


needs_descriptors = pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="needs names for the files that are open"
)


@needs_descriptors
@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}", "/proc/{pid}/fd/{}", "link"])
def test_an_open_file_is_written_to_where_it_stands(tmp_path: Path, name: str) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"before\n")
    with open(log, "ab") as file:
        (tmp_path / "link").symlink_to(f"/dev/fd/{file.fileno()}")
        path = tmp_path / name.format(file.fileno(), pid=os.getpid())
        assert is_stream(path)
        write_bytes(path, b"text\n")
        write_bytes(path, b"more\n")
    assert log.read_bytes() == b"before\ntext\nmore\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "log"]


@needs_descriptors
def test_a_pipe_is_written_to_by_its_number() -> None:
    reader, writer = os.pipe()
    try:
        write_bytes(Path(f"/dev/fd/{writer}"), b"text")
        assert os.read(reader, 100) == b"text"
    finally:
        os.close(reader)
        os.close(writer)
    with pytest.raises(DataError, match=r"/dev/fd/\d+: cannot be written: "):
        write_bytes(Path(f"/dev/fd/{writer}"), b"text")


@needs_descriptors
def test_a_file_of_another_process_is_not_written_to_by_its_number(tmp_path: Path) -> None:
    assert not is_stream("/proc/1/fd/1000")
    with pytest.raises(DataError, match="cannot be written"):
        write_bytes(Path("/proc/1/fd/1000"), b"text")


def test_links_that_go_round_are_no_stream(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    assert not is_stream(tmp_path / "one")


@needs_descriptors
@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_has_several_names(
    name: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert place_of_output(name) == "-"
    write_bytes(Path(name), b"text")
    assert capfdbinary.readouterr().out == b"text"


def test_other_places_of_output_stay_as_they_are(tmp_path: Path) -> None:
    for name in ("out.ptb", "out/", "/dev/null", "s3://bucket/out"):
        assert place_of_output(name) == name


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_an_error_of_ours() -> None:
    with pytest.raises(DataError, match="cannot be written: No space left"):
        write_bytes(Path("/dev/full"), b"x")


def test_a_closed_pipe_stays_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(BrokenPipeError), atomic_output(tmp_path / "out"):
        raise BrokenPipeError


def test_a_disk_that_fails_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Failing()))
    with pytest.raises(DataError, match="<stdin>: cannot be read: Input/output error"):
        list(Source("-").lines())


@pytest.mark.parametrize(
    ("encoding", "has"),
    [
        ("utf-8", True),
        ("utf8", True),
        ("windows-1252", True),
        ("koi8-r", True),
        ("gb18030", True),
        ("utf-16", False),
        ("UTF_16_LE", False),
        ("utf-32", False),
        ("utf-7", False),
        ("cp037", False),  # of mainframes, where a line ends with another byte
    ],
)
def test_encodings_by_the_end_of_a_line(encoding: str, has: bool) -> None:
    assert has_byte_lines(encoding) is has


def test_a_stop_right_after_the_move_is_told_as_such(tmp_path: Path) -> None:
    move = os.replace

    def stopped(source: str, target: str) -> None:
        move(source, target)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", stopped)
        with pytest.raises(KeyboardInterrupt), atomic_output(tmp_path / "x") as file:
            file.write(b"all of it")
    assert (tmp_path / "x").read_bytes() == b"all of it"
