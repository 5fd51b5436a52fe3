"""Training over what the canonical rules allow: the loss is that of the gold parse."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from fencepost.batching.batches import gold_steps
from fencepost.batching.examples import collect_labels, example
from fencepost.decoding.rules import Rules
from fencepost.decoding.walk import score
from fencepost.model.head import PointingHead
from fencepost.model.loss import pointing_loss
from fencepost.model.stepper import stepper_of
from fencepost.structure import Parse, Sentence
from tests.strategies import nested_spans, trees


@st.composite
def entity_parses(draw: st.DrawFn) -> Parse:
    n = draw(st.integers(1, 6))
    return Parse(Sentence(("w",) * n), None, tuple(draw(nested_spans(n))))


def few(parses: st.SearchStrategy[Parse]) -> st.SearchStrategy[list[Parse]]:
    return st.lists(parses, min_size=1, max_size=3)


@given(
    st.one_of(
        st.tuples(st.just("tree"), few(trees().map(lambda tree: Parse(tree.sentence, tree)))),
        st.tuples(st.just("entities"), few(entity_parses())),
    )
)
def test_the_loss_is_minus_the_log_probability_of_the_gold_parses(
    drawn: tuple[str, list[Parse]],
) -> None:
    layer, gold = drawn
    labels = collect_labels(gold, [layer])
    examples = [found for parse in gold if (found := example(parse, labels))]
    rows, steps = gold_steps(examples, layer)
    assert rows == list(range(len(examples)))
    torch.manual_seed(1)
    head = PointingHead(
        boundary_width=8,
        labels=len(labels[layer]),
        mlp=6,
        decoder=5,
        previous_label=False,
        open_root=layer == "entities",
        dropout=0.0,
    ).eval()
    lengths = torch.tensor([len(one.words) for one in examples])
    boundaries = torch.randn(len(examples), int(lengths.max()) + 1, 8)
    with torch.no_grad():
        loss = pointing_loss(head, boundaries, lengths, steps, over="canonical")
    expected = -score(
        stepper_of(head), boundaries.numpy(), lengths.numpy(), Rules(head.open_root), steps
    ).sum(1)
    np.testing.assert_allclose(loss.numpy(), expected, rtol=1e-4, atol=1e-4)
