"""Words become pieces, and pieces windows, without losing any."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fencepost.batching import pieces
from fencepost.batching.arrays import Ints
from fencepost.batching.pieces import (
    CASES,
    LONGEST_KNOWN,
    MOST_PIECES,
    OVERLAP,
    PieceInputs,
    Speller,
    Which,
    case_of,
    piece_reader,
    window_starts,
)
from fencepost.errors import ModelError
from fencepost.model.pretrained import cutter_of, sentinels
from tests.tiny import WORDS, byte_pairs, word_pieces

ZERO_WIDTH = "\u200b"
CUTTER = cutter_of(word_pieces(), window=24)


def inputs(words: str, *, window: int = 24, which: Which = "last") -> PieceInputs[Ints]:
    read = piece_reader(cutter_of(word_pieces(), window=window), which=which)([words.split(" ")])
    assert isinstance(read, PieceInputs)
    return read


def read_by(found: PieceInputs[Ints], word: int) -> list[str]:
    """The picked pieces of a word of a batch."""
    picked = found.picked[found.words == word]
    return list(word_pieces().convert_ids_to_tokens(found.pieces.flatten()[picked].tolist()))


@pytest.mark.parametrize(
    ("which", "expected"), [("last", ["##b"]), ("first", ["b"]), ("mean", ["b", "##a", "##b"])]
)
def test_the_wanted_pieces_stand_for_a_word(which: Which, expected: list[str]) -> None:
    found = inputs("the bab sat", which=which)
    assert [read_by(found, word) for word in range(5)] == [
        ["[CLS]"],
        ["the"],
        expected,
        ["sat"],
        ["[SEP]"],
    ]
    shares = found.shares[found.words == 2]
    assert float(shares.sum()) == pytest.approx(1.0)


def test_words_without_pieces_are_unknown() -> None:
    found = inputs(f"cat {ZERO_WIDTH} sat")
    assert read_by(found, 2) == ["[UNK]"]
    assert found.lengths.tolist() == [3]


def test_names_of_special_pieces_are_words() -> None:
    assert "[SEP]" not in read_by(inputs("a [SEP] b", which="mean"), 2)


def test_of_a_word_of_very_many_pieces_the_ends_are_read() -> None:
    spell = Speller(CUTTER)
    (short,) = spell(["-" * MOST_PIECES])
    assert len(short) == MOST_PIECES
    (long,) = spell(["a" + "-" * 100_000 + "b"])
    assert long == (*spell(["a"])[0], *short[1:-1], *spell(["b"])[0])


def test_very_long_words_are_not_remembered() -> None:
    spell = Speller(CUTTER)
    words = ["a" * LONGEST_KNOWN, "b" * (LONGEST_KNOWN + 1)]
    assert spell(words) == spell(words)
    assert list(spell._known) == words[:1]


def test_byte_level_words_are_cut_as_within_a_text() -> None:
    tokenizer = byte_pairs()
    spell = Speller(cutter_of(tokenizer, window=24))
    assert spell(["sat"])[0] == tuple(tokenizer(" sat", add_special_tokens=False).input_ids)
    assert spell(["sat"]) != spell(["satsat"])
    assert all(spell(["", ZERO_WIDTH, "猫", "\ud800"]))


def test_a_tokenizer_without_special_pieces_around_a_text_lends_its_begin_and_end() -> None:
    assert sentinels(byte_pairs()) == ((0,), (2,))
    assert sentinels(byte_pairs(specials=False)) == ((0,), (2,))
    assert sentinels(word_pieces()) == ((2,), (3,))


def test_a_tokenizer_with_only_an_unknown_piece_lends_that() -> None:
    tokenizer = byte_pairs(specials=False)
    tokenizer.bos_token = tokenizer.eos_token = tokenizer.pad_token = None
    assert sentinels(tokenizer) == ((3,), (3,))
    tokenizer.unk_token = None
    with pytest.raises(ModelError, match="no special pieces"):
        sentinels(tokenizer)


def test_words_that_are_many_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "MOST_KNOWN", 3)
    spell = Speller(CUTTER)
    for words in (["a", "b"], ["b", "c", "a"], ["d", "a"], ["a", "b", "c", "d", "e"]):
        assert spell(words) == Speller(CUTTER)(words)


@given(st.integers(0, 300), st.integers(1, 40))
def test_windows_hold_all_pieces_and_overlap(count: int, room: int) -> None:
    starts = window_starts(count, room)
    assert starts[0] == 0
    if count <= room:
        assert starts == [0]
    else:
        assert starts[-1] + room == count
        assert all(a < b <= a + room - int(room * OVERLAP) for a, b in pairwise(starts))


@given(st.lists(st.sampled_from([*WORDS, "bobobob", "x" * 30]), max_size=60), st.integers(3, 24))
def test_each_piece_is_read_where_it_is_farthest_from_the_edges(
    words: list[str], window: int
) -> None:
    spelled = [piece for word in Speller(CUTTER)(words) for piece in word]
    found = piece_reader(cutter_of(word_pieces(), window=window), which="mean")([words])
    assert isinstance(found, PieceInputs)
    longest = found.pieces.shape[1]
    assert longest <= window
    assert found.pieces.flatten()[found.picked].tolist() == [2, *spelled, 3]
    room = window - 2
    starts = window_starts(len(spelled), room)
    for piece, at in enumerate(found.picked[1:-1].tolist()):
        row, place = at // longest, at % longest - 1
        assert starts[row] + place == piece
        nearest = [
            min(piece - start, start + room - 1 - piece)
            for start in starts
            if start <= piece < start + room
        ]
        if len(starts) > 1:
            assert min(place, room - 1 - place) == max(nearest)


def test_windows_without_room_are_refused() -> None:
    with pytest.raises(ModelError, match="no room"):
        cutter_of(word_pieces(), window=2)


def test_a_batch_is_padded_to_its_longest_window_and_converted() -> None:
    found = piece_reader(CUTTER)([["cat"], [], ["a", "b", "c"]])
    assert isinstance(found, PieceInputs)
    moved = found.converted(torch.from_numpy)
    assert isinstance(moved.shares, torch.Tensor)
    assert moved.mask.tolist() == [[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1] * 5]
    assert moved.words.tolist() == [0, 1, 2, 5, 6, 10, 11, 12, 13, 14]
    assert moved.lengths.tolist() == [1, 0, 3]


def test_each_piece_knows_how_its_word_is_capitalised() -> None:
    found = inputs("The catz SAT", window=7)
    assert found.pieces.shape == found.cases.shape
    for row, cases in zip(found.pieces.tolist(), found.cases.tolist(), strict=True):
        names = word_pieces().convert_ids_to_tokens(row)
        expected = {"the": 2, "cat": 1, "##z": 1, "sat": 3}
        assert [expected.get(name, 0) for name in names] == cases


@given(st.text())
def test_every_word_has_a_case(word: str) -> None:
    assert 0 <= case_of(word) < CASES


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("cat", "cat"),
        ("\ud800", "\ufffd"),
        ("a\ud800b", "a\ufffdb"),
        ("b\udfffa", "b\ufffda"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\0", "\0"),
    ],
)
def test_half_of_a_surrogate_pair_is_replaced(word: str, said: str) -> None:
    assert pieces._encodable(word) == said


@given(st.text(st.characters()))
def test_any_word_can_be_said_and_has_pieces(word: str) -> None:
    pieces._encodable(word).encode()
    assert Speller(CUTTER)([word])[0]
