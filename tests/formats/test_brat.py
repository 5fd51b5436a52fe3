import gzip
import os
from collections.abc import Callable
from contextlib import nullcontext, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.formats import ParseReader, read, write
from fencepost.formats.brat import save
from fencepost.formats.settings import ReadSettings, WriteSettings
from fencepost.formats.standoff import WORD
from fencepost.structure import Parse, Sentence, Span
from tests.strategies import NAME_CHARACTERS, NAMES, WORDS, nested_spans

TEXT = "Anna saw the Bank of Oslo .\nIt slept .\n"
CHARACTERS = NAME_CHARACTERS + ".:()\v\x85😀\u0301"
# The first word that is found in a text, as long as it is still one on its own.
TOKENIZED = (
    st.text(CHARACTERS, min_size=1, max_size=5)
    .map(lambda text: "".join(WORD.findall(text)[:1]))
    .filter(lambda word: WORD.findall(word) == [word])
)
ANY_WORDS = (WORDS | st.text(CHARACTERS + " \t", min_size=1, max_size=5)).filter(str.strip)
SPACES = st.sampled_from(["", " ", "  ", "\t", "\n", "\u00a0", " and "])


@st.composite
def annotated(draw: st.DrawFn, words: st.SearchStrategy[str], spaces: bool) -> Parse:
    drawn = draw(st.lists(words, min_size=1, max_size=6))
    sentence = Sentence(tuple(drawn))
    if spaces:
        between = draw(st.lists(SPACES, min_size=len(drawn), max_size=len(drawn)))
        sentence = Sentence.from_whitespace(drawn, between)
    return Parse(sentence, entities=tuple(draw(nested_spans(len(drawn), NAMES))))


def document(folder: Path, notes: str, text: str = TEXT) -> Path:
    (folder / "doc.txt").write_bytes(text.encode())
    (folder / "doc.ann").write_bytes(notes.encode())
    return folder / "doc.ann"


def layers(parses: list[Parse]) -> list[tuple[tuple[str, ...], tuple[Span, ...] | None]]:
    return [(parse.words, parse.entities) for parse in parses]


def marked(parse: Parse) -> list[tuple[str, str | None]]:
    """The characters of each entity, less blanks, and its label."""
    return sorted(
        ("".join("".join(parse.words[start:end]).split()), label or "")
        for start, end, label in parse.entities or ()
    )


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("brat")


@given(parses=st.lists(annotated(TOKENIZED, spaces=False), max_size=4))
def test_what_was_written_is_read_again(shared: Path, parses: list[Parse]) -> None:
    assert write(parses, shared / "doc.ann") == len(parses)
    assert layers(list(read(shared / "doc.ann"))) == layers(parses)


@given(parses=st.lists(annotated(ANY_WORDS, spaces=True), max_size=4))
def test_entities_never_move(shared: Path, parses: list[Parse]) -> None:
    write(parses, shared / "doc.ann")
    again = list(read(shared / "doc.ann"))
    assert [marked(parse) for parse in again] == [marked(parse) for parse in parses]


@given(
    fragments=st.lists(st.integers(0, len(TEXT)), min_size=2, max_size=6, unique=True).map(sorted)
)
def test_an_entity_is_read_from_any_fragments_or_refused_or_counted(
    shared: Path, fragments: list[int]
) -> None:
    places = list(pairwise(fragments))[::2]
    line = ";".join(f"{start} {end}" for start, end in places)
    text = " ".join(TEXT[start:end] for start, end in places).replace("\n", " ")
    reading = ParseReader(
        document(shared, f"T1\tX {line}\t{text}\n"),
        settings=ReadSettings(on_crossing="drop-span", skip_bad=True),
    )
    entities = sum(len(parse.entities or ()) for parse in reading)
    assert entities + reading.counts["entities with a gap"] + reading.counts["bad sentences"] == 1


