"""What samples agree on."""

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.parser.marginals import marginals_of
from fencepost.structure import Parse, Sentence, Span, Tree
from fencepost.structure.span import first_crossing
from tests.strategies import parses

WORDS = Sentence(("a", "b", "c"))


def tree(*spans: Span) -> Parse:
    return Parse(WORDS, Tree(WORDS, (Span(0, 3, "S"), *spans)))


def test_shares_of_samples_have_error_bars() -> None:
    low, high = Span(0, 2, "X"), Span(1, 3, "Y")
    found = marginals_of([tree(low), tree(low), tree(low), tree(high)])
    assert found.samples == 4
    assert found.entities is None
    assert found.tree is not None
    shares = {row.span: (row.probability, row.error) for row in found.tree}
    assert shares[Span(0, 3, "S")] == (1.0, 0.0)
    assert shares[low][0] == 0.75
    assert shares[low][1] == pytest.approx(sqrt(0.75 * 0.25 / 4))
    assert shares[high][0] == 0.25
    assert str(found.majority.tree) == "(S (X (XX a) (XX b)) (XX c))"
    assert found.majority.tree is not None
    assert found.majority.tree.spans[1].probability == 0.75


def test_chains_count_for_each_label_in_them() -> None:
    samples = [tree(Span(0, 2, "X"), Span(0, 2, "Z")), tree(Span(0, 2, "X")), tree()]
    found = marginals_of(samples)
    assert found.tree is not None
    shares = {row.span: row.probability for row in found.tree}
    assert shares[Span(0, 2, "X")] == pytest.approx(2 / 3)
    assert shares[Span(0, 2, "Z")] == pytest.approx(1 / 3)


def test_entities_have_posteriors_too() -> None:
    samples = [Parse(WORDS, entities=spans) for spans in ((Span(0, 1, "P"),), (), ())]
    found = marginals_of(samples)
    assert found.tree is None
    assert found.entities is not None
    assert found.entities[0].probability == pytest.approx(1 / 3)
    assert found.majority.entities == ()


@given(parses(), st.integers(1, 3))
def test_what_all_samples_say_is_what_the_majority_says(parse: Parse, samples: int) -> None:
    if not parse.words or (parse.tree is None and parse.entities is None):
        return
    found = marginals_of([parse] * samples)
    assert found.majority.entities == parse.entities
    assert found.majority.tree == parse.tree
    assert first_crossing(found.majority.entities or ()) is None
