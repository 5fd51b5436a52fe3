import pytest
from hypothesis import given

from fencepost.batching.examples import collect_labels, example
from fencepost.batching.steps import places
from fencepost.batching.vocabulary import Labels
from fencepost.errors import DataError
from fencepost.structure import Parse, Sentence, Span, Tree
from fencepost.tasks.layers import layer_spans
from fencepost.transition import fill_gaps
from tests.strategies import parses


@given(parses())
def test_an_example_says_the_same_as_its_parse(parse: Parse) -> None:
    heads = [
        name
        for name in ("tree", "entities", "tags")
        if (parse.tags if name == "tags" else layer_spans(parse, name)) is not None
    ]
    if "entities" in heads and not parse.entities:
        heads.remove("entities")  # nothing to collect labels from but the root
    if not heads:
        return
    labels = collect_labels([parse], heads)
    found = example(parse, labels)
    assert found is not None
    for head, steps in found.steps.items():
        spans = [
            Span(start, end, labels[head].label(number)) for start, end, number in places(steps)
        ]
        assert tuple(spans) == fill_gaps(layer_spans(parse, head) or ())
    if "tags" in heads:
        assert tuple(labels["tags"].label(tag) for tag in found.tags or ()) == parse.tags


def test_layers_can_be_left_out() -> None:
    tree = Tree.from_brackets("(S (A a))")
    parse = Parse(tree.sentence, tree, (Span(0, 1, "X"),))
    labels = collect_labels([parse], ["tree", "entities", "tags"])
    found = example(parse, labels, layers=["entities"], weight=2.0)
    assert found is not None
    assert (list(found.steps), found.tags, found.weight) == (["entities"], None, 2.0)


def test_a_sentence_with_nothing_to_learn_is_no_example() -> None:
    labels = {"tree": Labels(("S",))}
    assert example(Parse(Sentence(("a",))), labels) is None
    assert example(Parse(Sentence(()), entities=()), {"entities": Labels(())}) is None


def test_a_label_that_the_network_does_not_have_is_refused() -> None:
    tree = Tree.from_brackets("(S (A a))")
    with pytest.raises(DataError, match="'S' is not among those"):
        example(Parse(tree.sentence, tree), {"tree": Labels(())})


def test_a_head_needs_a_layer_to_learn_from() -> None:
    with pytest.raises(DataError, match="has the layer 'tree'"):
        collect_labels([Parse(Sentence(("a",)))], ["tree"])
