import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import ConfigError, DataError
from fencepost.formats import ParseReader, read, write
from fencepost.formats.docbin import (
    ENTITIES,
    SENTENCES,
    TAGS,
    TREE,
    sentences_of,
    split_doc,
)
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


def test_a_doc_in_hand_is_split_by_its_boundaries_or_by_those_of_its_text() -> None:
    doc = doc_of("a|.|b|\n|.|\n|cd", spaces=[True] * 6 + [False])
    words = [("a", "."), ("b", "."), ("cd",)]

    def starts(doc: Any) -> list[int]:
        return [0, *map(doc.text.index, "bcd")]

    assert [sentence.words for sentence in split_doc(doc, starts)] == words
    assert [sentence.text for sentence in sentences_of(doc, starts)] == ["a .", "b \n . \n", "cd"]
    assert {sentence.text for sentence in split_doc(doc, starts)} == {doc.text}
    assert not doc.has_annotation("SENT_START")
    doc = doc_of("a|.|b", sent_starts=[True, False, False])
    assert [sentence.words for sentence in split_doc(doc, starts)] == [("a", ".", "b")]
    for empty in ("", "\n", "\n| "):
        assert split_doc(doc_of(empty), lambda doc: []) == ()


def test_unknown_blanks_stay_unknown(path: Path) -> None:
    (parse,) = read(packed(path, doc_of("a|b")))
    assert (parse.sentence.text, parse.sentence.offsets) == (None, None)


def test_an_id_that_is_no_string_is_passed_over(path: Path) -> None:
    doc = doc_of("a")
    doc.user_data["id"] = 7
    assert next(read(packed(path, doc))).id is None


def test_a_document_without_words_is_passed_over(path: Path) -> None:
    reading = ParseReader(packed(path, doc_of(""), doc_of("\n"), doc_of("a")))
    assert [(parse.words, reading.place[1]) for parse in reading] == [(("a",), 3)]


def test_an_entity_beyond_its_sentence_is_refused_with_both_sentences(path: Path) -> None:
    broken = doc_of("a|b|c|d", (1, 3, "X"), group="sc", sent_starts=[True, False, True, False])
    packed(path, doc_of("e"), broken, doc_of("f"))
    with pytest.raises(DataError, match="X over 'b c' goes beyond the sentence 'a b'") as raised:
        list(read(path))
    assert (raised.value.path, raised.value.line) == (str(path), 2)
    reading = ParseReader(path, settings=ReadSettings(skip_bad=True))
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


def test_a_file_that_would_fill_the_memory_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.formats.docbin.MOST_UNPACKED", 10_000_000)
    monkeypatch.setattr("fencepost.formats.docbin._PART", 1_000_000)
    path.write_bytes(zlib.compress(bytes(100_000_000)))
    assert path.stat().st_size < 100_000
    with pytest.raises(DataError, match="more than 10,000,000 bytes when unpacked; split the file"):
        list(read(path))


@pytest.mark.parametrize("group", [SENTENCES, "spans"])
def test_a_name_that_the_file_does_not_hold_is_an_error_of_ours(path: Path, group: str) -> None:
    from spacy.tokens import DocBin

    doc = doc_of("a|b", (0, 2, "label"), group=group)
    doc.spans[TREE] = []
    documents = DocBin(docs=[doc], store_user_data=True)
    documents.strings.remove("label")
    documents.to_disk(path)
    with pytest.raises(DataError, match=r"no document of spaCy \(DocBin\): .*hash"):
        list(read(path, span_group="spans"))


@pytest.mark.parametrize("group", ["sc", TAGS, SENTENCES])
@pytest.mark.parametrize("place", [(2, 1), (0, 3), (-1, 1), (0, 2**31 - 1)])
def test_a_span_that_cannot_be_is_told_and_can_be_left_out(
    path: Path, group: str, place: tuple[int, int]
) -> None:
    from spacy.tokens import DocBin

    doc = doc_of("a|b", (0, 2, "X"), group=group)
    doc.spans.setdefault(TREE, [])
    documents = DocBin(docs=[doc, doc_of("c", group="sc")], store_user_data=True)
    here = struct.pack(">4l", 0, 2, 0, 3)
    assert here in documents.span_groups[0]
    there = struct.pack(">4l", *place, 0, 3)
    documents.span_groups[0] = documents.span_groups[0].replace(here, there)
    documents.to_disk(path)
    with pytest.raises(DataError, match="Error creating span") as raised:
        list(read(path))
    assert (raised.value.path, raised.value.line) == (str(path), 1)
    reading = ParseReader(path, settings=ReadSettings(skip_bad=True))
    assert [parse.words for parse in reading] == [("c",)]
    assert reading.counts == {"bad sentences": 1}


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


