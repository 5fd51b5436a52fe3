"""What a parser knows besides the best parse: alternatives, scores, samples, constraints, steps."""

from collections.abc import Sequence
from itertools import pairwise
from math import exp, inf
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost import ConstraintError, DataError, Gazetteer, differences
from fencepost.errors import ConfigError
from fencepost.parser.encoding import Encoded, EncodingCache
from fencepost.parser.parser import Parser
from fencepost.structure import Document, Entity, Parse, Sentence, Span
from fencepost.structure.span import first_crossing
from fencepost.tasks.labels import join
from fencepost.tasks.layers import layer_spans
from tests.models import lively_model, small_model

LABELS = {"tree": ("S", "NP+VP", "NP"), "entities": ("person", "place", "NP", "person+place")}
WORDS = ["a", "b", "c", "a", "d", "b", "a"]


PARSER = Parser(lively_model("tree", "entities", "tags", labels=LABELS))
PARSERS = [Parser(lively_model("tree", "entities", labels=LABELS, seed=seed)) for seed in range(8)]


@pytest.fixture
def parser() -> Parser:
    return Parser(lively_model("tree", "entities", "tags", labels=LABELS))


def places(parse: Parse, layer: str) -> set[tuple[int, int]]:
    return {span[:2] for span in layer_spans(parse, layer) or () if span.label is not None}


def labels_at(spans: Sequence[Span], start: int, end: int) -> list[str | None]:
    return [span.label for span in spans if span[:2] == (start, end)]


class TestScores:
    @given(st.integers(0, 7), st.lists(st.sampled_from("abc"), min_size=1, max_size=8))
    def test_what_was_found_scores_as_it_says(self, seed: int, words: list[str]) -> None:
        parser = PARSERS[seed]
        parse = parser.parse(words).only()
        scored = parser.score(words, parse)
        assert scored.log_prob == pytest.approx(parse.log_prob, abs=1e-4)
        assert scored.log_probs == pytest.approx(parse.log_probs, abs=1e-4)
        for layer, steps in scored.steps.items():
            labelled = [step.span for step in steps if step.span.label is not None]
            assert set(labelled) <= set(layer_spans(parse, layer) or ())
            assert all(0 < step.probability <= 1 for step in steps)

    def test_a_document_of_one_sentence_is_scored(self, parser: Parser) -> None:
        document = parser.parse(WORDS)
        assert parser.score(WORDS, document) == parser.score(WORDS, document[0])
        for several in (parser.parse([WORDS, WORDS]), parser.parse("")):
            with pytest.raises(DataError, match="sentences; go through them"):
                parser.score(WORDS, several)

    @pytest.mark.parametrize("words", [["a"], ["a", "b"]])
    def test_the_probabilities_of_all_parses_sum_to_one(self, words: list[str]) -> None:
        for parser in PARSERS[:3]:
            total = {"tree": 0.0, "entities": 0.0}
            for layer in total:
                best = parser.n_best(words, 150, tasks=[layer])
                total[layer] = sum(exp(parse.log_prob or 0.0) for parse in best)
                for parse in best[::40]:
                    assert parser.score(words, parse).log_prob == pytest.approx(
                        parse.log_prob, abs=1e-3
                    )
            assert total == pytest.approx({"tree": 1.0, "entities": 1.0}, abs=1e-3)

    def test_an_analysis_may_be_a_tree_or_brackets_or_entities(self, parser: Parser) -> None:
        best = parser.parse(WORDS).only()
        assert best.tree is not None
        assert best.entities is not None
        whole = parser.score(WORDS, best)
        by_tree = parser.score(WORDS, best.tree)
        assert by_tree.log_probs == {"tree": pytest.approx(whole.log_probs["tree"])}
        assert parser.score(WORDS, str(best.tree)).log_prob == pytest.approx(by_tree.log_prob)
        by_spans = parser.score(WORDS, [tuple(span) for span in best.entities])  # type: ignore[misc]
        assert by_spans.log_probs == {"entities": pytest.approx(whole.log_probs["entities"])}

    def test_what_the_model_can_never_say_has_no_probability(self, parser: Parser) -> None:
        scored = parser.score(["a", "b"], "(X (A a) (B b))")
        assert scored.log_prob == -inf
        assert scored.steps["tree"][-1].probability == 0

    def test_behind_an_unknown_label_steps_are_judged_as_ever(self, parser: Parser) -> None:
        scored = parser.score(["a", "b", "c"], "(S (X (A a) (B b)) (C c))")
        assert [step.is_known for step in scored.steps["tree"]] == [False, True, True]
        assert all(0 < step.probability <= 1 for step in scored.steps["tree"][1:])
        assert scored.log_prob == -inf

    def test_another_sentence_is_refused(self, parser: Parser) -> None:
        with pytest.raises(DataError, match="stands over other words: 'a c', not 'a b'"):
            parser.score(["a", "b"], "(S (A a) (B c))")

    def test_one_sentence_is_needed(self, parser: Parser) -> None:
        with pytest.raises(DataError, match="one sentence was expected, and 2 sentences were"):
            parser.score("It is. It was.", [])
        with pytest.raises(DataError, match="one sentence was expected, and no sentences were"):
            parser.marginals("")
        with pytest.raises(TypeError):
            parser.n_best(3, 2)  # type: ignore[arg-type]
        with pytest.raises(DataError, match="longer than 3"):
            Parser(parser.model, max_words=3).n_best(WORDS, 2)


