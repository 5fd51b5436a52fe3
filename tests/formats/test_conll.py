import gzip
import io
import os
import tempfile
import threading
import tracemalloc
from contextlib import nullcontext
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.formats import ParseReader, read, write
from fencepost.formats.conll import entries, pieces
from fencepost.formats.files import Source
from fencepost.formats.settings import ReadSettings, Scheme, WriteSettings
from fencepost.structure import Parse, Sentence, Span
from tests.strategies import NAMES, WORDS, nested_spans

# What a reader of columns trips over: numbers, labels, comments, blanks, letters of schemes.
ODD = st.sampled_from(["1", "2", "O", "B-X", "#", "# a", "# O", " ", "\u00a0", "\x85", "a b", "-"])

GERMEVAL = """\
#\thttp://de.wikipedia.org/wiki/Bayern\t[2009-10-17]
1\tBayern\tB-ORG\tB-LOC
2\tMünchen\tI-ORG\tO
3\tist\tO\tO

#\tn-tv.de vom 26.02.2005\t[2005-02-26]
1\t#\tO\tO
2\tLibanon\tB-LOC\tO
"""


@st.composite
def annotated(draw: st.DrawFn) -> Parse:
    words = draw(st.lists(WORDS | ODD, min_size=1, max_size=6))
    labels = st.sampled_from(["X", "Y"]) | NAMES
    return Parse(Sentence(tuple(words)), entities=tuple(draw(nested_spans(len(words), labels))))


def parses_of(text: str, path: Path, **settings: Any) -> list[Parse]:
    path.write_text(text, encoding="utf-8", newline="")
    return list(read(path, format="conll", **settings))


def layers(parses: list[Parse]) -> list[tuple[tuple[str, ...], tuple[Span, ...] | None]]:
    return [(parse.words, parse.entities) for parse in parses]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.conll"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("conll") / "file.conll"


@given(
    parses=st.lists(annotated(), max_size=4),
    scheme=st.sampled_from(["bio", "iob1", "bioes"]),
    told=st.booleans(),
)
def test_what_was_written_is_read_again_in_every_scheme(
    shared: Path, parses: list[Parse], scheme: Any, told: bool
) -> None:
    text = "".join(pieces(parses, WriteSettings(scheme=scheme)))
    again = parses_of(text, shared, scheme=scheme if told else "auto")
    assert layers(again) == layers(parses)


@given(parses=st.lists(annotated(), min_size=1, max_size=4))
def test_every_row_has_as_many_columns_as_the_deepest_nesting_takes(parses: list[Parse]) -> None:
    text = "".join(pieces(parses, WriteSettings()))
    assert len({row.count("\t") for row in text.split("\n") if row}) == 1


def test_layers_are_written_from_the_outermost() -> None:
    nested = Parse(
        Sentence(("Bank", "of", "Oslo")), entities=(Span(2, 3, "LOC"), Span(0, 3, "ORG"))
    )
    none = Parse(Sentence(("It", "slept")), entities=())
    assert "".join(pieces([nested, none], WriteSettings(scheme="bioes"))) == (
        "Bank\tB-ORG\tO\nof\tI-ORG\tO\nOslo\tE-ORG\tS-LOC\n\nIt\tO\tO\nslept\tO\tO\n\n"
    )


def test_germeval_is_read_as_it_comes(path: Path) -> None:
    assert layers(parses_of(GERMEVAL, path)) == [
        (("Bayern", "München", "ist"), (Span(0, 2, "ORG"), Span(0, 1, "LOC"))),
        (("#", "Libanon"), (Span(1, 2, "LOC"),)),
    ]


