import pickle
import re
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import ConfigError, DataError
from fencepost.search import Pattern
from fencepost.search.index import Index
from fencepost.search.pattern import MOST_STEPS
from fencepost.structure import Document, FoundSpan, Parse, Sentence, Span, Tree
from tests.search.plain import plain_matches, plain_of, related
from tests.search.strategies import SIGNS, patterns, small_parses

TREE = Tree.from_brackets(
    "(S (NP-SBJ (NP (DT The) (NN cat)) (PP (IN of) (NP (NNP Oslo)))) "
    "(VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .))"
)


def found(tree: Tree, pattern: str) -> list[str]:
    return [match.text for match in tree.find(pattern)]


@settings(max_examples=200)
@given(small_parses(), patterns())
def test_matches_are_those_of_the_obvious_matcher(parse: Parse, pattern: str) -> None:
    assert parse.tree is not None
    assert parse.entities is not None
    matches = [
        (number, names)
        for number, names in Pattern(pattern).matches(Index(parse.tree, parse.entities))
    ]
    expected = plain_matches(parse.tree, pattern, parse.entities)
    key = lambda match: (match[0], sorted(match[1].items()))  # noqa: E731
    assert sorted(matches, key=key) == sorted(expected, key=key), pattern
    assert [number for number, _ in matches] == sorted(number for number, _ in matches)


@settings(max_examples=150)
@given(small_parses(), st.sampled_from(SIGNS))
def test_each_relation_holds_of_the_pairs_that_its_definition_says(parse: Parse, sign: str) -> None:
    assert parse.tree is not None
    nodes = list(plain_of(parse.tree))
    bare = re.fullmatch(r"(.*?)(-?\d+)?", sign)
    assert bare is not None
    argument = None if bare[2] is None else int(bare[2])
    expected = {
        (a, b)
        for a, one in enumerate(nodes)
        for b, other in enumerate(nodes)
        if related(bare[1].replace("`", "-"), argument, one, other)
    }
    index = Index(parse.tree)
    pairs = {(a, names["b"]) for a, names in Pattern(f"__ {sign} __=b").matches(index)}
    assert pairs == expected
    assert [a for a, _ in Pattern(f"__ {sign} __").matches(index)] == sorted(
        {a for a, _ in expected}
    )


class TestNames:
    def test_each_assignment_of_names_is_a_match(self) -> None:
        matches = [(m.text, m["x"].text) for m in TREE.find("NP < NN : (NP=x < NN)")]
        assert matches == [
            *(("The cat", "The cat"), ("The cat", "the mat")),
            *(("the mat", "The cat"), ("the mat", "the mat")),
        ]

    def test_without_names_a_node_is_one_match_however_often_it_matches(self) -> None:
        assert found(TREE, "S << NP") == [TREE.text]

    def test_different_ways_to_the_same_names_are_one_match(self) -> None:
        assert len(list(TREE.find("S << (__ << NN=x)"))) == 2

    def test_an_optional_part_names_what_is_there(self) -> None:
        matches = [(m.text, m.get("n")) for m in TREE.find("@NP ?< NNP=n")]
        assert matches[0] == ("The cat of Oslo", None)
        assert [(text, n.text) for text, n in matches if n] == [("Oslo", "Oslo")]

    def test_a_reference_to_what_an_optional_part_did_not_name_does_not_match(self) -> None:
        assert found(TREE, "@NP ?< NNP=n : =n") == ["Oslo"]

    def test_both_sides_of_an_alternative_are_tried(self) -> None:
        (match, *others) = TREE.find("VP [< VBD=x | < PP=y]")
        assert [sorted(one.names) for one in (match, *others)] == [["x"], ["y"]]

    def test_alternatives_of_a_whole_pattern_are_matches_of_one(self) -> None:
        assert found(TREE, "VBD | NN | VBD < sat") == ["cat", "sat", "mat"]

    def test_references_below_a_negation_are_looked_at(self) -> None:
        assert found(TREE, "NN=n !.. (NN !== =n)") == ["mat"]

    def test_too_many_possibilities_are_an_error_and_no_wait(self) -> None:
        wide = Tree.from_brackets(f"(S {'(NN a) ' * 300})")
        pattern = "S < NN=a < NN=b < (NN=c , =a , =b !, =a)"
        with pytest.raises(DataError, match="too many possibilities"):
            list(wide.find(pattern))
        assert MOST_STEPS == 1_000_000

    def test_many_matches_are_found_one_by_one(self) -> None:
        wide = Tree.from_brackets(f"(S {'(NN a) ' * 300})")
        assert len(list(islice(wide.find("NN=a : NN=b : NN=c"), 50))) == 50