def test_a_document_is_read_with_its_nested_entities(tmp_path: Path) -> None:
    notes = (
        "T1\tORG 13 25\tBank of Oslo\nT2\tPER 0 4\tAnna\nR1\trel Arg1:T1 Arg2:T2\n"
        "#1\tAnnotatorNotes T1\tsure\n\nT3\tLOC 21 25\tOslo\nE1\tsaw:T2\nA1\tNeg T1\n"
        "M1\tNeg T1\nN1\tReference T1 w:1\tx\n*\tEquiv T1 T2\n"
    )
    first, second = read(document(tmp_path, notes))
    assert first.words == ("Anna", "saw", "the", "Bank", "of", "Oslo", ".")
    assert first.entities == (Span(0, 1, "PER"), Span(3, 6, "ORG"), Span(5, 6, "LOC"))
    assert first.sentence.text == "Anna saw the Bank of Oslo ."
    assert (first.id, second.id, second.entities) == ("doc-1", "doc-2", ())


def test_the_text_names_its_annotations_too(tmp_path: Path) -> None:
    path = document(tmp_path, "T1\tPER 0 4\tAnna\n").with_suffix(".txt")
    reading = ParseReader(path, format="brat")
    assert [len(parse.entities or ()) for parse in reading] == [1, 0]
    assert reading.place == (str(path), 2)


def test_a_sentence_is_placed_by_its_line_in_the_text(tmp_path: Path) -> None:
    path = document(tmp_path, "", "\n\na b\n\n c\nd")
    reading = ParseReader(path)
    assert [reading.place for _ in reading] == [
        (str(path.with_suffix(".txt")), line) for line in (3, 5, 6)
    ]


def test_characters_are_code_points_and_line_ends_are_two_where_they_are(tmp_path: Path) -> None:
    text = "😀 e\u0301 .\r\nOslo\r\n"
    first, second = read(document(tmp_path, "T1\tLOC 8 12\tOslo\nT2\tX 0 4\t😀 e\u0301\r\n", text))
    assert first.entities == (Span(0, 2, "X"),)
    assert second.entities == (Span(0, 1, "LOC"),)


def test_a_byte_order_mark_counts_and_is_no_word(tmp_path: Path) -> None:
    (parse,) = read(document(tmp_path, "T1\tLOC 1 5\tOslo\n", "\ufeffOslo"))
    assert (parse.words, parse.entities) == (("Oslo",), (Span(0, 1, "LOC"),))


def test_a_line_does_not_end_within_an_entity(tmp_path: Path) -> None:
    path = document(tmp_path, "T1\tX 26 30;31 36\t. It slept\n")
    (parse,) = read(path)
    assert parse.entities == (Span(6, 9, "X"),)


def test_a_word_is_cut_where_an_entity_ends(tmp_path: Path) -> None:
    (parse,) = read(document(tmp_path, "T1\tX 0 4\tCD28\n", "CD28-mediated"))
    assert (parse.words, parse.entities) == (("CD28", "-mediated"), (Span(0, 1, "X"),))


@pytest.mark.parametrize("order", ["0 4;9 17", "9 17;0 4"])
def test_entities_with_a_gap_follow_the_policy(tmp_path: Path, order: str) -> None:
    text = "Anna" + " the Bank" if order.startswith("0") else "the Bank Anna"
    path = document(tmp_path, f"T1\tX {order}\t{text}\nT2\tY 28 30\tIt\n")
    with pytest.raises(DataError, match="1 of the entities have a gap") as raised:
        list(read(path))
    assert str(raised.value).startswith(f"{path.with_suffix('.txt')}:1:")
    kept = ParseReader(path, settings=ReadSettings(on_crossing="drop-span"))
    assert [len(parse.entities or ()) for parse in kept] == [0, 1]
    assert kept.counts == {"entities with a gap": 1}
    dropped = ParseReader(path, settings=ReadSettings(on_crossing="drop-sentence"))
    assert [parse.words[0] for parse in dropped] == ["It"]
    assert dropped.counts == {"sentences with crossing entities": 1}


