"""Temperatures that make probabilities say how often spans are right."""

import json
from dataclasses import replace
from itertools import product
from math import exp, log

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fencepost.checkpoints.trainable import TrainableModel
from fencepost.config import SearchSettings
from fencepost.parser.calibration import (
    Bin,
    Calibration,
    bins_of,
    calibrate,
    calibration_error,
    calibration_of,
    fit,
    log_loss,
    minimize,
)
from fencepost.parser.correctness import Choices, Outcomes, outcomes_of, right_spans
from fencepost.parser.encoding import encode
from fencepost.parser.marginals import sample_parses
from fencepost.parser.predict import predict
from fencepost.scoring import COLLINS, Comparison, EntityScore, Parameters, side_of_tree
from fencepost.structure import Parse, Sentence, Span, Tree
from tests.models import lively_model
from tests.strategies import nested_spans, trees

ALL = Parameters(deleted=frozenset(), equal_labels=())  # every bracket counts
WORDS = ["".join(letters) for n in (1, 2, 3) for letters in product("abc", repeat=n)]


def doubtful_model(layer: str) -> TrainableModel:
    """A random model whose labels are neither certain nor all alike."""
    model = lively_model(layer)
    torch.manual_seed(5)
    head = model.network.head(layer)
    torch.nn.init.normal_(head.label_vectors, std=1.3)
    for linear in (head.label.first, head.label.second):
        torch.nn.init.zeros_(linear.bias)
    model.network.eval()
    return model


def drawn(model: TrainableModel, layer: str) -> list[Parse]:
    """Gold parses by the model's own probabilities: as it is, it is calibrated for them.

    Of one word there is one step, so that its probability is that of being right.
    """
    return [
        parse
        for seed, word in enumerate(WORDS)
        for parse in sample_parses(
            model, encode(model, [Sentence((word,))], tasks=()), (layer,), samples=60, seed=seed
        )
    ]


def gaps(*distances: float, right: list[bool], sentence: list[int]) -> Outcomes:
    """Spans with one boundary to point to, and one other label that is so far behind."""
    nothing = np.full((len(distances), 1), float("-inf"))
    below = np.array(distances)[:, None]
    choices = Choices(nothing, -below, np.arange(len(distances)))
    return Outcomes(1.0, (choices,), np.array(right, dtype=np.bool_), np.array(sentence, dtype=int))


def spans_of(parse: Parse, layer: str) -> tuple[Span, ...]:
    """The spans of a layer, each with one label."""
    if layer == "entities":
        return parse.entities or ()
    assert parse.tree is not None
    return parse.tree.spans


class TestFitting:
    @pytest.mark.parametrize("layer", ["tree", "entities"])
    def test_finds_the_temperature_that_gold_parses_were_drawn_at(self, layer: str) -> None:
        model = doubtful_model(layer)
        gold = drawn(model, layer)
        found: dict[float, Calibration] = {}
        for temperature in (0.4, 1.0, 2.5):
            model.network.head(layer).temperature = temperature
            (found[temperature],) = calibrate(model, gold, parameters=ALL)
            assert found[temperature].temperature_before == temperature
            # There are some 2,000 steps, so that it is right within a few per cent.
            assert found[temperature].temperature == pytest.approx(1.0, rel=0.2)
            assert found[temperature].temperature == pytest.approx(found[0.4].temperature, rel=0.01)
        for temperature in (0.4, 2.5):
            assert found[temperature].ece_before > 2 * found[1.0].ece_before
            assert found[temperature].ece_before > 2 * found[temperature].ece_after
            assert found[temperature].loss_before > found[temperature].loss_after

    def test_probabilities_fit_the_share_that_is_right(self) -> None:
        outcomes = gaps(*[2.0] * 8, right=[True] * 6 + [False] * 2, sentence=[0] * 8)
        temperature = fit(outcomes, np.ones(8, dtype=np.bool_))
        assert temperature == pytest.approx(2 / log(3), rel=2e-3)  # 3 right for each wrong one
        assert exp(outcomes.log_probs(temperature)[0]) == pytest.approx(0.75, abs=1e-3)

    @pytest.mark.parametrize("right", [[True] * 4, [False] * 4, []])
    def test_what_says_nothing_leaves_the_temperature(self, right: list[bool]) -> None:
        outcomes = gaps(*[2.0] * len(right), right=right, sentence=[0] * len(right))
        assert fit(outcomes, np.ones(len(right), dtype=np.bool_)) == 1.0

    def test_a_half_is_measured_at_the_temperature_of_the_other(self) -> None:
        # Of the even sentences 3 in 4 spans are right, of the odd ones 9 in 10.
        right = [True, True, True, False] * 5 + [True] * 18 + [False] * 2
        outcomes = gaps(*[2.0] * 40, right=right, sentence=[0, 2] * 10 + [1, 3] * 10)
        found = calibration_of("tree", outcomes, sentences=4)
        even = 0.75 * log(0.9) + 0.25 * log(0.1)
        odd = 0.9 * log(0.75) + 0.1 * log(0.25)
        assert found.loss_after == pytest.approx(-(even + odd) / 2, rel=2e-3)
        told = {round(one.probability, 2): one.right for one in found.bins_after}
        assert told.keys() == {0.75, 0.8, 0.9}, "0.8 of a bin with spans of both"
        assert told[0.75] == 1.0, "the odd ones come first, and their first 18 are right"
        assert found.temperature == pytest.approx(2 / log(33 / 7), rel=2e-3)
        assert (found.spans, found.right, found.sentences) == (40, 33, 4)

    @pytest.mark.parametrize("layer", ["tree", "entities"])
    def test_other_temperatures_give_the_probabilities_that_search_gives(self, layer: str) -> None:
        model = lively_model(layer)
        sentences = [Sentence(tuple("abcab"[:n])) for n in (1, 3, 5, 5)]
        gold = predict(model, sentences)
        model.network.eval()
        outcomes = outcomes_of(
            model,
            encode(model, sentences, tasks=()),
            layer=layer,
            gold=list(enumerate(gold)),
            comparison=Comparison(ALL),
        )
        assert bool(outcomes.right.all())
        for temperature in (1.0, 1.7, 0.5):
            model.network.head(layer).temperature = temperature
            found = [
                span.probability or 0.0
                for parse in predict(model, sentences)
                for span in spans_of(parse, layer)
            ]
            told = np.exp(outcomes.log_probs(temperature))
            assert len(found) > 4
            assert sorted(told.tolist()) == pytest.approx(sorted(found), abs=1e-5)

    def test_even_the_last_doubt_is_scaled(self) -> None:
        outcomes = gaps(40.0, right=[False], sentence=[0])
        assert log_loss(outcomes.log_probs(2.0), outcomes.right) == pytest.approx(20, abs=1e-6)
        certain = gaps(float("inf"), right=[False], sentence=[0])
        assert 20 < log_loss(certain.log_probs(1.0), certain.right) < 30, "no infinity"

    @given(st.floats(-2.9, 2.9))
    def test_a_valley_is_found(self, bottom: float) -> None:
        assert minimize(lambda x: abs(x - bottom), low=-3, high=3) == pytest.approx(
            bottom, abs=1e-3
        )


