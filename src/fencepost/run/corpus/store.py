"""Where the files of a corpus are: on this machine, or wherever pyarrow opens them.

A path with `://` in it, as in `s3://bucket/folder`, is opened by pyarrow; all others are local, and
need nothing but Python.
"""

from __future__ import annotations

import io
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, cast

from fencepost.errors import ConfigError, DataError
from fencepost.formats.files import OutputError, files_below, written_whole

_BUFFER = 1 << 18


@dataclass(frozen=True, slots=True)
class File:
    """A file that can be read."""

    path: str
    name: str  # below the folder that was given, or its own
    bytes: int
    modified: float  # seconds since 1970; 0 if that is not known


def is_remote(path: str) -> bool:
    """Whether pyarrow opens it."""
    return "://" in path


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
def _filesystem(root: str) -> Any:
    """The file system of all paths that begin with `root`, as in `s3://bucket`."""
    fs = pyarrow().fs
    try:
        return fs.FileSystem.from_uri(root)[0]
    except (OSError, ValueError) as error:
        raise DataError(f"pyarrow cannot open this: {error}", path=root) from error


def _at(path: str) -> tuple[Any, str]:
    """The file system of a remote path, and the path there."""
    scheme, _, rest = path.partition("://")
    found = _filesystem(f"{scheme}://{rest.split('/')[0]}")
    try:
        return found, pyarrow().fs.FileSystem.from_uri(path)[1]
    except (OSError, ValueError) as error:
        raise DataError(f"pyarrow cannot open this: {error}", path=path) from error


def joined(folder: str, name: str) -> str:
    """A path in a folder."""
    return f"{folder.rstrip('/')}/{name}" if is_remote(folder) else os.path.join(folder, name)


def files_at(given: str) -> list[File]:
    """The files of a folder in order of name, or the one that is given.

    Files and folders whose names begin with a dot or an underscore are left out: they hold what a
    program keeps for itself.
    """
    if is_remote(given):
        fs, root = _at(given)
        info = fs.get_file_info(root)
        kinds = pyarrow().fs.FileType
        if info.type == kinds.NotFound:
            raise DataError("there is no such file or folder", path=given)
        if info.type == kinds.File:
            return [File(given, info.base_name, info.size, _seconds(info))]
        selector = pyarrow().fs.FileSelector(root, recursive=True)
        start = len(root.rstrip("/")) + 1
        found = [
            File(joined(given, one.path[start:]), one.path[start:], one.size, _seconds(one))
            for one in fs.get_file_info(selector)
            if one.type == kinds.File
        ]
    else:
        path = Path(given)
        if not path.is_dir():
            return [_local(path, path.name)]
        found = [_local(one, one.relative_to(path).as_posix()) for one in files_below(path)]
    found = [one for one in found if not any(p.startswith((".", "_")) for p in one.name.split("/"))]
    return sorted(found, key=lambda file: file.name)


def _local(path: Path, name: str) -> File:
    try:
        known = path.stat()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=str(path)) from error
    return File(str(path), name, known.st_size, known.st_mtime)


def _seconds(info: Any) -> float:
    return 0.0 if info.mtime_ns is None else info.mtime_ns / 1e9


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """The bytes of a file; one can move about in it."""
    try:
        if is_remote(path):
            fs, inner = _at(path)
            file = cast("BinaryIO", io.BufferedReader(fs.open_input_file(inner), _BUFFER))
        else:
            file = open(path, "rb", buffering=_BUFFER)  # noqa: SIM115  (closed below)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from error
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
        with written_whole(path, drafts=Path(drafts)) as local:
            yield local
        return
    fs, inner = _at(path)
    draft = f"{_at(drafts)[1].rstrip('/')}/{uuid.uuid4().hex}"
    try:
        fs.create_dir(os.path.dirname(inner), recursive=True)
        fs.create_dir(os.path.dirname(draft), recursive=True)
        with fs.open_output_stream(draft) as file:
            yield file
        fs.move(draft, inner)
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror or error}", path=path) from error


def make_folder(path: str) -> None:
    """Make a folder, if it is not there."""
    try:
        if is_remote(path):
            fs, inner = _at(path)
            fs.create_dir(inner, recursive=True)
        else:
            Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"no folder can be made: {error.strerror or error}", path=path) from error


def size_of(path: str) -> int | None:
    """How many bytes a file has; None if it is not there."""
    if not is_remote(path):
        return os.path.getsize(path) if os.path.isfile(path) else None
    fs, inner = _at(path)
    info = fs.get_file_info(inner)
    return int(info.size) if info.type == pyarrow().fs.FileType.File else None


def names_in(folder: str) -> list[str]:
    """The names of what lies in a folder; none if it is not there."""
    if not is_remote(folder):
        if os.path.exists(folder) and not os.path.isdir(folder):
            raise OutputError("this is a file, and a folder was expected", path=folder)
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    fs, inner = _at(folder)
    selector = pyarrow().fs.FileSelector(inner, allow_not_found=True)
    return sorted(info.base_name for info in fs.get_file_info(selector))


def read_whole(path: str) -> bytes:
    """All that is in a file."""
    with opened(path) as file:
        return file.read()


def remove_folder(path: str) -> None:
    """Remove a folder with all that is in it, if it is there."""
    if is_remote(path):
        fs, inner = _at(path)
        if fs.get_file_info(inner).type == pyarrow().fs.FileType.Directory:
            fs.delete_dir(inner)
    else:
        shutil.rmtree(path, ignore_errors=True)
