"""Files in and out: lines with their numbers, gzip, encodings; output whole or not at all."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, BinaryIO, cast

from fencepost.errors import DataError

STANDARD = "-"  # standard input or output, where a path is expected
MOST_BYTES = 64 << 20  # of a line, or of a text that is read in one piece

_HALF_PAIR = re.compile(r"[\ud800-\udfff]")
_GZIP_MAGIC = b"\x1f\x8b"
_WIDE = ("utf-16", "utf-32", "utf-7")  # in which a line's end is not one byte, or hidden


class OutputError(DataError):
    """A file cannot be written, whatever would be in it."""


class Source:
    """A file that is read, with how far it has been read.

    Args:
        path: the file, or `-` for standard input. gzip is recognised by its first bytes.
        encoding: of its text.
        forgiving: whether bytes that are not of this encoding are kept as stand-ins, for the
            caller to leave out what holds them.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, encoding: str = "utf-8", forgiving: bool = False
    ) -> None:
        self.name = "<stdin>" if str(path) == STANDARD else str(path)
        self.path = path
        self.encoding = encoding
        self.forgiving = forgiving
        self.stand_ins = False  # whether there have been any
        self.bytes_read = 0
        self.line = 0  # the line that was read last

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The bytes of the file, unpacked."""
        self.bytes_read = 0
        if str(self.path) == STANDARD:
            raw: BinaryIO = sys.stdin.buffer
        else:
            try:
                raw = open(self.path, "rb")  # noqa: SIM115  (closed below)
            except OSError as error:
                raise DataError(f"cannot be read: {error.strerror}", path=self.name) from error
        try:
            counted = io.BufferedReader(_Counted(raw, self), 1 << 16)
            packed = counted.peek(2)[:2] == _GZIP_MAGIC
            yield cast("BinaryIO", gzip.GzipFile(fileobj=counted)) if packed else counted
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(f"the gzip data is damaged: {error}", path=self.name) from error
        finally:
            if str(self.path) != STANDARD:
                raw.close()

    def lines(self) -> Iterator[str]:
        """The lines of the file without their ends; `line` tells the number of the last one."""
        self.line = 0
        with self.open() as file:
            for raw in self._raw_lines(file):
                self.line += 1
                try:
                    text = raw.decode(self.encoding)
                except UnicodeDecodeError as error:
                    if not self.forgiving:
                        raise self._undecodable(error, self.line) from error
                    self.stand_ins = True
                    text = _with_stand_ins(raw, self.encoding)
                yield text.rstrip("\r\n")

    def read_whole(self) -> bytes:
        """All bytes of the file, unpacked.

        Raises:
            DataError: there are more than fit a text that is read in one piece.
        """
        with self.open() as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise DataError(
                f"more than {MOST_BYTES:,} bytes, which is no text of one document", path=self.name
            )
        return data

    def read_text(self) -> str:
        """The characters of the file as they are, with a byte order mark if there is one.

        Raises:
            DataError: it is too large, or not of this encoding.
        """
        raw = self.read_whole()
        try:
            return raw.decode(self.encoding)
        except UnicodeDecodeError as error:
            raise DataError(
                f"not {self.encoding}: byte 0x{raw[error.start]:02x}; pass the right encoding "
                "(--encoding)",
                line=1 + raw.count(b"\n", 0, error.start),
                path=self.name,
            ) from error

    def byte_lines(self, file: IO[bytes]) -> Iterator[bytes]:
        """The lines of this file, which is open, with their ends.

        Raises:
            DataError: a line does not end for so long that the file can be no text.
        """
        for number, line in enumerate(iter(partial(file.readline, MOST_BYTES + 1), b""), 1):
            if len(line) > MOST_BYTES:
                raise self._endless(number)
            yield line

    def _raw_lines(self, file: IO[bytes]) -> Iterator[bytes]:
        if not has_byte_lines(self.encoding):
            yield from self._wide_lines(file)
            return
        for number, line in enumerate(self.byte_lines(file)):
            if number == 0 and line.startswith(b"\xef\xbb\xbf"):
                line = line[3:]
            yield line

    def _wide_lines(self, file: IO[bytes]) -> Iterator[bytes]:
        """The lines of UTF-16 and its like, where an end is not one byte: read as text first."""
        wrapped = io.TextIOWrapper(file, self.encoding, newline="\n")
        try:
            for text in iter(partial(wrapped.readline, MOST_BYTES + 1), ""):
                if len(text) > MOST_BYTES:
                    raise self._endless(self.line + 1)
                yield text.encode(self.encoding)
        except UnicodeError as error:
            # A missing byte order mark is a UnicodeDecodeError from Python 3.13 on.
            if isinstance(error, UnicodeDecodeError) and "BOM" not in error.reason:
                raise self._undecodable(error, self.line + 1) from error
            reason = getattr(error, "reason", error)
            raise DataError(
                f"not {self.encoding}: {reason}; pass the right encoding (--encoding), as in "
                f"{self.encoding}-le",
                line=self.line + 1,
                path=self.name,
            ) from error

    def _endless(self, line: int) -> DataError:
        return DataError(
            f"this line has more than {MOST_BYTES:,} bytes: the file is no text",
            line=line,
            path=self.name,
        )

    def _undecodable(self, error: UnicodeDecodeError, line: int) -> DataError:
        return DataError(undecodable(error, self.encoding), line=line, path=self.name)


def has_byte_lines(encoding: str) -> bool:
    """Whether a line of this encoding ends with the one byte that it does in ASCII."""
    return not codecs.lookup(encoding).name.startswith(_WIDE) and "\n".encode(encoding) == b"\n"


def _with_stand_ins(raw: bytes, encoding: str) -> str:
    """A text in which bytes that are not of this encoding are kept as stand-ins."""
    try:
        return raw.decode(encoding, "surrogateescape")
    except UnicodeDecodeError:  # a byte of ASCII is wrong there, for which there is no stand-in
        return "\udc80" + raw.decode("ascii", "surrogateescape")


def undecodable(error: UnicodeDecodeError, encoding: str) -> str:
    """What is wrong with bytes that are not of an encoding."""
    return (
        f"not {encoding}: byte 0x{error.object[error.start]:02x} at column {error.start + 1}; "
        "pass the right encoding (--encoding)"
    )


class _Counted(io.RawIOBase):
    """A binary file that tells its source how much was read."""

    def __init__(self, raw: BinaryIO, source: Source) -> None:
        self._raw, self._source = raw, source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            data = self._raw.read(len(buffer))
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", path=self._source.name) from error
        buffer[: len(data)] = data
        self._source.bytes_read += len(data)
        return len(data)


@contextmanager
def written_whole(
    path: str | os.PathLike[str],
    *,
    drafts: Path | None = None,
    move: Callable[[str, Path], None] | None = None,
) -> Iterator[BinaryIO]:
    """A binary file to write to, which appears at `path` only when all has been written.

    A name that ends in `.gz` is packed. `-` is standard output. Devices and pipes are written to
    directly, since nothing can be moved onto them.

    Args:
        path: of the file.
        drafts: a folder on the same disk for what is not complete yet; None: beside it.
        move: called with the complete draft and its place; None: moves it there.
    """
    if str(path) == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = place_of(path)
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        with errors_named(path), open(target, "wb") as file:
            yield file
        return
    with errors_named(path):
        # A name may have 255 bytes, and this one becomes longer.
        handle, temporary = tempfile.mkstemp(
            prefix=f".{target.name[:50]}.", dir=drafts or target.parent
        )
    try:
        with errors_named(path), os.fdopen(handle, "wb") as file:
            if target.suffix.lower() == ".gz":
                # Without a name and a time inside, the same data gives the same file.
                with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                    yield cast("BinaryIO", packed)
            else:
                yield file
            file.flush()
            os.fsync(file.fileno())
        with errors_named(path):
            os.chmod(temporary, _mode_for(target))
            (move or os.replace)(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):  # if it came right after the move
            os.unlink(temporary)
        raise


def place_of(path: str | os.PathLike[str]) -> Path:
    """Where a file will be written, with links followed.

    Raises:
        OutputError: its folder is not there, or no file can have such a name.
    """
    target = Path(os.path.realpath(path))
    with errors_named(path):
        os.stat(os.path.join(target.parent, ""))  # the slash asks for a folder
        target.exists()
    return target


def check_not_read(written: Iterable[Path], read: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse to write over a file that is read."""
    inputs = {os.path.realpath(path) for path in read}
    for path in written:
        if os.path.realpath(path) in inputs:
            raise DataError(
                "this input would be written over; choose another name for the output",
                path=str(path),
            )


