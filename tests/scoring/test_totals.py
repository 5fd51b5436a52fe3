import pytest

from fencepost.scoring import Counts, Totals
from fencepost.scoring.totals import f1, per_cent


def test_nothing_out_of_nothing_is_nothing() -> None:
    totals = Totals()
    assert (totals.recall, totals.precision, totals.f1) == (0, 0, 0)
    assert (totals.complete_match, totals.average_crossing, totals.no_crossing) == (0, 0, 0)
    assert (totals.two_or_less_crossing, totals.tag_accuracy, totals.valid) == (0, 0, 0)


def test_sentences_in_error_and_skipped_ones_only_count_as_such() -> None:
    totals = Totals()
    totals.add(Counts(3, 1))
    totals.add(Counts(3, 2))
    totals.add(Counts(3, 0, 2, 4, 2, 3, 3, 2))
    assert (totals.sentences, totals.errors, totals.skipped, totals.valid) == (3, 1, 1, 1)
    assert (totals.recall, totals.precision) == (50, 100)
    assert totals.f1 == pytest.approx(100 * 2 / 3)
    assert (totals.average_crossing, totals.no_crossing, totals.two_or_less_crossing) == (3, 0, 0)
    assert totals.tag_accuracy == pytest.approx(100 * 2 / 3)
    assert totals.complete_match == 0


def test_shares_are_in_per_cent() -> None:
    assert per_cent(1, 4) == 25
    assert f1(50, 50) == 50
