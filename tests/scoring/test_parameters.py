from pathlib import Path

import pytest

from fencepost.errors import DataError
from fencepost.scoring import COLLINS, Parameters, read_parameters

COLLINS_FILE = """\
##------------------------------------------##
DEBUG 0
MAX_ERROR 10
CUTOFF_LEN 40
LABELED 1
DELETE_LABEL TOP
DELETE_LABEL -NONE-
DELETE_LABEL ,
DELETE_LABEL :
DELETE_LABEL ``
DELETE_LABEL ''
DELETE_LABEL .

DELETE_LABEL_FOR_LENGTH -NONE-
EQ_LABEL ADVP PRT
# EQ_WORD  Example example
"""


def test_the_default_is_what_collins_says(tmp_path: Path) -> None:
    path = tmp_path / "COLLINS.prm"
    path.write_text(COLLINS_FILE)
    assert read_parameters(path) == COLLINS


def test_every_keyword_is_read(tmp_path: Path) -> None:
    path = tmp_path / "my.prm"
    path.write_text(
        "MAX_ERROR\t5\nCUTOFF_LEN 70  \nLABELED 0\nQUOTE_LABEL POS\nEQ_WORD colour  color\nxx\n"
    )
    assert read_parameters(path) == Parameters(
        labelled=False,
        cut_off=70,
        max_errors=5,
        deleted=frozenset(),
        deleted_for_length=frozenset(),
        equal_labels=(),
        equal_words=(("colour", "color"),),
        quotes=frozenset({"POS"}),
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("MAX_ERROR ten", "MAX_ERROR needs a number, not 'ten'"),
        ("EQ_LABEL ADVP", "EQ_LABEL needs two values, not 'ADVP'"),
        ("DELETE_LABEL", "DELETE_LABEL needs a value"),
        ("DELETE_LABELS X", "the keyword 'DELETE_LABELS' is unknown"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "my.prm"
    path.write_text(f"# mine\n{line}\n")
    with pytest.raises(DataError) as raised:
        read_parameters(path)
    assert str(raised.value) == f"{path}:2: {message}"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.prm: cannot be read"):
        read_parameters(tmp_path / "none.prm")


def test_labels_are_cut_at_the_first_hyphen_or_equals_sign() -> None:
    assert COLLINS.counted_label("NP-SBJ=2") == "NP"
    assert COLLINS.counted_label("NP=2-X") == "NP"
    assert COLLINS.counted_label("-NONE-") == ""
    assert COLLINS.counted_label("TOP") is None


def test_equality_of_labels_deletes_as_well() -> None:
    rules = Parameters(deleted=frozenset({"ADVP"}))
    assert rules.counted_label("PRT") is None


def test_labels_that_are_equal_in_pairs_only_have_no_representatives() -> None:
    assert COLLINS.representatives == {"ADVP": "ADVP", "PRT": "ADVP"}
    assert Parameters(equal_labels=(("A", "B"), ("B", "C"))).representatives is None
    closed = Parameters(equal_labels=(("A", "B"), ("C", "B"), ("A", "C")))
    assert closed.representatives == {"A": "A", "B": "A", "C": "A"}


def test_words_can_be_equal_too() -> None:
    rules = Parameters(equal_words=(("colour", "color"),))
    assert rules.same_word("color", "colour")
    assert not rules.same_word("color", "Colour")