def test_crossing_entities_follow_the_policy(tmp_path: Path) -> None:
    path = document(tmp_path, "T1\tX 0 8\tAnna saw\nT2\tY 5 12\tsaw the\n")
    with pytest.raises(DataError, match=r"doc\.txt:1: .* cross"):
        list(read(path))
    assert next(read(path, on_crossing="drop-span")).dropped == (Span(1, 3, "Y"),)


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        ("T2\tPER 0 4\tOslo", "misaligned", "PER at characters 0 4 is 'Anna' in the text, and 'O"),
        ("T2\tPER 0 3;4 8\tAnn Anna", "misaligned", "is 'Ann saw' in the text, and 'Ann Anna'"),
        (f"T2\tPER {';'.join(['0 38'] * 9)}\tAnna", "misaligned", "the fragments of PER overlap"),
        ("T2\tPER 0 99\tAnna", "out of range", "not within a text of 39 characters"),
        ("T2\tPER 4 4\t", "out of range", "characters 4 to 4"),
        ("T2\tPER 4 5\t ", "misaligned", "holds no word"),
        ("T2\tPER 0 4", "malformed", "is no annotation"),
        ("T2 PER 0 4 Anna", "malformed", "`T1<TAB>LABEL start end<TAB>text` is right"),
        ("T2\tPER 0 four\tAnna", "malformed", "is no annotation"),
        ("T2\tPER 0 4;\tAnna", "malformed", "is no annotation"),
        (f"T2\tPER 0 {'4' * 5000}\tAnna", "malformed", "is no annotation"),
        ("what is this", "malformed", "is no annotation"),
    ],
)
def test_a_bad_annotation_is_named_by_its_line_and_can_be_left_out(
    tmp_path: Path, line: str, kind: str, message: str
) -> None:
    path = document(tmp_path, f"T1\tLOC 21 25\tOslo\n{line}\nT3\tX 28 30\tIt\n")
    with pytest.raises(DataError, match=message) as raised:
        list(read(path))
    assert (raised.value.path, raised.value.line, raised.value.kind) == (str(path), 2, kind)
    reading = ParseReader(path, settings=ReadSettings(skip_bad=True))
    assert [len(parse.entities or ()) for parse in reading] == [1, 1]
    assert reading.counts == {"bad sentences": 1}


@pytest.mark.parametrize(("there", "missing"), [("doc.ann", "doc.txt"), ("doc.txt", "doc.ann")])
def test_a_missing_file_of_the_pair_is_named(tmp_path: Path, there: str, missing: str) -> None:
    (tmp_path / there).touch()
    with pytest.raises(DataError, match=rf"{missing}: there is no such file, .*{there}"):
        list(read(tmp_path / there, format="brat"))


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "doc.json").touch()
    with pytest.raises(DataError, match=r"doc\.json: brat is a pair of files"):
        list(read(tmp_path / "doc.json", format="brat"))
    with pytest.raises(DataError, match="<stdin>: brat is a pair of files"):
        list(read("-", format="brat"))


def test_a_wrong_encoding_is_named_with_its_line(tmp_path: Path) -> None:
    path = document(tmp_path, "T1\tX 2 6\tCafé\n", "a\nCafé\n")
    text = path.with_suffix(".txt")
    text.write_bytes("a\nCafé\n".encode("latin-1"))
    with pytest.raises(DataError, match="not utf-8: byte 0xe9") as raised:
        list(read(path))
    assert (raised.value.path, raised.value.line) == (str(text), 2)
    path.write_bytes("T1\tX 2 6\tCafé\n".encode("latin-1"))
    assert list(read(path, encoding="latin-1"))[1].words == ("Café",)


def sentence(words: str, id: str | None = None, **layers: Any) -> Parse:
    return Parse(Sentence(tuple(words.split()), id=id), entities=(), **layers)


def test_one_pair_of_files_is_written(tmp_path: Path) -> None:
    parse = Parse(
        Sentence.from_whitespace(["Oslo", "'s", "Bank"], ["", "  ", "\n"]),
        entities=(Span(0, 3, "ORG"), Span(0, 1, "LOC")),
    )
    save([sentence("a b"), parse], tmp_path / "doc.txt", WriteSettings())
    assert (tmp_path / "doc.txt").read_text() == "a b\nOslo's  Bank\n"
    assert (tmp_path / "doc.ann").read_text() == ("T1\tORG 4 16\tOslo's  Bank\nT2\tLOC 4 8\tOslo\n")


