import json
import shutil
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import torch
from safetensors.torch import load_file

from fencepost.checkpoints.loading import load_model
from fencepost.checkpoints.model import save_model
from fencepost.checkpoints.trainable import load_trainable
from fencepost.config import SearchSettings
from fencepost.errors import ConfigError, ModelError
from fencepost.parser.predict import predict
from fencepost.structure import Sentence
from tests.models import save_unlisted, small_model, transformer_model
from tests.tiny import WORDS, tiny_transformer

SENTENCES = [Sentence(tuple(text.split())) for text in ("a b c", "b", "c c a b a", "d")]


def test_a_model_gives_the_same_parses_after_saving_moving_and_loading(tmp_path: Path) -> None:
    model = small_model("tree", "entities", "tags")
    before = predict(model, SENTENCES)
    save_model(model, tmp_path / "model", card="# Mine\n")
    (tmp_path / "model").rename(tmp_path / "moved")
    assert predict(load_trainable(tmp_path / "moved"), SENTENCES) == before
    assert (tmp_path / "moved/README.md").read_text() == "# Mine\n"
    assert sorted(path.name for path in (tmp_path / "moved").iterdir()) == [
        "README.md",
        "config.json",
        "encoder.onnx",
        "labels.json",
        "manifest.json",
        "weights.safetensors",
    ]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("config.json", None, "config.json: cannot be read: No such file"),
        ("config.json", "{", "config.json: no JSON"),
        ("config.json", '{"version": 99}', "not of version 1 of our layout"),
        ("config.json", '{"version": 1}', "config.json:"),
        ("labels.json", "{}", "labels.json: not what was expected"),
        ("labels.json", "[]", "labels.json: not what was expected"),
        ("weights.safetensors", None, "weights.safetensors: cannot be read"),
        ("weights.safetensors", "half", "weights.safetensors: damaged, or no safetensors file"),
    ],
)
def test_what_is_wrong_with_a_folder_is_told(
    tmp_path: Path, name: str, text: str | None, message: str
) -> None:
    save_unlisted(small_model("tree"), tmp_path)
    (tmp_path / name).unlink()
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(ModelError, match=message):
        load_trainable(tmp_path)


def test_truncated_weights_are_found(tmp_path: Path) -> None:
    save_unlisted(small_model("tree"), tmp_path)
    path = tmp_path / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ModelError, match="damaged"):
        load_trainable(tmp_path)


def test_weights_of_another_network_are_found(tmp_path: Path) -> None:
    save_unlisted(small_model("tree"), tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["network"]["lstm_hidden"] = 9
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="do not fit"):
        load_trainable(tmp_path)


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("canonical", [True, False])
def test_parses_do_not_depend_on_batch_mates(beams: int, canonical: bool) -> None:
    model = small_model("tree", "entities", "tags")
    together = predict(model, SENTENCES, beams=beams, canonical=canonical)
    for sentence, parse in zip(SENTENCES, together, strict=True):
        (alone,) = predict(model, [sentence], beams=beams, canonical=canonical)
        assert alone == parse
        assert parse.words == sentence.words
        assert parse.tree is not None
        assert parse.tags is not None


def test_a_sentence_without_words_has_an_empty_parse() -> None:
    model = small_model("tree")
    parses = predict(model, [Sentence(()), SENTENCES[0]])
    assert parses[0].words == ()
    assert parses[1].tree is not None


def test_tags_that_are_given_are_kept() -> None:
    (parse,) = predict(small_model("tags"), [Sentence(("a",), ("MINE",))])
    assert parse.tags == ("MINE",)
    assert (parse.tree, parse.entities) == (None, None)


LONG = [
    *SENTENCES,
    Sentence(("the", "\u200b", "x" * 300)),
    Sentence(("cat", "bark") * 30),
]


@pytest.mark.parametrize("lstm_layers", [0, 1])
@pytest.mark.parametrize("encoder", [{}, {"layers": 2, "pieces": "mean"}, {"frozen": True}])
@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_transformer_is_saved_whole_and_loaded_without_its_source(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    encoder: dict[str, object],
    lstm_layers: int,
) -> None:
    source = tiny_transformer(tmp_path, kind=kind)
    model = transformer_model(source, lstm_layers=lstm_layers, **encoder)
    before = predict(model, LONG)
    save_model(model, tmp_path / "model")
    save_model(model, tmp_path / "model")  # as a run does that finds a better one
    (tmp_path / "model").rename(tmp_path / "moved")
    shutil.rmtree(source)
    asked: list[object] = []
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("socket.socket.connect", lambda *address: asked.append(address))
    monkeypatch.setattr("socket.getaddrinfo", lambda *address, **_: asked.append(address))
    assert predict(load_trainable(tmp_path / "moved"), LONG) == before
    assert asked == []
    assert sorted(path.name for path in (tmp_path / "moved").iterdir()) == [
        "README.md",
        "config.json",
        *["encoder.onnx"][: kind != "t5"],
        "labels.json",
        *["lstm.onnx"][: kind != "t5" and lstm_layers > 0],
        "manifest.json",
        "tokenizer.json",
        "weights.safetensors",
    ]
    weights = load_file(tmp_path / "moved/weights.safetensors")
    assert weights.keys() == model.network.state_dict().keys()
    assert not [name for name in weights if "pooler" in name]


