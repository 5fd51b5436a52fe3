"""Encoders in onnxruntime read as those in torch do, also in folders and forks."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from safetensors.numpy import save_file

from fencepost.batching.arrays import Floats
from fencepost.batching.numbers import Numbers
from fencepost.batching.vocabulary import Labels, Vocabulary
from fencepost.checkpoints.loading import load_model
from fencepost.checkpoints.model import save_model
from fencepost.checkpoints.trainable import TrainableModel, load_trainable, new_model
from fencepost.config import HeadsSettings, NetworkSettings
from fencepost.errors import ConfigError, ModelError
from fencepost.runtime import encoder as module
from fencepost.runtime.graphs import RoundedLinear
from fencepost.runtime.onnx import Graph
from fencepost.runtime.session import Session
from fencepost.runtime.weights import Weights
from tests.tiny import tiny_transformer

SENTENCES = [
    ["the", "cat", "sat", "on", "the", "mat"],
    ["dogs"],
    ["Bark", "\u200b", "x" * 300, "AT", "it"],
    ["no", "house"] * 20,
]
HEADS = HeadsSettings.model_validate({"tree": {"mlp": 6, "decoder": 5}, "tags": {}})
LABELS = {"tree": Labels(("S", "NP")), "tags": Labels(("N", "V", "D"))}


def of_pieces(folder: Path, *, kind: str = "bert", **settings: Any) -> TrainableModel:
    encoder = {"kind": "transformer", "model": tiny_transformer(folder, kind=kind)}
    encoder |= settings.pop("encoder", {})
    network = {"encoder": encoder, "lstm_layers": 0, "lstm_hidden": 8} | settings
    return random(new_model(NetworkSettings.model_validate(network), HEADS, Numbers(LABELS)))


def of_words(*, with_static: bool = False, **settings: Any) -> TrainableModel:
    encoder = {"kind": "words", "word_width": 10, "character_width": 6, "character_hidden": 8}
    network = {"encoder": encoder, "lstm_layers": 1, "lstm_hidden": 7} | settings
    words = Vocabulary(("the", "cat", "dogs", "no"), (9, 8, 7, 6))
    static = Vocabulary(("house", "cat"), (1, 1))
    letters = Vocabulary(tuple("abcdefghijklmnopqrstuvwxyz"), (1,) * 26)
    numbers = Numbers(LABELS, words, letters, static if with_static else None)
    return random(new_model(NetworkSettings.model_validate(network), HEADS, numbers))


def random(model: TrainableModel) -> TrainableModel:
    """All weights at random: some begin with zeros, and would hide that they are not read."""
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in model.network.parameters():
            weight.add_(torch.randn_like(weight) * 0.1)
    model.network.eval()
    return model


def states(model: Any, sentences: list[list[str]]) -> tuple[Floats, Floats]:
    boundaries, tags = model.network.read(model.read(sentences), tags=True)
    return boundaries, tags


@pytest.mark.parametrize("boundary", ["halves", "whole"])
@pytest.mark.parametrize("lstm_layers", [0, 2])
@pytest.mark.parametrize("encoder", [{}, {"layers": 2, "case": True, "pieces": "mean"}])
@pytest.mark.parametrize("kind", ["bert", "roberta", "electra"])
def test_transformers_read_as_in_torch(
    tmp_path: Path, kind: str, encoder: dict[str, Any], lstm_layers: int, boundary: str
) -> None:
    model = of_pieces(
        tmp_path, kind=kind, encoder=encoder, lstm_layers=lstm_layers, boundary=boundary
    )
    save_model(model, tmp_path / "model")
    check_same(model, load_model(tmp_path / "model", backend="onnx"))


@pytest.mark.parametrize("with_static", [False, True])
@pytest.mark.parametrize("lstm_layers", [0, 1, 3])
def test_words_and_characters_are_read_as_in_torch(
    tmp_path: Path, lstm_layers: int, with_static: bool
) -> None:
    model = of_words(lstm_layers=lstm_layers, with_static=with_static)
    save_model(model, tmp_path)
    check_same(model, load_model(tmp_path, backend="onnx"))


def check_same(model: TrainableModel, found: Any) -> None:
    """The same for sentences together and for each alone."""
    together = states(found, SENTENCES)
    for one, other in zip(together, states(model, SENTENCES), strict=True):
        for row, sentence in enumerate(SENTENCES):
            assert np.allclose(one[row, : len(sentence)], other[row, : len(sentence)], atol=1e-5)
    for row, sentence in enumerate(SENTENCES):
        for one, other in zip(together, states(found, [sentence]), strict=True):
            assert np.allclose(one[row, : len(sentence)], other[0, : len(sentence)], atol=1e-5)


@pytest.mark.parametrize("most", [1, 24, 50])
def test_pieces_read_a_few_at_a_time_have_the_same_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    save_model(of_pieces(tmp_path), tmp_path / "model")
    found = load_model(tmp_path / "model")
    whole = states(found, SENTENCES)[0]
    monkeypatch.setattr(module, "MOST_PIECES", most)
    assert np.allclose(states(found, SENTENCES)[0], whole, atol=1e-5)


@pytest.mark.parametrize("half", [False, True])
def test_a_folder_has_its_encoder_as_a_graph_that_others_can_run(
    tmp_path: Path, half: bool
) -> None:
    model = of_pieces(tmp_path)
    save_model(model, tmp_path / "model", half=half)
    session = onnxruntime.InferenceSession(tmp_path / "model" / "encoder.onnx")
    (found,) = session.run(None, {"pieces": [[2, 5, 6, 3]], "mask": [[1, 1, 1, 1]]})
    with torch.no_grad():
        expected = model.network.encoder.get_submodule("transformer")(
            input_ids=torch.tensor([[2, 5, 6, 3]])
        ).last_hidden_state
    assert np.allclose(found, expected.numpy(), atol=2e-2 if half else 1e-5)


def test_a_transformer_of_another_kind_has_no_graph_and_is_read_with_torch(tmp_path: Path) -> None:
    save_model(of_pieces(tmp_path), tmp_path / "model")
    model = of_pieces(tmp_path / "t5", kind="t5")
    save_model(model, tmp_path / "model")  # the graph of the other model goes
    assert not list((tmp_path / "model").glob("*.onnx"))
    found = load_model(tmp_path / "model")
    assert np.allclose(states(found, SENTENCES)[0], states(model, SENTENCES)[0], atol=1e-5)
    with pytest.raises(ConfigError, match="kind 't5': needs backend"):
        load_model(tmp_path / "model", backend="onnx")


def test_what_the_backend_cannot_do_is_told(tmp_path: Path) -> None:
    save_model(of_words(), tmp_path)
    unknown: Any = "tvm"
    with pytest.raises(ConfigError, match="backend: 'tvm' is unknown; known: auto, onnx, torch"):
        load_model(tmp_path, backend=unknown)
    unknown = "fp16"
    with pytest.raises(ConfigError, match="precision: 'fp16' is unknown; known: fp32, bf16, int8"):
        load_model(tmp_path, precision=unknown)
    with pytest.raises(ConfigError, match="precision bf16: needs backend"):
        load_model(tmp_path, backend="onnx", precision="bf16")
    with pytest.raises(ConfigError, match="int8 needs backend"):
        load_model(tmp_path, backend="torch", precision="int8")
    with pytest.raises(ConfigError, match="this encoder has none; use fp32"):
        load_model(tmp_path, precision="int8")
    with pytest.raises(ConfigError, match="device 'cuda': needs backend"):
        load_model(tmp_path, backend="onnx", device="cuda")


def test_without_torch_one_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_model(of_words(), tmp_path)
    monkeypatch.setattr("fencepost.checkpoints.loading.find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"device 'cuda': needs torch: pip install .*\[train\]"):
        load_model(tmp_path, device="cuda")


def test_a_model_can_be_saved_again(tmp_path: Path) -> None:
    save_model(of_pieces(tmp_path), tmp_path / "model")
    found = load_model(tmp_path / "model")
    save_model(replace(found), tmp_path / "again")
    for name in ("weights.safetensors", "encoder.onnx", "config.json", "tokenizer.json"):
        one, other = (tmp_path / folder / name for folder in ("model", "again"))
        assert one.read_bytes() == other.read_bytes()


def test_a_forked_process_reads_on(tmp_path: Path) -> None:
    save_model(of_words(), tmp_path)
    found = load_model(tmp_path, threads=2)
    before = states(found, SENTENCES)[0]
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(states(found, SENTENCES)[0], before) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_forked_process_refuses_weights_that_have_changed(tmp_path: Path) -> None:
    save_model(of_words(), tmp_path)
    found = load_model(tmp_path)
    save_model(of_words(), tmp_path)
    child = os.fork()
    if child == 0:
        try:
            states(found, SENTENCES)
        except ModelError as error:
            os._exit(0 if "changed since it was loaded; load the model again" in str(error) else 2)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def plain_int8(weight: Floats, bias: Floats, rows: Floats) -> Floats:
    """The same rounding, with sums that cannot overflow."""
    scales = np.maximum(np.abs(weight).max(1, keepdims=True) / 64, 1e-30)
    own = np.maximum(np.abs(rows).max(1, keepdims=True) / 127, 1e-30)
    whole = np.rint(rows / own).astype(np.float64) @ np.rint(weight / scales).astype(np.float64).T
    found: Floats = (whole * scales.T * own + bias).astype(np.float32)
    return found


@pytest.mark.parametrize("share", [0.0, 0.5, 0.95])
def test_with_int8_sums_are_exact_and_a_row_keeps_its_own_scale(
    tmp_path: Path, share: float
) -> None:
    generator = np.random.default_rng(1)
    weight = generator.standard_normal((40, 200), dtype=np.float32)
    rows = generator.standard_normal((9, 200), dtype=np.float32)
    for values in (weight, rows):  # as large as can be
        values[generator.random(values.shape) < share] = np.abs(values).max()
    weight[3], rows[2] = 0, 0
    bias = generator.standard_normal(40, dtype=np.float32)
    save_file({"x.weight": weight, "x.bias": bias}, tmp_path / "weights.safetensors")
    weights = Weights(tmp_path / "weights.safetensors")
    graph = Graph("weights.safetensors", weights.stored)
    given = graph.input("rows", "F32", ("rows", 200))
    graph.output(RoundedLinear(weights)(graph, given, "x"), "out", ("rows", 40))
    session = Session(graph.to_bytes(), weights.path, threads=1)
    found = session(rows=rows)
    assert np.allclose(found, plain_int8(weight, bias, rows), rtol=1e-5, atol=1e-3)
    assert np.array_equal(found[2], bias)
    for row in range(len(rows)):
        assert np.array_equal(session(rows=rows[row : row + 1])[0], found[row])


def test_int8_comes_near_the_original(tmp_path: Path) -> None:
    save_model(of_pieces(tmp_path, kind="bert"), tmp_path / "model")
    one, other = (
        states(load_model(tmp_path / "model", precision=each), SENTENCES)[0]
        for each in ("fp32", "int8")
    )
    distance = np.linalg.norm(one - other) / np.linalg.norm(one)
    assert 0 < distance < 0.05


def test_bf16_comes_near_the_original_and_can_be_neither_trained_nor_saved(
    tmp_path: Path,
) -> None:
    for number, model in enumerate((of_words(), of_pieces(tmp_path, lstm_layers=1))):
        folder = tmp_path / f"{number}"
        save_model(model, folder)
        found = load_model(folder, precision="bf16")
        assert isinstance(found, TrainableModel)
        one, other = states(found, SENTENCES)[0], states(load_trainable(folder), SENTENCES)[0]
        assert one.dtype == np.float32
        assert 0 < np.linalg.norm(one - other) / np.linalg.norm(other) < 0.05
        with pytest.raises(ConfigError, match="with bf16 cannot be trained; load the model"):
            found.network.train()
        with pytest.raises(ConfigError, match="with bf16 cannot be saved; load the model"):
            save_model(found, folder)
