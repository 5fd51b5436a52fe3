"""Small networks learn small data, and go on after a stop as if nothing had happened."""

import shutil
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from fencepost.checkpoints.trainable import load_trainable
from fencepost.config import SearchSettings
from fencepost.errors import ConfigError, TrainingError
from fencepost.formats import read
from fencepost.run.evaluate import evaluate, main_figure
from fencepost.run.training.metrics import Epoch, read_epochs
from fencepost.run.training.train import Finished, run_training
from fencepost.training.average import Average
from fencepost.training.loop import TrainingStep, rate_factor
from tests.eight import LINES, settings, write_eight


@pytest.fixture(autouse=True)
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.run.training.train.draw_training", lambda *_: None)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_eight(tmp_path / "data.jsonl")


@pytest.mark.slow
@pytest.mark.parametrize(
    "heads",
    [
        {"tree": {}, "entities": {}, "tags": {}},
        {"tree": {"previous_label": True}, "entities": {"previous_label": False}},
    ],
    ids=["all", "tree with labels, entities without"],
)
def test_eight_sentences_are_learned_by_heart(
    data: Path, tmp_path: Path, heads: dict[str, Any]
) -> None:
    several = write_eight(tmp_path / "several.jsonl", LINES * 5)  # as five epochs are, but quicker
    chosen = settings(several, heads, epochs=20, batch_words=12, rate=1e-2)
    list(run_training(chosen, tmp_path / "run"))
    model = load_trainable(tmp_path / "run/model")
    for beams in (1, 3):
        reports = evaluate(model, list(read(data)), beams=beams)
        assert {name: main_figure(report) for name, report in reports.items()} == dict.fromkeys(
            heads, 100.0
        )


def test_a_run_that_was_stopped_ends_like_one_that_was_not(data: Path, tmp_path: Path) -> None:
    chosen = settings(data, {"tree": {}, "tags": {}}, epochs=4, average=0.9, checkpoint_seconds=0.0)
    chosen = chosen.model_copy(
        update={"network": chosen.network.model_copy(update={"dropout": 0.3})}
    )
    events = list(run_training(chosen, tmp_path / "whole"))
    weights, epochs = weights_and_epochs(tmp_path / "whole")
    kinds = [type(event) for event in events]
    assert kinds[6:9] == [TrainingStep, TrainingStep, Epoch]
    for stop_after in (1, 8, 9):  # the first step; the last of an epoch; the epoch
        out = tmp_path / f"stopped-{stop_after}"
        list(islice(run_training(chosen, out), stop_after))
        rest = list(run_training(chosen, out, resume=True))
        assert [type(event) for event in rest] == kinds[stop_after:]
        resumed, epochs_of_resumed = weights_and_epochs(out)
        for name, value in weights.items():
            assert torch.equal(value, resumed[name]), name
        assert epochs_of_resumed == epochs


def test_a_model_keeps_the_beam_of_its_settings(data: Path, tmp_path: Path) -> None:
    chosen = settings(data, {"tree": {}}, epochs=2, rate=5e-4)
    chosen = chosen.model_copy(update={"search": SearchSettings(beams=4)})
    *_, last = run_training(chosen, tmp_path / "run")
    model = load_trainable(tmp_path / "run/model")
    assert model.search.beams == 4
    assert isinstance(last, Finished)
    figure = main_figure(evaluate(model, list(read(data)), beams=4)["tree"])
    assert last.best.dev == {"tree": pytest.approx(figure)}


def weights_and_epochs(out: Path) -> tuple[dict[str, Tensor], list[tuple[Any, ...]]]:
    """What a run has left, but for how long it took."""
    weights = load_trainable(out / "model").network.state_dict()
    return weights, [(epoch.epoch, epoch.loss, epoch.dev) for epoch in read_epochs(out)]


def test_a_damaged_checkpoint_is_passed_over(data: Path, tmp_path: Path) -> None:
    chosen = settings(data, {"tags": {}}, epochs=3, checkpoint_seconds=0.0)
    for event in run_training(chosen, tmp_path / "run"):
        if isinstance(event, Epoch) and event.epoch == 2:
            break
    newest = max((tmp_path / "run").glob("checkpoint-*"))
    (newest / "network.safetensors").write_bytes(b"half")
    events = list(run_training(chosen, tmp_path / "run", resume=True))
    assert [event.epoch for event in events if isinstance(event, Epoch)] == [2, 3]


def test_a_run_goes_on_only_with_the_settings_that_it_began_with(
    data: Path, tmp_path: Path
) -> None:
    chosen = settings(data, {"tags": {}}, epochs=2)
    next(run_training(chosen, tmp_path / "run"))
    faster = chosen.training.model_copy(update={"rate": 0.5, "threads": 2})
    other = chosen.model_copy(update={"training": faster})
    with pytest.raises(ConfigError, match=r"training\.rate: 0\.\d+ then, 0\.5 now\n  To start"):
        next(run_training(other, tmp_path / "run", resume=True))
    (tmp_path / "run/settings.json").write_text("{")
    with pytest.raises(ConfigError, match="no JSON"):
        next(run_training(chosen, tmp_path / "run", resume=True))


