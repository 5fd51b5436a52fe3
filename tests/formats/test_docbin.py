import os
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.formats import Reading, read, write
from fencepost.formats.docbin import sentences_of, split_doc
from fencepost.formats.settings import ReadSettings
from fencepost.structure import Parse, Sentence, Span, Tree
from tests.strategies import NAMES, WORDS, nested_spans

pytest.importorskip("spacy")


@st.composite
def annotated(draw: st.DrawFn) -> Parse:
    words = draw(st.lists(WORDS.filter(str.strip), min_size=1, max_size=6))
    tags = draw(st.none() | st.lists(NAMES, min_size=len(words), max_size=len(words)))
    name = draw(st.none() | st.text(max_size=4))
    sentence = Sentence(tuple(words), None if tags is None else tuple(tags), id=name)
    if draw(st.booleans()):
        spaces = draw(
            st.lists(st.sampled_from(["", " "]), min_size=len(words), max_size=len(words))
        )
        spaces[-1] = ""  # spaCy's sentences end with their last word
        sentence = Sentence.from_whitespace(words, spaces, tags=tags, id=name)
    return Parse(sentence, entities=tuple(draw(nested_spans(len(words), NAMES))))


def doc_of(words: str, *marked: tuple[int, int, str], group: str = "", **layers: Any) -> Any:
    """A document of spaCy's, whose words are given with `|` between them."""
    from spacy.tokens import Doc
    from spacy.tokens import Span as SpanOfDoc
    from spacy.vocab import Vocab

    doc = Doc(Vocab(), words=words.split("|") if words else [], **layers)
    if group:
        doc.spans[group] = [SpanOfDoc(doc, *span) for span in marked]
    return doc


def packed(path: Path, *docs: Any) -> Path:
    from spacy.tokens import DocBin

    DocBin(
        attrs=["TAG", "SENT_START", "ENT_IOB", "ENT_TYPE"], docs=docs, store_user_data=True
    ).to_disk(path)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.spacy"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spacy") / "file.spacy"


@given(parses=st.lists(annotated(), max_size=4))
def test_what_was_written_is_read_again(shared: Path, parses: list[Parse]) -> None:
    assert write(parses, shared) == len(parses)
    assert list(read(shared)) == parses


def test_nested_entities_are_read_from_the_span_group(path: Path) -> None:
    doc = doc_of(
        "Bank|of|Oslo", (2, 3, "LOC"), (0, 3, "ORG"), group="mine", spaces=[True, True, False]
    )
    (parse,) = read(packed(path, doc), span_group="mine")
    assert parse.entities == (Span(0, 3, "ORG"), Span(2, 3, "LOC"))
    assert parse.sentence.text == "Bank of Oslo"
    assert (parse.tree, parse.tags, parse.id) == (None, None, None)


def test_without_the_group_entities_are_the_documents_own(path: Path) -> None:
    doc = doc_of("Oslo|slept", (0, 2, "X"), group="other", ents=["B-LOC", "O"])
    assert next(read(packed(path, doc))).entities == (Span(0, 1, "LOC"),)


def test_a_document_without_entities_annotated_says_so(path: Path) -> None:
    unknown = doc_of("a|b")
    none = doc_of("a|b", ents=["O", "O"])
    empty = doc_of("a|b", group="sc")
    assert [p.entities for p in read(packed(path, unknown, none, empty))] == [None, (), ()]


def test_each_sentence_of_a_document_is_read(path: Path) -> None:
    doc = doc_of(
        "It|slept|.|Anna|\n|left|\n\n",
        (3, 6, "X"),
        (3, 5, "PER"),
        (1, 2, "Y"),
        group="sc",
        sent_starts=[True, False, False, True, False, False, True],
        spaces=[True, False, True, True, False, False, False],
        tags=["", "VBD", ".", "", "", "", ""],
    )
    doc.user_data["id"] = "d"
    first, second = read(packed(path, doc))
    assert (first.words, first.id) == (("It", "slept", "."), "d-1")
    assert (first.tags, first.entities) == (("", "VBD", "."), (Span(1, 2, "Y"),))
    assert first.sentence.text == "It slept."
    assert second.sentence == Sentence(
        ("Anna", "left"), text="Anna \nleft", offsets=((0, 4), (6, 10)), id="d-2"
    )
    assert second.entities == (Span(0, 2, "X"), Span(0, 1, "PER"))


def test_a_sentence_is_read_without_the_blanks_around_it(path: Path) -> None:
    doc = doc_of("\n|a|b|\n\n", (1, 2, "X"), group="sc", spaces=[False, True, False, False])
    (parse,) = read(packed(path, doc))
    assert parse.sentence == Sentence(("a", "b"), text="a b", offsets=((0, 1), (2, 3)))
    assert parse.entities == (Span(0, 1, "X"),)


def test_a_doc_in_hand_is_split_by_its_boundaries_or_as_spacy_would() -> None:
    doc = doc_of("a|.|b|\n|.|\n|c", spaces=[True] * 6 + [False])
    assert [sentence.words for sentence in split_doc(doc)] == [("a", "."), ("b", "."), ("c",)]
    assert [sentence.text for sentence in sentences_of(doc)] == ["a .", "b \n . \n", "c"]
    assert {sentence.text for sentence in split_doc(doc)} == {doc.text}
    assert not doc.has_annotation("SENT_START")
    doc = doc_of("a|.|b", sent_starts=[True, False, False])
    assert [sentence.words for sentence in split_doc(doc)] == [("a", ".", "b")]
    for empty in ("", "\n", "\n| "):
        assert split_doc(doc_of(empty)) == ()


