from hypothesis import given
from hypothesis import strategies as st

from fencepost.structure import Span
from fencepost.structure.span import in_order
from fencepost.tasks import entities
from fencepost.transition import pointings, replay
from tests.strategies import NAMES, nested_spans

SETS = st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), nested_spans(n, NAMES)))


@given(SETS)
def test_entities_go_through_pointings_without_loss(drawn: tuple[int, list[Span]]) -> None:
    n, gold = drawn
    spans = entities.encode(gold, n)
    assert entities.decode(spans) == in_order(gold)
    assert entities.decode(replay(pointings(spans))) == in_order(gold)


def test_two_types_on_the_same_words_are_joined_in_sorted_order() -> None:
    gold = [Span(0, 1, "PER"), Span(0, 1, "GPE")]
    assert entities.encode(gold, 2) == (Span(0, 2), Span(0, 1, "GPE+PER"))


def test_an_entity_over_the_whole_sentence_takes_the_place_of_the_root() -> None:
    assert entities.encode([Span(0, 2, "ORG")], 2) == (Span(0, 2, "ORG"),)


def test_without_entities_only_the_root_is_left() -> None:
    assert entities.encode([], 3) == (Span(0, 3),)
    assert pointings(entities.encode([], 3)) == ((3, None),)


def test_without_words_nothing_is_left() -> None:
    assert entities.encode([], 0) == ()
    assert entities.decode([]) == ()