def test_conll_2003_is_read_with_its_tags_and_its_own_scheme(path: Path) -> None:
    text = (
        "-DOCSTART- -X- -X- O\n\nU.N. NNP I-NP I-ORG\nEkeus NNP I-NP I-PER\nheads VBZ I-VP O\n"
        "\n\n\nBonn  NNP I-NP I-LOC\nOslo  NNP B-NP B-LOC\n"
    )
    first, second = parses_of(text, path, entity_columns=(-1,), tag_column=1)
    assert first.entities == (Span(0, 1, "ORG"), Span(1, 2, "PER"))
    assert first.tags == ("NNP", "NNP", "VBZ")
    assert second.entities == (Span(0, 1, "LOC"), Span(1, 2, "LOC"))


@pytest.mark.parametrize("ner", ["I-ORG", "O"])
@pytest.mark.parametrize("number", ["", "1 "])
def test_chunks_behind_a_column_of_tags_are_no_entities(path: Path, ner: str, number: str) -> None:
    text = f"{number}U.N. NNP I-NP {ner}\n"
    found = parses_of(text, path)[0].entities
    assert found == ((Span(0, 1, "ORG"),) if ner != "O" else ())


@pytest.mark.parametrize("text", ["Oslo B-NP B-LOC\n", "1 Oslo B-NP O\n", "a B-X B-NP B-LOC\n"])
def test_chunks_that_may_be_entities_are_asked_about(path: Path, text: str) -> None:
    with pytest.raises(DataError) as raised:
        parses_of(text, path)
    several = "-3,-2,-1" if "B-X" in text else "-2,-1"
    assert str(raised.value) == (
        f"{path}: column -2 has the types of chunks (NP, VP, ...), and those behind it have not; "
        f"pass entity_columns (--entity-columns=-1 for those behind it, --entity-columns={several} "
        "for all) to tell which have entities"
    )
    labels = {
        span.label for span in parses_of(text, path, entity_columns=(-2, -1))[0].entities or ()
    }
    assert labels == ({"NP"} if text.endswith("O\n") else {"NP", "LOC"})


@pytest.mark.parametrize(
    "text", ["a B-NP\n", "a NN B-NP\n", "a B-NP B-VP\n", "a B-NP O\nb B-LOC O\n", "a B-LOC B-NP\n"]
)
def test_types_of_chunks_may_be_entities_where_nothing_else_is_behind_them(
    path: Path, text: str
) -> None:
    labels = [span.label for span in parses_of(text, path)[0].entities or ()]
    assert len(labels) == text.count("B-")


def test_rows_may_end_in_a_tab(path: Path) -> None:
    text = (
        "# a comment\n#\tB-PER\tO\tO\tO\t\nof\tI-PER\tO\tO\tO\t\nBath\tI-PER\tB-GPE\tO\tO\t\n\n"
        "#\tO\tO\tO\tO\t\n"
    )
    assert layers(parses_of(text, path)) == [
        (("#", "of", "Bath"), (Span(0, 3, "PER"), Span(2, 3, "GPE"))),
        (("#",), ()),
    ]
    assert parses_of(text, path, entity_columns=(2,))[0].entities == (Span(2, 3, "GPE"),)


def test_a_column_that_is_sometimes_empty_is_a_column(path: Path) -> None:
    text = "a\tB-X\t\n\nb\tO\tnote\n"
    found = parses_of(text, path, entity_columns=(-2,))
    assert [parse.entities for parse in found] == [(Span(0, 1, "X"),), ()]
    with pytest.raises(DataError, match="3 columns, where the sentence has 2"):
        parses_of("a\tB-X\nb\tO\t\nc\tO\n", path)


def test_a_column_of_tags_is_not_read_as_a_layer(path: Path) -> None:
    text = "Oslo B-NP B-LOC\n\n"
    parse = parses_of(text, path, tag_column=1)[0]
    assert (parse.tags, parse.entities) == (("B-NP",), (Span(0, 1, "LOC"),))


def test_columns_may_be_told(path: Path) -> None:
    text = "B-X a O NN\nO b B-Y JJ\n\n"
    (parse,) = parses_of(text, path, word_column=1, tag_column=-1, entity_columns=(0, -2))
    assert (parse.words, parse.tags) == (("a", "b"), ("NN", "JJ"))
    assert parse.entities == (Span(0, 1, "X"), Span(1, 2, "Y"))


