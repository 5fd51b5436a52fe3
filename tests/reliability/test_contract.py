"""One result for each input, in order; and one bad input among many takes nothing else down."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.parser.parser import Parser
from fencepost.run.corpus.results import read_documents
from fencepost.run.corpus.run import absorbed, parse_here
from fencepost.structure import Document
from fencepost.text import split_text
from tests.models import lively_model
from tests.reliability.routes import check_document
from tests.reliability.strategies import TEXTS, WORD_LISTS, hostile_text, hostile_words
from tests.run.corpus.fakes import planned, run_of
from tests.web.serving import client, parsed

MANY = 1_000
PARSER = Parser(lively_model("tree", "entities", "tags"), max_words=40)


class Raising(Sequence[str]):
    """Words that cannot be had."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: Any) -> Any:
        raise OSError("the cable is out")


class Stubborn:
    """What cannot even be asked what it is."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        raise RuntimeError("no")


class Odd(str):
    """A text that fails as soon as it is looked at."""

    def __len__(self) -> int:
        raise ValueError("no length")

    def lstrip(self, *_: Any) -> Any:
        raise ValueError("no blanks")


BAD: dict[str, tuple[Any, str]] = {
    "an object that raises": (Raising(), "OSError: the cable is out"),
    "an object that cannot be asked": (Stubborn(), "RuntimeError: no"),
    "a text that raises": (Odd("a"), "ValueError: no "),
    "a text that is too long": ("a " * 41, "a sentence of 41 words is longer than 40"),
    "words that are too many": (["a"] * 41, "a sentence of 41 words is longer than 40"),
    "bytes": (b"a text", "TypeError: text or words were expected, not bytes b'a text'"),
    "nothing": (None, "TypeError: text or words were expected, not NoneType None"),
    "a number": (10**5000, "TypeError: text or words were expected, not int"),
    "an empty word": (["a", ""], "word 1 is empty"),
    "words and numbers": (["a", 1], "TypeError: text or words were expected"),
    "half a character": ("a \ud800 b", "ok"),
    "a zero": ("\0", "ok"),
}


def texts(count: int) -> list[str]:
    """Texts that differ, of one or two sentences."""
    random = Random(7)
    words = ("a", "b", "c", "Ann", "sat")
    return [
        f"{' '.join(random.choices(words, k=random.randrange(1, 7)))} {number}. It is {number}."
        for number in range(count)
    ]


def words_of(document: Document) -> list[tuple[str, ...]]:
    return [parse.words for parse in document.sentences]


def split(text: str) -> list[tuple[str, ...]]:
    return [sentence.words for sentence in split_text(text)]


def many(xs: list[Any]) -> list[Document]:
    return list(PARSER.parse_many(iter(xs), tasks=["tree"]))


def stream(xs: list[Any]) -> list[Document]:
    return list(PARSER.stream(iter(xs), PARSER.check_options(tasks=["entities"])))


WAYS = [many, stream]


@pytest.mark.parametrize("way", WAYS)
def test_bad_inputs_among_a_thousand_take_nothing_else_down(
    way: Callable[[list[Any]], list[Document]],
) -> None:
    good = texts(MANY)
    places = dict(zip(Random(3).sample(range(MANY), len(BAD)), BAD.values(), strict=True))
    xs: list[Any] = list(good)
    for place, (bad, _) in places.items():
        xs[place] = bad
    found = way(xs)
    assert len(found) == MANY
    for number, (document, text) in enumerate(zip(found, good, strict=True)):
        if number in places:
            assert document.status.startswith(places[number][1])
        else:
            assert document.is_ok
            assert document.text is text
            assert words_of(document) == split(text)


SHOWN = [bad for bad, _ in BAD.values() if type(bad) is not Stubborn]  # by Hypothesis, if they fail


@settings(max_examples=15)
@given(st.lists(TEXTS | WORD_LISTS | st.sampled_from(SHOWN), max_size=9))
@pytest.mark.parametrize("way", WAYS)
def test_documents_correspond_to_inputs(
    way: Callable[[list[Any]], list[Document]], xs: list[Any]
) -> None:
    found = way(xs)
    assert len(found) == len(xs)
    for document, x in zip(found, xs, strict=True):
        if type(x) is str:
            assert document.text is x
            if document.is_ok:
                assert words_of(document) == split(x)
        elif document.is_ok:
            assert words_of(document) == ([tuple(x)] if x else [])


def sendable(text: str) -> bool:
    """Whether a text has bytes, which half a character has not: a request with one is refused."""
    return text == text.encode("utf-8", "replace").decode()


class TestServer:
    def test_documents_of_one_request_correspond_to_its_inputs(self) -> None:
        random = Random(11)
        xs = [random.choice((hostile_text, hostile_words))(random) for _ in range(200)]
        xs = [x for x in xs if sendable("".join(x)) and len(x) < 300]
        with client() as server:
            documents = parsed(server, inputs=xs)["documents"]
        assert len(documents) == len(xs) > 100
        for document, x in zip(map(Document.from_dict, documents), xs, strict=True):
            check_document(document, x)

    def test_a_sentence_that_is_too_long_among_a_thousand_has_a_status(self) -> None:
        xs = texts(MANY)
        xs[500] = "a " * 41
        with client(parser=PARSER) as server:
            documents = parsed(server, inputs=xs, tasks=["tree"], probabilities=False)["documents"]
        assert len(documents) == MANY
        assert documents[500]["status"].startswith("a sentence of 41 words is longer than 40")
        for number, (document, x) in enumerate(zip(documents, xs, strict=True)):
            assert number == 500 or words_of(Document.from_dict(document)) == split(x)


class TestSpacy:
    def test_docs_of_a_pipe_correspond_to_its_texts(self, tmp_path: Path) -> None:
        spacy = pytest.importorskip("spacy")
        PARSER.save(tmp_path / "model")
        nlp = spacy.blank("en")
        nlp.add_pipe("fencepost", config={"model": str(tmp_path / "model"), "max_words": 40})
        xs = texts(200)
        xs[77], xs[78], xs[79] = "a " * 41, "", "\0\u200b"
        pairs = zip(xs, range(200), strict=True)
        for number, (doc, context) in enumerate(nlp.pipe(pairs, as_tuples=True)):
            assert context == number
            assert doc.text == xs[number]
            failed = [span.label_ for span in doc.spans["fencepost_sentences"] if span.label_]
            assert len(failed) == (number == 77)
            assert bool(doc.spans["fencepost_tree"]) == (number not in (77, 78, 79)) or number == 79
        assert number == 199


class TestRows:
    BAD = (
        (b'{"text": ', "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'{"text": 5}', "'text' has to be a string, not 5"),
        (b'{"nothing": 5}', "this row has no 'text', and no words"),
        (b'{"text": "\xff"}', "not utf-8: byte 0xff at column 11"),
        (b'{"words": [' + b'"a", ' * 40 + b'"a"]}', "a sentence of 41 words is longer than 40"),
        (b'{"words": ["a", ""]}', "word 1 is empty"),
        (b'{"text": "a \\ud800 b"}', "ok"),
        (b'{"text": ""}', "ok"),
    )

    def test_bad_rows_among_a_thousand_take_nothing_else_down(self, tmp_path: Path) -> None:
        xs = texts(MANY)
        lines = [json.dumps({"text": text, "id": str(k)}).encode() for k, text in enumerate(xs)]
        places = dict(zip(Random(5).sample(range(MANY), len(self.BAD)), self.BAD, strict=True))
        for place, (line, _) in places.items():
            lines[place] = line
        (tmp_path / "in.jsonl").write_bytes(b"\n".join(lines) + b"\n")
        run = run_of(planned(tmp_path / "in.jsonl"), tmp_path / "out")
        summary = absorbed(run, parse_here(run, PARSER, PARSER.check_options(tasks=["tree"])))
        assert not summary.errors
        documents = list(read_documents(str(tmp_path / "out")))
        assert len(documents) == summary.rows == MANY
        for number, (document, text) in enumerate(zip(documents, xs, strict=True)):
            if number in places:
                assert document.status.startswith(places[number][1])
            else:
                assert document.id == str(number)
                assert words_of(document) == split(text)

    @settings(max_examples=8)
    @given(xs=st.lists(TEXTS, min_size=1, max_size=12))
    def test_rows_correspond_to_texts(
        self, tmp_path_factory: pytest.TempPathFactory, xs: list[str]
    ) -> None:
        folder = tmp_path_factory.mktemp("rows")
        lines = "".join(f"{json.dumps({'text': text})}\n" for text in xs)
        (folder / "in.jsonl").write_text(lines)
        run = run_of(planned(folder / "in.jsonl"), folder / "out")
        absorbed(run, parse_here(run, PARSER, PARSER.check_options()))
        documents = list(read_documents(str(folder / "out")))
        assert len(documents) == len(xs)
        for document, text in zip(documents, xs, strict=True):
            if document.is_ok:
                assert words_of(document) == split(text)