class TestReadings:
    @settings(max_examples=25)
    @given(st.integers(0, 7), st.lists(st.sampled_from("abc"), min_size=1, max_size=6))
    def test_they_differ_and_the_best_comes_first(self, seed: int, words: list[str]) -> None:
        best = PARSERS[seed].n_best(words, 5)
        assert 1 <= len(best) <= 5
        assert [parse.rank for parse in best] == list(range(1, len(best) + 1))
        for one, other in pairwise(best):
            assert (one.log_prob or 0) >= (other.log_prob or 0)
            assert differences(one, other) or differences(other, one)
        assert len({(parse.tree, parse.entities) for parse in best}) == len(best)

    def test_the_first_is_the_best_of_a_beam(self, parser: Parser) -> None:
        (first, *_) = parser.n_best(WORDS, 3, beams=6)
        assert first == parser.parse(WORDS, beams=6).only()

    @settings(max_examples=15)
    @given(st.integers(0, 7), st.lists(st.sampled_from("abc"), min_size=4, max_size=8), st.data())
    def test_greedy_search_finds_nothing_better(
        self, seed: int, words: list[str], data: st.DataObject
    ) -> None:
        start = data.draw(st.integers(0, len(words) - 2))
        must = [(start, data.draw(st.integers(start + 1, len(words))), None)]
        greedy = PARSERS[seed].parse(words, tasks=["tree"], must=must).only()
        (first, *_) = PARSERS[seed].n_best(words, 2, tasks=["tree"], must=must, beams=2)
        wide = PARSERS[seed].parse(words, tasks=["tree"], must=must, beams=2).only()
        for parse in (first, wide):
            assert (parse.log_prob or 0) >= (greedy.log_prob or 0) - 1e-4

    @settings(max_examples=20)
    @given(st.integers(0, 7), st.lists(st.sampled_from("abc"), min_size=1, max_size=8))
    def test_consistent_readings_are_all_consistent(self, seed: int, words: list[str]) -> None:
        for parse in PARSERS[seed].n_best(words, 4, consistent=True):
            assert parse.tree is not None
            assert first_crossing([*parse.tree.spans, *(parse.entities or ())]) is None

    def test_none_at_all_are_refused(self, parser: Parser) -> None:
        with pytest.raises(ConfigError, match="n_best: a whole number from 1 to 1000, not 0"):
            parser.n_best(WORDS, 0)