class TestError:
    def test_is_a_mean_over_bins_of_as_many_spans(self) -> None:
        # 15 bins of two spans: the first, the last, and those between, which are as they should be.
        probabilities = np.array([0.1, 0.2] + [0.5] * 26 + [0.9, 1.0])
        right = np.array([False, True] + [True, False] * 13 + [True, True])
        shuffled = np.random.default_rng(1).permutation(30)
        bins = bins_of(probabilities, right)
        assert len(bins) == 15
        assert tuple(bins[0]) == pytest.approx((2, 0.15, 0.5))
        assert tuple(bins[-1]) == pytest.approx((2, 0.95, 1.0))
        assert calibration_error(bins) == pytest.approx((2 * 0.35 + 2 * 0.05) / 30)
        again = bins_of(probabilities[shuffled], right[shuffled])
        assert (again[0], again[-1]) == (bins[0], bins[-1]), "their order does not matter"

    def test_of_nothing_is_nothing(self) -> None:
        assert bins_of(np.zeros(0), np.zeros(0, dtype=np.bool_)) == ()
        assert calibration_error(()) == 0.0

    @given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
    def test_bins_hold_every_span_once_and_go_up(self, spans: list[tuple[float, bool]]) -> None:
        probabilities = np.array([p for p, _ in spans])
        bins = bins_of(probabilities, np.array([right for _, right in spans]))
        assert sum(one.spans for one in bins) == len(spans)
        assert max(one.spans for one in bins) - min(one.spans for one in bins) <= 1
        means = [one.probability for one in bins]
        assert means == pytest.approx(sorted(means))
        right = sum(one.spans * one.right for one in bins)
        assert right == pytest.approx(sum(right for _, right in spans))
        assert 0 <= calibration_error(bins) <= 1 + 1e-9


