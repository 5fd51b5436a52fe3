from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.formats.schemes import evidence, label_of, labels_for, spans_in
from fencepost.formats.settings import Scheme
from fencepost.structure import Span
from fencepost.structure.span import in_order
from tests.strategies import nested_spans

SCHEMES: list[Scheme] = ["bio", "iob1", "bioes"]
FEW = st.sampled_from(["X", "Y"])  # few types, so that neighbours share one


@given(nested_spans(6, FEW), st.sampled_from(SCHEMES))
def test_reading_the_labels_of_each_layer_gives_the_entities_back(
    spans: list[Span], scheme: Scheme
) -> None:
    rows = list(labels_for(6, in_order(spans), scheme))
    layers = max(len(row) for row in rows)
    columns = zip(*(row + ["O"] * (layers - len(row)) for row in rows), strict=True)
    found = [span for column in columns for span in spans_in(column, scheme)]
    assert in_order(found) == in_order(spans)


@given(nested_spans(6, FEW).filter(bool), st.sampled_from(SCHEMES))
def test_labels_show_their_own_scheme_and_no_other(spans: list[Span], scheme: Scheme) -> None:
    rows = list(labels_for(6, in_order(spans), scheme))
    outermost = [row[0] if row else "O" for row in rows]
    shown = {found for _, found in evidence(outermost)}
    assert scheme in shown
    assert scheme == "bioes" or shown == {scheme}


def test_labels_of_one_scheme_are_read_alike_or_refused_in_another() -> None:
    # BIO's labels are IOB1's too, with a B- that would not be needed.
    for labels in product(["O", "B-X", "I-X", "B-Y", "I-Y"], repeat=3):
        try:
            entities = list(spans_in(labels, "bio"))
        except DataError:
            continue
        assert list(spans_in(labels, "iob1")) == entities


def test_entities_of_the_same_type_side_by_side_stay_two() -> None:
    spans = [Span(0, 1, "X"), Span(1, 3, "X")]
    assert list(labels_for(3, spans, "bio")) == [["B-X"], ["B-X"], ["I-X"]]
    assert list(labels_for(3, spans, "iob1")) == [["I-X"], ["B-X"], ["I-X"]]
    assert list(labels_for(3, spans, "bioes")) == [["S-X"], ["B-X"], ["E-X"]]


def test_the_letters_of_bilou_and_bmes_are_understood() -> None:
    assert list(spans_in(["U-X", "B-X", "L-X"], "bioes")) == [Span(0, 1, "X"), Span(1, 3, "X")]
    assert list(spans_in(["B-X", "M-X", "E-X"], "bioes")) == [Span(0, 3, "X")]


def test_a_type_may_hold_hyphens_and_other_scripts() -> None:
    assert label_of("B-NP-SBJ") == ("B", "NP-SBJ")
    assert label_of("I-地\u00a0名") == ("I", "地\u00a0名")


@pytest.mark.parametrize("text", ["", "o", "B", "B-", "X-PER", "B_PER", "B-a b", "B-PER ", "PER-B"])
def test_what_is_no_label_is_told_from_labels(text: str) -> None:
    assert label_of(text) is None


@pytest.mark.parametrize(
    ("labels", "scheme", "line", "message"),
    [
        ("O I-X", "bio", 2, "I-X after O continues no entity"),
        ("I-X", "bio", 1, "I-X at the start continues no entity"),
        ("B-X I-Y", "bio", 2, "begins with B-Y"),
        ("B-X E-X", "bio", 2, "'E-X' is no label of the scheme bio"),
        ("O S-X", "iob1", 2, "'S-X' is no label of the scheme iob1"),
        ("O I-X E-X", "bioes", 2, "I-X after O continues no entity"),
        ("O E-X", "bioes", 2, "E-X after O continues no entity"),
        ("S-X I-X", "bioes", 2, "I-X after S-X continues no entity"),
        ("B-X E-X E-X", "bioes", 3, "E-X after E-X continues no entity"),
        ("B-X I-Y E-X", "bioes", 2, "I-Y after B-X continues no entity"),
        ("B-X E-Y", "bioes", 2, "E-Y after B-X continues no entity"),
        ("O B-X O", "bioes", 2, "B-X is not continued"),
        ("B-X I-X", "bioes", 2, "I-X is not continued"),
        ("B-X B-X E-X", "bioes", 1, "ends with E-X"),
        ("O NN", "bio", 2, "'NN' is no label"),
    ],
)
def test_impossible_sequences_are_refused_with_the_word(
    labels: str, scheme: Scheme, line: int, message: str
) -> None:
    with pytest.raises(DataError, match=message) as raised:
        list(spans_in(labels.split(), scheme))
    assert raised.value.line == line
