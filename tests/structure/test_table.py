"""Entities as rows of a table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.structure import Document, Entity, Parse, Sentence, Span
from fencepost.structure.table import COLUMNS, entity_rows
from tests.strategies import parses

pandas = pytest.importorskip("pandas")

BANK = Sentence.from_whitespace(["Bank", "of", "Oslo", "."], [" ", "\n", "", ""], id="bank")


@given(st.lists(parses(), max_size=4))
def test_each_entity_is_a_row(found: list[Parse]) -> None:
    rows = list(entity_rows(iter(found)))
    assert [(row["sentence"], row["start"], row["end"], row["label"]) for row in rows] == [
        (number, *span) for number, parse in enumerate(found, 1) for span in parse.entities or ()
    ]
    for row in rows:
        assert tuple(row) == COLUMNS


def test_a_row_says_all_that_is_known() -> None:
    parse = Parse(BANK, entities=(Entity(0, 3, "ORG", BANK, 0.75),))
    (row,) = entity_rows([parse])
    assert tuple(row.values()) == (1, "bank", 0, 3, 0, 12, "ORG", "Bank of\nOslo", 0.75)


def test_what_is_not_known_is_none() -> None:
    words = Sentence(("Bank", "of", "Oslo"))
    (row,) = entity_rows([Parse(words), Parse(words, entities=(Span(0, 3, "ORG"),))])
    assert tuple(row.values()) == (2, None, 0, 3, None, None, "ORG", "Bank of Oslo", None)


def test_pandas_takes_the_rows_of_a_document() -> None:
    entities = (Entity(0, 3, "ORG", BANK, 0.75), Entity(2, 3, "LOC", BANK, 0.5))
    document = Document((Parse(BANK, entities=()), Parse(BANK, entities=entities)), BANK.text)
    assert list(entity_rows(document)) == list(entity_rows(document.sentences))
    frame = pandas.DataFrame(entity_rows(document), columns=COLUMNS)
    assert tuple(frame.columns) == COLUMNS
    assert frame.groupby("label")["probability"].mean().to_dict() == {"ORG": 0.75, "LOC": 0.5}
    for _, row in frame.iterrows():
        assert document.text is not None
        assert document.text[row["start_char"] : row["end_char"]] == row["text"]
    empty = pandas.DataFrame(entity_rows(Document((), "")), columns=COLUMNS)
    assert (len(empty), tuple(empty.columns)) == (0, COLUMNS)


def test_documents_are_not_taken_for_parses() -> None:
    document = Document((Parse(Sentence(("a",)), entities=(Span(0, 1, "X"),)),))
    with pytest.raises(TypeError, match=r"not a Document; pass one document, or \[parse for"):
        list(entity_rows([document]))  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"parses were expected, not a str$"):
        list(entity_rows("text"))  # type: ignore[arg-type]