class TestRight:
    @given(trees(), st.data())
    def test_brackets_are_right_as_evaluation_counts_them(
        self, gold: Tree, data: st.DataObject
    ) -> None:
        n = len(gold.sentence)
        spans = [*data.draw(nested_spans(n)), Span(0, n, "TOP")]
        spans += data.draw(st.lists(st.sampled_from(gold.spans or (Span(0, n, "S"),)), max_size=4))
        comparison = Comparison(COLLINS)
        marks = right_spans(Parse(gold.sentence, gold), spans, layer="tree", comparison=comparison)
        ours = side_of_tree(gold, wrapper=False)
        counts = comparison.compare(ours, ours._replace(brackets=spans))
        assert len(marks) == len(spans)
        assert sum(mark is not None for mark in marks) == counts.predicted
        assert sum(mark is True for mark in marks) == counts.matched

    @given(st.data())
    def test_entities_are_right_as_evaluation_counts_them(self, data: st.DataObject) -> None:
        gold = Parse(Sentence(tuple("abcde")), entities=tuple(data.draw(nested_spans(5))))
        spans = data.draw(nested_spans(5))
        spans += data.draw(st.lists(st.sampled_from(gold.entities or (Span(0, 1, "S"),))))
        marks = right_spans(gold, spans, layer="entities", comparison=Comparison(COLLINS))
        score = EntityScore()
        score.add(gold.entities or (), spans)
        assert (len(marks), sum(mark is True for mark in marks)) == (
            score.all.predicted,
            score.all.right,
        )

    def test_wrappers_and_punctuation_do_not_count(self) -> None:
        tree = Tree.from_brackets("(TOP (S (NP (DT the) (NN cat)) (VP (VB sat)) (. .)))")
        spans = [Span(0, 4, "TOP"), Span(0, 3, "S"), Span(0, 2, "VP"), Span(3, 4, "X")]
        marks = right_spans(
            Parse(tree.sentence, tree), spans, layer="tree", comparison=Comparison(COLLINS)
        )
        assert marks == [None, True, False, None], "S without the full stop is the same bracket"

    def test_entities_that_were_dropped_on_reading_count(self) -> None:
        gold = Parse(Sentence(tuple("abc")), entities=(), dropped=(Span(0, 2, "X"),))
        spans = [Span(0, 2, "X"), Span(0, 2, "Y")]
        marks = right_spans(gold, spans, layer="entities", comparison=Comparison(COLLINS))
        assert marks == [True, False]


class TestCalibrate:
    def test_each_head_learns_from_the_sentences_that_have_its_layer(self) -> None:
        model = lively_model("tree", "entities", "tags")
        sentences = [Sentence(tuple("abcabca"[:n])) for n in (7, 2, 3, 5)]
        found = predict(model, sentences)
        gold = [
            Parse(Sentence(())),
            Parse(found[0].sentence, found[0].tree),
            Parse(found[1].sentence, entities=found[1].entities),
            Parse(found[2].sentence),
            found[3],
        ]
        told: list[int] = []
        tree, entities = calibrate(model, gold, parameters=ALL, done=told.append)
        assert (tree.layer, tree.sentences) == ("tree", 2)
        assert (entities.layer, entities.sentences) == ("entities", 2)
        assert sum(told) == 17
        assert tree.spans == sum(len(spans_of(found[row], "tree")) for row in (0, 3))
        assert entities.spans == sum(len(spans_of(found[row], "entities")) for row in (1, 3))

    def test_a_model_is_calibrated_for_what_its_beam_finds(self) -> None:
        narrow = lively_model("tree", "entities")
        wide = replace(narrow, search=SearchSettings(beams=4))
        sentences = [Sentence(tuple("abcabcacb"[:n])) for n in (7, 2, 9, 5)]
        gold = predict(wide, sentences)
        assert gold != predict(narrow, sentences)
        for layer, found in zip(
            ("tree", "entities"), calibrate(wide, gold, parameters=ALL), strict=True
        ):
            assert found.right == found.spans == sum(len(spans_of(p, layer)) for p in gold)
            shown = [one.probability * one.spans for one in found.bins_before]
            named = (p.tree.spans if layer == "tree" and p.tree else p.entities for p in gold)
            spans = (span for some in named for span in some or ())
            chances = [span.probability or 0.0 for span in spans]
            assert sum(shown) == pytest.approx(sum(chances), abs=1e-4)
        assert any(one.right < one.spans for one in calibrate(narrow, gold, parameters=ALL))

    def test_the_model_stays_as_it_is(self) -> None:
        model = lively_model("tree")
        model.network.train()
        tree = Tree.from_brackets("(S (X a) (X b))")
        assert calibrate(model, [Parse(tree.sentence, tree)], parameters=ALL)
        assert model.network.training
        assert model.network.head("tree").temperature == 1.0

    def test_without_a_layer_in_common_there_is_nothing(self) -> None:
        model = lively_model("tree")
        gold = [Parse(Sentence(("a",)), entities=()), Parse(Sentence(()))]
        assert calibrate(model, gold, parameters=ALL) == ()

    def test_a_head_that_finds_nothing_keeps_its_temperature(self) -> None:
        model = lively_model("entities")
        with torch.no_grad():
            for parameter in model.network.parameters():
                parameter.zero_()  # all labels score the same, and the filler comes first
        gold = [Parse(Sentence(("a",)), entities=(Span(0, 1, "S"),))] * 3
        (found,) = calibrate(model, gold, parameters=ALL)
        assert (found.spans, found.temperature, found.ece_before, found.loss_after) == (0, 1, 0, 0)

    def test_is_plain_data(self) -> None:
        bins = (Bin(3, 0.5, 1.0), Bin(1, 1.0, 1.0))
        found = Calibration("tree", 1.5, 1.0, 7, 0.4, 0.3, bins, bins)
        data = json.loads(json.dumps(found.to_dict()))
        assert data["task"] == "tree"
        assert data["temperature"] == 1.5
        assert data["ece_before"] == data["ece_after"] == 0.375
        assert (data["spans"], data["right"], data["sentences"]) == (4, 4, 7)
        assert data["bins_before"][0] == {"spans": 3, "probability": 0.5, "right": 1.0}