class TestMarginals:
    def test_shares_are_near_to_the_truth(self) -> None:
        parser, words = PARSERS[1], ["a", "b"]
        truth: dict[Span, float] = {}
        for parse in parser.n_best(words, 150, tasks=["tree"]):
            assert parse.tree is not None
            for span in set(parse.tree.spans):
                truth[span] = truth.get(span, 0.0) + exp(parse.log_prob or 0.0)
        found = parser.marginals(words, samples=2000, tasks=["tree"])
        assert found.tree is not None
        assert found.entities is None
        for row in found.tree:
            assert row.probability == pytest.approx(truth[row.span], abs=4 * row.error + 2e-3)
            assert row.span.probability == row.probability

    def test_a_seed_draws_the_same(self, parser: Parser) -> None:
        one, same, other = (parser.marginals(WORDS, samples=20, seed=seed) for seed in (1, 1, 2))
        assert one.tree == same.tree
        assert one.entities == same.entities
        assert one.tree != other.tree

    def test_many_samples_of_long_sentences_are_drawn_in_parts(
        self, parser: Parser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("fencepost.parser.marginals._MOST_WORDS", 3 * len(WORDS))
        found = parser.marginals(WORDS, samples=10)
        assert found.samples == 10
        assert found.tree is not None
        assert sum(row.probability for row in found.tree if row.span[:2] == (0, 7)) >= 0.999
        assert all(round(10 * row.probability, 6).is_integer() for row in found.tree)

    def test_no_samples_are_refused(self, parser: Parser) -> None:
        with pytest.raises(
            ConfigError, match="samples: a whole number from 1 to 1,000,000 is expected, not int 0"
        ):
            parser.marginals(WORDS, samples=0)


spans = st.tuples(st.integers(0, 6), st.integers(1, 4)).map(
    lambda pair: (pair[0], min(sum(pair), 7))
)


class TestConstraints:
    @given(st.integers(0, 7), spans, st.sampled_from(["S", "VP", "person", "place", None]))
    def test_a_must_is_there(self, seed: int, place: tuple[int, int], label: str | None) -> None:
        parse = PARSERS[seed].parse(WORDS, must=[(*place, label)]).only()
        layer = "entities" if label in ("person", "place") else "tree"
        assert place in places(parse, layer)
        found = (parse.entities if layer == "entities" else parse.tree and parse.tree.spans) or ()
        if label is not None:
            assert label in labels_at(found, *place)
        assert parse.log_prob == pytest.approx(PARSERS[seed].score(WORDS, parse).log_prob, abs=1e-3)

    @given(st.integers(0, 7), spans)
    def test_what_is_forbidden_is_not_there(self, seed: int, place: tuple[int, int]) -> None:
        if place == (0, 7):
            return
        parse = PARSERS[seed].parse(WORDS, forbid=[(*place, None), (*place, "person")]).only()
        assert place not in places(parse, "tree")
        assert "person" not in labels_at(parse.entities or (), *place)

    @given(st.integers(0, 7), st.lists(st.sampled_from("abc"), min_size=1, max_size=9))
    def test_entities_that_are_consistent_cross_nothing(self, seed: int, words: list[str]) -> None:
        parse = PARSERS[seed].parse(words, consistent=True).only()
        assert parse.tree is not None
        assert first_crossing([*parse.tree.spans, *(parse.entities or ())]) is None

    def test_a_tree_makes_way_for_entities_that_have_to_be_there(self) -> None:
        for parser in PARSERS:
            must = [(start, start + 3, "person") for start in (0, 4)]
            parse = parser.parse(WORDS, must=must, consistent=True).only()
            assert parse.tree is not None
            assert {(0, 3), (4, 7)} <= places(parse, "entities")
            assert first_crossing([*parse.tree.spans, *(parse.entities or ())]) is None

    def test_labels_hold_for_the_heads_that_know_them(self, parser: Parser) -> None:
        free = parser.parse(WORDS).only()
        only = parser.parse(WORDS, labels=["place"]).only()
        assert {span.label for span in only.entities or ()} <= {"place"}
        assert only.tree == free.tree
        both = parser.parse(WORDS, labels=["NP", "S"]).only()
        assert both.tree is not None
        assert {span.label for span in both.tree.spans} <= {"NP", "S"}
        assert {span.label for span in both.entities or ()} <= {"NP"}

    def test_a_root_is_the_label_of_the_whole_sentence(self, parser: Parser) -> None:
        for root in ("S", "NP"):
            tree = parser.parse([WORDS, WORDS[:3]], root=root).sentences[1].tree
            assert tree is not None
            assert tree.label == root
        parse = parser.parse(WORDS, root="place", tasks=["entities"]).only()
        assert "place" in labels_at(parse.entities or (), 0, 7)

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ({"must": [(0, 3, None), (2, 5, "NP")]}, r"must \(0, 3\) and must \(2, 5\) NP cross"),
            ({"must": [(0, 9, None)]}, "not a span of a sentence of 7 words"),
            ({"must": [(0, 3, "nq")]}, "no label 'nq' for tree or entities"),
            ({"must": [(0, 2, "S")], "forbid": [(0, 2, None)]}, "contradict each other"),
            ({"must": [(0, 2, "persn")]}, "did you mean person"),
            ({"root": "np"}, r"did you mean NP\?"),
            (
                {"labels": ["nonsense"]},
                "no label 'nonsense' for tree or entities; it has NP, S, VP, person, place$",
            ),
            ({"labels": []}, "labels is empty"),
            ({"root": "S", "forbid": [(0, 7, "S")]}, "contradict each other"),
            ({"tasks": ["tags"], "root": "S"}, "need a head for trees or entities"),
            (
                {"must": [(0, 3, "person"), (2, 5, "S")], "consistent": True},
                r"must \(2, 5\) S.* cross",
            ),
        ],
    )
    def test_what_cannot_be_is_refused_before_anything_is_read(
        self, parser: Parser, monkeypatch: pytest.MonkeyPatch, asked: Any, message: str
    ) -> None:
        for module in ("parser", "predict"):
            monkeypatch.setattr(f"fencepost.parser.{module}.encode", None)
        for ask in (parser.parse, lambda x, **options: parser.n_best(x, 2, **options)):
            with pytest.raises(ConstraintError, match=message):
                ask(WORDS, **asked)

    def test_of_many_labels_some_are_told(self) -> None:
        known = {"entities": ("", *(f"L{number}" for number in range(10, 35)))}
        few = Parser(small_model("entities", labels=known))
        with pytest.raises(ConstraintError, match=r"it has '', L10, .*, L28 … and 6 more \(parser"):
            few.parse(WORDS, labels=["nonsense"])

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ({"min_probability": 1.5}, "min_probability: from 0 to 1, not 1.5"),
            ({"min_probability": "0.5"}, "min_probability: from 0 to 1, not '0.5'"),
            ({"min_probability": None}, "min_probability: from 0 to 1, not None"),
            ({"consistent": "no"}, "consistent: True or False, not 'no'"),
            ({"tasks": 5}, "tasks: a list, not 5"),
            ({"root": 5}, "root: a text or None, not 5"),
            ({"labels": 5}, "labels: a list, not 5"),
            ({"gazetteer": ["Zork"]}, r"like \{'New York': 'place'\}, not 'Zork'"),
            ({"gazetteer": {"Zork": 5}}, r"not \('Zork', 5\)"),
            ({"gazetteer": 5}, "gazetteer: a Gazetteer, or phrases with labels, not 5"),
            ({"tasks": ["tree"], "consistent": True}, "consistent: needs tree and entities"),
            ({"tasks": ["tree"], "gazetteer": {"a": "person"}}, "gazetteer: needs entities"),
        ],
    )
    def test_settings_that_do_not_fit_are_refused(
        self, parser: Parser, asked: Any, message: str
    ) -> None:
        with pytest.raises(ConfigError, match=message):
            parser.parse(WORDS, **asked)

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ({"root": "person"}, r"root is 'person', a label of entities; .*NP.* must=\["),
        ],
    )
    def test_that_are_of_the_wrong_kind_are_refused(
        self, parser: Parser, asked: Any, message: str
    ) -> None:
        with pytest.raises(ConstraintError, match=message):
            parser.parse(WORDS, **asked)

    def test_truth_values_are_numbers(self, parser: Parser) -> None:
        asked = [(False, True, "NP")]
        assert parser.parse(WORDS, must=asked) == parser.parse(WORDS, must=[(0, 1, "NP")])

    def test_places_are_of_one_sentence(self, parser: Parser) -> None:
        with pytest.raises(ConstraintError, match="of one sentence, and there are 2"):
            parser.parse([WORDS, WORDS], must=[(0, 2, None)])

    def test_in_a_stream_what_cannot_obey_has_a_status(self, parser: Parser) -> None:
        gazetteer = {"a b": "person"}
        found = list(parser.parse_many([WORDS, ["a"]], gazetteer=gazetteer, labels=["place"]))
        assert not found[0].is_ok
        assert "contradict each other" in found[0].status
        assert "ConstraintError" not in found[0].status
        assert found[1].is_ok

    def test_many_spans_are_taken_in_in_linear_time(self, parser: Parser) -> None:
        spans = [(i, j) for i in range(100) for j in range(i + 1, 101) if (i, j) != (0, 100)]
        forbid = [(*span, label) for span in spans for label in ("NP", "person")] * 8
        started = process_time()
        parse = parser.parse(["a"] * 100, forbid=forbid).only()
        assert process_time() - started < 10
        assert parse.entities is not None
        assert not any(entity.label == "person" for entity in parse.entities if entity[:2] in spans)