class TestConditions:
    def test_entities_are_at_a_node_in_it_or_around_it(self) -> None:
        parse = Parse(TREE.sentence, TREE, (Span(0, 4, "animal"), Span(3, 4, "place")))
        assert [m.text for m in parse.find("@NP{is animal}")] == ["The cat of Oslo"]
        assert [m.text for m in parse.find("PP{has place}")] == ["of Oslo"]
        assert [m.text for m in parse.find("NP{in animal}")] == ["The cat", "Oslo"]
        assert [m.text for m in parse.find("NP{!in __, words>1}")] == ["the mat"]
        assert [m.text for m in parse.find("NNP{is /^p/|animal}")] == ["Oslo"]

    def test_without_entities_asking_for_them_is_an_error(self) -> None:
        with pytest.raises(DataError, match="a parse that has them was expected"):
            TREE.find("NP < (NN !.. NN{is person})")
        with pytest.raises(DataError, match="asks for entities"):
            Parse(TREE.sentence, TREE).find("NP{has __}")

    def test_what_has_no_probability_satisfies_no_condition_on_it(self) -> None:
        assert found(TREE, "NP{p>=0}") == []

    def test_functions_are_left_out_of_basic_labels(self) -> None:
        assert found(TREE, "NP") == ["The cat", "Oslo", "the mat"]
        assert found(TREE, "@NP") == ["The cat of Oslo", "The cat", "Oslo", "the mat"]


def test_entities_are_searched_as_a_tree_if_there_is_no_other() -> None:
    sentence = TREE.sentence
    parse = Parse(sentence, None, (Span(0, 4, "animal"), Span(3, 4, "place")))
    assert [m.text for m in parse.find("animal << place")] == ["The cat of Oslo"]
    with_tree = Parse(sentence, TREE, parse.entities)
    assert [m.label for m in with_tree.find("__ < Oslo", layer="entities")] == ["NNP"]
    assert [m.label for m in with_tree.find("/^$/", layer="entities")] == [""]


@pytest.mark.parametrize("layer", ["tree", "entities", None])
def test_a_layer_that_is_not_there_is_an_error(layer: str | None) -> None:
    with pytest.raises(DataError, match="to search in; this has none"):
        Parse(TREE.sentence).find("NP", layer=layer)  # type: ignore[arg-type]


def test_a_sentence_without_words_has_no_match() -> None:
    assert list(Parse(Sentence(())).find("__")) == []


def test_a_pattern_can_be_pickled() -> None:
    pattern = pickle.loads(pickle.dumps(Pattern("NP < NN")))
    assert list(pattern.matches(Index(TREE))) == list(Pattern("NP < NN").matches(Index(TREE)))
    assert repr(pattern) == "Pattern('NP < NN')"


