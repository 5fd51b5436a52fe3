"""Files of a corpus, and lists of its documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fencepost.errors import DataError
from fencepost.formats.corpora.document import SPLITS, Split
from fencepost.formats.files import Source

_SHOWN = 5  # names in a message


def corpus_files(folder: Path) -> list[Path]:
    """All files below a folder, in order of name."""
    if not folder.is_dir():
        raise DataError("there is no such folder", path=str(folder))
    return sorted(file for file in folder.rglob("*") if file.is_file())


def text_of(path: Path, encodings: Sequence[str]) -> str:
    """The text of a file, decoded by the first of the encodings that works."""
    data = Source(path).read_whole()
    line = 0
    for encoding in encodings:
        try:
            return data.decode(encoding).removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            line = 1 + data.count(b"\n", 0, error.start)
    raise DataError(
        f"not {' and not '.join(encodings)}; pass the right encoding (--encoding)",
        line=line,
        path=str(path),
    )


def best_of(files: Iterable[Path], rank: Callable[[Path], Any]) -> Path:
    """The file or folder of lowest rank; a tie is an error, since either may be wrong."""
    first, *others = sorted((rank(file), file) for file in files)
    if others and others[0][0] == first[0]:
        raise DataError(
            f"{others[0][1]} has the same name; give a folder that holds only one of the two",
            kind="duplicate",
            path=str(first[1]),
        )
    return first[1]


def listed(
    ids: Mapping[str, Path], find: Callable[[str], Sequence[str]], *, looked_for: str
) -> dict[Split, list[str]]:
    """The documents of each split, in the order of its list.

    A list has one entry per line, or several separated by commas; `#` begins a comment.

    Args:
        ids: the list of each split.
        find: returns the documents of an entry; empty if there are none.
        looked_for: description of a document, for the message if there is none.
    """
    names_of: dict[Split, list[str]] = {}
    split_of: dict[str, Split] = {}
    for split in SPLITS:
        documents: dict[str, None] = {}
        unknown: list[str] = []
        for entry in _entries(ids[split]):
            names = find(entry)
            documents.update(dict.fromkeys(names))
            if not names:
                unknown.append(entry)
        path = str(ids[split])
        if unknown:
            raise DataError(
                f"no document for {_shortened(unknown)}; looked for {looked_for}", path=path
            )
        if not documents:
            raise DataError("this list names no document", kind="empty", path=path)
        twice = [name for name in documents if name in split_of]
        if twice:
            raise DataError(
                f"{_shortened(twice)} of {split} {'is' if len(twice) == 1 else 'are'} "
                f"also in the list of {split_of[twice[0]]}",
                kind="duplicate",
                path=path,
            )
        split_of.update(dict.fromkeys(documents, split))
        names_of[split] = list(documents)
    return names_of


def _entries(path: Path) -> Iterator[str]:
    for line in Source(path).lines():
        for entry in line.partition("#")[0].split(","):
            if entry.strip():
                yield entry.strip()


def _shortened(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
