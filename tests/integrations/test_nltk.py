import inspect
import math
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import fencepost
from fencepost.errors import ConfigError, DataError, ModelError
from fencepost.structure import Sentence, Tree
from tests.models import lively_model

nltk = pytest.importorskip("nltk")

from nltk.parse.api import ParserI  # noqa: E402
from nltk.tree import ProbabilisticTree  # noqa: E402

from fencepost.nltk import Parser  # noqa: E402

OURS = fencepost.Parser(lively_model("tree", "entities", "tags"))
WORDS = ["a", "b", "c", "(", "b"]


@pytest.fixture
def parser() -> Parser:
    return Parser(OURS)


def test_it_is_one_of_nltks_parsers(parser: Parser) -> None:
    assert isinstance(parser, ParserI)
    with pytest.raises(NotImplementedError):
        parser.grammar()


def test_the_tree_of_a_sentence_is_the_one_the_parser_finds(parser: Parser) -> None:
    trees = parser.parse(WORDS)
    assert isinstance(trees, Iterator)
    (tree,) = trees
    assert type(tree) is nltk.Tree
    assert tree.leaves() == WORDS
    expected = OURS.parse(WORDS).tree
    assert expected is not None
    assert tree == expected.to_nltk() == parser.parse_one(WORDS)
    assert parser.parse_all(tuple(WORDS)) == [tree]
    assert nltk.Tree.fromstring(str(expected)).leaves() == ["a", "b", "c", "-LRB-", "b"]


def test_only_trees_can_be_asked_for() -> None:
    assert Parser(OURS, tasks=["tree"]).parse_one(WORDS) == Parser(OURS).parse_one(WORDS)
    with pytest.raises(ConfigError, match=r"tasks: NLTK's trees are all there is, not \['entities"):
        Parser(OURS, tasks=["entities"])


def test_several_trees_come_best_first() -> None:
    expected = [
        parse.tree.to_nltk() for parse in OURS.n_best(WORDS, 4, tasks=["tree"]) if parse.tree
    ]
    assert list(Parser(OURS).parse(WORDS, n_best=4)) == expected
    assert Parser(OURS, n_best=4).parse_all(WORDS) == expected
    assert len(expected) == 4
    found = Parser(OURS, n_best=2).parse_sents([WORDS, ["a"], []])
    assert [len(list(trees)) for trees in found] == [2, 2, 0]


def test_probabilities_are_at_the_root() -> None:
    best = OURS.n_best(WORDS, 3, tasks=["tree"])
    trees = Parser(OURS, n_best=3, probabilities=True).parse_all(WORDS)
    for tree, parse in zip(trees, best, strict=True):
        assert isinstance(tree, ProbabilisticTree)
        assert parse.log_prob is not None
        assert tree.prob() == pytest.approx(math.exp(parse.log_prob))
        assert Tree.from_nltk(tree).spans == parse.tree.spans if parse.tree else False
        assert "(p=" in str(tree)


def test_many_sentences_are_parsed_in_order_and_as_a_stream(parser: Parser) -> None:
    read: list[int] = []

    def sentences() -> Iterator[list[str]]:
        for number in range(3):
            read.append(number)
            yield WORDS[number:]

    found = parser.parse_sents(sentences())
    assert isinstance(found, Iterator)
    assert read == []
    assert [list(trees) for trees in found] == [parser.parse_all(WORDS[n:]) for n in range(3)]


def test_no_words_have_no_trees(parser: Parser) -> None:
    assert parser.parse_all([]) == []
    assert parser.parse_one([]) is None
    assert [list(trees) for trees in parser.raw_parse_sents(["", " "])] == [[], []]


def test_text_is_split_into_words_and_is_one_sentence(parser: Parser) -> None:
    (tree,) = parser.raw_parse("It isn't. (Go!)")
    assert tree.leaves() == ["It", "is", "n't", ".", "(", "Go", "!", ")"]
    assert list(parser.raw_parse("a b", n_best=2)) == list(parser.parse(["a", "b"], n_best=2))
    found = [list(trees) for trees in parser.raw_parse_sents(["a b", "c"])]
    assert found == [parser.parse_all(["a", "b"]), parser.parse_all(["c"])]


def test_what_cannot_be_parsed_raises_for_itself_alone() -> None:
    short = fencepost.Parser(OURS.model, max_words=3)
    for n_best in (1, 2):
        found = list(Parser(short, n_best=n_best).parse_sents([["a"], WORDS, ["b"]]))
        assert next(found[0])
        assert next(found[2])
        with pytest.raises(DataError, match="5 words is longer than 3"):
            next(found[1])