@pytest.mark.parametrize("beams", [1, 3])
def test_parses_by_a_transformer_do_not_depend_on_batch_mates(tmp_path: Path, beams: int) -> None:
    model = transformer_model(tiny_transformer(tmp_path))
    for parameter in model.network.heads.parameters():
        torch.nn.init.normal_(parameter, std=0.7)  # so that choices are far from even
    some = [*LONG[:-1], Sentence(tuple(Random(0).choices(WORDS, k=60)))]
    together = predict(model, some, beams=beams)
    assert [predict(model, [sentence], beams=beams)[0] for sentence in some] == together


def test_a_sentence_of_three_thousand_words_is_parsed_by_a_transformer(tmp_path: Path) -> None:
    model = transformer_model(tiny_transformer(tmp_path))
    (parse,) = predict(model, [Sentence(("cat", "sat", "bobby") * 1000)])
    assert len(parse.words) == 3000
    assert parse.tree is not None


def test_what_is_missing_of_a_transformer_is_told(tmp_path: Path) -> None:
    save_unlisted(transformer_model(tiny_transformer(tmp_path)), tmp_path / "model")
    config = json.loads((tmp_path / "model/config.json").read_text())
    (tmp_path / "model/tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"model/tokenizer\.json: cannot be read"):
        load_trainable(tmp_path / "model")
    del config["transformer"]
    (tmp_path / "model/config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=r"config\.json: transformer: not what was expected"):
        load_trainable(tmp_path / "model")


def test_vectors_of_odd_width_are_not_halved(tmp_path: Path) -> None:
    source = tiny_transformer(tmp_path, width=15)
    with pytest.raises(ConfigError, match="15 is odd"):
        transformer_model(source)
    assert transformer_model(source, lstm_layers=1).network.encoder.width == 15


def test_temperatures_are_kept(tmp_path: Path) -> None:
    model = small_model("tree", "entities")
    model.network.head("tree").temperature = 1.5
    save_model(model, tmp_path)
    again = load_trainable(tmp_path).network
    assert [head.temperature for _, head in again.named_heads()] == [1.5, 1.0]
    assert predict(load_trainable(tmp_path), SENTENCES) == predict(model, SENTENCES)


def test_a_model_without_temperatures_has_none_but_one(tmp_path: Path) -> None:
    save_unlisted(small_model("tree"), tmp_path)
    path = tmp_path / "config.json"
    config = json.loads(path.read_text())
    del config["temperatures"]
    path.write_text(json.dumps(config))
    assert load_trainable(tmp_path).network.head("tree").temperature == 1.0


def test_the_width_of_the_beam_is_kept(tmp_path: Path) -> None:
    save_model(replace(small_model("tree"), search=SearchSettings(beams=4)), tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["search"] == {"beams": 4}
    for model in (load_trainable(tmp_path), load_model(tmp_path)):
        assert model.search.beams == 4


def test_a_model_that_says_nothing_of_search_is_greedy(tmp_path: Path) -> None:
    save_unlisted(small_model("tree"), tmp_path)
    path = tmp_path / "config.json"
    config = json.loads(path.read_text())
    del config["search"]
    path.write_text(json.dumps(config))
    model = load_trainable(tmp_path)
    assert model.search.beams == 1
    assert predict(model, SENTENCES) == predict(model, SENTENCES, beams=1)


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        ({"beams": 0}, "beams"),
        ({"beams": 1001}, "beams"),
        ({"beams": 2.0}, "beams"),
        ({"beams": "4"}, "beams"),
        ({"beams": True}, "beams"),
        ({"beems": 4}, "beems"),
        (4, ""),
    ],
)
def test_a_search_that_makes_no_sense_is_refused(tmp_path: Path, wrong: object, key: str) -> None:
    save_unlisted(small_model("tree"), tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "search": wrong}))
    with pytest.raises(ModelError, match=rf"config\.json: search:\n  {key}: "):
        load_model(tmp_path)


@pytest.mark.parametrize("wrong", [{"tree": 0.0}, {"tree": -1.0}, {"tree": "1"}, {"dogs": 1.0}])
def test_a_temperature_that_makes_no_sense_is_refused(tmp_path: Path, wrong: object) -> None:
    save_unlisted(small_model("tree"), tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "temperatures": wrong}))
    with pytest.raises(ModelError, match=r"temperatures: .*above 0 is right"):
        load_trainable(tmp_path)
