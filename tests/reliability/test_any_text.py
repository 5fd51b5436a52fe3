"""Whatever text a person brings: a valid result, or an error of ours.

A sample of what `bench/fuzz.py` runs in its full number, and the long texts in a smaller size.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.formats import read
from fencepost.parser.inputs import error_text, prepare_input
from fencepost.parser.parser import Parser
from fencepost.run.texts import names_a_file
from fencepost.structure import Parse, Sentence
from fencepost.text import split_text
from tests.models import lively_model
from tests.reliability.routes import Route, check_document, routes
from tests.reliability.strategies import TEXTS, UNITS, WORD_LISTS
from tests.web.serving import client

PARSER = Parser(lively_model("tree", "entities", "tags"))
EACH = 12  # inputs of each route
MOST = 60  # if all of these were refused: of a good many one should be a file as it should be


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Route]]:
    with client() as server:
        yield routes(PARSER, server, tmp_path_factory.mktemp("files"))


@settings(max_examples=60)
@given(TEXTS)
def test_any_text_gives_a_document_whose_words_are_slices_of_it(text: str) -> None:
    check_document(PARSER.parse(text), text)


@settings(max_examples=40)
@given(WORD_LISTS)
def test_any_words_give_one_sentence_of_them(words: list[str]) -> None:
    check_document(PARSER.parse(Sentence(tuple(words))), words)


@settings(max_examples=20)
@given(st.lists(TEXTS | WORD_LISTS, max_size=20))
def test_any_inputs_give_as_many_documents(inputs: list[str | list[str]]) -> None:
    documents = list(PARSER.parse_many(inputs))
    assert len(documents) == len(inputs)
    for document, x in zip(documents, inputs, strict=True):
        check_document(document, x)


def test_every_way_in_ends_in_a_result_or_an_error_of_ours(ways: list[Route]) -> None:
    outcomes: dict[str, set[str]] = {way.name: set() for way in ways}
    for way in ways:
        for number in range(MOST):
            if number >= EACH and "valid" in outcomes[way.name]:
                break
            outcomes[way.name].update(way.send(way.make(Random(f"{way.name}/{number}"))))
    assert {outcome for found in outcomes.values() for outcome in found} == {
        *("valid", "refused", "status")
    }
    assert not [name for name, found in outcomes.items() if "valid" not in found]


def test_a_thousand_marks_on_one_letter_are_one_word() -> None:
    (sentence,) = split_text("a" + "\u0301" * 1_000 + " b")
    assert [len(word) for word in sentence.words] == [1_001, 1]


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit.strip()])
def test_the_time_to_split_grows_with_the_length_and_not_with_its_square(unit: str) -> None:
    short = unit * max(1, 1_000 // len(unit))
    long = short * 16

    def seconds(text: str) -> float:
        started = time.process_time()
        split_text(text)
        return time.process_time() - started

    # 16 times the text would take 256 times the time; the short one may be too quick to measure.
    base = max(0.001, min(seconds(short) for _ in range(2)))
    assert any(seconds(long) < 64 * base for _ in range(3))


class TestLong:
    def test_a_long_line_is_refused_with_the_limit_that_can_be_raised(self) -> None:
        document = PARSER.parse("a " * 30_000)
        assert document.status == (
            "a sentence of 30,000 words is longer than 20,000; a parser with a larger max_words "
            "would take it"
        )

    def test_a_larger_limit_takes_it(self) -> None:
        words = ["a", "b"] * 600
        assert not Parser(PARSER.model, max_words=1_199).parse(words).is_ok
        document = Parser(PARSER.model, max_words=1_200).parse(words)
        assert check_document(document, words) == "valid"

    @pytest.mark.parametrize("unit", ["a", ".", "\u0301", "a. "])
    def test_splitting_takes_memory_by_the_length(self, unit: str) -> None:
        def most(size: int) -> int:
            text = unit * (size // len(unit))
            tracemalloc.start()
            split_text(text)
            used = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return used

        assert most(80_000) < 6 * most(20_000) + 100_000

    def test_a_text_of_slashes_is_soon_known_to_be_no_file(self) -> None:
        started = time.process_time()
        assert not names_a_file("/" * 100_000 + " a")
        assert time.process_time() - started < 2


class TestErrors:
    """Each of these ended in something else once."""

    def read(self, tmp_path: Path, name: str, data: bytes) -> list[Parse]:
        (tmp_path / name).write_bytes(data)
        return list(read(tmp_path / name))

    def test_a_number_of_five_thousand_digits_is_no_boundary(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="is no entity"):
            self.read(tmp_path, "x.data", b"a b\n0," + b"9" * 5000 + b" X\n\n")

    def test_lists_that_are_too_deep_to_be_shown_are_refused(self, tmp_path: Path) -> None:
        for depth in range(100, 1_000, 25):
            data = b'{"words": ' + b"[" * depth + b"]" * depth + b"}\n"
            with pytest.raises(DataError, match=r"has to be a list of strings|no JSON"):
                self.read(tmp_path, "x.jsonl", data)

    def test_an_object_that_cannot_be_asked_anything_has_a_status(self) -> None:
        class Stubborn:
            @property  # type: ignore[misc]
            def __class__(self) -> type:
                raise RuntimeError("no")

        assert prepare_input(Stubborn()).status == "RuntimeError: no"

    def test_an_error_that_cannot_be_told_is_named(self) -> None:
        class SilentError(Exception):
            def __str__(self) -> str:
                raise ValueError("no")

        assert error_text(SilentError()) == "SilentError"