def test_words_may_hold_blanks_where_columns_are_separated_by_tabs(path: Path) -> None:
    assert parses_of("New York\tB-LOC\n", path)[0].words == ("New York",)


def test_a_number_is_a_word_unless_most_rows_count(path: Path) -> None:
    assert parses_of("1 CD O\nMay NN O\n", path)[0].words == ("1", "May")
    assert parses_of("1 May O\n2 2020 O\n", path)[0].words == ("May", "2020")
    assert parses_of("1 O\n2 O\n", path)[0].words == ("1", "2")


def test_a_comment_is_passed_over_and_the_word_hash_is_not(path: Path) -> None:
    text = "# text = vitamin O\n# O\n#\n#1 O\n# B-X\nis O\n\n# only a comment\n\n# B-X\n"
    assert layers(parses_of(text, path)) == [
        (("#", "#1", "#", "is"), (Span(2, 3, "X"),)),
        (("#",), (Span(0, 1, "X"),)),
    ]


def test_a_comment_is_told_by_the_column_of_entities(path: Path) -> None:
    text = "# B-X feature\na O other\n# no label\n"
    assert parses_of(text, path, entity_columns=(1,))[0].words == ("#", "a")


def test_the_first_lines_of_documents_are_passed_over(path: Path) -> None:
    text = "-DOCSTART-\tO\n\n-DOCSTART- (1)\na\tO\n-DOCSTART-s\tO\n"
    assert [parse.words for parse in parses_of(text, path)] == [("a", "-DOCSTART-s")]


def test_an_empty_file_has_no_sentences(path: Path) -> None:
    assert parses_of("\n\n", path) == []


@pytest.mark.parametrize(
    ("text", "scheme"),
    [
        ("a O\n", "bio"),
        ("a B-X\n", "bio"),
        ("a I-X\n", "iob1"),
        ("a I-X\nb B-X\n", "iob1"),
        ("a B-X\nb E-X\n\nc S-X\n", "bioes"),
        ("a B-X\nb L-X\n", "bioes"),
    ],
)
def test_the_scheme_is_told_by_the_evidence(path: Path, text: str, scheme: Scheme) -> None:
    assert parses_of(text, path) == parses_of(text, path, scheme=scheme)


@pytest.mark.parametrize(
    ("text", "bio", "iob1"),
    [
        ("a B-X\nb O\n\nc O\nd I-X\n", 1, 5),
        ("a I-X\nb B-Y\n", 2, 1),
        ("a O I-X\nb O O\n\nc B-Y O\n", 4, 1),
    ],
)
def test_evidence_for_two_schemes_is_refused_with_both_lines(
    path: Path, text: str, bio: int, iob1: int
) -> None:
    with pytest.raises(DataError, match=f"but on line {bio} B- begins.*\n.*--scheme") as raised:
        parses_of(text, path)
    assert (raised.value.line, raised.value.path) == (iob1, str(path))
    assert parses_of(text, path, scheme="iob1")


def test_evidence_in_columns_that_are_not_read_does_not_count(path: Path) -> None:
    text = "a I-NP B-X\nb B-VP O\n"
    assert parses_of(text, path, entity_columns=(-1,))[0].entities == (Span(0, 1, "X"),)