class TestDocument:
    def test_matches_know_their_sentence_and_their_place_in_the_text(self) -> None:
        text = "Go. Ann sat"
        one = Sentence(("Go", "."), ("VB", "."), text, ((0, 2), (2, 3)))
        other = Sentence(("Ann", "sat"), ("NNP", "VBD"), text, ((4, 7), (8, 11)))
        parses = (
            Parse(one, Tree(one, (Span(0, 2, "S"),))),
            Parse(other, Tree(other, (Span(0, 2, "S"), FoundSpan(0, 1, "NP", other, 0.5)))),
        )
        (match,) = Document(parses, text).find("NP{p<0.6} < NNP=name")
        assert (match.sentence, match.source.words) == (1, ("Ann", "sat"))
        assert (match.start, match.end, match.start_char, match.end_char) == (0, 1, 4, 7)
        assert (match.label, match.text, match.probability) == ("NP", "Ann", 0.5)
        assert match.tree is not None
        assert str(match.tree) == "(NP (NNP Ann))"
        assert match["name"].kind == "tag"
        assert match["name"].tree is None
        assert "name=Node('Ann', 'NNP'" in repr(match)

    def test_one_that_was_not_parsed_cannot_be_searched(self) -> None:
        with pytest.raises(DataError, match="was not parsed: too long"):
            Document((), "x", "too long").find("NP")


class TestReady:
    @pytest.mark.parametrize(
        ("text", "base", "maximal"),
        [
            (
                "(S (NP (NP (NNP Ann) (POS 's)) (NN cat)) (VP (VBD sat)))",
                ["Ann 's cat"],
                ["Ann 's cat"],
            ),
            (
                "(S (NP (NP (DT the) (NN cat)) (PP (IN of) (NP (NNP Ann)))) (VP (VBD sat)))",
                ["the cat", "Ann"],
                ["the cat of Ann"],
            ),
        ],
    )
    def test_noun_phrases(self, text: str, base: list[str], maximal: list[str]) -> None:
        tree = Tree.from_brackets(text)
        parse = Parse(tree.sentence, tree)
        assert [one.text for one in parse.noun_phrases()] == base
        assert [one.text for one in parse.noun_phrases("maximal")] == maximal

    def test_other_kinds_of_noun_phrases_are_refused(self) -> None:
        tree = Tree.from_brackets("(NP (NN rain))")
        with pytest.raises(ConfigError, match="kind has to be 'base' or 'maximal', not 'max'"):
            Parse(tree.sentence, tree).noun_phrases("max")  # type: ignore[arg-type]

    def test_a_document_has_those_of_all_sentences(self) -> None:
        trees = [Tree.from_brackets(f"(S (NP (NN {x})) (VP (VBZ is)))") for x in ("rain", "snow")]
        document = Document(tuple(Parse(tree.sentence, tree) for tree in trees))
        assert [one.text for one in document.noun_phrases("maximal")] == ["rain", "snow"]
        assert [one["subject"].text for one in document.clauses()] == ["rain", "snow"]
        with pytest.raises(DataError, match="was not parsed: too long"):
            Document((), status="too long").clauses()

    @pytest.mark.parametrize(
        ("text", "clauses"),
        [
            ("(S (NP (PRP It)) (VP (VBD slept)))", ["It slept"]),
            (
                "(S (NP (NN Today)) (NP (PRP it)) (ADVP (RB really)) (VP (MD may) (VP (VB have) "
                "(VP (VBN slept)))))",
                ["it slept"],
            ),
            (
                "(S (NP (PRP It)) (VP (VP (VBD ate)) (CC and) (VP (VBD slept))))",
                ["It ate", "It slept"],
            ),
            ("(S (VP (VB Go)))", ["- Go"]),
            (
                "(S (NP (PRP He)) (VP (VBZ wants) (S (VP (TO to) (VP (VB go))))))",
                ["He wants", "- go"],
            ),
            ("(SQ (VBZ Does) (NP (PRP he)) (VP (VB go)))", ["he go"]),
            ("(SQ (VBZ Is) (NP (PRP he)) (ADJP (JJ red)))", ["he Is"]),
            ("(SINV (VP (VBD said)) (NP (NNP Ann)))", ["Ann said"]),
        ],
    )
    def test_clauses_have_a_main_verb_and_perhaps_a_subject(
        self, text: str, clauses: list[str]
    ) -> None:
        tree = Tree.from_brackets(text)
        found = [
            f"{subject.text if (subject := clause.get('subject')) else '-'} {clause['verb'].text}"
            for clause in Parse(tree.sentence, tree).clauses()
        ]
        assert found == clauses