@pytest.mark.parametrize("n_best", [1, 2])
@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (["a", ""], DataError, "word 1 is empty"),
        ([("a", "X")], TypeError, r"\[word for word, _ in tagged\]"),
        (None, TypeError, "words were expected, not NoneType"),
    ],
)
def test_what_is_no_sentence_raises_for_itself_alone(
    parser: Parser, n_best: int, wrong: Any, error: type[Exception], message: str
) -> None:
    found = list(parser.parse_sents([["a"], wrong, ["b"], [], wrong], n_best=n_best))
    assert [len(list(found[index])) for index in (0, 2, 3)] == [n_best, n_best, 0]
    for index in (1, 4):
        with pytest.raises(error, match=message):
            next(found[index])
    with pytest.raises(error, match=message):
        parser.parse(wrong, n_best=n_best)


def test_what_is_no_text_raises_for_itself_alone(parser: Parser) -> None:
    wrong: Any = ["a", None, "b"]
    first, second, third = parser.raw_parse_sents(wrong)
    assert next(first)
    assert next(third)
    with pytest.raises(TypeError, match="text was expected"):
        next(second)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([("Dogs", "NNS")], r"words were expected, not .*\[word for word, _ in tagged\]"),
        (["a", ("Dogs", "NNS")], r"words were expected, not .*\[word for word, _ in tagged\]"),
        ([1, 2], "words were expected, not int 1"),
        ([b"a"], "words were expected, not bytes b'a'"),
        (b"a", "words were expected, not bytes b'a'"),
        ([["a", "b"]], r"words were expected, not list \['a', 'b'\].* parse_sents"),
        (3, "words were expected, not int 3"),
    ],
)
def test_what_are_no_words_is_told(parser: Parser, wrong: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        parser.parse(wrong)
    with pytest.raises(TypeError, match=message):
        parser.parse_one(wrong)


def test_one_is_not_taken_for_many(parser: Parser) -> None:
    wrong: Any = "Dogs bark"
    with pytest.raises(TypeError, match=r"raw_parse\('Dogs bark'\)"):
        parser.raw_parse_sents(wrong)
    with pytest.raises(TypeError, match=r"raw_parse\('Dogs bark'\)"):
        parser.parse_sents(wrong)
    (trees,) = parser.raw_parse_sents(("Dogs bark",))
    assert next(trees).leaves() == ["Dogs", "bark"]


def test_text_and_words_are_not_taken_for_each_other(parser: Parser) -> None:
    wrong: Any = "a b"
    with pytest.raises(TypeError, match=r"raw_parse\('a b'\)"):
        parser.parse(wrong)
    with pytest.raises(TypeError, match=r"parse\(\['a'\]\)"):
        parser.raw_parse(["a"])  # type: ignore[arg-type]


def test_options_reach_the_parser() -> None:
    (tree,) = Parser(OURS, labels=["S"], beams=3).parse(WORDS)
    assert {node.label() for node in tree.subtrees(lambda t: t.height() > 2)} == {"S"}
    (expected,) = OURS.n_best(WORDS, 1, tasks=["tree"], labels=["S"], beams=3)
    assert expected.tree is not None
    assert tree == expected.tree.to_nltk()
    musts = [(1, 3, None)]
    for tree in Parser(OURS, must=musts, n_best=2).parse(WORDS):
        assert any(span[:2] == (1, 3) for span in Tree.from_nltk(tree).spans)


@pytest.mark.parametrize("n_best", [0, -1])
def test_no_tree_is_too_few(parser: Parser, n_best: int) -> None:
    with pytest.raises(ConfigError, match="n_best: a whole number from 1 to 1000"):
        Parser(OURS, n_best=n_best)
    with pytest.raises(ConfigError, match="n_best: a whole number from 1 to 1000"):
        parser.parse(WORDS, n_best=n_best)


def test_a_model_is_loaded_by_name_or_folder(tmp_path: Path) -> None:
    OURS.save(tmp_path)
    assert Parser(tmp_path).parse_one(WORDS) == Parser(str(tmp_path)).parse_one(WORDS)
    with pytest.raises(ModelError, match="nowhere"):
        Parser("nowhere")
    only = fencepost.Parser(lively_model("entities"))
    with pytest.raises(ConfigError, match="no head for 'tree'"):
        Parser(only)


def test_words_are_never_split_again(parser: Parser) -> None:
    (tree,) = parser.parse(["a b", "isn't"])
    assert tree.leaves() == ["a b", "isn't"]
    assert Sentence(("a b", "isn't")) == Sentence(tuple(tree.leaves()))


def test_what_nltk_passes_on_is_understood() -> None:
    for name in ("parse", "parse_sents"):
        theirs = list(inspect.signature(getattr(ParserI, name)).parameters)[:2]
        assert list(inspect.signature(getattr(Parser, name)).parameters)[:2] == theirs


def test_without_nltk_it_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "fencepost.integrations.nltk")
    monkeypatch.setitem(sys.modules, "nltk.parse.api", None)
    with pytest.raises(ImportError, match=r'pip install "fencepost\[nltk\]"'):
        import_module("fencepost.integrations.nltk")


@pytest.mark.slow
def test_english_is_parsed_out_of_the_box() -> None:
    assert str(Parser().parse_one(["Dogs", "bark", "."])) == (
        "(ROOT (S (NP (NNS Dogs)) (VP (VBP bark)) (. .)))"
    )