class TestGazetteers:
    def test_phrases_are_entities_wherever_they_occur(self) -> None:
        gazetteer = Gazetteer.of({"a b": "person", "a": "place", "a b c": "place"})
        for parser in PARSERS:
            found = parser.parse([WORDS, ["d", "a", "b"]], gazetteer=gazetteer)
            first, second = found.sentences
            assert "place" in labels_at(first.entities or (), 0, 3)
            assert "place" in labels_at(first.entities or (), 3, 4)
            assert "person" in labels_at(second.entities or (), 1, 3)

    def test_what_the_caller_says_comes_first(self) -> None:
        gazetteer = {"a b": "person", "d b": "person", "c": "place"}
        for parser in PARSERS:
            asked: dict[str, Any] = {"must": [(1, 4, "place")], "forbid": [(2, 3, "place")]}
            found = parser.parse(WORDS, gazetteer=gazetteer, **asked).only().entities or ()
            assert "place" in labels_at(found, 1, 4)
            assert not labels_at(found, 0, 2)
            assert "place" not in labels_at(found, 2, 3)
            assert "person" in labels_at(found, 4, 6)
            by_tree = parser.parse(
                WORDS, gazetteer=gazetteer, must=[(1, 4, "S")], consistent=True
            ).only()
            assert not labels_at(by_tree.entities or (), 0, 2)

    def test_an_unknown_label_is_refused(self, parser: Parser) -> None:
        with pytest.raises(ConstraintError, match="no label 'S' for entities"):
            parser.parse(WORDS, gazetteer={"a": "S"})


