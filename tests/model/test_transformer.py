"""A transformer as encoder: windows, padding, mixed layers, frozen weights."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from fencepost.batching.inputs import Reader
from fencepost.batching.pieces import PieceInputs, Which, piece_reader
from fencepost.errors import ConfigError, ModelError
from fencepost.model import transformer as module
from fencepost.model.pretrained import (
    Pretrained,
    fetch_pretrained,
    restore_transformer,
    window_of,
)
from fencepost.model.transformer import TransformerEncoder
from fencepost.runtime.tokenizer import TOKENIZER, plain_pieces, restore_cutter
from tests.tiny import tiny_transformer, word_pieces

KINDS = ["bert", "roberta", "t5"]
SENTENCES = [
    ["the", "cat", "sat", "on", "the", "mat"],
    ["dogs"],
    ["bark", "\u200b", "x" * 300, "at", "it"],
    ["no", "house"] * 20,
]


def made(folder: Path, kind: str = "bert") -> Pretrained:
    return fetch_pretrained(tiny_transformer(folder, kind=kind))


def reader(pretrained: Pretrained, which: Which = "last", window: int | None = None) -> Reader:
    cutter = replace(pretrained.cutter, window=window or pretrained.cutter.window)
    return piece_reader(cutter, which=which)


@torch.no_grad()
def vectors(encoder: TransformerEncoder, read: Reader, sentences: list[list[str]]) -> Tensor:
    found: Tensor = encoder.eval()(read(sentences))
    return found


@pytest.mark.parametrize(("kind", "window"), [("bert", 24), ("roberta", 22), ("t5", 24)])
def test_the_window_is_what_the_transformer_can_read(
    tmp_path: Path, kind: str, window: int
) -> None:
    pretrained = made(tmp_path, kind)
    assert pretrained.cutter.window == window
    # The longest one passes; in BERT and RoBERTa one more piece would not.
    vectors(TransformerEncoder(pretrained.transformer), reader(pretrained), [["a"] * 100])


def test_without_any_limit_the_window_is_512(tmp_path: Path) -> None:
    pretrained = made(tmp_path, "t5")
    assert window_of(pretrained.transformer, word_pieces(most=10**30)) == 512


@pytest.mark.parametrize("which", ["last", "first", "mean"])
@pytest.mark.parametrize("kind", KINDS)
def test_vectors_do_not_depend_on_batch_mates(tmp_path: Path, kind: str, which: Which) -> None:
    pretrained = made(tmp_path, kind)
    encoder, read = TransformerEncoder(pretrained.transformer), reader(pretrained, which)
    together = vectors(encoder, read, SENTENCES)
    assert together.shape == (4, 42, 16)
    for row, sentence in enumerate(SENTENCES):
        (alone,) = vectors(encoder, read, [sentence])
        assert torch.allclose(together[row, : len(alone)], alone, atol=1e-5)
        assert not together[row, len(alone) :].any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_sentence_that_fits_is_read_as_if_there_were_no_windows(
    tmp_path: Path, kind: str
) -> None:
    pretrained = made(tmp_path, kind)
    encoder = TransformerEncoder(pretrained.transformer)
    words = ["the", "cat", "sat", "on", "the", "mat"]
    whole = vectors(encoder, reader(pretrained, window=22), [words])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=pretrained.cutter.tokenizer)
    found = tokenizer(" " + " ".join(words), return_tensors="pt", return_token_type_ids=False)
    with torch.no_grad():
        plain = pretrained.transformer(**found).last_hidden_state
    number_of = found.word_ids()
    ends = [number_of.index(number) for number in range(1, len(words))]
    picked = [0, *(end - 1 for end in ends), len(number_of) - 2, len(number_of) - 1]
    assert torch.allclose(whole[0], plain[0, picked], atol=1e-6)
    exactly = vectors(encoder, reader(pretrained, window=len(number_of)), [words])
    assert torch.equal(whole, exactly)


def test_a_sentence_of_three_thousand_words_passes(tmp_path: Path) -> None:
    pretrained = made(tmp_path)
    sentence = ["cat", "bobby"] * 1500
    found = vectors(TransformerEncoder(pretrained.transformer), reader(pretrained), [sentence])
    assert found.shape == (1, 3002, 16)
    assert bool(found.any(-1).all())


def test_pieces_of_a_word_are_averaged(tmp_path: Path) -> None:
    pretrained = made(tmp_path)
    encoder = TransformerEncoder(pretrained.transformer)
    words = [["the", "bo", "on"], ["the", "abc", "on"]]
    first, last, mean = (
        vectors(encoder, reader(pretrained, which), words) for which in ("first", "last", "mean")
    )
    assert torch.equal(first[0], last[0])
    assert torch.allclose(first[0], mean[0])
    middle = encoder.transformer(
        input_ids=torch.tensor([pretrained.cutter.tokenizer.encode("the abc on").ids])
    ).last_hidden_state[0, 2:5]
    assert torch.allclose(first[1, 2], middle[0], atol=1e-6)
    assert torch.allclose(last[1, 2], middle[2], atol=1e-6)
    assert torch.allclose(mean[1, 2], middle.mean(0), atol=1e-6)


def test_layers_are_mixed(tmp_path: Path) -> None:
    pretrained = made(tmp_path)
    read = reader(pretrained)
    encoder = TransformerEncoder(pretrained.transformer, layers=2)
    last = vectors(TransformerEncoder(pretrained.transformer), read, SENTENCES)
    mixed = vectors(encoder, read, SENTENCES)
    assert encoder.mix is not None
    with torch.no_grad():
        encoder.mix.weights[1] = 50.0
    assert torch.allclose(vectors(encoder, read, SENTENCES), last, atol=1e-5)
    with torch.no_grad():
        encoder.mix.weights[:] = torch.tensor([50.0, 0.0])
    lower = vectors(encoder, read, SENTENCES)
    assert torch.allclose((lower + last) / 2, mixed, atol=1e-5)
    assert not torch.allclose(lower, last, atol=1e-2)
    with pytest.raises(ConfigError, match="3 of 2 cannot be mixed"):
        TransformerEncoder(pretrained.transformer, layers=3)


@pytest.mark.parametrize("frozen", [True, False])
def test_only_a_frozen_transformer_stays_as_it_is(tmp_path: Path, frozen: bool) -> None:
    pretrained = made(tmp_path)
    read = reader(pretrained)
    encoder = TransformerEncoder(pretrained.transformer, layers=2, frozen=frozen).train()
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    own = [weight for layer in encoder.pretrained_layers() for weight in layer]
    assert len(own) == len(list(encoder.parameters())) - 2
    assert all(weight.requires_grad is not frozen for weight in own)
    assert encoder.transformer.training is not frozen
    optimizer = torch.optim.AdamW(
        [weight for weight in encoder.parameters() if weight.requires_grad], lr=0.1
    )
    states = encoder(read(SENTENCES))
    # Both layers end in a LayerNorm, so a sum of squares would hardly depend on how they are mixed.
    direction = torch.randn(states.shape, generator=torch.Generator().manual_seed(1))
    (states * direction).sum().backward()
    optimizer.step()
    changed = {
        name for name, value in encoder.state_dict().items() if (value != before[name]).any()
    }
    assert {"mix.weights", "mix.scale"} <= changed
    assert (len(changed) == 2) is frozen
    # Every weight is used: none is trained and saved for nothing.
    if not frozen:
        assert all(weight.grad is not None for weight in own)


@pytest.mark.parametrize("kind", KINDS)
def test_a_transformer_can_be_built_again_from_its_settings(tmp_path: Path, kind: str) -> None:
    pretrained = made(tmp_path, kind)
    pretrained.cutter.tokenizer.save(str(tmp_path / TOKENIZER))
    pieces = plain_pieces(pretrained.cutter)
    again = Pretrained(
        restore_transformer(pretrained.config, tmp_path),
        restore_cutter(pieces, tmp_path, vectors=1000),
        pretrained.config,
    )
    again.transformer.load_state_dict(pretrained.transformer.state_dict())
    assert plain_pieces(again.cutter) == plain_pieces(pretrained.cutter)
    assert "_name_or_path" not in again.config
    one, other = (
        vectors(TransformerEncoder(each.transformer), reader(each), SENTENCES)
        for each in (pretrained, again)
    )
    assert torch.allclose(one, other, atol=1e-5)
    assert not [name for name in again.transformer.state_dict() if "pooler" in name]


def test_half_precision_is_made_whole(tmp_path: Path) -> None:
    folder = tiny_transformer(tmp_path)
    transformer = fetch_pretrained(folder).transformer
    assert isinstance(transformer, PreTrainedModel)
    transformer.half().save_pretrained(folder)
    found = fetch_pretrained(folder)
    assert {value.dtype for value in found.transformer.parameters()} == {torch.float32}


def test_what_cannot_be_fetched_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="no such folder"):
        fetch_pretrained(str(tmp_path / "nowhere"))
    with pytest.raises(ModelError, match="cannot be loaded from the folder"):
        fetch_pretrained(str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="no/such-model: cannot be loaded from the hub"):
        fetch_pretrained("no/such-model")


def test_missing_weights_are_not_made_up(tmp_path: Path) -> None:
    folder = tiny_transformer(tmp_path)
    transformer = fetch_pretrained(folder).transformer
    assert isinstance(transformer, PreTrainedModel)
    weights = transformer.state_dict()
    del weights["encoder.layer.1.output.dense.weight"]
    transformer.save_pretrained(folder, state_dict=weights)
    with pytest.raises(ModelError, match=r"1 of its weights are missing: encoder\.layer\.1"):
        fetch_pretrained(folder)


@pytest.mark.parametrize(
    "config", [None, {}, {"model_type": "nothing"}, {"model_type": "bert", "hidden_size": "x"}]
)
def test_settings_of_no_transformer_are_told(tmp_path: Path, config: object) -> None:
    with pytest.raises(ModelError, match=r"config\.json: transformer: cannot be built"):
        restore_transformer(config, tmp_path)


def test_a_missing_tokenizer_is_told(tmp_path: Path) -> None:
    pretrained = made(tmp_path)
    with pytest.raises(ModelError, match=r"tokenizer\.json: cannot be read"):
        restore_cutter({}, tmp_path, vectors=1000)
    pretrained.cutter.tokenizer.save(str(tmp_path / TOKENIZER))
    with pytest.raises(ModelError, match=r"config\.json: pieces: not what was expected"):
        restore_cutter({}, tmp_path, vectors=1000)


def test_a_slow_tokenizer_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny_transformer(tmp_path)
    monkeypatch.setattr(type(word_pieces()), "is_fast", False)
    with pytest.raises(ModelError, match="no fast version"):
        fetch_pretrained(folder)


def test_capital_letters_change_nothing_until_they_have_been_learned(tmp_path: Path) -> None:
    pretrained = made(tmp_path)
    read = reader(pretrained)
    plain = vectors(TransformerEncoder(pretrained.transformer), read, [["The", "CAT", "sat"]])
    encoder = TransformerEncoder(pretrained.transformer, case=True)
    assert torch.allclose(vectors(encoder, read, [["The", "CAT", "sat"]]), plain, atol=1e-6)
    assert encoder.cases is not None
    torch.nn.init.normal_(encoder.cases.weight)
    shouted, said = (vectors(encoder, read, [["the", word]]) for word in ("CAT", "cat"))
    assert not torch.allclose(shouted, said, atol=1e-3)


def test_a_frozen_transformer_learns_of_capital_letters_all_the_same(tmp_path: Path) -> None:
    pretrained = made(tmp_path)
    encoder = TransformerEncoder(pretrained.transformer, case=True, frozen=True).train()
    states = encoder(reader(pretrained)([["The", "cat"]]))
    # The last layer ends in a LayerNorm, so a sum of squares would hardly depend on anything.
    direction = torch.randn(states.shape, generator=torch.Generator().manual_seed(1))
    (states * direction).sum().backward()
    assert encoder.cases is not None
    assert encoder.cases.weight.grad is not None
    assert encoder.cases.weight.grad.abs().sum() > 1


@pytest.mark.parametrize("most", [1, 24, 50, 1000])
@pytest.mark.parametrize("options", [{}, {"layers": 2, "case": True}])
@pytest.mark.parametrize("kind", KINDS)
def test_pieces_read_a_few_at_a_time_have_the_same_vectors(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    options: dict[str, Any],
    most: int,
) -> None:
    pretrained = made(tmp_path, kind)
    encoder, read = TransformerEncoder(pretrained.transformer, **options), reader(pretrained)
    if encoder.cases is not None:
        torch.nn.init.normal_(encoder.cases.weight)
    whole = vectors(encoder, read, SENTENCES)
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    encoder.transformer.register_forward_pre_hook(count)
    monkeypatch.setattr(module, "MOST_PIECES", most)
    assert torch.allclose(vectors(encoder, read, SENTENCES), whole, atol=1e-5)
    inputs = read(SENTENCES)
    assert isinstance(inputs, PieceInputs)
    windows, longest = inputs.pieces.shape
    assert calls == -(-windows // max(1, most // longest))
    assert (calls == 1) is (most == 1000)


def test_gradients_are_the_same_if_a_few_are_read_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretrained = made(tmp_path)
    encoder, read = TransformerEncoder(pretrained.transformer).eval(), reader(pretrained)
    found = []
    for most in (10_000, 24):
        monkeypatch.setattr(module, "MOST_PIECES", most)
        encoder.zero_grad()
        encoder(read(SENTENCES)).square().sum().backward()
        own = (weight.grad for weight in encoder.parameters())
        found.append(torch.cat([grad.flatten() for grad in own if grad is not None]))
    assert torch.allclose(found[0], found[1], rtol=1e-4, atol=1e-3)


def test_blanked_pieces_are_guessed_from_what_is_around_them(tmp_path: Path) -> None:
    pretrained = made(tmp_path)
    encoder = TransformerEncoder(pretrained.transformer, piece_dropout=0.5)
    inputs = reader(pretrained)([["the", "cat", "sat"]])
    for part in encoder.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    torch.manual_seed(1)
    encoder.train()
    first, second = encoder(inputs), encoder(inputs)
    assert not torch.allclose(first, second, atol=1e-4)
    encoder.eval()
    assert torch.equal(encoder(inputs), encoder(inputs))
