"""Our own BERT reads just as that of `transformers` does."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertConfig, BertModel

from fencepost.errors import ModelError
from fencepost.model.bert import Bert, BertSizes

SIZES: dict[str, Any] = {
    "vocab_size": 50,
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "max_position_embeddings": 20,
}


def twins() -> tuple[BertModel, Bert]:
    torch.manual_seed(1)
    config = BertConfig(**SIZES)
    theirs = BertModel(config, add_pooling_layer=False).eval()
    sizes = BertSizes.of(config.to_dict())
    assert sizes is not None
    ours = Bert(sizes).eval()
    ours.load_state_dict(theirs.state_dict())
    return theirs, ours


THEIRS, OURS = twins()


@given(st.lists(st.integers(1, 20), min_size=1, max_size=4))
def test_both_twins_read_the_same(lengths: list[int]) -> None:
    longest = max(lengths)
    pieces = torch.randint(0, 50, (len(lengths), longest))
    mask = (torch.arange(longest) < torch.tensor(lengths)[:, None]).long()
    with torch.no_grad():
        found = [
            twin(input_ids=pieces, attention_mask=mask, output_hidden_states=True)
            for twin in (THEIRS, OURS)
        ]
        vectors = OURS.get_input_embeddings()(pieces)
        embedded = OURS(inputs_embeds=vectors, attention_mask=mask).last_hidden_state
    seen = mask.bool()
    for one, other in zip(found[0].hidden_states, found[1].hidden_states, strict=True):
        assert torch.allclose(one[seen], other[seen], atol=1e-5)
    assert torch.equal(embedded, found[1].last_hidden_state)


def test_without_a_mask_everything_is_read() -> None:
    pieces = torch.randint(0, 50, (2, 7))
    with torch.no_grad():
        one, other = (twin(input_ids=pieces).last_hidden_state for twin in (THEIRS, OURS))
    assert torch.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize(
    "other", [{"model_type": "roberta"}, {"hidden_act": "relu"}, {"is_decoder": True}]
)
def test_what_is_no_plain_bert_is_left_to_transformers(other: dict[str, object]) -> None:
    assert BertSizes.of({**BertConfig(**SIZES).to_dict(), **other}) is None
    assert BertSizes.of({}) is None


@pytest.mark.parametrize(
    ("key", "value"), [("hidden_size", "x"), ("vocab_size", -1), ("num_attention_heads", 3)]
)
def test_sizes_that_cannot_be_are_refused(key: str, value: object) -> None:
    with pytest.raises(ModelError, match="transformer"):
        BertSizes.of({**BertConfig(**SIZES).to_dict(), key: value})