class TestEdits:
    def test_the_rest_follows_without_reading_again(
        self, parser: Parser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        document = parser.parse(WORDS)
        monkeypatch.setattr("fencepost.parser.parser.encode", None)
        for must in ((1, 4, "NP"), (2, 6, None)):
            edited = parser.edit(document, must=[must])
            assert must[:2] in places(edited, "tree")
            assert edited.entities == document.entities
            assert edited.sentence is document.sentences[0].sentence
            assert edited == parser.edit(document.only(), must=[must])
            scored = parser.score(edited.sentence, edited)
            assert edited.log_probs == pytest.approx(scored.log_probs, abs=1e-4)

    def test_it_is_what_parsing_anew_finds(self) -> None:
        for parser in PARSERS:
            parse = parser.parse(WORDS).only()
            for asked in ({"must": [(1, 5, None)]}, {"forbid": [(0, 2, "person")]}):
                assert parser.edit(parse, **asked) == parser.parse(WORDS, **asked).only()
            both = parser.edit(parse, must=[(1, 5, None)], consistent=True)
            assert both == parser.parse(WORDS, must=[(1, 5, None)], consistent=True).only()

    def test_layers_that_are_not_there_stay_away(self, parser: Parser) -> None:
        parse = parser.parse(WORDS, tasks=["entities"]).only()
        edited = parser.edit(parse, must=[(0, 2, None)])
        assert edited.tree is None
        assert (0, 2) in places(edited, "entities")

    def test_several_sentences_are_too_many(self, parser: Parser) -> None:
        with pytest.raises(DataError, match="2 sentences; go through them"):
            parser.edit(parser.parse([WORDS, WORDS]), must=[(0, 2, None)])

    def test_a_sentence_of_long_ago_is_read_again(self, parser: Parser) -> None:
        document = parser.parse(WORDS)
        parser._encodings = EncodingCache()
        assert (1, 5) in places(parser.edit(document, must=[(1, 5, None)]), "tree")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda parser: parser.marginals(WORDS, seed=2**70), "seed: a whole number from 0 to "),
        (lambda parser: parser.marginals(WORDS, seed=-1), "seed: .* not int -1"),
        (lambda parser: parser.marginals(WORDS, seed="x"), "seed: .* not str 'x'"),
        (lambda parser: parser.marginals(WORDS, samples=1.5), r"samples: .* not float 1\.5"),
        (lambda parser: parser.marginals(WORDS, samples=10**9), "samples: .* to 1,000,000"),
        (lambda parser: parser.edit("abc"), r"a parse or a document, not str 'abc': parser\.edit"),
        *(
            (lambda parser, wrong=wrong: parser.score(WORDS, wrong), r"analysis: a parse, a tree, ")
            for wrong in (None, (0, 1, "person"), [(0, 1)], [(0, 1, None)], [(0, 1, 5)], [(0,) * 4])
        ),
        (lambda parser: parser.n_best(WORDS, None), "n_best: a whole number .*, not None"),
        (lambda parser: parser.steps(WORDS, beams=3), "beams: steps are those of greedy search"),
        (lambda parser: parser.score(WORDS, 5), "analysis: a parse, a tree, .* not int 5"),
        (lambda parser: Parser(parser.model, max_words=-1), "max_words: .* not int -1"),
    ],
)
def test_wrong_arguments_are_told(parser: Parser, call: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        call(parser)


def encoded(*words: str) -> Encoded:
    return Encoded((Sentence(words),), np.zeros((1, len(words) + 1, 2)), np.array([len(words)]))


def test_the_oldest_is_forgotten_first() -> None:
    recent = EncodingCache(max_words=5)
    for words in (("a", "b"), ("c", "d"), ("a", "b"), ("e",)):
        recent.add(encoded(*words))
    assert all(recent.get(Sentence(words)) for words in (("a", "b"), ("c", "d"), ("e",)))
    recent.add(encoded("f"))
    assert recent.get(Sentence(("c", "d"))) is None
    assert recent.get(Sentence(("a", "b"))) is not None
    recent.add(encoded(*"abcdefgh"))
    assert recent.get(Sentence(("a", "b"))) is None


class TestSteps:
    @given(st.integers(0, 7), st.lists(st.sampled_from("abc"), min_size=1, max_size=8))
    def test_they_lead_to_the_parse(self, seed: int, words: list[str]) -> None:
        parser = PARSERS[seed]
        parse = parser.parse(words).only()
        steps = list(parser.steps(words))
        for layer in ("tree", "entities"):
            made = [step for step in steps if step.layer == layer]
            assert [step.number for step in made] == list(range(1, len(made) + 1))
            spans = {step.span for step in made if step.span.label is not None}
            assert spans == {span for span in layer_spans(parse, layer) or () if span.label}
            assert parse.log_probs is not None
            total = 1.0
            for step in made:
                total *= step.probability
                assert step.rather == step.span
                assert step.rather.probability == pytest.approx(step.probability)
                chances = dict(step.candidates)
                assert sum(chances.values()) == pytest.approx(1, abs=1e-4)
                assert chances[step.boundary] == max(chances.values())
                assert step.probability == pytest.approx(
                    chances[step.boundary] * step.label_probability
                )
                if step.runner_up is not None:
                    assert step.runner_up.probability <= step.label_probability
                    assert step.runner_up.label != step.span.label
            assert total == pytest.approx(exp(parse.log_probs[layer]), rel=1e-3)

    def test_they_obey(self, parser: Parser) -> None:
        steps = list(parser.steps(WORDS, must=[(2, 5, "NP"), (3, 5, "person")], consistent=True))
        assert any(step.span[:2] == (2, 5) and step.layer == "tree" for step in steps)
        assert any(step.span[:2] == (3, 5) and step.layer == "entities" for step in steps)
        assert first_crossing([step.span for step in steps if step.span.label is not None]) is None

    def test_a_text_is_gone_through_sentence_by_sentence(self, parser: Parser) -> None:
        steps = list(parser.steps("a b. C d.", tasks=["tree"]))
        assert [step.sentence.words for step in steps if step.number == 1] == [
            ("a", "b", "."),
            ("C", "d", "."),
        ]
        assert list(parser.steps("")) == []


class TestProbableEntities:
    def test_improbable_ones_are_left_out(self, parser: Parser) -> None:
        whole: Document = parser.parse([WORDS, WORDS[2:]])
        chances = sorted(
            span.probability or 0.0 for parse in whole.sentences for span in parse.entities or ()
        )
        middle = chances[len(chances) // 2]
        for found, free in zip(
            parser.parse([WORDS, WORDS[2:]], min_probability=middle).sentences,
            whole.sentences,
            strict=True,
        ):
            expected = [span for span in free.entities or () if (span.probability or 0) >= middle]
            assert list(found.entities or ()) == expected
            assert all(isinstance(span, Entity) for span in found.entities or ())
            assert found.tree == free.tree
            assert found.log_prob == free.log_prob


def test_chains_of_entities_keep_their_probability(parser: Parser) -> None:
    must = [(0, 2, "person"), (0, 2, "place")]
    found = parser.parse(WORDS, must=must).only().entities or ()
    chances = {span.probability for span in found if span[:2] == (0, 2)}
    assert labels_at(found, 0, 2) == ["person", "place"]
    assert len(chances) == 1
    assert join(["person", "place"]) in LABELS["entities"]
