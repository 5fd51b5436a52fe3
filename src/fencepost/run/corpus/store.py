"""Where the files of a corpus are: on this machine, or wherever pyarrow opens them.

A path that begins with a scheme, as in `s3://bucket/folder`, is opened by pyarrow; all others are
local, and need nothing but Python. What stands behind a question mark belongs to the file system,
as in `s3://bucket/folder?endpoint_override=localhost:9000`.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import unquote

from fencepost.errors import ConfigError, DataError
from fencepost.formats.files import OutputError, atomic_output, files_below

_BUFFER = 1 << 16  # bytes that are read at a time
_FAR_BUFFER = 1 << 18  # from elsewhere, where each time is a request
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True, slots=True)
class File:
    """A file that can be read."""

    path: str
    name: str  # below the folder that was given, or its own
    bytes: int
    modified: float  # seconds since 1970; 0 if that is not known

    @property
    def version(self) -> str:
        """By which one can tell that it was changed."""
        return f"{self.bytes}@{self.modified}"


def is_remote(path: str) -> bool:
    """Whether pyarrow opens it."""
    return _SCHEME.match(path) is not None


def pyarrow() -> Any:
    """The library, or an error that says how to get it."""
    try:
        import pyarrow.fs
        import pyarrow.parquet

        return pyarrow
    except ImportError as error:
        raise ConfigError(
            "Parquet and paths such as s3:// need pyarrow: pip install 'fencepost[parquet]'"
        ) from error


@lru_cache(maxsize=64)
def _filesystem(root: str) -> tuple[Any, str]:
    """The file system of all paths that begin with `root`, as in `s3://bucket`, and its root."""
    try:
        system, base = pyarrow().fs.FileSystem.from_uri(root)
    except (OSError, ValueError) as error:
        raise DataError(f"pyarrow cannot open this: {error}", path=root) from error
    return system, base.rstrip("/")


def _at(path: str) -> tuple[Any, str]:
    """The file system of a remote path, and the path there."""
    address, mark, query = path.partition("?")
    scheme, _, rest = address.partition("://")
    host, _, inner = rest.partition("/")
    system, base = _filesystem(f"{scheme}://{host}/{mark}{query}")
    return system, f"{base}/{unquote(inner)}".rstrip("/") or "/"


def joined(folder: str, name: str) -> str:
    """A path in a folder."""
    if not is_remote(folder):
        return os.path.join(folder, name)
    address, mark, query = folder.partition("?")
    quoted = name.replace("%", "%25").replace("?", "%3F")
    return f"{address.rstrip('/')}/{quoted}{mark}{query}"


@contextmanager
def _told(path: str, what: str, kind: type[DataError] = DataError) -> Iterator[None]:
    """Turn an error of the system into one of ours."""
    try:
        yield
    except OSError as error:
        raise kind(f"{what}: {error.strerror or error}", path=path) from error


def files_at(given: str) -> list[File]:
    """The files of a folder in order of name, or the one that is given.

    Files and folders whose names begin with a dot or an underscore are left out: they hold what a
    program keeps for itself.
    """
    with _told(given, "cannot be read"):
        found = _remote_files(given) if is_remote(given) else _local_files(given)
    if len(found) == 1 and found[0].path == given:
        return found
    found = [one for one in found if not any(p.startswith((".", "_")) for p in one.name.split("/"))]
    return sorted(found, key=lambda file: file.name)


def _local_files(given: str) -> list[File]:
    folder = Path(given)
    if not folder.is_dir():
        return [_local(given, folder.name)]
    return [_local(str(one), one.relative_to(folder).as_posix()) for one in files_below(folder)]


def _local(path: str, name: str) -> File:
    known = os.stat(path)
    if not stat.S_ISREG(known.st_mode):
        return File(path, name, 0, 0.0)  # a pipe, say
    return File(path, name, known.st_size, known.st_mtime)


def _remote_files(given: str) -> list[File]:
    system, root = _at(given)
    kinds = pyarrow().fs.FileType
    info = system.get_file_info(root)
    if info.type == kinds.NotFound:
        raise DataError("there is no such file or folder", path=given)
    if info.type == kinds.File:
        return [_remote(given, info.base_name, info)]
    start = len(root.rstrip("/")) + 1
    return [
        _remote(joined(given, one.path[start:]), one.path[start:], one)
        for one in system.get_file_info(pyarrow().fs.FileSelector(root, recursive=True))
        if one.type == kinds.File
    ]


def _remote(path: str, name: str, info: Any) -> File:
    return File(path, name, info.size, 0.0 if info.mtime_ns is None else info.mtime_ns / 1e9)


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """The bytes of a file; one can move about in it."""
    with _told(path, "cannot be read"):
        if is_remote(path):
            system, inner = _at(path)
            file = cast("BinaryIO", io.BufferedReader(system.open_input_file(inner), _FAR_BUFFER))
        else:
            file = open(path, "rb", buffering=_BUFFER)  # noqa: SIM115  (closed below)
        with file:
            yield file


@contextmanager
def whole(path: str, drafts: str) -> Iterator[BinaryIO]:
    """A file to write to, which appears at `path` only when all has been written.

    Args:
        path: of the file; its folder is made if it is not there.
        drafts: a folder on the same file system, for what is not complete yet.
    """
    if not is_remote(path):
        make_folder(os.path.dirname(path) or ".")
        make_folder(drafts)
        with (
            _told(path, "cannot be written", OutputError),  # also if its draft is gone
            atomic_output(path, drafts=Path(drafts)) as local,
        ):
            yield local
        return
    make_folder(drafts)
    system, inner = _at(path)
    _, draft = _at(joined(drafts, uuid.uuid4().hex))
    try:
        with _told(path, "cannot be written", OutputError):
            system.create_dir(os.path.dirname(inner), recursive=True)
            with system.open_output_stream(draft) as file:
                yield file
            system.move(draft, inner)
    except BaseException:
        with suppress(OSError):  # it may never have been begun
            system.delete_file(draft)
        raise


def make_folder(path: str) -> None:
    """Make a folder, if it is not there."""
    with _told(path, "no folder can be made", OutputError):
        if is_remote(path):
            system, inner = _at(path)
            system.create_dir(inner, recursive=True)
        else:
            Path(path).mkdir(parents=True, exist_ok=True)


def size_of(path: str) -> int | None:
    """How many bytes a file has; None if it is not there."""
    with _told(path, "cannot be read"):
        if not is_remote(path):
            return os.path.getsize(path) if os.path.isfile(path) else None
        system, inner = _at(path)
        info = system.get_file_info(inner)
        return int(info.size) if info.type == pyarrow().fs.FileType.File else None


def sha256_of(path: str) -> str | None:
    """The SHA-256 of a file; None if it is not there."""
    if size_of(path) is None:
        return None
    total = hashlib.sha256()
    with opened(path) as file:
        for data in iter(partial(file.read, _BUFFER), b""):
            total.update(data)
    return total.hexdigest()


def names_in(folder: str) -> list[str]:
    """The names of what lies in a folder; none if it is not there."""
    with _told(folder, "this folder cannot be read", OutputError):
        if not is_remote(folder):
            return sorted(os.listdir(folder)) if os.path.lexists(folder) else []
        system, inner = _at(folder)
        selector = pyarrow().fs.FileSelector(inner, allow_not_found=True)
        return sorted(info.base_name for info in system.get_file_info(selector))


def read_whole(path: str) -> bytes:
    """All that is in a file."""
    with opened(path) as file:
        return file.read()


def remove_folder(path: str) -> None:
    """Remove a folder with all that is in it, if it is there."""
    if is_remote(path):
        system, inner = _at(path)
        with _told(path, "cannot be removed", OutputError):
            if system.get_file_info(inner).type == pyarrow().fs.FileType.Directory:
                system.delete_dir(inner)
    else:
        shutil.rmtree(path, ignore_errors=True)
