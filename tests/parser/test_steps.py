"""Gold steps are judged as `score` judges them, beside what greedy search would do instead."""

from collections import defaultdict
from collections.abc import Iterator
from math import exp, inf, log

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from fencepost.batching.steps import Steps, numbered
from fencepost.checkpoints.trainable import TrainableModel
from fencepost.decoding.walk import score
from fencepost.model.head import PointingHead
from fencepost.parser.encoding import encode
from fencepost.parser.predict import predict
from fencepost.parser.scores import score_parses
from fencepost.parser.steps import Step, forced_steps
from fencepost.structure import Parse, Sentence, Span, Tree
from fencepost.structure.span import by_place
from fencepost.tasks.layers import layer_spans
from fencepost.transition import CanonicalConfiguration, Configuration, fill_gaps, pointings
from tests.decoding.plain_search import choices
from tests.models import lively_model
from tests.parser.making import make_step
from tests.strategies import places

MODEL = lively_model("tree", "entities", "tags")
MODEL.network.eval()
KNOWN = ("S", "NP+VP")


@st.composite
def golds(draw: st.DrawFn) -> Parse:
    """A few words with a tree and entities whose labels the model knows."""
    n = draw(st.integers(1, 6))
    sentence = Sentence(tuple(draw(st.lists(st.sampled_from("abcd"), min_size=n, max_size=n))))
    layers = []
    for whole in ([(0, n)], []):
        found = {*whole, *draw(places(n))}
        labelled = [(place, draw(st.sampled_from(KNOWN))) for place in sorted(found)]
        layers.append(
            by_place(Span(*place, part) for place, label in labelled for part in label.split("+"))
        )
    return Parse(sentence, Tree(sentence, tuple(layers[0])), tuple(layers[1]))


def judged(gold: Parse, layer: str, *, model: TrainableModel = MODEL) -> tuple[Step, ...]:
    encoded = encode(model, [gold.sentence], tasks=())
    (found,) = forced_steps(model, encoded, [gold], layer=layer)
    return found


def best_at_each_step(
    head: PointingHead, boundaries: Tensor, steps: list[tuple[int, int]]
) -> Iterator[tuple[int, int, float]]:
    """What greedy search would do at each of some steps, by going through all that is allowed."""
    where = CanonicalConfiguration(Configuration(len(boundaries) - 1), open_root=head.open_root)
    inputs, state = head.first_inputs(1), head.first_state(1)
    for taken, (boundary, label) in enumerate(steps):
        states, state = head.decode(inputs, state)
        by_boundary: dict[int, dict[int, float]] = defaultdict(dict)
        before = tuple(steps[:taken])
        for to, number, point, chance in choices(head, boundaries, states, where, before):
            by_boundary[to][number] = point + chance
        best = max(by_boundary, key=lambda to: sum(map(exp, by_boundary[to].values())))
        best_label = max(by_boundary[best], key=lambda number: by_boundary[best][number])
        yield best, best_label, by_boundary[best][best_label]
        start, end = sorted((where.plain.cursor, boundary))
        inputs = head.inputs(boundaries[None], *(torch.tensor([[x]]) for x in (start, end, label)))
        where = where.point(boundary, filler=label == 0)


@given(golds(), st.sampled_from(["tree", "entities"]))
def test_what_the_model_would_rather_do_is_the_best_of_all_that_is_allowed(
    gold: Parse, layer: str
) -> None:
    head, labels = MODEL.network.head(layer), MODEL.numbers.labels[layer]
    spans = layer_spans(gold, layer)
    assert spans is not None
    numbers = [(boundary, labels.number(label) or 0) for boundary, label in pointings(spans)]
    with torch.no_grad():
        boundaries = torch.from_numpy(encode(MODEL, [gold.sentence], tasks=()).boundaries[0])
        best = list(best_at_each_step(head, boundaries, numbers))
    cursor = 0
    for step, (boundary, label, log_prob) in zip(judged(gold, layer), best, strict=True):
        start, end = sorted((cursor, boundary))
        assert step.cursor == cursor
        assert step.rather_boundary == boundary
        assert step.rather == Span(start, end, labels.label(label))
        assert log(step.rather.probability or 0) == pytest.approx(log_prob, abs=1e-4)
        cursor = step.span.end


