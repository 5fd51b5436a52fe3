"""Encoders with fewer bits: near the original, alike in any company, never trained nor saved."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from fencepost.batching.inputs import Reader, word_inputs
from fencepost.batching.pieces import PieceInputs, piece_reader
from fencepost.batching.vocabulary import Vocabulary
from fencepost.decoding.rules import Rules
from fencepost.decoding.walk import greedy
from fencepost.errors import ConfigError
from fencepost.model import precision as module
from fencepost.model.encoder import Encoder, WordEncoder
from fencepost.model.head import PointingHead
from fencepost.model.layers import TwoWayLSTM
from fencepost.model.network import Network
from fencepost.model.precision import Int8Linear, Precision, Unpadded, with_precision
from fencepost.model.pretrained import fetch_pretrained
from fencepost.model.stepper import stepper_of
from fencepost.model.transformer import TransformerEncoder
from tests.tiny import tiny_transformer

KINDS = ["bert", "roberta", "t5"]
SENTENCES = [
    ["the", "cat", "sat", "on", "the", "mat"],
    ["dogs"],
    ["bark", "x" * 30, "at", "it"],
    ["no", "house"] * 20,
    ["red", "dogs", "bark", "at", "the", "roof"],
]


def network_on(encoder: Encoder, *, layers: int = 1) -> Network:
    lstm = TwoWayLSTM(encoder.width, hidden=8, layers=layers, dropout=0.3)
    head = PointingHead(
        boundary_width=lstm.width,
        labels=3,
        mlp=6,
        decoder=5,
        previous_label=False,
        open_root=False,
        dropout=0.3,
    )
    tags = nn.Linear(lstm.width, 4)
    return Network(encoder=encoder, lstm=lstm, heads={"tree": head}, tags=tags, dropout=0.3).eval()


def of_pieces(
    folder: Path, *, kind: str = "bert", width: int = 16, lstm_layers: int = 1, **options: Any
) -> tuple[Network, Reader]:
    pretrained = fetch_pretrained(tiny_transformer(folder, kind=kind, width=width))
    encoder = TransformerEncoder(pretrained.transformer, **options)
    return network_on(encoder, layers=lstm_layers), piece_reader(pretrained.cutter)


def of_words() -> tuple[Network, Reader]:
    torch.manual_seed(3)
    words = Vocabulary(("the", "cat", "dogs", "bark", "at"), (9, 8, 7, 6, 5))
    characters = Vocabulary(tuple("abcdefghijklmnopqrstuvwxyz"), (1,) * 26)
    encoder = WordEncoder(
        counts=words.counts,
        characters=len(characters),
        word_width=10,
        character_width=6,
        character_hidden=8,
        unknown=0.5,
    )
    return network_on(encoder), lambda sentences: word_inputs(
        sentences, words=words, characters=characters
    )


def rounded(network: Network, precision: Precision, monkeypatch: pytest.MonkeyPatch) -> Network:
    monkeypatch.setattr(module, "LEAST_WEIGHTS", 1)
    return with_precision(network, precision)


@torch.no_grad()
def boundaries(network: Network, read: Reader, sentences: list[list[str]]) -> Tensor:
    return network.boundaries(network.states(read(sentences)))


def distance(one: Tensor, other: Tensor) -> float:
    return float((one - other).norm() / other.norm())


def test_with_fp32_nothing_changes() -> None:
    network, _ = of_words()
    assert with_precision(network, "fp32") is network


def test_an_unknown_precision_is_told_with_those_that_are_known() -> None:
    network, _ = of_words()
    unknown: Any = "fp16"
    with pytest.raises(ConfigError, match="precision: 'fp16' is unknown; known: fp32, bf16, int8"):
        with_precision(network, unknown)


@pytest.mark.parametrize("layers", [0, 1])
@pytest.mark.parametrize("precision", ["bf16", "int8"])
@pytest.mark.parametrize("kind", KINDS)
def test_rounded_transformers_come_near_the_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, precision: Precision, layers: int
) -> None:
    network, read = of_pieces(tmp_path, kind=kind, lstm_layers=layers)
    found = boundaries(rounded(network, precision, monkeypatch), read, SENTENCES)
    original = boundaries(network, read, SENTENCES)
    assert found.dtype == torch.float32
    assert found.shape == original.shape
    assert 0 < distance(found, original) < 0.05


def test_words_with_bf16_come_near_the_original() -> None:
    network, read = of_words()
    found = boundaries(with_precision(network, "bf16"), read, SENTENCES)
    assert found.dtype == torch.float32
    assert 0 < distance(found, boundaries(network, read, SENTENCES)) < 0.02


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_the_given_network_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: Precision
) -> None:
    network, read = of_pieces(tmp_path)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    expected = boundaries(network, read, SENTENCES)
    result = rounded(network, precision, monkeypatch)
    for parameter in result.parameters():
        parameter.zero_()
    after = network.state_dict()
    assert after.keys() == before.keys()
    assert all(torch.equal(after[name], before[name]) for name in before)
    assert torch.equal(boundaries(network, read, SENTENCES), expected)
    assert all(parameter.requires_grad for parameter in network.parameters())


def test_bf16_is_for_the_encoder_and_its_lstm_and_not_for_heads(tmp_path: Path) -> None:
    network, _ = of_pieces(tmp_path, lstm_layers=2)
    result = with_precision(network, "bf16")
    kinds = {
        name: {value.dtype for value in part.parameters()}
        for name, part in result.named_children()
        if name != "dropout"
    }
    assert kinds == {
        "encoder": {torch.bfloat16},
        "lstm": {torch.bfloat16},
        "heads": {torch.float32},
        "tags": {torch.float32},
    }


def test_bf16_leaves_buffers_their_bits() -> None:
    network, _ = of_words()
    encoder = with_precision(network, "bf16").encoder
    assert isinstance(encoder, WordEncoder)
    assert encoder.chances.dtype == torch.float32


def test_int8_is_for_large_linear_layers_of_the_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, _ = of_pieces(tmp_path)  # of 16 * 16 weights in attention and of 16 * 32 after it
    monkeypatch.setattr(module, "LEAST_WEIGHTS", 512)
    result = with_precision(network, "int8")
    linear = [part for part in result.encoder.modules() if isinstance(part, nn.Linear)]
    whole = [part for part in result.encoder.modules() if isinstance(part, Int8Linear)]
    assert len(linear) == 2 * 4
    assert {(part.in_features, part.out_features) for part in whole} == {(16, 32), (32, 16)}
    assert len(whole) == 2 * 2
    assert not [part for part in result.heads.modules() if isinstance(part, Int8Linear)]
    assert type(result.tags) is nn.Linear


def test_linear_layers_that_are_read_from_outside_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, _ = of_pieces(tmp_path)
    network.encoder.add_module("extra", nn.MultiheadAttention(16, 2))
    extra = rounded(network, "int8", monkeypatch).encoder.get_submodule("extra")
    assert isinstance(extra, nn.MultiheadAttention)
    assert isinstance(extra.out_proj, nn.Linear)


def test_int8_is_refused_where_there_is_nothing_to_round(tmp_path: Path) -> None:
    for network, _ in (of_words(), of_pieces(tmp_path)):
        with pytest.raises(ConfigError, match="this encoder has none; use fp32"):
            with_precision(network, "int8")


def test_int8_is_refused_where_it_cannot_be_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, _ = of_pieces(tmp_path)
    with pytest.raises(ConfigError, match="int8 needs the CPU"):
        rounded(copy.deepcopy(network).to("meta"), "int8", monkeypatch)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    with pytest.raises(ConfigError, match="a torch with oneDNN"):
        rounded(network, "int8", monkeypatch)


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_a_rounded_network_can_be_neither_trained_nor_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: Precision
) -> None:
    network, _ = of_pieces(tmp_path)
    result = rounded(network.train(), precision, monkeypatch)
    assert not any(part.training for part in result.modules())
    assert not any(parameter.requires_grad for parameter in result.parameters())
    with pytest.raises(ConfigError, match=f"with {precision} cannot be trained; load the model"):
        result.train()
    assert not any(part.training for part in result.modules())
    assert result.eval() is result.train(False) is result
    with pytest.raises(ConfigError, match=f"with {precision} cannot be saved; load the model"):
        result.state_dict()
    with pytest.raises(ConfigError, match="cannot be saved"):
        nn.ModuleList([result]).state_dict()
    assert network.training


@pytest.mark.parametrize(("one", "other"), [("bf16", "int8"), ("int8", "bf16"), ("int8", "fp32")])
def test_what_was_rounded_is_not_rounded_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one: Precision, other: Precision
) -> None:
    network, _ = of_pieces(tmp_path)
    result = rounded(network, one, monkeypatch)
    assert with_precision(result, one) is result
    with pytest.raises(ConfigError, match=f"rounded to {one}; load the model again .* {other}"):
        with_precision(result, other)


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_heads_search_and_tag_as_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: Precision
) -> None:
    network, read = of_pieces(tmp_path)
    network.head("tree").temperature = 2.0
    result = rounded(network, precision, monkeypatch)
    inputs = read(SENTENCES)
    with torch.no_grad():
        states = result.states(inputs)
        vectors = result.boundaries(states).numpy()
        assert result.tag_scores(states).dtype == torch.float32
    head = result.head("tree")
    found = greedy(stepper_of(head), vectors, inputs.lengths, Rules(head.open_root))
    assert vectors.dtype == np.float32
    assert all(weight.dtype == torch.float32 for weight in head.parameters())
    assert bool(np.isfinite(found.log_probs).all())
    assert head.temperature == 2.0


@pytest.mark.parametrize("kind", KINDS)
def test_with_int8_vectors_do_not_depend_on_batch_mates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    # Wide enough for a number to be tipped over now and then, were there any padding.
    network, read = of_pieces(tmp_path, kind=kind, width=128)
    result = rounded(network, "int8", monkeypatch)
    together = boundaries(result, read, SENTENCES)
    for row, sentence in enumerate(SENTENCES):
        (alone,) = boundaries(result, read, [sentence])
        assert torch.allclose(together[row, : len(alone)], alone, atol=1e-5)


@pytest.mark.parametrize("make", ["words", *KINDS])
def test_with_bf16_batch_mates_change_the_last_of_its_bits_at_most(
    tmp_path: Path, make: str
) -> None:
    network, read = of_words() if make == "words" else of_pieces(tmp_path, kind=make)
    result = with_precision(network, "bf16")
    together = boundaries(result, read, SENTENCES)
    for row, sentence in enumerate(SENTENCES):
        (alone,) = boundaries(result, read, [sentence])
        assert torch.allclose(together[row, : len(alone)], alone, atol=2e-2)


@pytest.mark.parametrize("options", [{}, {"layers": 2, "case": True}])
@pytest.mark.parametrize("kind", KINDS)
def test_without_padding_the_same_is_read(
    tmp_path: Path, kind: str, options: dict[str, Any]
) -> None:
    network, read = of_pieces(tmp_path, kind=kind, lstm_layers=0, **options)
    encoder = network.encoder
    assert isinstance(encoder, TransformerEncoder)
    if encoder.cases is not None:
        nn.init.normal_(encoder.cases.weight)
    expected = boundaries(network, read, SENTENCES)
    padded = encoder.transformer
    inputs = read(SENTENCES)
    assert isinstance(inputs, PieceInputs)
    windows: list[Tensor] = []
    padded.register_forward_pre_hook(
        lambda _, __, given: windows.append(given["attention_mask"]), with_kwargs=True
    )
    encoder.add_module("transformer", Unpadded(padded))
    assert torch.allclose(boundaries(network, read, SENTENCES), expected, atol=1e-5)
    assert all(bool(mask.all()) for mask in windows)
    assert sum(map(len, windows)) == len(inputs.mask)
    assert len(windows) == len({int(length) for length in inputs.mask.sum(1)})


def test_where_padding_was_there_are_zeros(tmp_path: Path) -> None:
    pretrained = fetch_pretrained(tiny_transformer(tmp_path))
    mask = torch.tensor([[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 1]])
    with torch.no_grad():
        read = Unpadded(pretrained.transformer.eval())(
            input_ids=torch.randint(4, 20, mask.shape), attention_mask=mask
        )
    assert torch.equal(read.last_hidden_state.any(-1), mask.bool())
    assert len(read.hidden_states) == 1


def plain_int8(linear: nn.Linear, vectors: Tensor) -> Tensor:
    """The same rounding, with sums that cannot overflow."""
    weight = linear.weight.detach()
    scales = (weight.abs().amax(1, keepdim=True) / 64).clamp(min=1e-30)
    largest = vectors.abs().amax(-1, keepdim=True).clamp(min=1e-30)
    products = (vectors * (127 / largest)).round().double() @ (weight / scales).round().double().T
    bias = 0 if linear.bias is None else linear.bias.detach().double()
    return (products * (scales[:, 0].double() / 127) * largest.double() + bias).float()


@given(
    st.integers(1, 70),
    st.integers(1, 300),
    st.integers(1, 70),
    st.sampled_from([0.0, 0.5, 0.95]),
    st.booleans(),
    st.integers(0, 2**31),
)
def test_sums_are_exact_even_where_all_is_as_large_as_can_be(
    rows: int, width: int, out: int, share: float, bias: bool, seed: int
) -> None:
    random = torch.Generator().manual_seed(seed)
    linear = nn.Linear(width, out, bias=bias).requires_grad_(False)
    vectors = torch.randn(rows, width, generator=random)
    for values in (linear.weight, vectors):
        large = torch.rand(values.shape, generator=random) < share
        values[large] = values.abs().max() * (torch.rand((), generator=random) - 0.5).sign()
    expected = plain_int8(linear, vectors)
    error = (Int8Linear(linear)(vectors) - expected).abs().max()
    assert float(error) <= 1e-5 * max(1.0, float(expected.abs().max()))


@given(st.integers(2, 40), st.floats(1e-3, 1e6), st.integers(0, 2**31))
def test_a_row_keeps_its_own_scale(rows: int, size: float, seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    linear = nn.Linear(48, 32).requires_grad_(False)
    whole = Int8Linear(linear)
    vectors = torch.randn(rows, 48, generator=random)
    alone = [whole(row[None])[0] for row in vectors]
    vectors[0] *= size
    together = whole(vectors)
    for row in range(1, rows):
        assert torch.equal(together[row], alone[row])


def test_rows_taken_a_few_at_a_time_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Int8Linear(nn.Linear(48, 32).requires_grad_(False))
    vectors = torch.randn(3, 7, 48)
    expected = whole(vectors)
    assert expected.shape == (3, 7, 32)
    for most in (1, 4, 21):
        monkeypatch.setattr(module, "MOST_ROWS", most)
        assert torch.equal(whole(vectors), expected)


def test_zeros_and_weights_in_another_order_are_no_trouble() -> None:
    linear = nn.Linear(24, 40).requires_grad_(False)
    linear.weight[3] = 0.0
    vectors = torch.randn(5, 24)
    vectors[2] = 0.0
    found = Int8Linear(linear)(vectors)
    assert torch.equal(found[2], linear.bias)
    assert torch.equal(found[:, 3], linear.bias[3].expand(5))
    linear.weight.data = linear.weight.T.contiguous().T
    assert not linear.weight.is_contiguous()
    assert torch.equal(Int8Linear(linear)(vectors), found)


def test_gradients_do_not_pass_unnoticed() -> None:
    whole = Int8Linear(nn.Linear(8, 8).requires_grad_(False))
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        whole(torch.randn(2, 8, requires_grad=True))
