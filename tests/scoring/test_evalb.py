from pathlib import Path

import pytest

from fencepost.scoring import Parameters, side_of_line
from fencepost.scoring.evalb import TooManyErrors, evalb
from tests.shared import SHARED, needs_shared_data

GOLDEN = Path(__file__).parents[1] / "golden"


def output(gold: str, predicted: str, rules: Parameters | None = None) -> tuple[str, str]:
    """What is printed to standard output and to standard error."""
    printed = list(
        evalb(
            map(side_of_line, gold.splitlines()),
            map(side_of_line, predicted.splitlines()),
            rules or Parameters(),
        )
    )
    return (
        "".join(text for text, is_message in printed if not is_message),
        "".join(text for text, is_message in printed if is_message),
    )


@needs_shared_data
def test_four_hundred_hard_pairs_come_out_to_the_byte() -> None:
    folder = SHARED / "evalb"
    gold, predicted = ((folder / f"{name}.ptb").read_text() for name in ("gold", "pred"))
    assert output(gold, predicted) == (
        (folder / "expected.txt").read_text(),
        (folder / "expected.stderr.txt").read_text(),
    )


def test_our_own_pairs_come_out_as_worked_out_by_hand() -> None:
    gold, predicted = ((GOLDEN / f"evalb.{name}.ptb").read_text() for name in ("gold", "predicted"))
    assert output(gold, predicted) == (
        (GOLDEN / "evalb.expected.txt").read_text(),
        (GOLDEN / "evalb.expected.stderr.txt").read_text(),
    )


def test_nothing_matched_prints_the_f_measure_that_c_prints() -> None:
    text, _ = output("(S (A a) (B b))\n", "(X (A a) (B b))\n")
    assert text.count("Bracketing FMeasure       =   -nan\n") == 2


def test_without_any_valid_sentence_the_total_row_has_no_brackets() -> None:
    text, _ = output("(S (A a))\n", "\n")
    assert f"{'=' * 76}\n      0     0     0.00\n=== Summary ===\n" in text


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (
            "(S (A a))\n(S (A a))\n",
            "(S (A a))\n",
            "2 : Number of lines unmatch (too many lines in gold file)\n",
        ),
        (
            "(S (A a))\n",
            "(S (A a))\n(S (A a))\n",
            "2 : Number of lines unmatch (too many lines in test file)\n",
        ),
    ],
)
def test_too_many_lines_are_told_and_the_rest_is_scored(
    gold: str, predicted: str, message: str
) -> None:
    text, errors = output(gold, predicted)
    assert errors == message
    assert "Number of sentence        =      1\n" in text


def test_the_second_summary_is_over_short_sentences() -> None:
    text, _ = output(
        "(S (A a))\n(S (A a) (B b))\n", "(S (A a))\n(S (A a) (B b))\n", Parameters(cut_off=1)
    )
    assert "-- len<=1 --\nNumber of sentence        =      1\n" in text


def test_the_limit_of_errors_is_passed_by_two() -> None:
    gold, predicted = "(S (A a))\n" * 20, "(S (A b))\n" * 20

    printed = evalb(map(side_of_line, gold.splitlines()), map(side_of_line, predicted.splitlines()))
    seen: list[bool] = []
    with pytest.raises(TooManyErrors):
        seen.extend(is_message for _, is_message in printed)
    # list.extend keeps what it got before the error: a head, eleven rows, twelve messages.
    assert seen.count(True) == 12
    assert seen.count(False) == 1 + 11
