"""The contract of `parse`: one result an input, whatever the input is."""

import logging
import math
import pickle
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import fencepost
from fencepost.batching.numbers import Numbers
from fencepost.batching.vocabulary import Labels
from fencepost.checkpoints.loading import load_model
from fencepost.checkpoints.model import save_model
from fencepost.checkpoints.trainable import TrainableModel
from fencepost.config import SearchSettings
from fencepost.errors import ConfigError, DataError, ModelError
from fencepost.parser import documents as module
from fencepost.parser.options import CheckedOptions, labels_of
from fencepost.parser.parser import Parser, load
from fencepost.parser.predict import predict, predict_batch
from fencepost.run.evaluate import evaluate
from fencepost.structure import Document, Entity, FoundSpan, Parse, Sentence
from tests.models import lively_model, small_model, transformer_model
from tests.tiny import tiny_transformer

TEXT = "The cat sat on the mat.  It slept,\n\nand (b) ate 🐟 at Dr. Bo's."
ODD = [
    "x",
    "🐟",
    "👩‍👩‍👧",
    "\u200b",
    "x" * 10_001,  # more than our WordPiece takes, so that it is one piece there
    "\ud800",
    "a \udfff b",
    "\0",
    "a\0b \0",
    "\ufeffa",
    "((",
    "\u202e",
    "a\u0301\u0301",
]


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser(lively_model("tree", "entities", "tags"))


@pytest.fixture(scope="module", params=["bert", "roberta"])
def reader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Parser:
    folder = tmp_path_factory.mktemp("tiny")
    return Parser(transformer_model(tiny_transformer(folder, kind=request.param)))


PARSER = Parser(lively_model("tree", "entities", "tags"))  # for tests that Hypothesis repeats


def close(one: Document, other: Document) -> None:
    """Check that two documents are the same, up to rounding in what is told of probability."""
    assert one == other
    for a, b in zip(one.sentences, other.sentences, strict=True):
        assert a.log_prob == pytest.approx(b.log_prob, abs=1e-4)
        for x, y in zip(a.entities or (), b.entities or (), strict=True):
            assert isinstance(x, Entity)
            assert isinstance(y, Entity)
            assert x.probability == pytest.approx(y.probability, abs=1e-5)


