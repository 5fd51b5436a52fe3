"""Write parses to a file, whole or not at all."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fencepost.errors import ConfigError, DataError
from fencepost.formats.files import STANDARD, atomic_output, output_path
from fencepost.formats.registry import written_format
from fencepost.formats.settings import WriteSettings
from fencepost.structure import Parse


def write(
    parses: Iterable[Parse],
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    **settings: Any,
) -> int:
    """Write parses to a file, whole or not at all, and return their number.

    Args:
        parses: any number; they are iterated over once.
        path: a file, or `-` for standard output; `.gz` compresses. For brat, a folder or an `.ann`.
        format: `ptb`, `pretty`, `data`, `jsonl`, `conll`, `conllu`, `brat`, `tsv`, `html`, `spacy`,
            `labelstudio`, `doccano` or `cas`; by default, the format of the suffix.
        settings: fields of `WriteSettings`.
    """
    try:
        chosen = WriteSettings(**settings)
    except TypeError as error:
        raise ConfigError(f"unknown setting for writing: {error}") from error
    target = written_format(path, format)
    if str(path) != STANDARD:
        output_path(path)  # fails early
    counted = _Counted(parses)
    try:
        if target.save is not None:
            target.save(counted, Path(path), chosen)
        else:
            assert target.pieces is not None
            # One encoder for all pieces: UTF-16 begins with a mark, and only once.
            encoder = codecs.getincrementalencoder(chosen.encoding)()
            with atomic_output(path) as file:
                for piece in target.pieces(counted, chosen):
                    file.write(encoder.encode(piece))
    except UnicodeEncodeError as error:
        raise DataError(
            f"sentence {counted.number}: {chosen.encoding} has no {error.object[error.start]!r}",
            path=str(path),
        ) from error
    except DataError as error:
        if counted.number and not error.path:
            raise DataError(
                f"sentence {counted.number}: {error.message}", kind=error.kind
            ) from error
        raise
    return counted.number


class _Counted:
    """An iterator over parses that counts them."""

    def __init__(self, parses: Iterable[Parse]) -> None:
        self._parses = iter(parses)
        self.number = 0

    def __iter__(self) -> _Counted:
        return self

    def __next__(self) -> Parse:
        parse = next(self._parses)
        self.number += 1
        return parse