@settings(max_examples=40)
@given(st.lists(golds(), min_size=1, max_size=4), st.sampled_from(["tree", "entities"]))
def test_gold_steps_are_as_likely_as_score_says_alone_and_in_a_batch(
    some: list[Parse], layer: str
) -> None:
    encoded = encode(MODEL, [gold.sentence for gold in some], tasks=())
    together = forced_steps(MODEL, encoded, some, layer=layer)
    spans = [layer_spans(gold, layer) or () for gold in some]
    labels = MODEL.numbers.labels[layer]
    log_probs = score(
        MODEL.network.stepper(layer),
        encoded.boundaries,
        encoded.lengths,
        MODEL.rules(layer),
        Steps.of([numbered(one, labels) for one in spans]),
    )
    every = score_parses(MODEL, encoded, some, layers=[layer])
    for row, (gold, found) in enumerate(zip(some, together, strict=True)):
        assert tuple(step.span for step in found) == fill_gaps(spans[row])
        assert every[row].steps[layer] == found
        assert every[row].log_prob == pytest.approx(float(log_probs[row].sum()), abs=1e-4)
        for number, (one, alone) in enumerate(zip(found, judged(gold, layer), strict=True)):
            assert one.log_prob == pytest.approx(float(log_probs[row, number]), abs=1e-4)
            assert one.log_prob == pytest.approx(alone.log_prob, abs=1e-4)
            assert one.rather.probability == pytest.approx(alone.rather.probability, rel=1e-4)


def test_nothing_is_doubted_in_what_the_model_itself_has_found() -> None:
    sentences = [Sentence(tuple(text)) for text in ("abcad", "d", "bbcaacd")]
    for parse in predict(MODEL, sentences):
        for layer in ("tree", "entities"):
            steps = judged(parse, layer)
            assert [step.rather for step in steps] == [step.span for step in steps]
            assert not any(step.is_doubted for step in steps)
            for step in steps:
                assert step.rather.probability == pytest.approx(step.probability)


def test_a_layer_that_is_not_annotated_has_no_steps() -> None:
    words = Sentence(("a", "b"))
    some = [Parse(words), Parse(words, entities=()), Parse(words)]
    encoded = encode(MODEL, [words] * 3, tasks=())
    assert forced_steps(MODEL, encoded, some, layer="tree") == [(), (), ()]
    first, second, third = forced_steps(MODEL, encoded, some, layer="entities")
    assert (first, third) == ((), ())
    assert [step.span for step in second] == [Span(0, 2)]


def test_behind_an_unknown_label_it_goes_on_with_the_best_that_is_known() -> None:
    words = Sentence(("a", "b", "c", "a"))

    def entities(label: str) -> Parse:
        spans = (Span(0, 2, label), Span(2, 3, "S"), Span(0, 3, "NP"), Span(0, 3, "VP"))
        return Parse(words, entities=spans)

    unknown = judged(entities("XP"), "entities")
    assert [step.span.label for step in unknown if not step.is_known] == ["XP"]
    assert (unknown[0].log_prob, unknown[0].probability) == (-inf, 0.0)
    assert not unknown[0].is_doubted
    by_label = {}
    for label in ("S", "NP+VP"):
        parts = [Span(0, 2, part) for part in label.split("+")]
        rest = [span for span in entities("S").entities or () if span[:2] != (0, 2)]
        by_label[label] = judged(Parse(words, entities=(*parts, *rest)), "entities")
    best = max(by_label.values(), key=lambda steps: steps[0].log_prob)
    others = [step.log_prob for step in by_label["S"][1:]]
    assert others != [step.log_prob for step in by_label["NP+VP"][1:]], "the last label is seen"
    assert [step.log_prob for step in unknown[1:]] == pytest.approx(
        [step.log_prob for step in best[1:]]
    )


def test_a_step_is_doubted_if_the_model_knows_the_label_and_would_take_another() -> None:
    def step(span: Span, probability: float) -> Step:
        return make_step(span, probability, cursor=0, rather=(Span(0, 2, "NP"), 0.5))

    assert step(Span(0, 2, "VP"), 0.25).is_doubted
    assert step(Span(0, 1), 0.25).is_doubted
    assert not step(Span(0, 2, "NP"), 0.5).is_doubted
    assert not step(Span(0, 2, "XX"), 0).is_doubted
    assert step(Span(0, 1), 0.25).probability == pytest.approx(0.25)
    assert step(Span(0, 1), 0.25).rather.probability == pytest.approx(0.5)


def test_boundaries_are_the_ends_that_the_cursor_is_not_at() -> None:
    left = make_step(Span(1, 3, "S"), 0.5, cursor=3, rather=(Span(3, 4), 0.5))
    assert (left.boundary, left.rather_boundary) == (1, 4)
    right = make_step(Span(3, 5, "S"), 0.5, cursor=3, rather=(Span(0, 3), 0.5))
    assert (right.boundary, right.rather_boundary) == (5, 0)