class TestInputs:
    def test_text_is_split_and_offsets_slice_it(self, parser: Parser) -> None:
        document = parser.parse(TEXT)
        assert document.is_ok
        assert document.text is TEXT
        assert len(document.sentences) == 3
        for parse in document.sentences:
            assert parse.sentence.text is TEXT
            assert parse.sentence.offsets is not None
            assert tuple(TEXT[a:b] for a, b in parse.sentence.offsets) == parse.words
            assert parse.tree is not None
            for tree in parse.tree:
                assert tree.text == TEXT[tree.start_char : tree.end_char]

    @pytest.mark.parametrize("text", ["", " ", "\n\t \u3000", "\u2028"])
    def test_text_without_words_has_no_sentences(self, parser: Parser, text: str) -> None:
        assert parser.parse(text) == Document((), text)

    @pytest.mark.parametrize("empty", [[], (), [[]], [[], ()], Sentence(()), [Sentence(())]])
    def test_no_words_make_no_sentences(self, parser: Parser, empty: Any) -> None:
        assert parser.parse(empty) == Document(())

    def test_a_list_of_words_is_one_sentence_and_never_split(self, parser: Parser) -> None:
        words = ("cat.", "isn't", "(", "a\u00a0b")
        document = parser.parse(list(words))
        (parse,) = document.sentences
        assert parse.words == words
        assert document.text is None
        assert document.tree is parse.tree

    def test_words_of_a_sentence_may_hold_blanks(self, parser: Parser) -> None:
        words = ("The cat.", "isn't", "(", " ")
        (parse,) = parser.parse(Sentence(words)).sentences
        assert parse.words == words

    def test_a_list_of_lists_is_as_many_sentences(self, parser: Parser) -> None:
        document = parser.parse([["a", "b"], ("c",), Sentence(("d",), id="d")])
        assert [parse.words for parse in document.sentences] == [("a", "b"), ("c",), ("d",)]
        assert document.sentences[2].id == "d"

    def test_a_sentence_keeps_what_is_known_of_it(self, parser: Parser) -> None:
        sentence = Sentence(("a", "b"), ("A", "B"), "-a b", ((1, 2), (3, 4)), "id")
        document = parser.parse(sentence)
        assert document.sentences[0].sentence == sentence
        assert document.text is None

    @pytest.mark.parametrize("text", ODD, ids=lambda text: ascii(text)[:20])
    @pytest.mark.parametrize("as_words", [False, True])
    def test_odd_words_are_parsed(self, parser: Parser, text: str, as_words: bool) -> None:
        document = parser.parse(Sentence((text,)) if as_words else text)
        assert document.is_ok
        assert len(document.sentences) == 1
        assert document.tree is not None

    @pytest.mark.parametrize("text", ODD, ids=lambda text: ascii(text)[:20])
    def test_odd_words_are_parsed_by_a_transformer(self, reader: Parser, text: str) -> None:
        close(reader.parse(text), next(reader.parse_many([text, "the cat"])))
        assert reader.parse(Sentence((text,))).tree is not None

    def test_three_thousand_words_are_one_sentence(self, parser: Parser) -> None:
        (parse,) = parser.parse(["a", "b", "c"] * 1000).sentences
        assert len(parse.words) == 3000
        assert parse.tree is not None
        assert parse.log_prob is not None
        assert math.isfinite(parse.log_prob)

    def test_a_doc_of_spacy_is_its_sentences_of_words(self, parser: Parser) -> None:
        tokens = pytest.importorskip("spacy.tokens")
        vocab = pytest.importorskip("spacy.vocab").Vocab()
        words = ["\n", "a", "b", "\n\n", "c", "!", " ", "a", "\t"]
        starts = [True, False, False, False, True, False, False, True, False]
        doc = tokens.Doc(vocab, words=words, sent_starts=starts, tags=["X"] * len(words))
        document = parser.parse(doc)
        assert [parse.words for parse in document.sentences] == [("a", "b"), ("c", "!"), ("a",)]
        assert document.text == doc.text
        for parse in document.sentences:
            assert parse.sentence.offsets is not None
            assert tuple(doc.text[a:b] for a, b in parse.sentence.offsets) == parse.words
            assert parse.tags is not None
            assert "X" not in parse.tags  # they are the model's own
        close(document, next(parser.parse_many([doc, "a"])))
        assert parser.n_best(tokens.Doc(vocab, words=["a", "b"]), 2)

    def test_a_doc_without_boundaries_is_split_by_our_rules_and_stays_as_it_is(
        self, parser: Parser
    ) -> None:
        spacy = pytest.importorskip("spacy")
        doc = spacy.blank("en")(" \n a b! \n C approx. a! B \n\n")
        document = parser.parse(doc)
        found = [parse.words for parse in document.sentences]
        assert found == [("a", "b", "!"), ("C", "approx", ".", "a", "!"), ("B",)]
        assert not doc.has_annotation("SENT_START")
        for empty in ("", " \n"):
            assert parser.parse(spacy.blank("en")(empty)) == Document((), empty)

    def test_a_doc_that_cannot_be_read_takes_nothing_down(self, parser: Parser) -> None:
        tokens = pytest.importorskip("spacy.tokens")
        doc = tokens.Doc(pytest.importorskip("spacy.vocab").Vocab(), words=["a", "b"])
        doc.user_hooks["sents"] = lambda _: iter([None])
        bad, good = parser.parse_many([doc, "a"])
        assert (bad.sentences, bad.text) == ((), "a b ")
        assert bad.status.startswith("TypeError")
        assert good.is_ok

    def test_words_that_are_empty_are_told(self, parser: Parser) -> None:
        for wrong in (["a", ""], [["a"], ["b", ""]]):
            document = parser.parse(wrong)
            assert (document.sentences, document.status) == ((), "word 1 is empty")

    @pytest.mark.parametrize(
        ("wrong", "shown"),
        [
            (None, "NoneType None"),
            (7, "int 7"),
            (float("nan"), "float nan"),
            (b"bytes", "bytes b'bytes'"),
            (bytearray(b"x"), "bytearray"),
            (memoryview(b"x"), "memoryview"),
            ([None], "list [None]"),
            (["a", 1], "list ['a', 1]"),
            (["a", ["b"]], "list ['a', ['b']]"),
            ([["a", None]], "list [['a', None]]"),
            ([["a"], [["b"]]], "list [['a'], [['b']]]"),
            ([b"a"], "list [b'a']"),
            ({"a": 1}, "dict {'a': 1}"),
            ({"a"}, "set {'a'}"),
            (range(3), "range range(0, 3)"),
            (iter(["a"]), "list_iterator"),
            ([1] * 1000, "list [1, 1, 1, 1, 1, 1, ...]: "),
            pytest.param(10**5000, "int: ", id="a number that cannot be written"),
        ],
    )
    def test_what_is_neither_text_nor_words_is_refused(
        self, parser: Parser, wrong: Any, shown: str
    ) -> None:
        with pytest.raises(TypeError) as raised:
            parser.parse(wrong)
        message = str(raised.value)
        assert message.startswith(f"text or words were expected, not {shown}")
        assert message.endswith("or parse([['The', 'cat'], ['It', 'sat']])")
        bad, good = parser.parse_many([wrong, "a"])
        assert (bad.sentences, bad.text) == ((), None)
        assert bad.status == f"TypeError: {message}"
        assert good == parser.parse("a")

    @pytest.mark.parametrize("texts", [["The cat sat.", "a"], [["a"], ["b", "c\td"]], [" "]])
    def test_a_list_of_texts_is_not_one_of_words(self, parser: Parser, texts: Any) -> None:
        with pytest.raises(TypeError, match=r"holds a blank; of several texts, parse_many") as one:
            parser.parse(texts)
        assert "parse(fencepost.Sentence(words))" in str(one.value)
        bad, good = parser.parse_many([texts, "a"])
        assert (bad.status, good.is_ok) == (f"TypeError: {one.value}", True)

    def test_words_that_hold_blanks_can_be_meant(self, parser: Parser) -> None:
        words = ("New York", "20\u00a0000")
        assert parser.parse(Sentence(words)).words == words
        assert parser.parse([words[1]]).words == words[1:]

    def test_lists_that_are_nested_deeply_or_raise_take_nothing_down(self, parser: Parser) -> None:
        deep: list[Any] = []
        for _ in range(100_000):
            deep = [deep]

        class Broken(Sequence[str]):
            def __len__(self) -> int:
                raise OSError("gone")

            def __getitem__(self, index: Any) -> Any:
                raise OSError("gone")

        statuses = [found.status for found in parser.parse_many([deep, Broken(), ["a"]])]
        assert statuses[0].startswith("TypeError: text or words were expected, not list [[[[[[")
        assert statuses[1:] == ["OSError: gone", "ok"]
        with pytest.raises(OSError, match="gone"):
            parser.parse(Broken())
        while deep:  # or the interpreter would run out of stack as it lets go of it
            (deep,) = deep