def test_what_is_no_blank_between_words_is_left_out(tmp_path: Path) -> None:
    whole = Sentence(("a", "b", "c"), text="x a\nb, c y", offsets=((2, 3), (4, 5), (7, 8)))
    save([Parse(whole, entities=(Span(1, 3, "X"),))], tmp_path / "doc.ann", WriteSettings())
    assert (tmp_path / "doc.txt").read_text() == "a b c\n"
    assert (tmp_path / "doc.ann").read_text() == "T1\tX 2 5\tb c\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "gb18030"])
def test_encodings_and_packed_files_come_back(tmp_path: Path, encoding: str) -> None:
    parses = [Parse(Sentence(("語", "b")), entities=(Span(0, 1, "語"),))] * 2
    path = tmp_path / "doc.ann.gz"
    write(parses, path, encoding=encoding)
    assert gzip.decompress((tmp_path / "doc.txt.gz").read_bytes()).decode(encoding) == "語 b\n" * 2
    assert layers(list(read(path, encoding=encoding))) == layers(parses)


def test_a_folder_gets_a_pair_for_each_document(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    parses = [
        sentence("a", "x-1"),
        sentence("b", "x-2"),
        sentence("c", "y.z"),
        sentence("d"),
        sentence("e", "-7"),
    ]
    assert write(parses, folder, format="brat") == 5
    assert sorted(file.name for file in folder.iterdir()) == [
        *("document.ann", "document.txt", "x.ann", "x.txt", "y.z.ann", "y.z.txt")
    ]
    assert (folder / "x.txt").read_text() == "a\nb\n"
    again = list(read(folder))
    assert [parse.words[0] for parse in again] == ["d", "e", "a", "b", "c"]
    assert again[2].id == "x-1"


def test_a_folder_that_is_there_is_added_to(tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    (tmp_path / "x.txt").write_text("old")
    write([sentence("a", "x-1")], tmp_path, format="brat")
    assert (tmp_path / "x.txt").read_text() == "a\n"
    assert sorted(os.listdir(tmp_path)) == ["kept", "x.ann", "x.txt"]


@given(ids=st.lists(st.text("./\\:-1a\x00\n", max_size=6), max_size=3, unique=True))
def test_ids_never_lead_out_of_the_folder(shared: Path, ids: list[str]) -> None:
    place = shared / "inside"
    place.mkdir(exist_ok=True)
    before = sorted(os.listdir(shared))
    with suppress(DataError):  # two of them may become the same name
        write([sentence("a", id) for id in ids], place / "folder", format="brat")
    assert sorted(os.listdir(shared)) == before
    assert os.listdir(place) in ([], ["folder"])
    for file in place.glob("folder/*"):
        assert file.is_file()
        assert file.suffix in (".ann", ".txt")


@pytest.mark.parametrize("ids", [("a/b-1", "a_b-1"), ("x-1", "y-1", "x-2")])
def test_documents_are_not_written_over_each_other(tmp_path: Path, ids: tuple[str, ...]) -> None:
    with pytest.raises(DataError, match="as an earlier one was"):
        write([sentence("a", id) for id in ids], tmp_path / "new", format="brat")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("parse", "message"),
    [
        (Parse(Sentence(("a\nb",)), entities=()), r"the word 'a\\nb'"),
        (Parse(Sentence(("a\r",)), entities=()), r"the word 'a\\r'"),
        (Parse(Sentence(("\u00a0",)), entities=()), "is no word of a line"),
        (Parse(Sentence(()), entities=()), "without words"),
        (Parse(Sentence(("a",)), entities=(Span(0, 1, ""),)), "the label ''"),
        (Parse(Sentence(("a",)), entities=(Span(0, 1, "a b"),)), "the label 'a b'"),
        (Parse(Sentence(("a",))), "no entities annotated"),
    ],
)
@pytest.mark.parametrize("name", ["new", "old", "doc.ann"])
def test_what_cannot_be_said_is_refused_and_nothing_is_written(
    tmp_path: Path, parse: Parse, message: str, name: str
) -> None:
    (tmp_path / "old").mkdir()
    with pytest.raises(DataError, match=f"sentence 2: .*{message}"):
        write([sentence("a", "x-1"), parse], tmp_path / name, format="brat")
    assert list(tmp_path.rglob("*")) == [tmp_path / "old"]


@pytest.mark.parametrize("name", ["new", "doc.ann"])
def test_a_text_may_not_begin_with_what_is_read_as_a_mark(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"sentence 1: .* begins the file with U"):
        write([sentence("\ufeffa b")], tmp_path / name, format="brat")
    write([sentence("a \ufeffb"), sentence("\ufeffc")], tmp_path / name, format="brat")


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "no" / "folder"):
        with pytest.raises(DataError, match="cannot be written") as raised:
            write([sentence("a")], folder, format="brat")
        assert raised.value.path == str(folder)


