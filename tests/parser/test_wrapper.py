"""The wrapper at the top of trees: known to a model, and put on each tree exactly once."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.batching.examples import usual_wrapper
from fencepost.checkpoints.loading import load_model
from fencepost.checkpoints.model import save_model
from fencepost.checkpoints.trainable import TrainableModel
from fencepost.errors import ConstraintError, ModelError
from fencepost.parser.parser import Parser
from fencepost.run.evaluate import compared, main_figure
from fencepost.structure import Parse, Tree
from tests.models import save_unlisted, small_model

TEXTS = ("a", "a b", "b a c", "c c a b a", "d d d d d d d")


def wrapped_model(wrapper: str | None = "ROOT", *names: str) -> TrainableModel:
    model = small_model("tree", labels={"tree": names or ("S", "NP", r"\0")})
    return replace(model, numbers=replace(model.numbers, wrapper=wrapper))


def parse_of(text: str) -> Parse:
    tree = Tree.from_brackets(text)
    return Parse(tree.sentence, tree)


@pytest.mark.parametrize("text", TEXTS)
def test_each_tree_has_it_once(text: str) -> None:
    parser = Parser(wrapped_model())
    words = text.split()
    parses = [
        parser.parse(words).sentences[0],
        *parser.n_best(words, 5),
        parser.parse(words, root="NP").sentences[0],
        parser.marginals(words, samples=5).majority,
    ]
    for parse in parses:
        assert parse.tree is not None
        assert [span.label for span in parse.tree.spans].count("ROOT") == 1
        assert parse.tree.wrapper == "ROOT"


@pytest.mark.parametrize("text", TEXTS)
def test_a_model_without_one_finds_trees_all_the_same(text: str) -> None:
    for parse in Parser(wrapped_model(None)).n_best(text.split(), 5):
        assert parse.tree is not None
        assert len(parse.tree) == len(text.split())


def test_an_analysis_is_as_probable_with_any_wrapper_as_with_none() -> None:
    parser = Parser(wrapped_model())
    words = ["a", "b"]
    found = {
        parser.score(words, f"{opening} (NP (X a)) (X b){closing}").log_prob
        for opening, closing in (("(S", ")"), ("(ROOT (S", "))"), ("(TOP (S", "))"), ("( (S", "))"))
    }
    assert len(found) == 1
    (parse,) = parser.parse(words).sentences
    assert parser.score(words, parse).log_prob == pytest.approx(parse.log_prob, abs=1e-5)


def test_it_may_be_asked_for_where_it_is() -> None:
    parser, words = Parser(wrapped_model()), ["a", "b", "c"]
    plain = parser.parse(words).tree
    assert parser.parse(words, must=[(0, 3, "ROOT")], root="ROOT").tree == plain
    assert "ROOT" in parser.labels["tree"]
    with pytest.raises(ConstraintError, match="ROOT"):
        parser.parse(words, must=[(0, 2, "ROOT")])
    with pytest.raises(ConstraintError, match="TOP"):
        parser.parse(words, root="TOP")


def test_the_folder_of_a_model_says_what_it_is(tmp_path: Path) -> None:
    for wrapper in ("ROOT", "", None):
        save_model(wrapped_model(wrapper), tmp_path)
        numbers = load_model(tmp_path).numbers
        assert (numbers.wrapper, numbers.wrapper_is_label) == (wrapper, False)


def test_in_older_folders_it_is_a_label(tmp_path: Path) -> None:
    save_unlisted(wrapped_model(None, "ROOT+S", "NP"), tmp_path)
    path = tmp_path / "labels.json"
    labels = json.loads(path.read_text())
    del labels["wrapper"]
    path.write_text(json.dumps(labels))
    model = load_model(tmp_path)
    assert model.numbers.wrapper_is_label
    parser = Parser(model)
    assert parser.score(["a", "b"], "(ROOT (S (X a) (X b)))").log_prob > float("-inf")
    assert parser.score(["a", "b"], "(S (X a) (X b))").log_prob == float("-inf")
    save_unlisted(model, tmp_path / "again")
    assert "wrapper" not in json.loads((tmp_path / "again/labels.json").read_text())


@pytest.mark.parametrize("wrapper", ["S", 3, ["ROOT"]])
def test_a_folder_that_says_something_else_is_refused(tmp_path: Path, wrapper: object) -> None:
    save_unlisted(wrapped_model(), tmp_path)
    path = tmp_path / "labels.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "wrapper": wrapper}))
    with pytest.raises(ModelError, match="wrapper"):
        load_model(tmp_path)


def test_training_takes_the_usual_one() -> None:
    trees = ["(ROOT (S (X a)))", "(ROOT (NP (X a)))", "(TOP (S (X a)))", "(S (X a))"]
    assert usual_wrapper(map(parse_of, trees)) == "ROOT"
    assert usual_wrapper(map(parse_of, trees[-1:])) is None
    assert usual_wrapper([]) is None


def test_scores_do_not_depend_on_it() -> None:
    gold, predicted = "{} (S (NP (X a)) (VP (X b)))", "{} (S (NP (X a)) (X b))"
    ways = [("(ROOT", ")"), ("(TOP", ")"), ("(VROOT", ")"), ("(S1", ")"), ("(", ")"), ("", "")]
    figures = [
        main_figure(
            compared(
                [parse_of(f"{gold.format(one[0])}{one[1]}")],
                [parse_of(f"{predicted.format(other[0])}{other[1]}")],
            )["tree"]
        )
        for one in ways
        for other in ways
    ]
    assert figures == pytest.approx([80.0] * len(ways) ** 2)


def test_inside_a_tree_it_is_a_wrong_bracket() -> None:
    gold = parse_of("(ROOT (S (NP (X a) (X c)) (X b)))")
    odd = parse_of("(ROOT (S (ROOT (X a) (X c)) (X b)))")
    assert main_figure(compared([gold], [odd])["tree"]) == pytest.approx(50.0)