@pytest.mark.parametrize(
    ("bad", "line", "message"),
    [
        ("a O\nb O O\nc O\n", 5, "3 columns, where the sentence has 2"),
        ("a O O\nb O\nc O\n", 4, "3 columns, where the sentence has 2"),
        ("a O\n\x20b\nc O\n", 5, "1 columns, where the sentence has 2"),
        ("a O\n# a comment\nb B_X\nc I-X\n", 6, "'B_X' is no label of the scheme bio"),
        ("a O\nb O\nc\tB-X\n\tI-X\n", 7, "the word is empty"),
        ("alone\n", 4, "1 columns are too few for a word and its labels"),
        ("O\n", 4, "1 columns are too few for a word and its labels"),
    ],
)
def test_a_bad_sentence_is_named_by_its_line_and_can_be_left_out(
    path: Path, bad: str, line: int, message: str
) -> None:
    text = f"x B-X\ny I-X\n\n{bad}\nz O\nz O\nz O\nz O\nz O\n"
    with pytest.raises(DataError, match=message) as raised:
        parses_of(text, path)
    assert (raised.value.line, raised.value.path) == (line, str(path))
    reading = ParseReader(path, settings=ReadSettings(skip_bad=True))
    assert [parse.words[0] for parse in reading] == ["x", "z"]
    assert reading.counts == {"bad sentences": 1}


def test_an_impossible_sequence_is_refused_with_its_line(path: Path) -> None:
    with pytest.raises(DataError, match="I-X after O") as raised:
        parses_of("a B-X\n\nb O\n# a comment\nc I-X\n", path, scheme="bio")
    assert raised.value.line == 5


def test_a_slip_in_one_row_does_not_hide_a_layer(path: Path) -> None:
    with pytest.raises(DataError, match="'I_X' is no label") as raised:
        parses_of("a B-X B-Y\nb I_X O\nc O O\n", path)
    assert raised.value.line == 2


def test_a_tag_that_looks_like_a_label_is_no_layer(path: Path) -> None:
    text = "a NN B-X\nb JJ O\n\nc I-JJ O\n"
    assert [parse.entities for parse in parses_of(text, path)] == [(Span(0, 1, "X"),), ()]


def test_a_file_without_labels_is_refused(path: Path) -> None:
    with pytest.raises(DataError, match="pass entity_columns") as raised:
        parses_of("a NN\nb JJ\n", path)
    assert raised.value.path == str(path)


@pytest.mark.parametrize("columns", [{"entity_columns": (2,)}, {"tag_column": -3}])
def test_columns_that_are_not_there_are_refused(path: Path, columns: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=r"there is no column .* in a row of 2 columns") as raised:
        parses_of("a O\nb O\n", path, **columns)
    assert raised.value.line == 1


class TestAFullFolderForTemporaryFiles:
    @pytest.fixture
    def told(self) -> str:
        return (
            f"{tempfile.gettempdir()}: cannot be written: No space left on device; TMPDIR may name "
            "another folder for what is kept meanwhile"
        )

    def test_is_named_when_columns_are_written(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, told: str
    ) -> None:
        full = Path("/dev/full").open
        monkeypatch.setattr("tempfile.TemporaryFile", lambda *_, **__: full("w+"))
        with pytest.raises(DataError) as raised:
            write([Parse(Sentence(("a",)), entities=())], path)
        assert str(raised.value) == told
        assert not path.exists()

    def test_is_named_when_a_pipe_is_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str
    ) -> None:
        class Standard:
            buffer = io.BytesIO(b"a B-X\n")

        (tmp_path / "lines").symlink_to("/dev/full")
        monkeypatch.setattr("sys.stdin", Standard)
        monkeypatch.setattr("tempfile.TemporaryDirectory", lambda: nullcontext(tmp_path))
        with pytest.raises(DataError) as raised:
            list(entries(Source("-"), ReadSettings()))
        assert str(raised.value) == told


def test_layers_that_cross_follow_the_policy(path: Path) -> None:
    text = "a B-X O\nb I-X B-Y\nc O I-Y\n"
    with pytest.raises(DataError, match="cross") as raised:
        parses_of(text, path)
    assert (raised.value.kind, raised.value.line) == ("crossing", 1)
    (parse,) = parses_of(text, path, on_crossing="drop-span")
    assert (parse.entities, parse.dropped) == ((Span(0, 2, "X"),), (Span(1, 3, "Y"),))


