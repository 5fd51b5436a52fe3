"""The shapes that settings ask for are those of the networks that torch builds."""

from typing import Any

import pytest
from transformers import BertConfig, ElectraConfig, RobertaConfig

from fencepost.checkpoints.trainable import TrainableModel
from fencepost.config import HeadSettings, HeadsSettings, NetworkSettings
from fencepost.errors import ModelError
from fencepost.runtime.bert import BertSizes
from fencepost.runtime.shapes import head_shapes, network_shapes
from tests.heads import SETTINGS, WIDTH, head_with
from tests.runtime.test_encoder import of_pieces, of_words

SIZES: dict[str, Any] = {
    "vocab_size": 50,
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "max_position_embeddings": 20,
}


def own_shapes(model: TrainableModel) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in model.network.state_dict().items()}


@pytest.mark.parametrize("settings", SETTINGS)
def test_of_heads_with_any_settings(settings: HeadSettings) -> None:
    head = head_with(1, settings, open_root=False, labels=4)
    found = {name: tuple(value.shape) for name, value in head.state_dict().items()}
    assert head_shapes(settings, labels=4, width=WIDTH) == found


@pytest.mark.parametrize("lstm_layers", [0, 2])
def test_of_networks(tmp_path: Any, lstm_layers: int) -> None:
    for model in (
        of_words(lstm_layers=lstm_layers),
        of_pieces(tmp_path / "one", lstm_layers=lstm_layers, boundary="whole"),
        of_pieces(tmp_path / "two", kind="roberta", encoder={"layers": 2, "case": True}),
    ):
        sizes = BertSizes.of(model.transformer)
        found = network_shapes(model.network_settings, model.heads, model.numbers, sizes)
        assert found == own_shapes(model)


def test_of_more_layers_than_there_are_to_mix() -> None:
    encoder = {"kind": "transformer", "model": "x", "layers": 4}
    network = NetworkSettings.model_validate({"encoder": encoder})
    heads = HeadsSettings.model_validate({"tags": {}})
    sizes = BertSizes.of(BertConfig(**SIZES).to_dict())
    with pytest.raises(ModelError, match="4 of 3 cannot be mixed"):
        network_shapes(network, heads, of_words().numbers, sizes)


def test_roberta_counts_positions_from_past_padding() -> None:
    sizes = BertSizes.of(RobertaConfig(**SIZES, pad_token_id=1).to_dict())
    assert sizes is not None
    assert (sizes.first_position, sizes.window) == (2, 18)


@pytest.mark.parametrize(
    "config",
    [
        {},
        None,
        {**BertConfig(**SIZES).to_dict(), "model_type": "mpnet"},
        {**BertConfig(**SIZES).to_dict(), "hidden_act": "relu"},
        {**BertConfig(**SIZES).to_dict(), "is_decoder": True},
        ElectraConfig(**SIZES, embedding_size=8).to_dict(),
    ],
)
def test_what_is_not_built_like_bert_is_left_to_torch(config: object) -> None:
    assert BertSizes.of(config) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hidden_size", "x"),
        ("vocab_size", -1),
        ("vocab_size", 2**40),
        ("num_attention_heads", 3),
        ("num_hidden_layers", 101),
        ("layer_norm_eps", float("nan")),
        ("intermediate_size", None),
    ],
)
def test_sizes_that_cannot_be_are_refused(key: str, value: object) -> None:
    with pytest.raises(ModelError, match="transformer"):
        BertSizes.of({**BertConfig(**SIZES).to_dict(), key: value})