def test_unknown_blanks_stay_unknown(path: Path) -> None:
    (parse,) = read(packed(path, doc_of("a|b")))
    assert (parse.sentence.text, parse.sentence.offsets) == (None, None)


def test_an_id_that_is_no_string_is_passed_over(path: Path) -> None:
    doc = doc_of("a")
    doc.user_data["id"] = 7
    assert next(read(packed(path, doc))).id is None


def test_a_document_without_words_is_passed_over(path: Path) -> None:
    reading = Reading(packed(path, doc_of(""), doc_of("\n"), doc_of("a")))
    assert [(parse.words, reading.place[1]) for parse in reading] == [(("a",), 3)]


def test_an_entity_beyond_its_sentence_is_refused_with_both_sentences(path: Path) -> None:
    broken = doc_of("a|b|c|d", (1, 3, "X"), group="sc", sent_starts=[True, False, True, False])
    packed(path, doc_of("e"), broken, doc_of("f"))
    with pytest.raises(DataError, match="X over 'b c' goes beyond the sentence 'a b'") as raised:
        list(read(path))
    assert (raised.value.path, raised.value.line) == (str(path), 2)
    reading = Reading(path, settings=ReadSettings(skip_bad=True))
    assert [parse.words for parse in reading] == [("e",), ("f",)]
    assert reading.counts == {"bad sentences": 2}


@pytest.mark.parametrize("place", [(1, 2), (0, 0), (3, 3)])
def test_an_entity_without_words_is_refused(path: Path, place: tuple[int, int]) -> None:
    packed(path, doc_of("a|\n|b", (*place, "X"), group="sc"))
    with pytest.raises(DataError, match=r"X over .* holds no word") as raised:
        list(read(path))
    assert raised.value.kind == "misaligned"


def test_crossing_entities_follow_the_policy(path: Path) -> None:
    packed(path, doc_of("a|b|c", (0, 2, "X"), (1, 3, "Y"), group="sc"))
    with pytest.raises(DataError, match="cross"):
        list(read(path))
    assert next(read(path, on_crossing="drop-span")).dropped == (Span(1, 3, "Y"),)
    assert list(read(path, on_crossing="drop-sentence")) == []


@pytest.mark.parametrize(
    "data", [b"", b"(S (NN a))", zlib.compress(b""), zlib.compress(b"\x80"), zlib.compress(b"\x93")]
)
def test_a_file_that_is_something_else_is_refused(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with pytest.raises(DataError, match="no documents of spaCy") as raised:
        list(read(path))
    assert raised.value.path == str(path)


def test_packed_files_come_back(tmp_path: Path) -> None:
    parses = [Parse(Sentence(("a", "b")), entities=(Span(0, 1, "X"),))]
    write(parses, tmp_path / "file.spacy.gz", span_group="g")
    assert list(read(tmp_path / "file.spacy.gz", span_group="g")) == parses
    assert next(read(tmp_path / "file.spacy.gz")).entities is None


def test_any_blanks_between_words_become_one(path: Path) -> None:
    sentence = Sentence.from_whitespace(["a", "b", "c"], ["\n\t", "", " "])
    write([Parse(sentence, entities=())], path)
    assert next(read(path)).sentence.text == "a bc"


def test_trees_are_left_out(path: Path) -> None:
    tree = Tree.from_brackets("(S (NN a))")
    write([Parse(tree.sentence, tree, ())], path)
    assert list(read(path)) == [Parse(tree.sentence, None, ())]


@pytest.mark.parametrize(
    ("parse", "message"),
    [
        (Parse(Sentence(()), entities=()), "without words"),
        (Parse(Sentence(("\u00a0",)), entities=()), "only blanks"),
        (Parse(Sentence(("a",))), "no entities annotated"),
    ],
)
def test_what_cannot_be_said_is_refused(path: Path, parse: Parse, message: str) -> None:
    good = Parse(Sentence(("a",)), entities=())
    with pytest.raises(DataError, match=f"sentence 2: .*{message}"):
        write([good, parse], path)
    assert not path.exists()


def test_the_same_parses_give_the_same_bytes(tmp_path: Path) -> None:
    program = (
        "import sys; from fencepost.formats import write; "
        "from fencepost.structure import Parse, Sentence, Span; "
        "words = tuple('one two three four five'.split()); "
        "write([Parse(Sentence(words, words, id='x'), entities=(Span(0, 2, 'A'), Span(1, 2, 'B')))]"
        " * 2, sys.argv[1])"
    )
    files = [tmp_path / "0.spacy", tmp_path / "1.spacy"]
    for seed, file in enumerate(files):
        subprocess.run(
            [sys.executable, "-c", program, str(file)],
            check=True,
            env={
                **os.environ,
                "PYTHONHASHSEED": str(seed),
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
        )
    assert files[0].read_bytes() == files[1].read_bytes()


def test_without_spacy_it_is_told_how_to_get_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.touch()
    monkeypatch.setitem(sys.modules, "spacy", None)
    monkeypatch.setitem(sys.modules, "spacy.tokens", None)
    with pytest.raises(DataError, match=r'pip install "fencepost\[spacy\]"'):
        list(read(path))
    with pytest.raises(DataError, match=r'pip install "fencepost\[spacy\]"'):
        write([], path)