def test_standard_input_is_kept_while_it_is_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    class Standard:
        buffer = io.BytesIO(gzip.compress(b"a I-X\n\nb I-X\nc B-Y\n"))

    monkeypatch.setattr("sys.stdin", Standard)
    with pytest.raises(DataError, match=r"^<stdin>:1: I- begins"):
        list(entries(Source("-"), ReadSettings()))
    Standard.buffer = io.BytesIO(b"a I-X\n\nb I-X\nc B-X\n")
    found = list(entries(Source("-"), ReadSettings()))
    assert [entry.line for entry in found] == [1, 3]
    assert [len(parse.entities or ()) for a in found for parse in a.read()] == [1, 2]


def test_a_pipe_is_read_once_only(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"a B-X\nb O\n"))
    writer.start()
    found = list(entries(Source(pipe), ReadSettings()))
    writer.join()
    assert [parse.words for entry in found for parse in entry.read()] == [("a", "b")]


def test_progress_counts_the_second_time_only(path: Path) -> None:
    path.write_text(GERMEVAL, encoding="utf-8")
    reading = ParseReader(path)
    assert len(list(reading)) == 2
    assert reading.bytes_read == reading.bytes_total


@pytest.mark.parametrize(
    ("parse", "message"),
    [
        (Parse(Sentence(("a\tb",)), entities=()), r"the word 'a\\tb'"),
        (Parse(Sentence(("a\nb",)), entities=()), r"the word 'a\\nb'"),
        (Parse(Sentence(("-DOCSTART-",)), entities=()), "the word '-DOCSTART-'"),
        (Parse(Sentence(("a",)), entities=(Span(0, 1, ""),)), "the label ''"),
        (Parse(Sentence(("a",)), entities=(Span(0, 1, "a b"),)), "the label 'a b'"),
        (Parse(Sentence(()), entities=()), "without words"),
        (Parse(Sentence(("a",))), "no entities annotated"),
    ],
)
def test_what_columns_cannot_say_is_refused(path: Path, parse: Parse, message: str) -> None:
    good = Parse(Sentence(("a",)), entities=())
    with pytest.raises(DataError, match=f"sentence 2: .*{message}"):
        write([good, parse, good], path)
    assert not path.exists()


def test_a_file_may_not_begin_with_what_is_read_as_a_mark(path: Path) -> None:
    good, marked = (Parse(Sentence((word,)), entities=()) for word in ("a", "\ufeffb"))
    with pytest.raises(DataError, match=r"sentence 1: .* begins the file with U"):
        write([marked, good], path)
    write([good, marked], path)
    assert layers(list(read(path))) == layers([good, marked])


def test_a_character_that_the_encoding_lacks_is_named_with_its_sentence(path: Path) -> None:
    words = [("a",), ("é",), ("b",)]
    with pytest.raises(DataError, match="sentence 2: ascii"):
        write([Parse(Sentence(w), entities=()) for w in words], path, encoding="ascii")


def test_memory_does_not_grow_with_the_number_of_sentences(path: Path) -> None:
    def peak(sentences: int) -> int:
        parse = Parse(Sentence(("a",) * 10), entities=(Span(0, 2, "X"),))
        tracemalloc.start()
        write(repeat(parse, sentences), path)
        for _ in read(path):
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(10)  # fills caches
    # Kept sentences would take four times as much; collecting garbage, a quarter more or less.
    assert peak(2000) < 2 * peak(500)


def test_a_deep_nesting_and_a_long_sentence_come_back(path: Path) -> None:
    n = 300
    deep = Parse(Sentence(("a",) * n), entities=tuple(Span(i, n, "X") for i in range(n)))
    long = Parse(Sentence(("b",) * 20_000), entities=(Span(0, 20_000, "Y"),))
    for parse in (deep, long):
        write([parse], path)
        assert layers(list(read(path))) == layers([parse])
