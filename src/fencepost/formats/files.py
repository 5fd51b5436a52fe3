"""Input line by line with gzip and encodings, and output that appears whole or not at all."""

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
MOST_BYTES = 64 << 20  # of a line, or of a text that is read at once

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_GZIP_MAGIC = b"\x1f\x8b"
_WIDE = ("utf-16", "utf-32", "utf-7")  # their line ends are not one byte
_DESCRIPTOR = re.compile(r"(?:/dev|/proc/(?:self|(\d+))(?:/task/\d+)?)/fd/(\d{1,9})")
_MOST_LINKS = 40  # from a name to a file, as many as Linux follows


class OutputError(DataError):
    """A file cannot be written, whatever its content."""


class Source:
    """A file to read, and the current position in it.

    Args:
        path: the file, or `-` for standard input. gzip is recognised by its first bytes.
        encoding: the encoding of its text.
        forgiving: whether undecodable bytes become surrogates instead of an error, so that the
            caller can leave out only what contains them.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, encoding: str = "utf-8", forgiving: bool = False
    ) -> None:
        self.name = "<stdin>" if str(path) == STANDARD else str(path)
        self.path = path
        self.encoding = encoding
        self.forgiving = forgiving
        self.has_escapes = False  # whether a line had undecodable bytes
        self.bytes_read = 0
        self.line = 0  # the latest line

    @property
    def stem(self) -> str:
        """The name of the file without folder, `.gz` and suffix."""
        return Path(self.name.removesuffix(".gz")).stem

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The decompressed bytes of the file."""
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
        """The lines of the file without line ends; `line` is the number of the latest."""
        self.line = 0
        with self.open() as file:
            for raw in self._raw_lines(file):
                self.line += 1
                try:
                    text = raw.decode(self.encoding)
                except UnicodeDecodeError as error:
                    if not self.forgiving:
                        raise self._decoding_error(error, self.line) from error
                    self.has_escapes = True
                    text = _escaped(raw, self.encoding)
                yield text.rstrip("\r\n")

    def read_whole(self) -> bytes:
        """All decompressed bytes of the file.

        Raises:
            DataError: there are more than `MOST_BYTES`.
        """
        with self.open() as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise DataError(
                f"more than {MOST_BYTES:,} bytes, which is no text of one document", path=self.name
            )
        return data

    def read_text(self) -> str:
        """The text of the file as it is, including a byte order mark.

        Raises:
            DataError: the file is too large, or in another encoding.
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
        """The lines of this open file with their line ends.

        Raises:
            DataError: a line has more than `MOST_BYTES`.
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
        """The lines of UTF-16 and the like, whose line ends are not one byte: decode first."""
        wrapped = io.TextIOWrapper(file, self.encoding, newline="\n")
        try:
            for text in iter(partial(wrapped.readline, MOST_BYTES + 1), ""):
                if len(text) > MOST_BYTES:
                    raise self._endless(self.line + 1)
                yield text.encode(self.encoding)
        except UnicodeError as error:
            # A missing byte order mark is a UnicodeDecodeError from Python 3.13 on.
            if isinstance(error, UnicodeDecodeError) and "BOM" not in error.reason:
                raise self._decoding_error(error, self.line + 1) from error
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

    def _decoding_error(self, error: UnicodeDecodeError, line: int) -> DataError:
        return DataError(decoding_message(error, self.encoding), line=line, path=self.name)


def has_byte_lines(encoding: str) -> bool:
    """Whether lines in this encoding end with the byte that ends them in ASCII."""
    return not codecs.lookup(encoding).name.startswith(_WIDE) and "\n".encode(encoding) == b"\n"


def _escaped(raw: bytes, encoding: str) -> str:
    """The text of bytes, with surrogates for those that are not of this encoding."""
    try:
        return raw.decode(encoding, "surrogateescape")
    except UnicodeDecodeError:  # a byte below 128 is wrong, which has no surrogate
        return "\udc80" + raw.decode("ascii", "surrogateescape")


def decoding_message(error: UnicodeDecodeError, encoding: str) -> str:
    """The message for bytes that are not of an encoding."""
    return (
        f"not {encoding}: byte 0x{error.object[error.start]:02x} at column {error.start + 1}; "
        "pass the right encoding (--encoding)"
    )


