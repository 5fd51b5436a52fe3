import copy
import logging
import pickle
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fencepost
from fencepost.checkpoints.model import FILES
from fencepost.config import SearchSettings
from fencepost.errors import ConfigError, DataError, ModelError
from fencepost.parser.parser import Parser, load
from fencepost.runtime.manifest import MANIFEST
from fencepost.structure import Tree
from fencepost.text.splitters import ENGLISH, SPLITTERS
from tests.models import lively_model

spacy = pytest.importorskip("spacy")

from spacy import displacy  # noqa: E402
from spacy.tokens import Doc, DocBin, Span, Token  # noqa: E402
from spacy.training import Example  # noqa: E402
from spacy.util import ignore_error  # noqa: E402
from spacy.vocab import Vocab  # noqa: E402

from fencepost.formats.docbin import SENTENCES, TAGS, TREE  # noqa: E402
from fencepost.integrations.extensions import register  # noqa: E402
from fencepost.integrations.spacy import (  # noqa: E402
    _FILES,
    Fencepost,
    NonConstituentError,
    Settings,
)

TEXT = "a b c a (b).  C a,\nb a c! C"


def saved(folder: Path, *heads: str) -> str:
    Parser(lively_model(*heads)).save(folder)
    return str(folder)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return saved(tmp_path_factory.mktemp("model"), "tree", "entities", "tags")


@pytest.fixture(scope="module")
def nlp(model: str) -> Any:
    nlp = spacy.blank("en")
    nlp.add_pipe("fencepost", config={"model": model})
    return nlp


@pytest.fixture(scope="module")
def doc(nlp: Any) -> Any:
    return nlp(TEXT)


def pipeline(model: str, **config: Any) -> Any:
    nlp = spacy.blank("en")
    nlp.add_pipe("fencepost", config={"model": model, **config})
    return nlp


def words(span: Any) -> tuple[str, ...]:
    return tuple(token.text for token in span if not token.text.isspace())


def told(doc: Any) -> list[Any]:
    """All that a Doc says of its parse, but for probabilities."""
    groups = [
        [(span.start, span.end, span.label_) for span in doc.spans[name]]
        for name in ("fencepost", TREE, TAGS, SENTENCES)
    ]
    return [groups, [sentence._.parse_string for sentence in doc.sents]]


