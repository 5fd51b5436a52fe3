"""The tokenizer in a model's folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from fencepost.batching.pieces import Cutter
from fencepost.errors import ModelError
from fencepost.runtime.manifest import size_of

TOKENIZER = "tokenizer.json"
MOST_TOKENIZER_BYTES = 2**26
NO_LIMIT = 1_000_000  # pieces; tokenizers without a limit say 10 ** 30


def restore_cutter(pieces: Any, folder: Path, *, vectors: int, window: int = NO_LIMIT) -> Cutter:
    """The cutter of words for the transformer of a model of ours.

    Args:
        pieces: special ones, and the window.
        folder: of the model; its tokenizer lies in `tokenizer.json`.
        vectors: how many pieces the transformer has a vector for.
        window: how many pieces it can read at a time.
    """
    path = folder / TOKENIZER
    size_of(path, most=MOST_TOKENIZER_BYTES)
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except BaseException as error:
        if not is_refusal(error):
            raise
        raise ModelError(f"{path}: cannot be read: {brief(error)}") from error
    try:
        cutter = Cutter(
            tokenizer,
            tuple(map(int, pieces["before"])),
            tuple(map(int, pieces["after"])),
            int(pieces["padding"]),
            int(pieces["nothing"]),
            int(pieces["window"]),
        )
        _check_pieces(cutter, vectors=vectors, window=window)
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise ModelError(
            f"{folder}/config.json: pieces: not what was expected: {error!r}"
        ) from error
    largest = max(tokenizer.get_vocab().values(), default=0)  # numbers may be left out
    if largest >= vectors:
        raise ModelError(f"{path}: piece {largest}, where {vectors} have a vector")
    return cutter


def _check_pieces(cutter: Cutter, *, vectors: int, window: int) -> None:
    """Refuse pieces without a vector, and windows that are longer than what can be read."""
    special = (*cutter.before, *cutter.after, cutter.padding, cutter.nothing)
    if not cutter.before or not cutter.after or min(special) < 0:
        raise ValueError(f"{special[:8]}")
    if cutter.window > window:
        raise ValueError(f"a window of {cutter.window}, longer than what the transformer reads")
    if max(special) >= vectors:
        raise ValueError(f"piece {max(special)}, where {vectors} have a vector")


def plain_pieces(cutter: Cutter) -> dict[str, Any]:
    """The settings of a model's pieces."""
    names = ("before", "after", "padding", "nothing", "window")
    return {name: getattr(cutter, name) for name in names}


def is_refusal(error: BaseException) -> bool:
    """Whether an error is what a library says of bad data.

    A panic of one that is written in Rust is none of Python's `Exception`.
    """
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def brief(error: BaseException) -> str:
    """The message of a library about bad data, on one line."""
    return " ".join(str(error).split())[:300] or type(error).__name__
