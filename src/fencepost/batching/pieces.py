"""Inputs of transformers: the pieces of words in windows of limited length."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Generic, Literal

import numpy as np

from fencepost.batching.arrays import Ints
from fencepost.batching.batches import padded
from fencepost.batching.inputs import Array, Other, Reader
from fencepost.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

OVERLAP = 1 / 4  # the minimal share of a window that the next one repeats
MOST_KNOWN = 200_000  # words in the cache
LONGEST_KNOWN = 50  # characters of a word in the cache
MOST_PIECES = 100  # of a word, such as a line of dashes

NO_CASE, SMALL, CAPITALISED, ALL_CAPITALS, ONE_CAPITAL, MIXED = range(6)
CASES = 6

Which = Literal["last", "first", "mean"]
Pieces = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PieceInputs(Generic[Array]):
    """Windows of pieces, and the pieces that represent each word.

    The vector of a word is the sum of the vectors of its picked pieces, weighted by `shares`.
    """

    pieces: Array  # (windows, longest): ids
    mask: Array  # (windows, longest): 0 for padding
    cases: Array  # (windows, longest): the capitalisation of each piece's word, see `case_of`
    picked: Array  # (picked,): indices into windows * longest pieces
    words: Array  # (picked,): indices into batch * (n + 2) words and sentinels
    shares: Array  # (picked,)
    lengths: Ints  # (batch,): numbers of words, without the sentinels

    def converted(self, convert: Callable[[Array], Other]) -> PieceInputs[Other]:
        """Convert all arrays but the lengths to another library."""
        return PieceInputs(
            convert(self.pieces),
            convert(self.mask),
            convert(self.cases),
            convert(self.picked),
            convert(self.words),
            convert(self.shares),
            self.lengths,
        )


@dataclass(frozen=True, slots=True)
class Cutter:
    """A tokenizer with its special pieces and the window of the transformer."""

    tokenizer: Tokenizer
    before: Pieces  # special pieces before each window; the first is a sentinel
    after: Pieces  # special pieces after each window; the last is a sentinel
    padding: int
    nothing: int  # the piece of a word without pieces
    window: int  # maximal number of pieces, special ones included

    def __post_init__(self) -> None:
        if self.window <= len(self.before) + len(self.after):
            raise ModelError(f"a window of {self.window} pieces has no room for words")


def piece_reader(cutter: Cutter, *, which: Which = "last") -> Reader:
    """The reader of a transformer.

    Args:
        cutter: the tokenizer and its special pieces.
        which: the piece that represents a word, or the mean of all.
    """
    return partial(
        piece_inputs,
        spell=Speller(cutter),
        before=cutter.before,
        after=cutter.after,
        padding=cutter.padding,
        window=cutter.window,
        which=which,
    )


def piece_inputs(
    sentences: Sequence[Sequence[str]],
    *,
    spell: Callable[[Sequence[str]], list[Pieces]],
    before: Pieces,
    after: Pieces,
    padding: int,
    window: int,
    which: Which,
) -> PieceInputs[Ints]:
    """Build the inputs of a transformer.

    Args:
        sentences: the words of each sentence.
        spell: returns the pieces of words, at least one for each.
        before: special pieces before each window; the first is a sentinel.
        after: special pieces after each window; the last is a sentinel.
        padding: id of the padding piece.
        window: maximal number of pieces, special ones included.
        which: the piece that represents a word, or the mean of all.
    """
    room = window - len(before) - len(after)
    no_case = [NO_CASE] * len(before), [NO_CASE] * len(after)
    width = max(map(len, sentences), default=0) + 2
    windows: list[list[int]] = []
    cases: list[list[int]] = []
    picked: list[tuple[int, int, int, float]] = []  # window, piece in it, word, share
    for number, sentence in enumerate(sentences):
        spelled = spell(sentence)
        pieces = [piece for word in spelled for piece in word]
        piece_cases = [
            case
            for word, word_pieces in zip(sentence, spelled, strict=True)
            for case in (case_of(word),) * len(word_pieces)
        ]
        starts = window_starts(len(pieces), room)
        # A piece in two windows is taken from the one whose middle is nearer.
        cuts = [(a + b + room - 1) / 2 for a, b in pairwise(starts)]
        row, first, end = len(windows), number * width, 0
        windows += ([*before, *pieces[start : start + room], *after] for start in starts)
        cases += (
            [*no_case[0], *piece_cases[start : start + room], *no_case[1]] for start in starts
        )
        picked.append((row, 0, first, 1.0))
        for word, word_pieces in enumerate(spelled, first + 1):
            start, end = end, end + len(word_pieces)
            chosen = range(start, end)
            if which != "mean":
                chosen = chosen[-1:] if which == "last" else chosen[:1]
            for piece in chosen:
                at = bisect_left(cuts, piece)
                place = len(before) + piece - starts[at]
                picked.append((row + at, place, word, 1 / len(chosen)))
        last = first + len(sentence) + 1
        picked.append((len(windows) - 1, len(windows[-1]) - 1, last, 1.0))
    rows, places, words, shares = zip(*picked, strict=True) if picked else ((),) * 4
    ids = padded(windows, value=padding)
    return PieceInputs(
        ids,
        padded([1] * len(row) for row in windows),
        padded(cases),
        np.array(rows, dtype=np.intp) * ids.shape[1] + np.array(places, dtype=np.intp),
        np.array(words, dtype=np.intp),
        np.array(shares, dtype=np.float32),
        np.array([len(sentence) for sentence in sentences], dtype=np.intp),
    )


def window_starts(pieces: int, room: int) -> list[int]:
    """The starts of evenly spread windows that cover all pieces.

    >>> window_starts(8, 8), window_starts(9, 8), window_starts(21, 8)
    ([0], [0, 1], [0, 4, 8, 13])
    """
    stride = room - int(room * OVERLAP)
    steps = -(-max(0, pieces - room) // stride)
    return [step * (pieces - room) // steps for step in range(steps + 1)] if steps else [0]


def case_of(word: str) -> int:
    """The capitalisation of a word, which an uncased tokenizer drops.

    >>> [case_of(word) for word in ("7", "cat", "Mr.", "NATO", "I", "iPhone")]
    [0, 1, 2, 3, 4, 5]
    """
    if word.islower():
        return SMALL
    if word.isupper():
        return ALL_CAPITALS if sum(map(str.isupper, word)) > 1 else ONE_CAPITAL
    if word[:1].isupper() and word[1:].islower():
        return CAPITALISED
    return MIXED if word.lower() != word else NO_CASE


class Speller:
    """Tokenizes words, each as if another one stood before it; caches their pieces.

    A word that the tokenizer drops, such as a zero-width character, is its unknown piece. A word
    of more than 100 pieces is cut to its first and last 50.
    """

    def __init__(self, cutter: Cutter) -> None:
        self._tokenizer = cutter.tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # the word "[SEP]" is a word
        self._nothing = (cutter.nothing,)
        self._known: dict[str, Pieces] = {}
        # To byte-level tokenizers, the space before a word is a part of it.
        alone, spaced, both, before = self._cut(["b", " b", "a b", "a"])
        self._lead = " " if before + spaced == both and before + alone != both else ""

    def __call__(self, words: Sequence[str]) -> list[Pieces]:
        """The pieces of each word, at least one."""
        known = self._known
        new = [word for word in dict.fromkeys(words) if word not in known]
        if len(known) + len(new) > MOST_KNOWN:
            # A new dict, since another thread may be reading this one.
            known = self._known = {}
            new = list(dict.fromkeys(words))
        pieces = map(self._fitting, self._cut([self._lead + word for word in new]))
        cut = dict(zip(new, pieces, strict=True))
        known.update(item for item in cut.items() if len(item[0]) <= LONGEST_KNOWN)
        return [cut[word] if word in cut else known[word] for word in words]

    def _fitting(self, pieces: Pieces) -> Pieces:
        """Cut to `MOST_PIECES` pieces, and replace none by the unknown piece."""
        if len(pieces) > MOST_PIECES:
            return pieces[: MOST_PIECES // 2] + pieces[-MOST_PIECES // 2 :]
        return pieces or self._nothing

    def _cut(self, texts: list[str]) -> list[Pieces]:
        if not texts:
            return []
        encodings = self._tokenizer.encode_batch(
            [_encodable(text) for text in texts], add_special_tokens=False
        )
        return [tuple(encoding.ids) for encoding in encodings]


def _encodable(text: str) -> str:
    """Replace halves of surrogate pairs, which UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
