"""Static word vectors from a file: GloVe's and word2vec's text, or an array with its words."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import numpy as np

from fencepost.batching.arrays import Floats
from fencepost.errors import DataError
from fencepost.formats.files import Source


def read_vectors(path: str | os.PathLike[str], *, most: int) -> tuple[tuple[str, ...], Floats]:
    """Read the first words of a file and their vectors, (words, width).

    Args:
        path: text with a word and its numbers on each line (a header line is skipped), or an
            `.npy` array with the words in a `.txt` of the same name.
        most: maximal number of words; such files begin with the most frequent ones.
    """
    if Path(path).suffix == ".npy":
        return _array(Path(path), most)
    words: list[str] = []
    rows: list[list[float]] = []
    source = Source(path)
    for line in source.lines():
        word, *numbers = line.rstrip(" ").split(" ")
        if source.line == 1 and len(numbers) == 1:
            continue
        if len(words) == most:
            break
        try:
            row = [float(number) for number in numbers]
        except ValueError:
            row = []
        if not row or (rows and len(row) != len(rows[0])):
            expected = f"{len(rows[0])} numbers" if rows else "numbers"
            raise DataError(
                f"a word and {expected} are expected", path=source.name, line=source.line
            )
        words.append(word)
        rows.append(row)
    if not rows:
        raise DataError("there are no vectors here", kind="empty", path=source.name)
    return tuple(words), np.array(rows, dtype=np.float32)


def _array(path: Path, most: int) -> tuple[tuple[str, ...], Floats]:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataError(f"no array of numbers: {error}", path=str(path)) from error
    words = tuple(islice(Source(path.with_suffix(".txt")).lines(), most))
    if array.ndim != 2 or len(array) < len(words):
        raise DataError(
            f"{len(words)} words and an array of {' x '.join(map(str, array.shape))} do not fit",
            path=str(path),
        )
    return words, np.array(array[: len(words)], dtype=np.float32)
