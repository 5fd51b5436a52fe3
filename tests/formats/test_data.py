from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import CrossingSpansError, DataError
from fencepost.formats import read, write
from fencepost.structure import Parse, Sentence, Span
from tests.strategies import nested_spans

WORDS = st.text("ab語\u00a0\u2028|,0", min_size=1, max_size=4)
LABELS = st.text("AB ,+-0", min_size=1, max_size=4)


@st.composite
def entity_parses(draw: st.DrawFn) -> Parse:
    words = tuple(draw(st.lists(WORDS, min_size=1, max_size=6)))
    return Parse(Sentence(words), entities=tuple(draw(nested_spans(len(words), LABELS))))


@given(st.lists(entity_parses(), max_size=4))
def test_reading_undoes_writing(
    tmp_path_factory: pytest.TempPathFactory, parses: list[Parse]
) -> None:
    path = tmp_path_factory.getbasetemp() / "entities.data"
    assert write(parses, path) == len(parses)
    assert list(read(path)) == parses


def read_text(tmp_path: Path, text: str, **settings: str) -> list[Parse]:
    path = tmp_path / "x.data"
    path.write_text(text, encoding="utf-8")
    return list(read(path, **settings))


def test_three_lines_are_a_sentence(tmp_path: Path) -> None:
    found = read_text(tmp_path, "Bank of Oslo\n0,3 ORG|2,3 GPE\n\nNo one here\n\n\n")
    assert [p.entities for p in found] == [(Span(0, 3, "ORG"), Span(2, 3, "GPE")), ()]


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n\n\n", "\n\n\n\n"])
def test_the_last_sentence_may_go_without_its_empty_line(tmp_path: Path, end: str) -> None:
    assert len(read_text(tmp_path, f"a b\n0,1 X{end}")) == 1


def test_the_last_sentence_may_go_without_its_entities_too(tmp_path: Path) -> None:
    assert read_text(tmp_path, "a b")[0].entities == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b\n0,1 X\nc d\n", "3: the third line of a sentence has to be empty"),
        ("a\n\n\n\n0,1 X\n\n", "4: this sentence has no words"),
        ("a  b\n\n\n", "1: two blanks stand between words"),
        ("a b\n0-1 X\n\n", "2: '0-1 X' is no entity"),
        ("a b\n0,1\n\n", "2: '0,1' is no entity"),
        ("a b\n0,1 X|\n\n", "2: '' is no entity"),
        ("a b\n0,3 X\n\n", r"2: (0, 3) X is not a span of a sentence of 2 words"),
        ("a b\n1,1 X\n\n", r"2: (1, 1) X is not a span of a sentence of 2 words"),
        ("a b c\n0,2 X|1,3 Y\n\n", r"2: (0, 2) X and (1, 3) Y cross"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError) as raised:
        read_text(tmp_path, text)
    assert str(raised.value).startswith(f"{tmp_path / 'x.data'}:{message}")


class TestCrossing:
    TEXT = "a b c\n0,2 X|1,3 Y|2,3 Z\n\nd e\n0,1 X\n\n"

    def test_is_an_error_unless_told_otherwise(self, tmp_path: Path) -> None:
        with pytest.raises(CrossingSpansError, match="drop-sentence"):
            read_text(tmp_path, self.TEXT)

    def test_can_drop_the_sentence(self, tmp_path: Path) -> None:
        (tmp_path / "x.data").write_text(self.TEXT)
        reading = read(tmp_path / "x.data", on_crossing="drop-sentence")
        assert [p.words for p in reading] == [("d", "e")]
        assert reading.counts == {"sentences with crossing entities": 1}

    def test_can_drop_the_span_which_is_kept_aside(self, tmp_path: Path) -> None:
        (tmp_path / "x.data").write_text(self.TEXT)
        reading = read(tmp_path / "x.data", on_crossing="drop-span")
        first, second = reading
        assert first.entities == (Span(0, 2, "X"), Span(2, 3, "Z"))
        assert first.dropped == (Span(1, 3, "Y"),)
        assert second.dropped == ()
        assert reading.counts == {"crossing entities": 1}

    def test_spans_out_of_range_are_an_error_under_any_policy(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="not a span"):
            read_text(tmp_path, "a\n0,2 X\n\n", on_crossing="drop-span")


@pytest.mark.parametrize(
    ("parse", "message"),
    [
        (Parse(Sentence(("a b",)), entities=()), "the word 'a b' holds a blank"),
        (Parse(Sentence(("a\r",)), entities=()), r"the word 'a\r' holds a blank"),
        (Parse(Sentence(("\ufeffa",)), entities=()), "begins the file with U+FEFF"),
        (Parse(Sentence(()), entities=()), "a sentence without words"),
        (Parse(Sentence(("a",)), entities=(Span(0, 1, "X|Y"),)), "the label 'X|Y' cannot be said"),
        (Parse(Sentence(("a",)), entities=(Span(0, 1, "X\r"),)), r"the label 'X\r' cannot be said"),
        (Parse(Sentence(("a",)), entities=(Span(0, 1, ""),)), "the label '' cannot be said"),
        (Parse(Sentence(("a",))), "no entities annotated"),
    ],
)
def test_what_the_format_cannot_say_is_refused(tmp_path: Path, parse: Parse, message: str) -> None:
    path = tmp_path / "x.data"
    with pytest.raises(DataError) as raised:
        write([parse], path)
    assert message in str(raised.value)
    assert list(tmp_path.iterdir()) == []