class TestParsing:
    def test_what_is_found_is_what_the_parser_finds(self, nlp: Any, doc: Any, model: str) -> None:
        document = load(model).parse(nlp.make_doc(TEXT))
        assert document.text == TEXT
        assert [sentence.text for sentence in doc.sents] == [
            "a b c a (b).  ",
            "C a,\nb a c!",
            "C",
        ]
        sentences = list(doc.sents)
        assert len(document.sentences) == len(sentences)
        entities = iter(doc.spans["fencepost"])
        scores = iter(doc.spans["fencepost"].attrs["scores"])
        for sentence, parse in zip(sentences, document.sentences, strict=True):
            assert sentence._.tree == parse.tree
            assert sentence._.parse_string == str(parse.tree)
            for entity in parse.entities or ():
                found = next(entities)
                assert (found.label_, found.start_char, found.end_char, found.text) == (
                    entity.label,
                    entity.start_char,
                    entity.end_char,
                    entity.text,
                )
                assert next(scores) == pytest.approx(entity.probability, abs=1e-5)
        assert list(entities) == list(scores) == []
        assert len(doc.spans["fencepost"]) > 3

    def test_probabilities_of_the_tree_are_kept(self, doc: Any) -> None:
        tree = next(doc.sents)._.tree
        probabilities = [span.probability for span in tree.spans]
        assert probabilities == list(doc.spans[TREE].attrs["scores"])[: len(probabilities)]

    def test_nothing_else_of_a_doc_changes(self, nlp: Any) -> None:
        given = Doc(
            nlp.vocab,
            words=["a", "b", "c", "a"],
            tags=["A", "B", "C", "D"],
            pos=["NOUN"] * 4,
            ents=["B-X", "I-X", "O", "O"],
            sent_starts=[True, False, False, True],
        )
        names = ["TAG", "POS", "ENT_IOB", "ENT_TYPE", "SENT_START", "DEP", "LEMMA", "MORPH"]
        before = given.to_array(names)
        numpy.testing.assert_array_equal(nlp(given).to_array(names), before)
        assert not given.user_data
        assert len(given.spans[SENTENCES]) == 2

    def test_tags_and_entities_are_set_if_that_is_asked(self, model: str) -> None:
        doc = pipeline(model, set_tags=True, set_ents=True)(TEXT)
        assert [span.label_ for span in doc.spans[TAGS]] == [
            token.tag_ for token in doc if not token.is_space
        ]
        assert any(token.tag_ for token in doc)
        outermost = [
            span
            for span in doc.spans["fencepost"]
            if not any(
                other != span
                and other.start <= span.start
                and span.end <= other.end
                and len(other) > len(span)
                for other in doc.spans["fencepost"]
            )
        ]
        assert {(e.start, e.end) for e in doc.ents} == {(e.start, e.end) for e in outermost}
        assert len(doc.ents) < len(doc.spans["fencepost"])

    def test_the_words_of_a_sentence_that_was_not_parsed_keep_their_tags(self, model: str) -> None:
        nlp = pipeline(model, set_tags=True, max_words=1)
        starts = [True, True, False]
        doc = nlp(Doc(nlp.vocab, words=["a", "b", "c"], tags=["A"] * 3, sent_starts=starts))
        assert [token.tag_ for token in doc][1:] == ["A", "A"]
        assert doc[0].tag_ == doc.spans[TAGS][0].label_ != "A"

    def test_tasks_and_the_key_are_chosen(self, model: str) -> None:
        doc = pipeline(model, tasks=["entities"], spans_key="sc")(TEXT)
        assert list(doc.spans) == ["sc"]
        with pytest.raises(DataError, match=r'has no trees.*nlp\.add_pipe\("fencepost"\)'):
            _ = doc[:]._.parse_string
        with pytest.raises(DataError, match=r"Span\.as_doc\(\) does not take them along"):
            _ = pipeline(model)(TEXT)[0:3].as_doc()[:]._.parse_string
        doc = pipeline(model, tasks=["tree"])(TEXT)
        assert sorted(doc.spans) == [SENTENCES, TAGS, TREE]
        doc = pipeline(model, tasks=["tags"])(TEXT)
        assert list(doc.spans) == [TAGS]

    def test_two_components_share_a_doc(self, model: str) -> None:
        nlp = pipeline(model, tasks=["tree"])
        nlp.add_pipe("fencepost", name="two", config={"model": model, "tasks": ["entities"]})
        assert told(nlp(TEXT)) == told(pipeline(model)(TEXT))

    def test_the_tree_of_a_later_component_replaces_that_of_an_earlier_one(
        self, model: str, tmp_path: Path
    ) -> None:
        bare = saved(tmp_path, "tree")
        nlp = pipeline(model, spans_key="first")
        nlp.add_pipe("fencepost", name="two", config={"model": bare, "labels": ["S"]})
        doc = nlp("a b c a")
        alone = pipeline(bare, labels=["S"])("a b c a")
        assert len(doc.spans["first"]) > 0
        assert doc[:]._.parse_string == alone[:]._.parse_string  # no tags of the first one
        assert doc[:]._.tree.tags == ("XX",) * 4

    def test_tags_are_added_to_a_tree_by_a_later_component(
        self, model: str, tmp_path: Path
    ) -> None:
        nlp = pipeline(saved(tmp_path, "tree"))
        config = {"model": model, "tasks": ["tags"], "max_words": 3}
        nlp.add_pipe("fencepost", name="two", config=config)
        first, long = nlp("a b! C a b c!").sents
        expected = pipeline(model)("a b!")[:]._.tree.tags
        assert first._.tree.tags == expected
        assert long._.tree.tags == ("XX",) * 5  # it had none, and its tree is still there

    def test_options_reach_the_parser(self, model: str) -> None:
        parser = load(model)
        text = "a b c a b c"
        for options in (
            {"beams": 5},
            {"labels": ["S"]},
            {"consistent": True},
            {"min_probability": 0.6},
        ):
            found = parser.parse(text.split(), **options)
            doc = pipeline(model, **options)(text)
            assert doc[:]._.parse_string == str(found.tree)
            assert [(s.start, s.end, s.label_) for s in doc.spans["fencepost"]] == [
                tuple(entity) for entity in found.entities or ()
            ]

    def test_a_model_searches_as_wide_as_it_says(self, tmp_path: Path) -> None:
        wide = replace(lively_model("tree"), search=SearchSettings(beams=4))
        Parser(wide).save(tmp_path)
        parser = load(tmp_path)
        for options, beams in (({}, 4), ({"beams": 1}, 1)):
            found = parser.parse(list("abcabcba"), beams=beams)
            doc = pipeline(str(tmp_path), **options)("a b c a b c b a")
            assert doc[:]._.parse_string == str(found.tree)

    def test_a_model_without_tags_leaves_those_of_the_doc(self, tmp_path: Path) -> None:
        nlp = pipeline(saved(tmp_path, "tree"))
        doc = Doc(nlp.vocab, words=["a", "b"], tags=["A", ""])
        tree = nlp(doc)[:]._.tree
        assert tree.tags == ("A", "XX")
        assert [span.label_ for span in doc.spans[TAGS]] == ["", ""]
        assert [token.tag_ for token in doc] == ["A", ""]

    @pytest.mark.parametrize(
        "wrong", [{"tasks": []}, *({"spans_key": key} for key in ("", TREE, TAGS, SENTENCES))]
    )
    def test_settings_that_no_model_can_obey_are_told_at_once(self, wrong: dict[str, Any]) -> None:
        (name,) = wrong
        with pytest.raises(ConfigError, match=f"{name}: "):
            pipeline("nowhere", **wrong)

    @pytest.mark.parametrize(
        ("wrong", "error"),
        [
            ({"model": "nowhere"}, ModelError),
            ({"tasks": ["dance"]}, ConfigError),
            ({"beams": 0}, ConfigError),
            ({"device": "toaster"}, ConfigError),
            ({"tasks": ["tree"], "set_ents": True}, ConfigError),
            ({"tasks": ["entities"], "set_tags": True}, ConfigError),
        ],
    )
    def test_wrong_settings_are_told_at_first_use(
        self, model: str, wrong: dict[str, Any], error: type[Exception]
    ) -> None:
        nlp = pipeline(**{"model": model, **wrong})
        nlp.set_error_handler(ignore_error)
        for _ in range(2):
            with pytest.raises(error):
                list(nlp.pipe(["a"]))

    def test_what_is_to_be_set_has_to_be_found(self, model: str, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="set_ents: needs entities, and only tree, tags are"):
            pipeline(model, tasks=["tree"], set_ents=True)("a")
        bare = saved(tmp_path, "tree", "entities")
        with pytest.raises(ConfigError, match="set_tags: needs tags, and only tree, entities are"):
            pipeline(bare, set_tags=True)("a")

    def test_settings_of_the_wrong_type_are_told_by_spacy(self, model: str) -> None:
        with pytest.raises(ValueError, match="beams"):
            pipeline(model, beams="many")
        with pytest.raises(ValueError, match="subbatch_max_tokens"):
            pipeline(model, subbatch_max_tokens=500)


