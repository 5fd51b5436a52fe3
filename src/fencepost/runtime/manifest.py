"""Which files belong together: a list of them, with sizes and checksums.

    manifest.json   {"version": 1, "files": {"config.json": {"bytes": 1788, "sha256": "c9c9…"}, …}}

By it one finds what was cut short, changed on the way, or taken from another folder. It is no
signature: whoever can change a file can change the list, too.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fencepost.errors import ModelError

MANIFEST = "manifest.json"
VERSION = 1

_DRAFT = f".{MANIFEST}"
MOST_MANIFEST = 2**20  # of the list itself


@dataclass(frozen=True, slots=True)
class Listed:
    """A file as it was written."""

    bytes: int
    sha256: str


def write_manifest(folder: Path, names: Iterable[str]) -> None:
    """List files of a folder that is still a draft; they are on the disk by then."""
    _write(folder / MANIFEST, {name: _listed(folder / name) for name in names})


def replace_files(folder: Path, drafts: Mapping[str, Path]) -> None:
    """Put drafts in the place of files, and list these anew if there is a list.

    All is written before the first is replaced; from there on only names change.
    """
    listed = read_manifest(folder)
    if listed is not None:
        new = {name: _listed(draft) for name, draft in drafts.items()}
        drafts = {**drafts, MANIFEST: folder / _DRAFT}
        _write(folder / _DRAFT, {**listed, **new})
    try:
        for name, draft in drafts.items():
            os.replace(draft, folder / name)
    finally:
        (folder / _DRAFT).unlink(missing_ok=True)


def read_manifest(
    folder: Path, *, known: Collection[str] | None = None
) -> dict[str, Listed] | None:
    """The list in a folder; None if there is none.

    Args:
        folder: with the files.
        known: names that may be in it; None: any plain ones.

    Raises:
        ModelError: it is no list of ours, or names files that are none of the folder's.
    """
    path = folder / MANIFEST
    if not os.path.lexists(path):
        return None
    data = read_json(path, most=MOST_MANIFEST)
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise ModelError(f"{path}: not of version {VERSION} of our list of files")
    try:
        listed = {name: Listed(**one) for name, one in data["files"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path}: not what was expected: {error!r}") from error
    for name, one in listed.items():
        if name != os.path.basename(name) or (known is not None and name not in known):
            raise ModelError(f"{path}: {name[:100]!r} is no file of this folder")
        if not isinstance(one.bytes, int) or not isinstance(one.sha256, str):
            raise ModelError(f"{path}: {name}: a size and a checksum are expected")
    return listed


def check_sizes(folder: Path, listed: Mapping[str, Listed]) -> None:
    """Refuse files that are missing, or longer or shorter than they were written."""
    for name, one in listed.items():
        size = size_of(folder / name)
        if size != one.bytes:
            raise ModelError(
                f"{folder / name}: {size:,} bytes, where {MANIFEST} says {one.bytes:,}: cut "
                "short, changed by hand, or not of this folder; copy the folder anew"
            )


def check_contents(folder: Path, listed: Mapping[str, Listed]) -> None:
    """Refuse files that have other bytes than they were written with."""
    for name, one in listed.items():
        try:
            with open(folder / name, "rb") as file:
                checksum = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ModelError(f"{folder / name}: cannot be read: {error.strerror}") from error
        if checksum != one.sha256:
            raise ModelError(
                f"{folder / name}: not as it was written, by its checksum in {MANIFEST}: damaged, "
                "changed by hand, or not of this folder; copy the folder anew"
            )


def size_of(path: Path, *, most: int | None = None) -> int:
    """The bytes of a file, which has to be a plain one and not too large."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ModelError(f"{path}: cannot be read: {reason}") from error
    if not stat.S_ISREG(status.st_mode):  # to open a pipe would be to wait forever
        raise ModelError(f"{path}: cannot be read: it is no plain file")
    if most is not None and status.st_size > most:
        raise ModelError(f"{path}: {status.st_size:,} bytes, where at most {most:,} are right")
    return status.st_size


def read_bytes(path: Path, *, most: int) -> bytes:
    """The contents of a plain file of at most so many bytes."""
    size_of(path, most=most)
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error


def read_json(path: Path, *, most: int) -> Any:
    """The data in a file of at most so many bytes."""
    try:
        return json.loads(read_bytes(path, most=most).decode())
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: no JSON: {error}") from error


def _listed(path: Path) -> Listed:
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return Listed(file.tell(), digest)


def _write(path: Path, files: Mapping[str, Listed]) -> None:
    plain = {name: asdict(one) for name, one in files.items()}
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{json.dumps({'version': VERSION, 'files': plain}, indent=1)}\n")
        file.flush()
        os.fsync(file.fileno())