class TestChoices:
    def test_the_labels_that_may_be_found_are_known(self, parser: Parser) -> None:
        assert list(parser.labels) == list(parser.tasks)
        (parse,) = parser.parse("a b c a b").sentences
        assert parse.tree
        assert {span.label for span in parse.tree.spans} <= set(parser.labels["tree"])
        assert {span.label for span in parse.entities or ()} <= set(parser.labels["entities"])
        assert set(parse.tags or ()) <= set(parser.labels["tags"])
        numbers = Numbers({"tree": Labels(("S+VP", "NP", "S"))}, wrapper="ROOT")
        known = labels_of(replace(parser.model, numbers=numbers), "tree")
        assert known == {"NP", "S", "VP", "ROOT"}

    def test_only_what_is_asked_for_is_found(self, parser: Parser) -> None:
        assert parser.tasks == ("tree", "entities", "tags")
        whole = parser.parse("a b c")
        (parse,) = whole.sentences
        for tasks in (["tree"], "tree", ("tree",), {"tree"}):
            (found,) = parser.parse("a b c", tasks=tasks).sentences
            assert (found.entities, found.tags) == (None, parse.tags)  # a tree has tags
            assert found.tree is not None
            assert found.tree.spans == (parse.tree and parse.tree.spans)
            assert set(found.log_probs or ()) == {"tree"}
        (found,) = parser.parse("a b c", tasks=["entities"]).sentences
        assert (found.tree, found.entities) == (None, parse.entities)
        (found,) = parser.parse("a b c", tasks=["tags"]).sentences
        assert (found.tree, found.entities, found.tags) == (None, None, parse.tags)
        assert found.log_prob is None

    def test_what_a_model_cannot_find_is_told(self) -> None:
        parser = Parser(small_model("tree"))
        message = "this model has no head for 'entities'; it has tree"
        with pytest.raises(ConfigError, match=message):
            parser.parse("a", tasks=["entities"])
        with pytest.raises(ConfigError, match=message):
            parser.parse_many(["a"], tasks=["tree", "entities"])  # before the first is asked for
        assert repr(parser) == "<Parser: tree>"

    @pytest.mark.parametrize("wrong", [0, -1, 2.5, float("nan"), "4", True, 10**9])
    def test_numbers_that_make_no_sense_are_refused(self, parser: Parser, wrong: Any) -> None:
        message = f"a whole number from 1 to 1000, not {wrong!r}"
        for ask in (
            partial(parser.parse, "a"),
            partial(parser.parse_many, ["a"]),
            partial(parser.n_best, "a", 2),
            partial(predict, parser.model, []),
            partial(evaluate, parser.model, []),
        ):
            with pytest.raises(ConfigError, match=f"beams: {message}"):
                ask(beams=wrong)
        with pytest.raises(ConfigError, match=f"n_best: {message}"):
            parser.n_best("a", wrong)

    def test_whole_numbers_of_numpy_are_taken(self, parser: Parser) -> None:
        two: Any = np.int64(2)
        assert parser.parse("a b", beams=two) == parser.parse("a b", beams=2)

    def test_a_model_searches_as_wide_as_it_says(self, parser: Parser) -> None:
        wide = Parser(replace(parser.model, search=SearchSettings(beams=4)))
        texts = ["a b c b a", "c a b a c b", "b c c a a b c a"]
        expected = [parser.parse(text, beams=4) for text in texts]
        assert expected != [parser.parse(text) for text in texts]  # or it would show nothing
        assert [wide.parse(text) for text in texts] == expected
        assert list(wide.parse_many(texts)) == list(parser.parse_many(texts, beams=4))
        assert [wide.parse(text, beams=1) for text in texts] == [parser.parse(t) for t in texts]
        sentences = [document.only().sentence for document in expected]
        assert predict(wide.model, sentences) == predict(parser.model, sentences, beams=4)

    @pytest.mark.parametrize(
        ("own", "options", "beams"),
        [
            (1, {}, 1),
            (4, {}, 4),
            (4, {"beams": None}, 4),
            (4, {"beams": 2}, 2),
            (4, {"best": 2}, 10),
            (40, {"best": 2}, 40),
            (4, {"best": 20}, 20),
            (4, {"best": 20, "beams": 30}, 30),
        ],
    )
    def test_the_width_that_is_asked_for_wins(
        self, parser: Parser, own: int, options: dict[str, Any], beams: int
    ) -> None:
        wide = Parser(replace(parser.model, search=SearchSettings(beams=own)))
        assert wide.check_options(**options).beams == beams

    def test_a_beam_finds_what_is_at_least_as_likely(self, parser: Parser) -> None:
        greedy, beam = (parser.parse("a b c b a", beams=beams).log_prob for beams in (1, 16))
        assert greedy is not None
        assert beam is not None
        assert beam >= greedy - 1e-4

    def test_long_sentences_are_refused_and_take_nothing_else_down(self) -> None:
        parser = Parser(lively_model("tree"), max_words=3)
        document = parser.parse("a b c d")
        assert (document.sentences, document.text) == ((), "a b c d")
        assert document.status == (
            "a sentence of 4 words is longer than 3; a parser with a larger max_words would take it"
        )
        found = list(parser.parse_many(["a b c", ["a"] * 4, [["a"], ["b"] * 2000], "a"]))
        assert [one.is_ok for one in found] == [True, False, False, True]
        assert found[2].status.startswith("a sentence of 2,000 words")


