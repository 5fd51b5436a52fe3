import pytest
from hypothesis import given

from fencepost.scoring import EntityScore
from fencepost.scoring.entities import depths
from fencepost.structure import Span
from fencepost.structure.span import by_place
from tests.strategies import nested_spans


def scored(gold: list[Span], predicted: list[Span]) -> EntityScore:
    score = EntityScore()
    score.add(gold, predicted)
    return score


@given(nested_spans(6), nested_spans(6))
def test_each_breakdown_adds_up_to_the_whole(gold: list[Span], predicted: list[Span]) -> None:
    score = scored(gold, predicted)
    for parts in (score.types, score.depths, score.lengths):
        for field in ("gold", "predicted", "found", "right"):
            assert sum(getattr(match, field) for match in parts.values()) == getattr(
                score.all, field
            )
    assert score.all.found == score.all.right
    assert (score.all.gold, score.all.predicted) == (len(gold), len(predicted))


@given(nested_spans(6))
def test_gold_scores_a_hundred(gold: list[Span]) -> None:
    score = scored(gold, gold)
    if gold:
        assert score.all.f1 == 100
        assert score.macro == pytest.approx((100, 100, 100))
    else:
        assert score.macro == (0, 0, 0)


def test_only_the_same_words_with_the_same_type_match() -> None:
    gold = [Span(0, 2, "PER"), Span(3, 4, "GPE")]
    score = scored(gold, [Span(0, 2, "ORG"), Span(3, 4, "GPE"), Span(3, 5, "GPE")])
    assert (score.all.found, score.all.gold, score.all.predicted) == (1, 2, 3)
    assert score.all.recall == 50
    assert score.all.precision == pytest.approx(100 / 3)


def test_saying_a_thing_twice_does_not_pay() -> None:
    score = scored([Span(0, 1, "X")], [Span(0, 1, "X"), Span(0, 1, "X")])
    assert (score.all.right, score.all.predicted) == (1, 2)


def test_macro_is_over_the_types_of_the_gold_data() -> None:
    score = scored([Span(0, 1, "A"), Span(1, 2, "B")], [Span(0, 1, "A"), Span(2, 3, "C")])
    assert score.macro == (50, 50, 50)


def test_nesting_is_told_on_each_side_for_itself() -> None:
    gold = [Span(0, 3, "ORG"), Span(2, 3, "GPE")]
    score = scored(gold, [Span(2, 3, "GPE")])
    inner, flat = score.depths["inner"], score.depths["flat"]
    assert (inner.gold, inner.found, inner.predicted) == (1, 1, 0)
    assert (flat.gold, flat.predicted, flat.right) == (0, 1, 1)


def test_spans_that_cross_do_not_hold_each_other() -> None:
    assert depths([Span(0, 2, "A"), Span(1, 3, "B")]) == ["flat", "flat"]
    assert depths([Span(0, 2, "A"), Span(0, 2, "B")]) == ["outer", "inner"]


@given(nested_spans(6))
def test_nesting_agrees_with_looking_at_all_pairs(spans: list[Span]) -> None:
    ordered = by_place(spans)
    for index, (span, kind) in enumerate(zip(ordered, depths(ordered), strict=True)):
        held = any(o.start <= span.start and span.end <= o.end for o in ordered[:index])
        holds = any(span.start <= o.start and o.end <= span.end for o in ordered[index + 1 :])
        assert kind == ("inner" if held else "outer" if holds else "flat")


def test_lengths_are_told_apart() -> None:
    gold = [Span(0, width, "X") for width in (1, 2, 3, 4, 5, 6, 10, 11, 99)]
    score = scored(gold, [])
    assert {name: match.gold for name, match in score.lengths.items()} == {
        "1": 1,
        "2": 1,
        "3": 1,
        "4-5": 2,
        "6-10": 2,
        ">10": 2,
    }