@pytest.mark.slow
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
    with pytest.raises(ConfigError, match=r'pip install "fencepost\[spacy\]"'):
        list(read(path))
    with pytest.raises(ConfigError, match=r'pip install "fencepost\[spacy\]"'):
        write([], path)


class TestWhatFencepostFound:
    """Documents of a pipeline: the groups that `fencepost.integrations.span_groups` writes."""

    @staticmethod
    def group(doc: Any, name: str, *spans: tuple[int, int, str], scores: Any = None) -> None:
        from spacy.tokens import Span as SpanOfDoc
        from spacy.tokens import SpanGroup

        made = [SpanOfDoc(doc, *span) for span in spans]
        attributes = {} if scores is None else {"scores": scores}
        doc.spans[name] = SpanGroup(doc, name=name, spans=made, attrs=attributes)

    @pytest.fixture
    def doc(self) -> Any:
        """Two sentences with blanks around them, without boundaries of spaCy's."""
        spaces = [False, True, False, True, False, True, False, False]
        doc = doc_of("\n|Ann|slept|!|\n|Bo|woke|\n", spaces=spaces)
        self.group(doc, SENTENCES, (1, 4, ""), (5, 7, ""))
        tree = ((1, 4, "S"), (1, 2, "NP"), (5, 7, "S"), (5, 7, "VP"))
        self.group(doc, TREE, *tree, scores=[0.5, 0.25, 1.0, 0.125])
        tags = ((1, 2, "NNP"), (2, 3, "VBD"), (3, 4, "."), (5, 6, "NNP"), (6, 7, "VBD"))
        self.group(doc, TAGS, *tags)
        self.group(doc, ENTITIES, (1, 2, "PER"), (5, 6, "PER"), scores=[0.5, 0.75])
        return doc

    def test_trees_tags_and_entities_are_read(self, path: Path, doc: Any) -> None:
        first, second = read(packed(path, doc))
        assert str(first.tree) == "(S (NP (NNP Ann)) (VBD slept) (. !))"
        assert str(second.tree) == "(S (VP (NNP Bo) (VBD woke)))"
        assert [first.sentence.text, second.sentence.text] == ["Ann slept!", "Bo woke"]
        assert first.entities == second.entities == (Span(0, 1, "PER"),)
        assert first.tree is not None
        assert [span.probability for span in first.tree.spans] == [0.5, 0.25]
        (ann,) = first.entities
        (bo,) = second.entities
        assert (ann.text, ann.probability, bo.text, bo.probability) == ("Ann", 0.5, "Bo", 0.75)

    def test_the_group_that_is_asked_for_comes_first(self, path: Path, doc: Any) -> None:
        self.group(doc, "sc", (6, 7, "X"))
        assert [p.entities for p in read(packed(path, doc))] == [(), (Span(1, 2, "X"),)]
        asked = read(path, span_group=ENTITIES)
        assert [p.entities for p in asked] == [(Span(0, 1, "PER"),)] * 2

    def test_entities_alone_are_read_from_the_sentences_of_the_document(self, path: Path) -> None:
        doc = doc_of("Ann|slept", ents=["O", "O"])
        self.group(doc, ENTITIES, (0, 1, "PER"))
        (parse,) = read(packed(path, doc))
        assert (parse.tree, parse.entities) == (None, (Span(0, 1, "PER"),))

    @pytest.mark.parametrize("scores", [[0.5, 0.5], [], 0.5, "x", [[0.5, 0.5]], {"a": 1}])
    def test_scores_that_are_not_one_for_each_span_are_passed_over(
        self, path: Path, doc: Any, scores: Any
    ) -> None:
        self.group(doc, ENTITIES, (1, 2, "PER"), scores=scores)
        first, _ = read(packed(path, doc))
        assert first.entities is not None
        assert [entity.probability for entity in first.entities] == [None]

    def test_a_sentence_that_was_not_parsed_has_no_layers(self, path: Path, doc: Any) -> None:
        self.group(doc, SENTENCES, (1, 4, "too long"), (5, 7, ""))
        self.group(doc, TREE, (5, 7, "S"))
        self.group(doc, ENTITIES, (5, 6, "PER"))
        first, second = read(packed(path, doc))
        assert (first.tree, first.entities) == (None, None)
        assert (str(second.tree), len(second.entities or ())) == ("(S (NNP Bo) (VBD woke))", 1)

    def test_tags_of_the_document_stand_where_none_were_predicted(self, path: Path) -> None:
        doc = doc_of("a|b", tags=["A", ""])
        self.group(doc, SENTENCES, (0, 2, ""))
        self.group(doc, TREE, (0, 2, "S"))
        assert next(read(packed(path, doc))).tags == ("A", "")
        self.group(doc, TAGS, (0, 1, ""), (1, 2, "B"))
        assert next(read(packed(path, doc))).tags == ("A", "B")
        bare = doc_of("a|b")
        self.group(bare, TAGS, (0, 1, ""), (1, 2, ""))
        assert next(read(packed(path, bare))).tags is None

    def test_sentences_that_were_parsed_count_more_than_later_boundaries(self, path: Path) -> None:
        doc = doc_of("a|b|c", sent_starts=[True, False, True])
        self.group(doc, SENTENCES, (0, 1, ""), (1, 3, ""))
        self.group(doc, TREE, (0, 1, "S"), (1, 3, "S"))
        assert [parse.words for parse in read(packed(path, doc))] == [("a",), ("b", "c")]

    @pytest.mark.parametrize("words", ["", "\n"])
    def test_a_document_without_words_is_passed_over(self, path: Path, words: str) -> None:
        doc = doc_of(words)
        for name in (SENTENCES, TREE, TAGS, ENTITIES):
            self.group(doc, name)
        assert list(read(packed(path, doc))) == []

    @pytest.mark.parametrize("layers", [(TREE, SENTENCES), (TREE, SENTENCES, TAGS), (ENTITIES,)])
    def test_merged_tokens_are_refused(self, path: Path, doc: Any, layers: tuple[str, ...]) -> None:
        for name in list(doc.spans):
            if name not in layers:
                del doc.spans[name]
        with doc.retokenize() as retokenizer:
            retokenizer.merge(doc[1:3])
        packed(path, doc, doc_of("a"))
        with pytest.raises(DataError, match=r"file\.spacy:1: .*merged or split") as raised:
            list(read(path))
        assert raised.value.kind == "misaligned"
        assert list(read(path, skip_bad=True))[-1].words == ("a",)

    @pytest.mark.parametrize("layers", [(TREE, SENTENCES, TAGS), (TAGS,)])
    def test_as_many_tokens_as_before_are_not_the_same_tokens(
        self, path: Path, layers: tuple[str, ...]
    ) -> None:
        doc = doc_of("ab|cd|ef|g", spaces=[False] * 4)
        for name, spans in (
            (SENTENCES, [(0, 4, "")]),
            (TREE, [(0, 4, "S")]),
            (TAGS, [(k, k + 1, "T") for k in range(4)]),
        ):
            if name in layers:
                self.group(doc, name, *spans)
        assert next(read(packed(path, doc))).tags == ("T",) * 4
        with doc.retokenize() as retokenizer:
            retokenizer.merge(doc[0:2])
        with doc.retokenize() as retokenizer:
            retokenizer.split(doc[1], ["e", "f"], heads=[doc[0], doc[0]])
        packed(path, doc)
        with pytest.raises(DataError, match="merged or split"):
            list(read(path))

    def test_what_a_pipeline_found_is_read_from_its_file(self, path: Path, tmp_path: Path) -> None:
        import spacy

        from fencepost.checkpoints.model import save_model
        from fencepost.parser.parser import load
        from tests.models import lively_model

        save_model(lively_model("tree", "entities", "tags"), tmp_path / "model")
        nlp = spacy.blank("en")
        nlp.add_pipe("fencepost", config={"model": str(tmp_path / "model")})
        docs = list(nlp.pipe(["a b! c a b!\n\n", " ", "b c"]))
        found = list(read(packed(path, *docs)))
        parser = load(tmp_path / "model")
        expected = [parse for doc in docs for parse in parser.parse(doc).sentences]
        assert [parse.words for parse in found] == [parse.words for parse in expected]
        for one, other in zip(found, expected, strict=True):
            assert str(one.tree) == str(other.tree)
            assert (one.tags, one.entities) == (other.tags, other.entities)
            assert [span.probability for span in one.entities or ()] == pytest.approx(
                [span.probability for span in other.entities or ()], abs=1e-5
            )