class TestSentences:
    def test_boundaries_are_set_only_where_there_are_none(self, nlp: Any) -> None:
        doc = nlp("a b! C a!")
        assert [token.is_sent_start for token in doc][:4] == [True, False, False, True]
        given = Doc(nlp.vocab, words=["a", ".", "b"], sent_starts=[True, False, False])
        assert len(list(nlp(given).sents)) == 1
        assert given[:]._.labels

    def test_they_are_those_of_our_splitter_or_of_the_sentencizer(self, model: str) -> None:
        text = "They spoke for approx. an hour. It rained."
        for options, count in (({}, 2), ({"sentences": "spacy"}, 3)):
            doc = pipeline(model, **options)(text)
            assert len(list(doc.sents)) == count
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        nlp.add_pipe("fencepost", config={"model": model})
        assert len(list(nlp(text).sents)) == 3
        with pytest.raises(ConfigError, match="sentences: 'nltk' is unknown; where a Doc has no"):
            pipeline(model, sentences="nltk")

    def test_the_model_names_its_own_splitter(
        self, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = ENGLISH._replace(sentences=lambda text, words: [words])
        monkeypatch.setitem(SPLITTERS, "elvish", whole)
        copied = shutil.copytree(model, tmp_path / "model")
        config = copied / "config.json"
        config.write_text(config.read_text().replace('"english"', '"elvish"'))
        (copied / "manifest.json").unlink()
        assert len(list(pipeline(str(copied))("It rained. It snowed.").sents)) == 1

    @pytest.mark.parametrize("text", ["", " ", "\n\n \n", "\u3000"])
    def test_a_doc_without_words_has_no_trees(self, nlp: Any, text: str) -> None:
        doc = nlp(text)
        assert [len(doc.spans[name]) for name in ("fencepost", TREE, TAGS, SENTENCES)] == [0] * 4
        for sentence in doc.sents:
            assert sentence._.parse_string == ""

    def test_only_blanks_have_nothing(self, nlp: Any) -> None:
        doc = nlp(Doc(nlp.vocab, words=["a", "\n", "b", " \n"], sent_starts=[1, -1, 1, 1]))
        blank = doc[3:]
        assert blank.text.isspace()
        assert (blank._.parse_string, blank._.labels, blank._.parent) == ("", (), None)
        assert list(blank._.constituents) == list(blank._.children) == []
        assert doc[1]._.labels == ()
        with pytest.raises(NonConstituentError, match="holds no word"):
            _ = blank._.tree

    def test_a_sentence_that_is_too_long_is_told_with_its_reason(
        self, model: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        nlp = pipeline(model, max_words=3)
        with caplog.at_level(logging.WARNING):
            doc = nlp("a b! A b c a b! C!")
        assert "fencepost: a sentence was not parsed: a sentence of 6 words" in caplog.text
        for one in (doc, Doc(Vocab()).from_bytes(doc.to_bytes())):
            first, long, last = one.sents
            assert first._.parse_string
            assert last._.parse_string
            with pytest.raises(DataError, match=r"'A b c a b!' was not parsed: .* 6 words"):
                _ = long._.parse_string
            with pytest.raises(DataError, match="was not parsed"):
                _ = one[4]._.labels
            assert not any(long.start <= span.start < long.end for span in one.spans["fencepost"])

    def test_long_sentences_are_shown_short(self, model: str) -> None:
        doc = pipeline(model, max_words=3)("a b c " * 100)
        with pytest.raises(DataError, match=r"a b …' was not parsed"):
            _ = doc[:]._.labels


@pytest.fixture(scope="module")
def shown() -> Any:
    """A Doc with a tree that is known: blanks at the ends and within, a chain, lone words."""
    register()
    rows = ["Ann", "\n", "saw", " ", "old", "cats", ".", "\n\n", "Go"]
    doc = Doc(Vocab(), words=rows, sent_starts=[True, *[False] * 7, True])
    doc.spans[SENTENCES] = [Span(doc, 0, 7), Span(doc, 8, 9)]
    doc.spans[TREE] = [
        Span(doc, start, end, label=label)
        for start, end, label in [
            (0, 7, "ROOT"),
            (0, 7, "S"),
            (0, 1, "NP"),
            (2, 6, "VP"),
            (4, 6, "NP"),
            (8, 9, "S"),
            (8, 9, "VP"),
        ]
    ]
    doc.spans[TAGS] = [
        Span(doc, place, place + 1, label=tag)
        for place, tag in [(0, "NNP"), (2, "VBD"), (4, "JJ"), (5, "NNS"), (6, "."), (8, "VB")]
    ]
    return doc


class TestNames:
    def test_the_brackets_of_a_sentence(self, shown: Any) -> None:
        first, second = shown.sents
        assert first._.parse_string == (
            "(ROOT (S (NP (NNP Ann)) (VP (VBD saw) (NP (JJ old) (NNS cats))) (. .)))"
        )
        assert second._.parse_string == "(S (VP (VB Go)))"
        assert shown[2:6]._.parse_string == "(VP (VBD saw) (NP (JJ old) (NNS cats)))"
        assert shown[4]._.parse_string == "(JJ old)"

    def test_labels_are_those_of_the_place_outermost_first(self, shown: Any) -> None:
        first, second = shown.sents
        assert first._.labels == shown[0:7]._.labels == ("ROOT", "S")
        assert second._.labels == shown[8]._.labels == ("S", "VP")
        assert shown[1:6]._.labels == shown[2:6]._.labels == ("VP",)
        assert shown[0]._.labels == ("NP",)
        assert shown[2]._.labels == ()

    def test_constituents_are_in_pre_order_with_words(self, shown: Any) -> None:
        first, second = shown.sents
        places = [(span.start, span.end) for span in first._.constituents]
        assert places == [(0, 7), (0, 1), (2, 6), (2, 3), (4, 6), (4, 5), (5, 6), (6, 7)]
        assert [span.text for span in second._.constituents] == ["Go"]
        assert next(shown[2:6]._.constituents).text == "saw   old cats"
        assert [span.text for span in shown[2:3]._.constituents] == ["saw"]

    def test_children_are_directly_below(self, shown: Any) -> None:
        first, second = shown.sents
        assert [(span.start, span.end) for span in first._.children] == [(0, 1), (2, 6), (6, 7)]
        assert [(span.start, span.end) for span in shown[2:6]._.children] == [(2, 3), (4, 6)]
        assert list(second._.children) == list(shown[0:1]._.children) == []

    def test_the_parent_is_directly_above(self, shown: Any) -> None:
        first, second = shown.sents
        assert first._.parent is second._.parent is None
        assert shown[5]._.parent == shown[4:6]
        assert shown[4:6]._.parent == shown[2:6]
        assert shown[2:6]._.parent == shown[0]._.parent == shown[0:7]

    def test_a_tree_slices_the_text(self, shown: Any) -> None:
        tree = shown[2:6]._.tree
        assert isinstance(tree, Tree)
        assert (tree.start, tree.end, tree.words) == (0, 3, ("saw", "old", "cats"))
        assert tree.text == shown.text[tree.start_char : tree.end_char] == shown[2:6].text
        assert tree.spans[0].probability is None
        assert shown[0]._.tree.label == "NP"
        assert shown[6]._.tree.label == "."

    @pytest.mark.parametrize(("start", "end"), [(0, 3), (4, 7), (5, 7), (6, 9), (0, 9)])
    def test_what_is_no_constituent_is_refused(self, shown: Any, start: int, end: int) -> None:
        for name in ("labels", "parse_string", "tree", "parent", "constituents", "children"):
            with pytest.raises(NonConstituentError, match="is no constituent"):
                getattr(shown[start:end]._, name)

    def test_words_that_were_not_there_are_in_no_sentence(self) -> None:
        register()
        doc = Doc(Vocab(), words=["a", "b"])
        doc.spans[SENTENCES] = [Span(doc, 1, 2)]
        doc.spans[TREE] = []
        with pytest.raises(NonConstituentError, match="'a' is no constituent: it is not in one"):
            _ = doc[0]._.labels

    @pytest.mark.parametrize("asked", [0, 1, 2])
    def test_a_doc_whose_tokens_were_merged_is_told(self, nlp: Any, asked: int) -> None:
        doc = nlp("a b c! C a b! B!")
        with doc.retokenize() as retokenizer:
            retokenizer.merge(doc[0:2])
        with pytest.raises(DataError, match="tokens of this Doc were merged or split"):
            _ = list(doc.sents)[asked]._.parse_string

    @pytest.mark.parametrize("heads", [("tree",), ("tree", "tags")])
    def test_a_merge_and_a_split_that_leave_as_many_tokens_are_told(
        self, tmp_path: Path, heads: tuple[str, ...]
    ) -> None:
        doc = pipeline(saved(tmp_path, *heads))("aa bb cc dd! Aa bb!")
        merge(doc, 0, 2)
        split(doc, 2, 1)
        assert [token.text for token in doc][:5] == ["aa bb", "cc", "d", "d", "!"]
        first, second = doc.sents
        for name in ("parse_string", "tree", "children", "constituents"):
            with pytest.raises(DataError, match="tokens of this Doc were merged or split"):
                getattr(first._, name)
        for token in doc[0:4]:
            with pytest.raises(DataError, match="tokens of this Doc were merged or split"):
                _ = token._.labels
        with pytest.raises(DataError, match="tokens of this Doc were merged or split"):
            _ = doc[0:4]._.labels
        assert second._.tree.words == ("Aa", "bb", "!")  # nothing has happened to these

    def test_a_token_that_a_split_has_moved_beyond_the_last_sentence_is_told(
        self, nlp: Any
    ) -> None:
        doc = nlp("aa bb")
        split(doc, 0, 1)
        with pytest.raises(DataError, match="tokens of this Doc were merged or split"):
            _ = doc[2]._.labels

    def test_words_with_blanks_are_shown_with_a_sign_for_them(self, nlp: Any) -> None:
        doc = nlp(Doc(nlp.vocab, words=["New York", "a\nb", "("], sent_starts=[1, -1, -1]))
        assert Tree.from_brackets(doc[:]._.parse_string).words == ("New_York", "a_b", "(")
        assert doc[0]._.parse_string.endswith(" New_York)")
        assert doc[:]._.tree.words == ("New York", "a\nb", "(")
        with pytest.raises(DataError, match="'New York' holds a blank"):
            doc[:]._.tree.to_brackets()

    def test_tags_of_tokens_that_brackets_cannot_say_are_shown(self, tmp_path: Path) -> None:
        nlp = pipeline(saved(tmp_path, "tree"))
        doc = nlp(Doc(nlp.vocab, words=["a"], tags=["$("]))
        assert "($-LRB- a)" in doc[:]._.parse_string

    def test_round_brackets_are_escaped(self, nlp: Any) -> None:
        assert "-LRB-)" in nlp("(")[:]._.parse_string
        tree = Tree.from_brackets(nlp("a (b)")[:]._.parse_string)
        assert tree.words == ("a", "(", "b", ")")

    def test_deep_trees_are_no_trouble(self) -> None:
        register()
        n = 3000
        doc = Doc(Vocab(), words=["a"] * n)
        doc.spans[SENTENCES] = [Span(doc, 0, n)]
        doc.spans[TREE] = [Span(doc, start, n, label="X") for start in range(n)]
        assert doc[:]._.parse_string.count("(X ") == n
        assert doc[n - 1]._.parent == doc[n - 2 :]
        assert sum(1 for _ in doc[:]._.constituents) == 2 * n - 1


GAPS = st.lists(
    st.sampled_from(["a", "b", "c", "(", ".", "d e", " ", "\n\n", "\u3000"]), max_size=9
)


@given(tokens=GAPS, starts=st.none() | st.lists(st.booleans(), min_size=9, max_size=9))
def test_the_words_of_each_span_are_those_of_its_node(
    nlp: Any, tokens: list[str], starts: list[bool] | None
) -> None:
    sent_starts = None if starts is None else starts[: len(tokens)]
    doc = nlp(Doc(nlp.vocab, words=tokens, sent_starts=sent_starts))
    for sentence in doc.sents:
        if not words(sentence):
            continue
        tree = sentence._.tree
        assert tree.words == words(sentence)
        spans = list(sentence._.constituents)
        nodes = {(node.start, node.end): node for node in reversed(list(tree))}
        leaves = {(leaf.start, leaf.end) for leaf in tree.leaves}
        assert len(spans) == len(set(nodes) | leaves)
        for span in spans:
            start = len(words(doc[sentence.start : span.start]))
            place = (start, start + len(words(span)))
            assert not span[0].text.isspace()
            assert not span[-1].text.isspace()
            assert span._.tree.words == words(span) == tree.words[slice(*place)]
            assert len(span._.labels) == sum(1 for s in tree.spans if s[:2] == place)
            if place in nodes:
                assert span._.labels[0] == nodes[place].label
            children = list(span._.children)
            assert "".join(map("".join, map(words, children))) == (
                "" if place in leaves else "".join(words(span))
            )
            for child in children:
                assert child._.parent == span
    for span in doc.spans["fencepost"]:
        assert words(span)
        assert not span[0].text.isspace()
    assert [s.text for s in doc.spans[TAGS]] == list(words(doc))


def merge(doc: Any, start: int, end: int) -> None:
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[start:end])


def split(doc: Any, place: int, character: int) -> None:
    text = doc[place].text
    with doc.retokenize() as retokenizer:
        retokenizer.split(
            doc[place], [text[:character], text[character:]], heads=[(doc[place], 0)] * 2
        )


def sent_on(doc: Any, way: str) -> Any:
    if way == "bytes":
        return Doc(Vocab()).from_bytes(doc.to_bytes())
    return Doc.from_docs([doc]) if way == "joined" else doc


def nodes_of(doc: Any) -> dict[tuple[str, int, int], Any]:
    """All that a Doc tells of its nodes: what, from which character to which."""
    found = {}
    for start in range(len(doc)):
        for end in range(start + 1, len(doc) + 1):
            span = doc[start:end]
            if span[0].text.isspace() or span[-1].text.isspace():
                continue
            for name in ("labels", "parent", "parse_string", "tree", "children", "constituents"):
                try:
                    told = getattr(span._, name)
                    if name in ("children", "constituents"):
                        told = [(one.start_char, one.end_char) for one in told]
                except DataError:
                    continue
                if name == "parent" and told is not None:
                    told = (told.start_char, told.end_char)
                found[name, span.start_char, span.end_char] = told
            if ("tree", span.start_char, span.end_char) in found:
                assert span._.tree.words == words(span)
    return found


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return pipeline(saved(tmp_path_factory.mktemp("plain"), "tree"))


@given(data=st.data(), tagged=st.booleans(), way=st.sampled_from(["none", "bytes", "joined"]))
def test_after_merges_and_splits_a_node_is_as_it_was_or_is_told(
    nlp: Any, plain: Any, data: Any, tagged: bool, way: str
) -> None:
    tokens = data.draw(st.lists(st.sampled_from(["aa", "b", "cc", "\n", "!"]), max_size=7))
    pipe = nlp if tagged else plain
    doc = pipe(Doc(pipe.vocab, words=tokens))
    before = nodes_of(doc)
    places = [(token.i, token.idx, token.text) for token in doc]
    for _ in range(data.draw(st.integers(0, 3))):
        long = [token.i for token in doc if len(token) > 1]
        place = data.draw(st.sampled_from([None, *long]))
        if place is not None:
            split(doc, place, 1)
        elif len(doc) > 1:
            start = data.draw(st.integers(0, len(doc) - 2))
            merge(doc, start, start + 2)
    try:
        after = nodes_of(sent_on(doc, way))
    except (ValueError, IndexError) as error:
        if "[E873]" in str(error) or "[E035]" in str(error):
            return  # spaCy refuses itself to send on spans that no longer fit
        raise
    assert after.items() <= before.items()
    if [(token.i, token.idx, token.text) for token in doc] == places:
        assert after == before


class TestKeeping:
    def test_all_files_of_a_model_are_known(self) -> None:
        assert {*FILES, MANIFEST} <= set(_FILES)

    def test_docs_come_back_from_bytes(self, doc: Any) -> None:
        again = Doc(Vocab()).from_bytes(doc.to_bytes())
        assert told(again) == told(doc)
        scores = doc.spans["fencepost"].attrs["scores"]
        assert isinstance(scores, numpy.ndarray)
        numpy.testing.assert_array_equal(again.spans["fencepost"].attrs["scores"], scores)

    def test_docs_come_back_from_a_docbin(self, doc: Any, tmp_path: Path) -> None:
        DocBin(docs=[doc, doc]).to_disk(tmp_path / "docs.spacy")
        found = DocBin().from_disk(tmp_path / "docs.spacy").get_docs(Vocab())
        assert [told(again) for again in found] == [told(doc)] * 2

    def test_fencepost_reads_such_a_file(self, doc: Any, tmp_path: Path) -> None:
        DocBin(docs=[doc]).to_disk(tmp_path / "docs.spacy")
        parses = list(fencepost.read(tmp_path / "docs.spacy", span_group="fencepost"))
        assert sum(len(parse.entities or ()) for parse in parses) == len(doc.spans["fencepost"])

    def test_docs_come_back_as_copies_and_pickles(self, doc: Any) -> None:
        assert told(doc.copy()) == told(doc)
        assert told(pickle.loads(pickle.dumps(doc))) == told(doc)

    def test_joined_docs_have_the_parses_of_their_parts(self, nlp: Any) -> None:
        texts = ["a b c! c", "", "c a\n", "b a b"]
        docs = [nlp(text) for text in texts]
        joined = Doc.from_docs(docs)
        brackets = [s._.parse_string for doc in docs for s in doc.sents]
        assert [s._.parse_string for s in joined.sents] == brackets
        assert all(s._.tree.spans[0].probability is None for s in joined.sents)

    @pytest.mark.slow  # starts another interpreter
    def test_loaded_docs_need_only_to_register(self, doc: Any, tmp_path: Path) -> None:
        DocBin(docs=[doc]).to_disk(tmp_path / "docs.spacy")
        code = (
            "import sys\n"
            "from spacy.tokens import DocBin\n"
            "from spacy.vocab import Vocab\n"
            "from fencepost.integrations.spacy import register\n"
            "register()\n"
            "(doc,) = DocBin().from_disk(sys.argv[1]).get_docs(Vocab())\n"
            "print(next(doc.sents)._.parse_string)\n"
            "assert 'fencepost.parser.parser' not in sys.modules\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "docs.spacy")],
            check=True,
            capture_output=True,
            text=True,
        )
        assert done.stdout.strip() == next(doc.sents)._.parse_string


class TestPipeline:
    @pytest.mark.slow  # starts another interpreter
    def test_making_it_loads_no_network_and_importing_it_changes_nothing(self) -> None:
        code = (
            "import sys, spacy\n"
            "from spacy.tokens import Span\n"
            "nlp = spacy.blank('en')\n"
            "assert 'fencepost.integrations.spacy' in sys.modules\n"
            "assert not Span.has_extension('parse_string')\n"
            "nlp.add_pipe('fencepost')\n"
            "assert Span.has_extension('parse_string')\n"
            "nlp.meta, nlp.config, nlp.analyze_pipes(), nlp.to_bytes()\n"
            "assert 'fencepost.parser.parser' not in sys.modules\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True)

    def test_names_that_others_took_are_taken_over(self, model: str) -> None:
        Span.set_extension("labels", getter=lambda _: "theirs", force=True)
        Token.set_extension("labels", default="theirs", force=True)
        doc = pipeline(model)("a b")
        assert doc[:]._.labels == doc[:]._.labels != "theirs"
        assert doc[0]._.labels != "theirs"

    def test_the_pipeline_can_be_analysed(self, nlp: Any) -> None:
        told = nlp.analyze_pipes()
        assert told["problems"] == {"fencepost": []}
        assert "span._.parse_string" in told["summary"]["fencepost"]["assigns"]
        assert told["attrs"]["doc.spans"]["assigns"] == ["fencepost"]

    def test_a_pipeline_is_saved_whole(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        nlp = pipeline(saved(tmp_path / "model", "tree", "entities", "tags"), max_words=100)
        (tmp_path / "model/notes.txt").write_text("not of the model")
        expected = told(nlp(TEXT))
        nlp.to_disk(tmp_path / "nlp")
        shutil.rmtree(tmp_path / "model")
        assert not (tmp_path / "nlp/fencepost/notes.txt").exists()
        loaded = spacy.load(tmp_path / "nlp")
        assert loaded.config["components"] == nlp.config["components"]
        loaded.to_disk(tmp_path / "nlp")  # over itself
        shutil.move(tmp_path / "nlp", tmp_path / "moved")
        assert told(loaded(TEXT)) == expected
        loaded.to_disk(tmp_path / "again")  # from memory
        assert told(spacy.load(tmp_path / "moved")(TEXT)) == expected
        assert told(spacy.load(tmp_path / "again")(TEXT)) == expected

    def test_a_model_that_ships_is_saved_by_name(self, tmp_path: Path) -> None:
        nlp = spacy.blank("en")
        nlp.add_pipe("fencepost")
        nlp.to_disk(tmp_path / "nlp")
        assert not (tmp_path / "nlp/fencepost").exists()
        loaded = spacy.load(tmp_path / "nlp")
        assert loaded.get_pipe("fencepost").settings == Settings()
        assert loaded.get_pipe("fencepost").to_bytes() == b""
        assert loaded.from_bytes(nlp.to_bytes()).get_pipe("fencepost").settings == Settings()

    def test_a_pipeline_is_saved_over_an_older_one(self, tmp_path: Path) -> None:
        first = pipeline(saved(tmp_path / "model", "tree"))
        (tmp_path / "model/LICENSE.md").write_text("ours")
        first.to_disk(tmp_path / "nlp")
        folder = tmp_path / "nlp/fencepost"
        (folder / "notes.txt").write_text("not of the model")
        assert (folder / "LICENSE.md").exists()
        pipeline(saved(tmp_path / "other", "tree")).to_disk(tmp_path / "nlp")
        assert not (folder / "LICENSE.md").exists()  # the other one has none
        shipped = spacy.blank("en")
        shipped.add_pipe("fencepost")
        shipped.to_disk(tmp_path / "nlp")
        assert [path.name for path in folder.iterdir()] == ["notes.txt"]
        assert spacy.load(tmp_path / "nlp").get_pipe("fencepost").to_bytes() == b""
        (folder / "notes.txt").unlink()
        first.to_disk(tmp_path / "nlp")
        shipped.to_disk(tmp_path / "nlp")
        assert not folder.exists()

    def test_the_licence_of_a_model_outlives_its_folder(self, tmp_path: Path) -> None:
        nlp = pipeline(saved(tmp_path / "model", "tree"))
        (tmp_path / "model/LICENSE.md").write_text("ours")
        nlp.to_disk(tmp_path / "nlp")
        loaded = spacy.load(tmp_path / "nlp")
        shutil.rmtree(tmp_path / "nlp")
        loaded.to_disk(tmp_path / "again")
        assert (tmp_path / "again/fencepost/LICENSE.md").read_text() == "ours"
        copied = pickle.loads(pickle.dumps(loaded.get_pipe("fencepost")))
        copied.to_disk(tmp_path / "copied")
        assert (tmp_path / "copied/LICENSE.md").read_text() == "ours"

    def test_a_pipeline_comes_back_from_bytes(self, tmp_path: Path) -> None:
        nlp = pipeline(saved(tmp_path / "model", "tree", "entities", "tags"))
        expected, data = told(nlp(TEXT)), nlp.to_bytes()
        shutil.rmtree(tmp_path / "model")
        loaded = spacy.blank("en").from_config(nlp.config).from_bytes(data)
        assert told(loaded(TEXT)) == expected

    def test_a_component_is_copied_and_pickled(self, model: str) -> None:
        nlp = pipeline(model)
        expected = told(nlp(TEXT))
        component = nlp.get_pipe("fencepost")
        for other in (copy.deepcopy(component), pickle.loads(pickle.dumps(component))):
            assert isinstance(other, Fencepost)
            assert "error_handler" not in vars(other)
            assert told(other(nlp.make_doc(TEXT))) == expected
        component.set_error_handler(ignore_error)
        assert pickle.loads(pickle.dumps(component)).get_error_handler() is ignore_error

    def test_entities_are_scored_as_spancat_scores_them(self, nlp: Any, doc: Any) -> None:
        gold = doc.copy()
        scores = nlp.evaluate([Example(nlp.make_doc(TEXT), gold)])
        assert (scores["spans_fencepost_p"], scores["spans_fencepost_r"]) == (1, 1)
        gold.spans["fencepost"] = list(gold.spans["fencepost"])[1:]
        assert nlp.evaluate([Example(nlp.make_doc(TEXT), gold)])["spans_fencepost_p"] < 1

    def test_displacy_draws_the_spans(self, doc: Any) -> None:
        drawn = displacy.render(
            doc, style="span", options={"spans_key": "fencepost"}, jupyter=False
        )
        for span in doc.spans["fencepost"]:
            assert span.label_ in drawn

    def test_many_docs_are_parsed_together_and_in_order(
        self, nlp: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        texts = ["a b c", "", "c a! B", " \n"] * 5
        alone = [told(nlp(text)) for text in texts]
        calls: list[int] = []
        stream = Parser.stream

        def counted(self: Parser, xs: Any, asked: Any) -> Iterator[Any]:
            given = list(xs)
            calls.append(len(given))
            return stream(self, given, asked)

        monkeypatch.setattr(Parser, "stream", counted)
        docs = list(nlp.pipe(texts, batch_size=8))
        assert [told(doc) for doc in docs] == alone
        assert calls == [6, 6, 3]

    def test_a_doc_that_fails_takes_no_other_down(self, nlp: Any) -> None:
        def broken(doc: Any) -> Any:
            raise OSError("gone")

        def docs() -> Iterator[Any]:
            for text in ("a", "b c", "c"):
                doc = nlp.make_doc(text)
                if text == "b c":
                    doc.user_hooks["sents"] = broken
                yield doc

        component = nlp.get_pipe("fencepost")
        with pytest.raises(OSError, match="gone"):
            list(component.pipe(docs()))
        failed: list[tuple[str, list[str]]] = []

        def handler(name: str, _: Any, docs: list[Any], error: Exception) -> None:
            assert isinstance(error, OSError)
            failed.append((name, [doc.text for doc in docs]))

        try:
            nlp.set_error_handler(handler)
            found = list(nlp.pipe(docs()))
        finally:
            del component.error_handler
            nlp.default_error_handler = None
        assert [doc.text for doc in found] == ["a", "c"]
        assert failed == [("fencepost", ["b c"])]
        assert all(doc[:]._.parse_string for doc in found)

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    def test_several_processes_find_the_same(self, model: str) -> None:
        nlp = pipeline(model)
        texts = ["a b c", "c a! B", "", "b"]
        expected = [told(nlp(text)) for text in texts]  # the parent has used its network
        found = nlp.pipe(texts, n_process=2, batch_size=1)
        assert [told(doc) for doc in found] == expected


@pytest.mark.slow
def test_english_is_parsed_out_of_the_box() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("fencepost")
    doc = nlp("The mayor of Oslo slept.")
    assert next(doc.sents)._.parse_string == (
        "(ROOT (S (NP (NP (DT The) (NN mayor)) (PP (IN of) (NP (NNP Oslo)))) "
        "(VP (VBD slept)) (. .)))"
    )
    assert [(span.text, span.label_) for span in doc.spans["fencepost"]] == [
        ("The mayor of Oslo", "person"),
        ("Oslo", "place"),
    ]
