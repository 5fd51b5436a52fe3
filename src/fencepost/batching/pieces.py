"""Words as the pieces of a tokenizer, in windows that a transformer can read."""

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

OVERLAP = 1 / 4  # of a window, at least, is in the next one, too
MOST_KNOWN = 200_000  # words whose pieces are remembered
LONGEST_KNOWN = 50  # characters of a word that is remembered
MOST_PIECES = 100  # of a word: of a line of dashes, its beginning and its end tell enough

NO_CASE, SMALL, CAPITALISED, ALL_CAPITALS, ONE_CAPITAL, MIXED = range(6)
CASES = 6

Which = Literal["last", "first", "mean"]
Pieces = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PieceInputs(Generic[Array]):
    """Sentences as windows of pieces, and where the vectors of words come from.

    The vector of a word is the sum of the vectors of its picked pieces, each times its share.
    """

    pieces: Array  # (windows, longest)
    mask: Array  # (windows, longest): which are pieces, and not padding
    cases: Array  # (windows, longest): how the words are capitalised that they are pieces of
    picked: Array  # (picked,): index into all pieces of all windows
    words: Array  # (picked,): index into the batch * (n + 2) words and sentinels
    shares: Array  # (picked,)
    lengths: Ints  # (batch,): of the sentences in words, without the sentinels

    def converted(self, convert: Callable[[Array], Other]) -> PieceInputs[Other]:
        """The same in arrays of another library; lengths stay as they are."""
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
    """A tokenizer, and what else one has to know to cut words with it."""

    tokenizer: Tokenizer
    before: Pieces  # the special ones before each window; the first one is a sentinel
    after: Pieces  # the special ones after each window; the last one is a sentinel
    padding: int
    nothing: int  # stands for a word without any piece
    window: int  # how many are read at a time, special ones included

    def __post_init__(self) -> None:
        if self.window <= len(self.before) + len(self.after):
            raise ModelError(f"a window of {self.window} pieces has no room for words")


def piece_reader(cutter: Cutter, *, which: Which = "last") -> Reader:
    """A reader that turns sentences into pieces of a tokenizer.

    Args:
        cutter: cuts words.
        which: of a word's pieces stand for it.
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
    """Sentences as a transformer reads them.

    Args:
        sentences: with their words.
        spell: gives the pieces of each word, at least one.
        before: the special pieces before each window; the first one is a sentinel.
        after: the special pieces after each window; the last one is a sentinel.
        padding: the number that fills up windows.
        window: how many pieces fit, special ones included.
        which: of a word's pieces stand for it.
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
        shown = [
            case
            for word, own in zip(sentence, spelled, strict=True)
            for case in (case_of(word),) * len(own)
        ]
        starts = window_starts(len(pieces), room)
        # Between two windows, pieces belong to the one whose middle is nearer.
        cuts = [(a + b + room - 1) / 2 for a, b in pairwise(starts)]
        row, first, end = len(windows), number * width, 0
        windows += ([*before, *pieces[start : start + room], *after] for start in starts)
        cases += ([*no_case[0], *shown[start : start + room], *no_case[1]] for start in starts)
        picked.append((row, 0, first, 1.0))
        for word, own in enumerate(spelled, first + 1):
            start, end = end, end + len(own)
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
    """Where windows start that together hold all pieces, evenly spread.

    >>> window_starts(8, 8), window_starts(9, 8), window_starts(21, 8)
    ([0], [0, 1], [0, 4, 8, 13])
    """
    stride = room - int(room * OVERLAP)
    steps = -(-max(0, pieces - room) // stride)
    return [step * (pieces - room) // steps for step in range(steps + 1)] if steps else [0]


def case_of(word: str) -> int:
    """How a word is capitalised, which an uncased tokenizer forgets.

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
    """The pieces of words, each word cut as it is after another one; remembers them.

    What the tokenizer drops altogether, a zero-width character say, is its unknown piece. Of a word
    of more than a hundred pieces, its first and its last fifty are read.
    """

    def __init__(self, cutter: Cutter) -> None:
        self._tokenizer = cutter.tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # the word "[SEP]" is a word
        self._nothing = (cutter.nothing,)
        self._known: dict[str, Pieces] = {}
        # Byte-level tokenizers take the space before a word for a part of it, others do not.
        alone, spaced, both, one = self._cut(["b", " b", "a b", "a"])
        self._lead = " " if one + spaced == both and one + alone != both else ""

    def __call__(self, words: Sequence[str]) -> list[Pieces]:
        """The pieces of each word, at least one."""
        known = self._known
        new = [word for word in dict.fromkeys(words) if word not in known]
        if len(known) + len(new) > MOST_KNOWN:
            # A new one, and not this one emptied: another thread may be reading it.
            known = self._known = {}
            new = list(dict.fromkeys(words))
        pieces = map(self._fitting, self._cut([self._lead + word for word in new]))
        cut = dict(zip(new, pieces, strict=True))
        known.update((word, own) for word, own in cut.items() if len(word) <= LONGEST_KNOWN)
        return [cut[word] if word in cut else known[word] for word in words]

    def _fitting(self, pieces: Pieces) -> Pieces:
        """At least one piece, and not more than are read of a word."""
        if len(pieces) > MOST_PIECES:
            return pieces[: MOST_PIECES // 2] + pieces[-MOST_PIECES // 2 :]
        return pieces or self._nothing

    def _cut(self, texts: list[str]) -> list[Pieces]:
        if not texts:
            return []
        found = self._tokenizer.encode_batch(
            [_sayable(text) for text in texts], add_special_tokens=False
        )
        return [tuple(one.ids) for one in found]


def _sayable(text: str) -> str:
    """A text that can be written in UTF-8: half of a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