class TestMany:
    def test_each_comes_back_as_it_would_alone(self, parser: Parser) -> None:
        # No words in turn: many boundaries would be as good as each other but for rounding.
        long = " ".join(f"{'abc'[n * n % 7 % 3]}{'cab'[n // 3 % 3]}" for n in range(90))
        inputs: list[Any] = [TEXT, "", ["a"], None, long, [["b"], ["c", "a"]], *ODD, ["", 1]]
        for beams in (1, 3):
            found = list(parser.parse_many(inputs, beams=beams))
            assert len(found) == len(inputs)
            for x, document in zip(inputs, found, strict=True):
                if document.status.startswith("TypeError"):
                    with pytest.raises(TypeError):
                        parser.parse(x)
                else:
                    close(document, parser.parse(x, beams=beams))

    def test_nothing_in_nothing_out(self, parser: Parser) -> None:
        assert list(parser.parse_many([])) == []
        assert list(parser.parse_many(iter(()))) == []

    @pytest.mark.parametrize("one", ["The cat.", b"x", Sentence(("a",))])
    def test_one_text_is_not_taken_for_many(self, parser: Parser, one: Any) -> None:
        with pytest.raises(TypeError, match=r"many texts were expected, not .*parse_many\(\[text"):
            parser.parse_many(one)
        with pytest.raises(TypeError, match="not iterable"):
            parser.parse_many(None)  # type: ignore[arg-type]

    def test_one_doc_is_not_taken_for_many(self, parser: Parser) -> None:
        doc = pytest.importorskip("spacy").blank("en")("a b")
        with pytest.raises(TypeError, match="many texts were expected, not Doc"):
            parser.parse_many(doc)

    @pytest.mark.parametrize(("text", "words"), [("a b c", 3), ("", 0)])
    def test_inputs_are_read_as_they_are_needed(
        self, parser: Parser, monkeypatch: pytest.MonkeyPatch, text: str, words: int
    ) -> None:
        monkeypatch.setattr(module, "CHUNK_TEXTS", 20)
        read = 0

        def endless() -> Iterator[str]:
            nonlocal read
            while True:
                read += 1
                yield text

        found = parser.parse_many(endless(), batch_words=30, max_wait=None)
        assert read == 0
        assert len(next(found).sentences) == (1 if words else 0)
        assert read == (20 if words else 40)  # one chunk more than is given out
        assert len(list(islice(found, 45))) == 45
        assert read == (60 if words else 80)

    def test_documents_of_a_slow_generator_do_not_wait_for_more(self, parser: Parser) -> None:
        out, came = [], threading.Event()

        def slow() -> Iterator[str]:
            for _ in range(3):
                yield from ("a b", "c")
                assert came.wait(30), "waits for more"
                came.clear()

        for document in parser.parse_many(slow()):
            out.append(document.text)
            if len(out) % 2 == 0:
                came.set()
        assert out == ["a b", "c"] * 3

    def test_a_generator_that_trickles_is_not_waited_for(self, parser: Parser) -> None:
        read = 0

        def trickling() -> Iterator[str]:
            nonlocal read
            while True:
                read += 1
                time.sleep(0.02)
                yield "a"

        found = parser.parse_many(trickling(), max_wait=0.1)
        assert next(found).text == "a"
        assert read < 500

    @pytest.mark.parametrize("max_wait", [0, 0.1, None])
    def test_what_was_read_before_an_error_is_parsed(
        self, parser: Parser, max_wait: float | None
    ) -> None:
        def broken() -> Iterator[str]:
            yield from "abc"
            raise RuntimeError("no more")

        found = parser.parse_many(broken(), batch_words=2, max_wait=max_wait)
        assert [next(found).text for _ in range(3)] == ["a", "b", "c"]
        with pytest.raises(RuntimeError, match="no more"):
            next(found)

    def test_what_belongs_to_a_thread_is_read_there(self, parser: Parser) -> None:
        rows = sqlite3.connect(":memory:").execute("VALUES ('a'), ('b')")
        texts = (text for (text,) in rows)
        with pytest.raises(sqlite3.ProgrammingError) as raised:
            list(parser.parse_many(texts))
        assert "max_wait=None" in raised.value.__notes__[0]
        rows = sqlite3.connect(":memory:").execute("VALUES ('a'), ('b')")
        texts = (text for (text,) in rows)
        assert [document.text for document in parser.parse_many(texts, max_wait=None)] == ["a", "b"]

    @pytest.mark.parametrize(
        ("option", "message"),
        [
            ({"batch_words": 0}, "batch_words: a whole number from 1"),
            ({"batch_words": "9"}, "batch_words: a whole number from 1"),
            ({"max_wait": -1}, "max_wait: seconds from 0 to 86,400 or None, not int -1"),
            ({"max_wait": "1"}, "max_wait: seconds from 0 to 86,400 or None, not str '1'"),
        ],
    )
    def test_how_long_to_wait_is_checked(
        self, parser: Parser, option: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(ConfigError, match=message):
            parser.parse_many(["a"], **option)

    def test_an_input_that_cannot_be_read_ends_the_stream(self, parser: Parser) -> None:
        def broken() -> Iterator[str]:
            yield "a"
            raise DataError("no more")

        with pytest.raises(DataError, match="no more"):
            list(parser.parse_many(broken()))

    def test_words_are_counted(self, parser: Parser) -> None:
        told: list[int] = []
        inputs: list[Any] = ["a b c", None, "", ["d"] * 2990, "a b"]
        assert len(list(parser.parse_many(inputs, done=told.append))) == 5
        assert len(told) == 2
        assert sum(told) == 2995

    def test_what_the_caller_raises_is_the_callers(self, parser: Parser) -> None:
        def stop(words: int) -> None:
            raise RuntimeError("enough")

        with pytest.raises(RuntimeError, match="enough"):
            list(parser.parse_many(["a", "b"], done=stop))


class TestFailures:
    @pytest.fixture
    def failing(self, parser: Parser, monkeypatch: pytest.MonkeyPatch) -> Parser:
        """A parser that fails at any sentence with the word `bad`."""

        def fail(
            model: TrainableModel,
            sentences: Sequence[Sentence],
            options: CheckedOptions,
            **others: Any,
        ) -> list[Parse]:
            if any("bad" in sentence.words for sentence in sentences):
                raise RuntimeError("this cannot be read")
            return predict_batch(model, sentences, options, **others)

        monkeypatch.setattr(module, "predict_batch", fail)
        return parser

    def test_one_takes_no_other_down(
        self, failing: Parser, caplog: pytest.LogCaptureFixture
    ) -> None:
        texts = [*["a b c", "bad", "b"] * 20, "a. A bad one. C."]
        told: list[int] = []
        with caplog.at_level(logging.WARNING):
            found = list(failing.parse_many(texts, done=told.append))
        assert [document.text for document in found] == texts
        for document in found:
            assert document.text is not None
            assert document.is_ok is ("bad" not in document.text)
            if document.is_ok:
                assert document.tree is not None
            else:
                assert document.sentences == ()
                assert document.status == "could not be parsed: RuntimeError: this cannot be read"
        assert len(caplog.records) == 21
        assert sum(told) == 20 * 5 + 8  # no word twice

    def test_alone_it_comes_back_with_a_status(self, failing: Parser) -> None:
        assert failing.parse(["bad"]).status.startswith("could not be parsed: RuntimeError")
        assert failing.parse(["good"]).is_ok

    def test_an_interrupt_is_none(self, parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*arguments: Any, **options: Any) -> list[Parse]:
            raise KeyboardInterrupt

        monkeypatch.setattr(module, "predict_batch", interrupted)
        with pytest.raises(KeyboardInterrupt):
            parser.parse("a")

    def test_a_network_goes_on_learning_after_a_failure(self) -> None:
        model = small_model("tree")
        model.network.train()

        def fail(words: int) -> None:
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            predict(model, [Sentence(("a",))], done=fail)
        assert model.network.training


class TestProbabilities:
    @pytest.mark.parametrize("beams", [1, 4])
    def test_each_step_has_one_and_all_together_make_that_of_the_parse(
        self, parser: Parser, beams: int
    ) -> None:
        entities = 0
        for document in parser.parse_many([TEXT, "a b c d", "a", ["b", "c"] * 30], beams=beams):
            for parse in document.sentences:
                assert parse.tree is not None
                assert parse.entities is not None
                assert set(parse.log_probs or ()) == {"tree", "entities"}
                for layer, spans in (("tree", parse.tree.spans), ("entities", parse.entities)):
                    known: dict[tuple[int, int], float] = {}
                    for span in spans:
                        assert isinstance(span, Entity if layer == "entities" else FoundSpan)
                        assert span.probability is not None
                        assert 0 < span.probability <= 1
                        # Spans over the same words were made in one step.
                        assert known.setdefault(span[:2], span.probability) == span.probability
                    # Fillers are steps, too, and cannot be seen.
                    total = (parse.log_probs or {})[layer]
                    assert total <= sum(map(math.log, known.values())) + 1e-3
                entities += len(parse.entities)
        assert entities > 5

    @given(st.text(st.sampled_from("abc .,!?\n'\u200d🐟é()\ud800\0"), max_size=60))
    def test_entities_slice_the_callers_text(self, text: str) -> None:
        document = PARSER.parse(text)
        assert document.is_ok
        words = 0
        for parse in document.sentences:
            words += len(parse.words)
            for entity in parse.entities or ():
                assert isinstance(entity, Entity)
                assert entity.text == text[entity.start_char : entity.end_char]
                assert entity.text.split() != []
        assert (words == 0) is not bool(text.strip())

    def test_a_document_can_be_sent_elsewhere(self, parser: Parser) -> None:
        document = parser.parse(TEXT)
        again = pickle.loads(pickle.dumps(document))
        close(again, document)
        close(Document.from_dict(document.to_dict()), document)


class TestLoad:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        save_model(lively_model("tree", "entities"), tmp_path / "model", card="# Mine\n")
        return tmp_path / "model"

    def test_a_folder_is_loaded_with_its_card(self, folder: Path) -> None:
        parser = fencepost.load(folder, max_words=5)
        assert isinstance(parser, fencepost.Parser)
        assert (parser.card, parser.max_words, parser.tasks) == (
            "# Mine\n",
            5,
            ("tree", "entities"),
        )
        assert load(str(folder)).parse("a b") == parser.parse("a b")

    def test_a_parser_is_saved_and_loaded(self, folder: Path, tmp_path: Path) -> None:
        parser = load(folder)
        parser.save(tmp_path / "new/copy")
        again = load(tmp_path / "new/copy")
        close(again.parse(TEXT), parser.parse(TEXT))
        assert again.card == "# Mine\n"

    def test_without_a_name_it_is_the_one_that_ships(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("fencepost.checkpoints.shipped.MODELS", folder.parent)
        with pytest.raises(ModelError, match=r"en-small: there is no such folder.*\(model\)"):
            load()
        folder.rename(folder.parent / "en-small")
        assert load().card == load("en-small").card == "# Mine\n"

    def test_a_card_may_be_missing_or_of_another_encoding(self, folder: Path) -> None:
        (folder / "README.md").write_bytes(b"caf\xe9")
        assert load(folder).card == "caf\ufffd"
        (folder / "README.md").unlink()
        assert load(folder).card == ""

    @pytest.mark.parametrize("device", ["nonsense", "cuda:99", ""])
    def test_a_device_that_cannot_be_used_is_told(self, folder: Path, device: str) -> None:
        with pytest.raises(ConfigError, match=f"device '{device}' cannot be used: "):
            load(folder, device=device)

    def test_threads_are_set(self, folder: Path) -> None:
        before = torch.get_num_threads()
        try:
            load(folder, threads=1, backend="torch")
            assert torch.get_num_threads() == 1
        finally:
            torch.set_num_threads(before)
        with pytest.raises(ConfigError, match="threads: a whole number from 1 to 1024, not 0"):
            load(folder, threads=0)


def test_half_of_the_bits_are_half_of_the_size_and_parse_again(tmp_path: Path) -> None:
    model = transformer_model(tiny_transformer(tmp_path))
    parser = Parser(model)
    parser.save(tmp_path / "whole")
    parser.save(tmp_path / "half", half=True)
    sizes = [(tmp_path / x / "weights.safetensors").stat().st_size for x in ("whole", "half")]
    assert 0.45 < sizes[1] / sizes[0] < 0.65  # the names of weights do not shrink
    again = load_model(tmp_path / "half")
    for name, value in model.network.weights().items():
        close = np.allclose(again.network.weights()[name], value, rtol=1e-3, atol=1e-6)
        assert close, name
    found = Parser(again).parse("the cat sat on the mat")
    whole = parser.parse("the cat sat on the mat")
    assert found.log_prob == pytest.approx(whole.log_prob, rel=0.05)
    # What was rounded once stays as it is.
    Parser(again).save(tmp_path / "again", half=True)
    once, twice = ((tmp_path / x / "weights.safetensors").read_bytes() for x in ("half", "again"))
    assert once == twice


def test_a_rounded_network_parses_and_is_never_saved(folder_of_bert: Path, tmp_path: Path) -> None:
    parser = load(folder_of_bert, precision="bf16")
    assert parser.parse("The cat sat.").is_ok
    with pytest.raises(ConfigError, match="bf16 cannot be saved"):
        parser.save(tmp_path / "new")
    assert not (tmp_path / "new").exists()
    with pytest.raises(ConfigError, match="known: fp32, bf16, int8"):
        load(folder_of_bert, precision="fp8")  # type: ignore[arg-type]


@pytest.fixture
def folder_of_bert(tmp_path: Path) -> Path:
    save_model(transformer_model(tiny_transformer(tmp_path)), tmp_path / "model")
    return tmp_path / "model"


def test_a_stream_that_nobody_reads_on_stops_soon(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_WORDS", 4)
    told: list[int] = []
    stream = parser.parse_many(
        (["a", "b"] for _ in range(10_000)), batch_words=40, done=told.append
    )
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    before = sum(told)
    assert before <= 3 * 40
    assert sum(told) == before
