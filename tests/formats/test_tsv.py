"""A table of entities."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.formats import WriteSettings, write
from fencepost.formats.tsv import pieces
from fencepost.structure import Entity, Parse, Sentence, Span
from fencepost.structure.table import COLUMNS
from tests.strategies import parses

HEADER = "\t".join(COLUMNS) + "\n"
BANK = Sentence.from_whitespace(["Bank", "of", "Oslo", "."], [" ", "\n", "", ""], id="bank\t1")


def text_of(*found: Parse) -> str:
    return "".join(pieces(found, WriteSettings()))


def test_a_line_is_an_entity() -> None:
    entities = (Entity(0, 3, "ORG", BANK, 0.75), Entity(2, 3, "LOC", BANK, 1 / 3))
    none = Parse(Sentence(("a", "b")), entities=())
    unknown = Parse(Sentence(("a", "b")), entities=(Span(1, 2, "X"),))
    assert text_of(Parse(BANK, entities=entities), none, unknown) == (
        f"{HEADER}"
        "1\tbank 1\t0\t3\t0\t12\tORG\tBank of Oslo\t0.750000\n"
        "1\tbank 1\t2\t3\t8\t12\tLOC\tOslo\t0.333333\n"
        "3\t\t1\t2\t\t\tX\tb\t\n"
    )


def test_nothing_is_a_table_without_lines() -> None:
    assert text_of() == HEADER


def test_a_parse_without_this_layer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    with pytest.raises(DataError, match="sentence 1: this sentence has no entities annotated"):
        write([Parse(Sentence(("a",)))], path, format="tsv")
    assert not path.exists()


@given(st.lists(parses(), max_size=3))
def test_a_table_has_a_line_for_each_entity_and_all_its_columns(found: list[Parse]) -> None:
    found = [parse for parse in found if parse.entities is not None]
    text = text_of(*found)
    rows = list(csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) == len(text.splitlines()) == 1 + sum(len(p.entities or ()) for p in found)
    assert {len(row) for row in rows} == {len(COLUMNS)}


def test_what_breaks_lines_or_has_no_bytes_becomes_harmless(tmp_path: Path) -> None:
    words = Sentence(("a\tb\r\nc\u2028d", "e\ud800"))
    write([Parse(words, entities=(Span(0, 2, "X"),))], tmp_path / "x", format="tsv")
    text = (tmp_path / "x").read_text(encoding="utf-8")
    assert text.splitlines()[1].split("\t")[7] == "a b c d e\ufffd"


def test_pandas_reads_it() -> None:
    pandas = pytest.importorskip("pandas")
    quoted = Sentence(('"', "Oslo", '"'))
    text = text_of(Parse(quoted, entities=(Span(0, 2, "A"), Span(1, 2, "B"))))
    frame = pandas.read_csv(io.StringIO(text), sep="\t", quoting=csv.QUOTE_NONE)
    assert list(frame["text"]) == ['" Oslo', "Oslo"]
    assert list(frame["start"]) == [0, 1]
