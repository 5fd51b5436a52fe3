"""Rows come back from JSON lines and Parquet as they were, and are the same bytes each time."""

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import ConfigError, DataError
from fencepost.parser.parser import Parser
from fencepost.run.corpus import results as module
from fencepost.run.corpus.results import SUFFIXES, Format, Hashed, read_documents, results
from fencepost.structure import Document, Entity, FoundSpan, Parse, Sentence, Tree
from tests.models import lively_model
from tests.strategies import parses

FORMATS: Sequence[Format] = ("jsonl", "parquet")


def bytes_of(documents: Sequence[Document], format: Format) -> bytes:
    raw = io.BytesIO()
    file = Hashed(raw)
    with results(file, format) as write:
        for document in documents:
            write(document)
    data = raw.getvalue()
    assert file.bytes == len(data)
    assert file.sha256 == hashlib.sha256(data).hexdigest()
    return data


def read_again(documents: Sequence[Document], format: Format, folder: Path) -> list[Document]:
    path = folder / f"x{SUFFIXES[format]}"
    path.write_bytes(bytes_of(documents, format))
    return list(read_documents(str(path)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


def documents() -> st.SearchStrategy[Document]:
    """What a parser gives: its sentences have no names of their own, and one text or none."""

    def plain(parse: Parse) -> Parse:
        sentence = replace(parse.sentence, id=None)
        tree = None if parse.tree is None else Tree(sentence, parse.tree.spans)
        return replace(parse, sentence=sentence, tree=tree, dropped=(), rank=None)

    return st.builds(
        Document,
        st.lists(parses().map(plain), max_size=3).map(tuple),
        st.none() | st.text(max_size=9),
        st.sampled_from(["ok", "a sentence of 7 words is longer than 4"]),
        st.none() | st.text(max_size=4),
    )


@pytest.mark.parametrize("format", FORMATS)
class TestRoundTrip:
    @settings(max_examples=30)
    @given(given=st.lists(documents(), max_size=4))
    def test_documents_come_back(self, folder: Path, format: Format, given: list[Document]) -> None:
        assert read_again(given, format, folder) == given

    @settings(max_examples=30)
    @given(given=st.lists(documents(), max_size=3))
    def test_the_same_documents_give_the_same_bytes(
        self, format: Format, given: list[Document]
    ) -> None:
        assert bytes_of(given, format) == bytes_of(given, format)

    def test_what_a_model_finds_comes_back(self, folder: Path, format: Format) -> None:
        parser = Parser(lively_model("tree", "entities", "tags"))
        texts: list[Any] = ["The cat sat. It slept.", "", ["a", "b"], "x \ud800", 5]
        given = [
            replace(one, id=f"row {number}") for number, one in enumerate(parser.parse_many(texts))
        ]
        found = read_again(given, format, folder)
        assert [one.status for one in found] == [one.status for one in given]
        for before, after in zip(given, found, strict=True):
            if before.text is None or "\ud800" not in before.text:
                assert after == before
            for x, y in zip(before.sentences, after.sentences, strict=True):
                assert y.log_prob == pytest.approx(x.log_prob, abs=1e-5)
                assert [one.probability for one in y.entities or ()] == pytest.approx(
                    [one.probability for one in x.entities or ()], abs=1e-5
                )

    def test_probabilities_are_told_with_a_few_digits(self, folder: Path, format: Format) -> None:
        sentence = Sentence(("a", "b"))
        tree = Tree(sentence, (FoundSpan(0, 2, "S", sentence, 1 / 3),))
        entity = Entity(0, 1, "x", sentence, 2 / 3)
        parse = Parse(sentence, tree, (entity,), log_probs={"tree": -1 / 7})
        (found,) = read_again([Document((parse,))], format, folder)
        assert found.tree is not None
        assert found.tree.spans[0].probability == 0.333333
        assert (found.entities or ())[0].probability == 0.666667
        assert found.sentences[0].log_probs == {"tree": -0.142857}

    def test_halves_of_pairs_can_be_written(self, folder: Path, format: Format) -> None:
        text = "a \ud800"
        sentence = Sentence(("a", "\ud800"), ("\udfff", "N"), text, ((0, 1), (2, 3)))
        other = Sentence(("\ud800",), None, "\ud800", ((0, 1),))
        spans = (FoundSpan(0, 2, "\ud800", sentence),)
        given = Document(
            (Parse(sentence, Tree(sentence, spans), ()), Parse(other)), text, "ok", "\udfff"
        )
        (found,) = read_again([given], format, folder)
        if format == "jsonl":
            assert found == given
        else:  # which has no way to say them
            assert (found.id, found.text) == ("\ufffd", "a \ufffd")
            assert found.sentences[0].sentence.words == ("a", "\ufffd")
            assert found.sentences[0].sentence.tags == ("\ufffd", "N")
            assert found.sentences[1].sentence.text == "\ufffd"

    def test_a_sentence_may_have_its_own_text(self, folder: Path, format: Format) -> None:
        words = Sentence(("a",))
        own = Sentence(("b",), None, "b!", ((0, 1),))
        loose = Sentence(("c",), None, "c?")
        given = Document(tuple(map(Parse, (words, own, loose))), None)
        assert read_again([given], format, folder) == [given]

    def test_no_documents_are_an_empty_file(self, folder: Path, format: Format) -> None:
        assert read_again([], format, folder) == []
        assert bytes_of([], "jsonl") == b""


class TestReadingAFolder:
    def test_files_are_read_in_order_and_ours_are_passed_over(self, tmp_path: Path) -> None:
        for name in ("b-00001.jsonl", "a/x.parquet", "b-00000.jsonl", "_work/c.jsonl"):
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            format: Format = "parquet" if path.suffix == ".parquet" else "jsonl"
            path.write_bytes(bytes_of([Document((), None, "ok", name)], format))
        (tmp_path / "_manifest.json").write_text("{}")
        for where in (str(tmp_path), f"file://{tmp_path}"):
            assert [one.id for one in read_documents(where)] == [
                "a/x.parquet",
                "b-00000.jsonl",
                "b-00001.jsonl",
            ]

    def test_nothing_to_read_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"no \.jsonl or \.parquet here"):
            list(read_documents(str(tmp_path)))

    def test_what_is_no_row_is_told_with_its_file(self, tmp_path: Path) -> None:
        for data in (b"{\n", b'{"version": 1}\n', b"[]\n", b"\xff\n"):
            (tmp_path / "x.jsonl").write_bytes(data)
            with pytest.raises(DataError, match=r"x\.jsonl"):
                list(read_documents(str(tmp_path)))
        (tmp_path / "x.jsonl").unlink()
        (tmp_path / "y.parquet").write_bytes(b"nothing")
        with pytest.raises(DataError, match=r"y\.parquet"):
            list(read_documents(str(tmp_path)))


class TestParquet:
    def test_row_groups_are_bounded_by_words_rows_and_letters(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "_GROUP", 10)

        def groups(documents: list[Document]) -> list[int]:
            file = pq.ParquetFile(io.BytesIO(bytes_of(documents, "parquet")))
            return [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]

        words = Document((Parse(Sentence(("a",) * 4)),))
        assert groups([words] * 5) == [2, 2, 1]
        assert groups([Document(())] * 25) == [10, 10, 5]
        assert groups([Document((), " " * 100)] * 3) == [1, 1, 1]

    def test_others_can_read_it(self, tmp_path: Path) -> None:
        sentence = Sentence(("a",), None, "a.", ((0, 1),))
        entity = Entity(0, 1, "x", sentence, 0.5)
        given = Document((Parse(sentence, None, (entity,)),), "a.", "ok", "7")
        path = tmp_path / "x.parquet"
        path.write_bytes(bytes_of([given], "parquet"))
        (row,) = pq.read_table(path).to_pylist()
        assert row == {
            "id": "7",
            "status": "ok",
            "text": "a.",
            "sentences": [
                {
                    "words": ["a"],
                    "tags": None,
                    "offsets": [{"start": 0, "end": 1}],
                    "tree": None,
                    "entities": [{"start": 0, "end": 1, "label": "x", "probability": 0.5}],
                    "log_probs": None,
                    "text": None,
                }
            ],
        }

    def test_json_lines_say_the_same(self) -> None:
        sentence = Sentence(("a",), None, "a.", ((0, 1),))
        given = Document((Parse(sentence),), "a.", "ok", "7")
        assert json.loads(bytes_of([given], "jsonl")) == given.to_dict()