def test_a_folder_with_a_run_in_it_is_not_overwritten(data: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/notes").write_text("mine")
    with pytest.raises(ConfigError, match="--resume"):
        next(run_training(settings(data, {"tags": {}}), tmp_path / "run"))


def test_a_full_disk_leaves_the_checkpoint_before_intact(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = settings(data, {"tags": {}}, epochs=3)
    run = run_training(chosen, tmp_path / "run")
    while not isinstance(next(run), Epoch):
        pass
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "run").glob("checkpoint-*/*")}

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fencepost.training.checkpoint.save_file", full)
    with pytest.raises(TrainingError, match=r"No space left.*intact"):
        list(run)
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "run").glob("*checkpoint-*/*")} == before


def test_steps_without_a_finite_loss_are_skipped_and_end_the_run(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = settings(data, {"tags": {}}, epochs=30)
    calls = 0

    def losses(network: Any, *_: Any) -> dict[str, torch.Tensor]:
        nonlocal calls
        calls += 1
        weight = next(network.parameters()).sum() * 0
        return {"tags": weight + (float("nan") if calls > 1 else 1.0)}

    monkeypatch.setattr("fencepost.training.loop.batch_losses", losses)
    with pytest.raises(TrainingError, match="10 steps in a row had no finite loss"):
        list(run_training(chosen, tmp_path / "run"))
    assert calls == 11


def test_a_step_with_a_gradient_that_is_not_finite_changes_nothing(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def losses(network: Any, *_: Any) -> dict[str, torch.Tensor]:
        nothing = next(network.parameters()).sum() * 0
        return {"tags": nothing.sqrt() + 1.0}  # 1, with a gradient of nothing times infinity

    monkeypatch.setattr("fencepost.training.loop.batch_losses", losses)
    *_, last = run_training(settings(data, {"tags": {}}, epochs=1), tmp_path / "run")
    assert isinstance(last, Finished)
    assert last.best.skipped > 0
    weights = load_trainable(tmp_path / "run/model").network.state_dict()
    assert all(bool(torch.isfinite(value).all()) for value in weights.values())


def test_out_of_memory_says_what_to_change(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def losses(*_: Any) -> dict[str, torch.Tensor]:
        raise MemoryError

    monkeypatch.setattr("fencepost.training.loop.batch_losses", losses)
    with pytest.raises(TrainingError, match=r"sentences and \d+ words; lower training.batch_words"):
        next(run_training(settings(data, {"tags": {}}), tmp_path / "run"))


def test_accumulated_batches_give_the_gradient_of_one(data: Path, tmp_path: Path) -> None:
    one = settings(data, {"tree": {}, "tags": {}}, epochs=1, batch_words=1000)
    parts = settings(data, {"tree": {}, "tags": {}}, epochs=1, batch_words=12, accumulate=99)
    losses = []
    for number, chosen in enumerate((one, parts)):
        step = next(run_training(chosen, tmp_path / str(number)))
        assert isinstance(step, TrainingStep)
        losses.append(step.loss)
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_dev_needs_a_layer_that_is_learned(data: Path, tmp_path: Path) -> None:
    other = tmp_path / "dev.jsonl"
    other.write_text('{"words": ["a"]}\n')
    chosen = settings(data, {"entities": {}}, epochs=1)
    chosen = chosen.model_copy(
        update={
            "data": chosen.data.model_copy(
                update={"dev": (chosen.data.dev[0].model_copy(update={"path": str(other)}),)}
            )
        }
    )
    with pytest.raises(TrainingError, match="no dev sentence"):
        list(run_training(chosen, tmp_path / "run"))


def test_the_average_follows_slowly() -> None:
    layer = torch.nn.Linear(1, 1)
    average = Average(0.5)
    average.add(layer, 0)
    with torch.no_grad():
        layer.weight += 2.0
    before = average.weights["weight"].clone()
    average.add(layer, 100)
    assert torch.allclose(average.weights["weight"], before + 1.0)


def test_the_average_soon_forgets_the_random_beginning() -> None:
    layer = torch.nn.Linear(1, 1)
    average = Average(0.998)
    torch.nn.init.constant_(layer.weight, 100.0)  # random weights
    average.add(layer, 0)
    torch.nn.init.constant_(layer.weight, 1.0)  # those that training finds
    for step in range(1, 50):
        average.add(layer, step)
    assert abs(float(average.weights["weight"]) - 1.0) < 0.001


def test_the_rate_is_zero_at_the_end() -> None:
    assert rate_factor(1.0, 0.0) == 0
    assert rate_factor(0.0, 0.0) == 1


def test_a_run_can_be_moved(data: Path, tmp_path: Path) -> None:
    list(run_training(settings(data, {"tags": {}}, epochs=1), tmp_path / "run"))
    first = evaluate(load_trainable(tmp_path / "run/model"), list(read(data)))
    shutil.move(tmp_path / "run/model", tmp_path / "elsewhere")
    again = evaluate(load_trainable(tmp_path / "elsewhere"), list(read(data)))
    assert main_figure(first["tags"]) == main_figure(again["tags"])