class TestAPairThatIsWrittenOver:
    OLD, NEW = [sentence("old text")], [sentence("new")]

    @pytest.fixture(params=["doc.ann", "folder", "doc.txt.gz"])
    def out(self, request: pytest.FixtureRequest, tmp_path: Path) -> Path:
        out: Path = tmp_path / str(request.param)
        write(self.OLD, out, format="brat")
        return out

    @pytest.mark.parametrize("calls", [0, 1, 2, 3])
    def test_a_kill_at_any_step_never_leaves_annotations_of_another_text(
        self, out: Path, monkeypatch: pytest.MonkeyPatch, calls: int
    ) -> None:
        left = calls

        def or_killed(do: Callable[..., None]) -> Callable[..., None]:
            def done(*arguments: Any, **named: Any) -> None:
                nonlocal left
                hidden = any(part.startswith(".") for part in Path(arguments[-1]).parts)
                left -= not hidden
                if left >= 0:  # what would come after a kill is not done
                    do(*arguments, **named)
                elif left == -1 and not hidden:
                    raise KeyboardInterrupt

            return done

        with monkeypatch.context() as patched:
            patched.setattr("fencepost.formats.brat.os.replace", or_killed(os.replace))
            patched.setattr("fencepost.formats.brat.Path.unlink", or_killed(Path.unlink))
            with pytest.raises(KeyboardInterrupt) if calls < 3 else nullcontext():
                write(self.NEW, out, format="brat")
        if calls in (1, 2):
            with pytest.raises(DataError, match=r"\.ann(\.gz)?: there is no such file, to go with"):
                list(read(next(out.parent.rglob("d*.txt*")), format="brat"))
        else:
            expected = self.NEW if calls == 3 else self.OLD
            assert layers(list(read(out, format="brat"))) == layers(expected)

    def test_a_failure_leaves_the_old_pair(self, out: Path) -> None:
        with pytest.raises(DataError, match="sentence 2"):
            write([*self.NEW, Parse(Sentence(()), entities=())], out, format="brat")
        assert layers(list(read(out, format="brat"))) == layers(self.OLD)
        assert not list(out.parent.rglob(".*"))


def test_annotations_of_another_text_are_refused_with_both_files(tmp_path: Path) -> None:
    path = document(tmp_path, "T1\tLOC 0 4\tOslo\n")
    with pytest.raises(DataError) as raised:
        list(read(path))
    assert str(raised.value) == (
        f"{path}:1: LOC at characters 0 4 is 'Anna' in the text, and 'Oslo' here (the text is "
        f"{path.with_suffix('.txt')})"
    )


def test_a_place_that_cannot_be_taken_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("fencepost.formats.brat.os.replace", refused)
    with pytest.raises(DataError, match=r"doc\.txt: cannot be written: Operation not permitted"):
        write([sentence("a")], tmp_path / "doc.ann")
    assert not list(tmp_path.iterdir())