class _Counted(io.RawIOBase):
    """A binary file that counts the bytes read from its source."""

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
def atomic_output(
    path: str | os.PathLike[str],
    *,
    drafts: Path | None = None,
    move: Callable[[str, Path], None] | None = None,
) -> Iterator[BinaryIO]:
    """A binary file to write to, which appears at `path` only when it is complete.

    A name ending in `.gz` is compressed. `-` is standard output. Devices, pipes and files that are
    open (`/dev/stdout`, `/dev/fd/3`) are written to directly, since no file can replace them.

    Args:
        path: the file.
        drafts: a folder on the same disk for the incomplete file; by default, the file's folder.
        move: called with the complete draft and its target; by default, moves it there.
    """
    if place_of_output(path) == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    descriptor = _descriptor(path)
    if descriptor is not None:
        # Opened by its name, a file that others write to as well would be emptied.
        with output_errors(path), os.fdopen(os.dup(descriptor), "wb") as file:
            yield file
        return
    target = output_path(path)
    if is_stream(target) or target.is_dir():  # of a folder, this is an error before any work
        with output_errors(path), open(target, "wb") as file:
            yield file
        return
    with output_errors(path):
        # File names have at most 255 bytes, and this one gets longer.
        handle, temporary = tempfile.mkstemp(
            prefix=f".{target.name[:50]}.", dir=drafts or target.parent
        )
    try:
        with output_errors(path), os.fdopen(handle, "wb") as file:
            if target.suffix.lower() == ".gz":
                # Without a name and a time, the same data gives the same bytes.
                with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                    yield cast("BinaryIO", packed)
            else:
                yield file
            file.flush()
            os.fsync(file.fileno())
        with output_errors(path):
            os.chmod(temporary, _mode_for(target))
            (move or os.replace)(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):  # the error came right after the move
            os.unlink(temporary)
        raise


def place_of_output(path: str | os.PathLike[str]) -> str:
    """The path as text; `-` for the other names of standard output, such as `/dev/stdout`."""
    return STANDARD if _descriptor(path) == 1 else str(path)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a device, a pipe or the number of an open file, which nothing replaces."""
    if _descriptor(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _descriptor(path: str | os.PathLike[str]) -> int | None:
    """The number of the open file that a path names, as `/dev/fd/3` does, or a link to it."""
    name = os.path.abspath(path)
    for _ in range(_MOST_LINKS):
        for place in (name, _in_real_folder(name)):
            found = _DESCRIPTOR.fullmatch(place)
            if found and found[1] in (None, str(os.getpid())):
                return int(found[2])
        if not os.path.islink(name):
            return None
        name = os.path.join(os.path.dirname(name), os.readlink(name))
    return None


def _in_real_folder(name: str) -> str:
    folder, base = os.path.split(name)
    return os.path.join(os.path.realpath(folder), base)


def output_path(path: str | os.PathLike[str]) -> Path:
    """The path at which a file will be written, with links resolved.

    Raises:
        OutputError: the folder does not exist, or the name is invalid.
    """
    target = Path(os.path.realpath(path))
    with output_errors(path):
        os.stat(os.path.join(target.parent, ""))  # the slash asks for a folder
        target.exists()
    return target


def check_not_read(written: Iterable[Path], read: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse to overwrite an input."""
    inputs = {os.path.realpath(path) for path in read}
    for path in written:
        if os.path.realpath(path) in inputs:
            raise DataError(
                "this input would be written over; choose another name for the output",
                path=str(path),
            )


def is_folder(out: str) -> bool:
    """Whether an output is a folder: an existing one, or a name that ends with a slash."""
    return out.endswith(("/", os.sep)) or os.path.isdir(out)


def files_below(folder: Path) -> list[Path]:
    """All files below a folder in order of name, without hidden ones."""
    return sorted(
        file
        for file in folder.rglob("*")
        if file.is_file() and not any(p.startswith(".") for p in file.relative_to(folder).parts)
    )


def check_beginning(word: str) -> None:
    """Refuse a first word whose first character would be read as a byte order mark."""
    if word.startswith("\ufeff"):
        raise DataError(
            f"the word {word!r} begins the file with U+FEFF, which is read as a byte order mark"
        )


def without_surrogates(text: str) -> str:
    """A text with surrogates replaced, which no encoding can express."""
    return _SURROGATE.sub("\ufffd", text)


def _mode_for(target: Path) -> int:
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextmanager
def output_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors of the operating system into an `OutputError` for this path."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror}", path=str(path)) from error


@contextmanager
def scratch_errors() -> Iterator[None]:
    """Turn errors of temporary files into an `OutputError` for their folder."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"cannot be written: {error.strerror}; TMPDIR may name another folder for what is kept "
            "meanwhile",
            path=tempfile.gettempdir(),
        ) from error
