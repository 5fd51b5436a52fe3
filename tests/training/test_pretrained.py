"""A network on a pretrained transformer is trained from end to end."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from fencepost.batching.numbers import Numbers
from fencepost.batching.vocabulary import Labels
from fencepost.checkpoints.trainable import load_trainable, new_model
from fencepost.config import NetworkSettings, Settings, TransformerSettings, checked
from fencepost.errors import ModelError
from fencepost.model.pretrained import fetch_pretrained
from fencepost.run.training.metrics import Epoch
from fencepost.run.training.train import run_training
from fencepost.training.loop import optimizer_for
from tests.eight import settings, write_eight
from tests.tiny import tiny_transformer


@pytest.fixture(autouse=True)
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.run.training.train.draw_training", lambda *_: None)


def chosen(folder: Path, kind: str, *, lstm_layers: int = 0, **encoder: Any) -> Settings:
    data = write_eight(folder / "data.jsonl")
    source = tiny_transformer(folder, kind=kind)
    network = {
        "encoder": {"kind": "transformer", "model": source, **encoder},
        "lstm_layers": lstm_layers,
        "lstm_hidden": 8,
    }
    return settings(
        data, {"tree": {}, "entities": {}, "tags": {}}, epochs=2, checkpoint_seconds=0
    ).model_copy(update={"network": checked(NetworkSettings, network, where="test")})


@pytest.mark.parametrize("kind", ["bert", "roberta"])
@pytest.mark.parametrize("frozen", [False, True])
def test_two_epochs_change_what_is_not_frozen(tmp_path: Path, kind: str, frozen: bool) -> None:
    found = chosen(tmp_path, kind, frozen=frozen, layers=2)
    assert isinstance(found.network.encoder, TransformerSettings)
    before = fetch_pretrained(found.network.encoder.model).transformer.state_dict()
    events = list(run_training(found, tmp_path / "run"))
    assert [event.epoch for event in events if isinstance(event, Epoch)] == [1, 2]
    model = load_trainable(tmp_path / "run/model")
    after = model.network.encoder.transformer.state_dict()  # type: ignore[union-attr]
    assert after.keys() == before.keys()
    same = [bool(torch.equal(value, before[name])) for name, value in after.items()]
    assert all(same) if frozen else not any(same)


def test_a_run_on_a_transformer_that_was_stopped_ends_like_one_that_was_not(
    tmp_path: Path,
) -> None:
    found = chosen(tmp_path, "bert", lstm_layers=1)
    list(run_training(found, tmp_path / "whole"))
    run = run_training(found, tmp_path / "stopped")
    for _ in range(2):
        next(run)
    run.close()  # type: ignore[attr-defined]
    list(run_training(found, tmp_path / "stopped", resume=True))
    whole, stopped = (
        load_trainable(tmp_path / name / "model").network.state_dict()
        for name in ("whole", "stopped")
    )
    assert all(torch.equal(value, stopped[name]) for name, value in whole.items())


def test_the_transformer_alone_has_the_rate_of_the_pretrained(tmp_path: Path) -> None:
    found = chosen(tmp_path, "bert", layers=2, lstm_layers=1)
    model = new_model(
        found.network, found.heads, Numbers({name: Labels(("S",)) for name in found.heads.names})
    )
    optimizer = optimizer_for(
        model.network,
        rate=0.1,
        encoder_rate=0.01,
        betas=(0.9, 0.9),
        weight_decay=0.0,
        layer_decay=0.5,
    )
    fresh, *layers = optimizer.param_groups
    assert fresh["lr"] == 0.1
    assert [layer["lr"] for layer in layers] == [0.01, 0.005, 0.0025]  # two, and the embeddings
    names = {id(weight): name for name, weight in model.network.named_parameters()}
    found_names = [[names[id(weight)] for weight in layer["params"]] for layer in layers]
    for number, part in enumerate((".1.", ".0.", "embeddings")):
        assert found_names[number]
        assert all(part in name for name in found_names[number])
    all_of_them = [weight for group in optimizer.param_groups for weight in group["params"]]
    assert len(all_of_them) == len(list(model.network.parameters()))


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_model_is_trained_on_without_the_transformer_that_it_came_from(
    tmp_path: Path, kind: str
) -> None:
    first = chosen(tmp_path, kind, layers=2, case=True)
    list(run_training(first, tmp_path / "first"))
    assert isinstance(first.network.encoder, TransformerSettings)
    shutil.rmtree(first.network.encoder.model)
    training = first.training.model_copy(update={"init": str(tmp_path / "first/model")})
    list(run_training(first.model_copy(update={"training": training}), tmp_path / "second"))
    one, other = (
        load_trainable(tmp_path / run / "model").network.encoder.state_dict()
        for run in ("first", "second")
    )
    assert one.keys() == other.keys()
    assert any(not torch.equal(value, other[name]) for name, value in one.items())


def test_a_pickle_is_converted_as_the_guide_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Path(tiny_transformer(tmp_path))
    weights = load_file(source / "model.safetensors")
    torch.save(weights, source / "pytorch_model.bin")
    (source / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="a pickle may run code"):
        fetch_pretrained(str(source))
    guide = (Path(__file__).parents[2] / "docs/guides/train.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python not-run: needs a model hub\n(.*?)```", guide, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(block.replace("dmis-lab/biobert-large-cased-v1.1", str(source)), {})
    found = fetch_pretrained("biobert-large").transformer.state_dict()
    assert found
    assert all(torch.equal(value, weights[name]) for name, value in found.items())