def is_folder(out: str) -> bool:
    """Whether an output is a folder: one that is there, or a name that ends with a slash."""
    return out.endswith(("/", os.sep)) or os.path.isdir(out)


def files_below(folder: Path) -> list[Path]:
    """The files of a folder and of those in it, in order of name; hidden ones are left out."""
    return sorted(
        file
        for file in folder.rglob("*")
        if file.is_file() and not any(p.startswith(".") for p in file.relative_to(folder).parts)
    )


def check_beginning(word: str) -> None:
    """Refuse a word at the beginning of a file whose first character would be lost there."""
    if word.startswith("\ufeff"):
        raise DataError(
            f"the word {word!r} begins the file with U+FEFF, which is read as a byte order mark"
        )


def without_halves(text: str) -> str:
    """A text in which halves of surrogate pairs, which no encoding can say, are replaced."""
    return _HALF_PAIR.sub("\ufffd", text)


def _mode_for(target: Path) -> int:
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextmanager
def errors_named(path: str | os.PathLike[str]) -> Iterator[None]:
    """What the system says of a file that is written, as our error."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror}", path=str(path)) from error


@contextmanager
def kept_meanwhile() -> Iterator[None]:
    """Errors of what is kept on the disk for a while name its folder, and no output."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"cannot be written: {error.strerror}; TMPDIR may name another folder for what is kept "
            "meanwhile",
            path=tempfile.gettempdir(),
        ) from error
