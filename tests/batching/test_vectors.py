from pathlib import Path

import numpy
import pytest

from fencepost.batching.vectors import read_vectors
from fencepost.errors import DataError


@pytest.mark.parametrize("head", ["", "3 2\n"])
def test_text_is_read(tmp_path: Path, head: str) -> None:
    path = tmp_path / "v.txt"
    path.write_text(head + "the 0.5 1\ncat -1 2e-1 \nsat 0 0\n")
    words, vectors = read_vectors(path, most=2)
    assert words == ("the", "cat")
    assert vectors.tolist() == [[0.5, 1.0], [-1.0, pytest.approx(0.2)]]


def test_an_array_is_read_with_its_words(tmp_path: Path) -> None:
    numpy.save(tmp_path / "v.npy", numpy.array([[1.0, 2.0], [3.0, 4.0]]))
    (tmp_path / "v.txt").write_text("the\ncat\n")
    words, vectors = read_vectors(tmp_path / "v.npy", most=9)
    assert words == ("the", "cat")
    assert vectors.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the 1 2\ncat 1\n", "v.txt:2: a word and 2 numbers are expected"),
        ("the one two\n", "v.txt:1: a word and numbers are expected"),
        ("", "v.txt: there are no vectors here"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "v.txt").write_text(text)
    with pytest.raises(DataError, match=message):
        read_vectors(tmp_path / "v.txt", most=9)


def test_arrays_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    numpy.save(tmp_path / "v.npy", numpy.zeros((1, 2)))
    (tmp_path / "v.txt").write_text("the\ncat\n")
    with pytest.raises(DataError, match="2 words and an array of 1 x 2 do not fit"):
        read_vectors(tmp_path / "v.npy", most=9)
    (tmp_path / "v.npy").write_bytes(b"pickle")
    with pytest.raises(DataError, match="no array of numbers"):
        read_vectors(tmp_path / "v.npy", most=9)
