"""Training goes on after kills, damaged checkpoints, a full disk and losses that are not finite."""

import io
import json
import resource
import shutil
import sys
from collections import Counter
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from fencepost.checkpoints.trainable import load_trainable
from fencepost.config import Settings, checked
from fencepost.errors import FencepostError, TrainingError
from fencepost.run.training.metrics import Epoch
from fencepost.run.training.train import Note, run_training
from fencepost.runtime.manifest import write_manifest
from fencepost.training.checkpoint import load_checkpoint, save_checkpoint
from fencepost.training.loop import Progress
from tests.eight import settings, write_eight
from tests.reliability.driver import ROOT, Driver
from tests.reliability.loading import damage as damage_somehow

DAMAGES = 40
FILES = ("network.safetensors", "optimizer.safetensors", "state.json", "manifest.json")


@pytest.fixture
def chosen(tmp_path: Path) -> Settings:
    data = write_eight(tmp_path / "data.jsonl")
    return settings(data, {"tags": {}}, epochs=3, checkpoint_seconds=0.0, threads=1)


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)


def checkpoints(out: Path) -> list[Path]:
    """The newest first."""
    return sorted(out.glob("checkpoint-*"), reverse=True)


def damage(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    if how == "missing":
        path.unlink()
    elif how == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    else:
        data[len(data) * 2 // 3] ^= 1
        path.write_bytes(data)


def notes_of(events: list[Any]) -> list[str]:
    return [event.text for event in events if isinstance(event, Note) and "png" not in event.text]


class Kept:
    """A layer with an optimiser whose checkpoints are after 1 and 2 steps."""

    def __init__(self, folder: Path) -> None:
        torch.manual_seed(1)
        self.folder, self.layer = folder, nn.Linear(3, 3)
        self.optimizer = torch.optim.AdamW(self.layer.parameters())
        for steps in (1, 2):
            self.layer(torch.ones(3)).sum().backward()
            self.optimizer.step()
            self.save(steps)
            if steps == 1:
                self.first = self.layer.weight.detach().clone()

    def save(self, steps: int) -> None:
        progress = Progress(steps=steps)
        save_checkpoint(self.folder, self.layer, self.optimizer, progress, None, extra={})

    def load(self) -> tuple[int, list[str]]:
        notes: list[str] = []
        found = load_checkpoint(
            self.folder, self.layer, self.optimizer, None, read_extra=dict, on_note=notes.append
        )
        assert found is not None
        return found[0].steps, notes


class TestDamagedCheckpoint:
    @pytest.mark.parametrize("name", FILES)
    @pytest.mark.parametrize("how", ["cut", "empty", "flipped", "missing"])
    def test_is_passed_over_with_a_word(self, tmp_path: Path, name: str, how: str) -> None:
        kept = Kept(tmp_path)
        damage(tmp_path / "checkpoint-00000002" / name, how)
        steps, notes = kept.load()
        if (name, how) == ("manifest.json", "missing"):  # as before there were any
            assert (steps, notes) == (2, [])
            return
        (note,) = notes
        assert steps == 1
        assert "a damaged checkpoint is passed over" in note
        assert "checkpoint-00000002/" in note
        assert f"{name}: " in note  # a list that is wrong may put it down to another file
        assert "Going on from checkpoint-00000001" in note

    @pytest.mark.parametrize("is_listed", [True, False])
    def test_of_any_kind_leads_to_the_one_before(self, tmp_path: Path, is_listed: bool) -> None:
        """If it is listed with its damage, a checkpoint may also be read as another."""
        kept = Kept(tmp_path)
        newest = checkpoints(tmp_path)[0]
        for path in newest.iterdir():
            shutil.copy(path, tmp_path / path.name)
        steps_found = Counter[int]()
        for number in range(DAMAGES):
            random = Random(f"{is_listed}/{number}")
            name = random.choice(FILES if is_listed else FILES[:-1])
            damage_somehow(newest / name, random)
            if not is_listed:
                write_manifest(newest, FILES[:-1])
            before = (tmp_path / name).read_bytes()
            is_same = (newest / name).read_bytes() == before
            steps, notes = kept.load()
            steps_found[steps] += 1
            weights = kept.layer.state_dict().values()
            assert all(torch.isfinite(value).all() for value in weights)
            if is_listed and name != "manifest.json":
                assert steps == (2 if is_same else 1)
            assert (steps == 1) == bool(notes)
            if steps == 1:
                assert torch.equal(kept.layer.weight, kept.first)
            for each in FILES:
                shutil.copy(tmp_path / each, newest / each)
        assert steps_found[1] > DAMAGES / 2

    def test_that_is_the_last_one_is_an_error_that_says_what_to_do(self, tmp_path: Path) -> None:
        kept = Kept(tmp_path)
        for path in checkpoints(tmp_path):
            damage(path / "network.safetensors", "flipped")
        with pytest.raises(
            TrainingError,
            match=r"(?s)all checkpoints are damaged:.*00002/net.*00001/net.*training\.init",
        ):
            kept.load()

    def test_is_gone_after_the_next_is_written(self, tmp_path: Path) -> None:
        kept = Kept(tmp_path)
        damage(tmp_path / "checkpoint-00000002/state.json", "cut")
        (tmp_path / "checkpoint-00000002").rename(tmp_path / "checkpoint-00000009")
        assert kept.load()[0] == 1
        kept.save(3)
        assert [path.name[-1] for path in checkpoints(tmp_path)] == ["3", "1"]
        assert kept.load() == (3, [])

    @pytest.mark.usefixtures("without_pictures")
    def test_leads_to_the_same_weights(self, chosen: Settings, tmp_path: Path) -> None:
        list(run_training(chosen, tmp_path / "whole"))
        run = run_training(chosen, tmp_path / "damaged")
        for _ in range(5):
            next(run)
        run.close()  # type: ignore[attr-defined]
        newest, before = checkpoints(tmp_path / "damaged")
        damage(newest / "optimizer.safetensors", "flipped")
        (note,) = notes_of(list(run_training(chosen, tmp_path / "damaged", resume=True)))
        assert f"{newest.name}/optimizer.safetensors: not as it was written" in note
        assert f"Going on from {before.name}" in note
        assert_same(tmp_path / "whole", tmp_path / "damaged")

    @pytest.mark.parametrize(
        ("path", "value"),
        [
            ("progress", None),
            ("progress.epoch", "1"),
            ("progress.done", -1),
            ("progress.steps", 1.5),
            ("progress.skipped", None),
            ("random", "x"),
            ("random", [0, 1]),
            ("random_of_others", 5),
            ("kept", []),
            ("kept.best", "x"),
            ("kept.best", None),
            ("kept.losses", 5),
            ("kept.losses", ["1"]),
            ("kept.seconds", "1"),
            ("kept.words", [1]),
        ],
    )
    @pytest.mark.usefixtures("without_pictures")
    def test_of_wrong_types_is_passed_over_though_its_list_is_right(
        self, chosen: Settings, tmp_path: Path, path: str, value: object
    ) -> None:
        run = run_training(chosen, tmp_path / "run")
        for _ in range(3):
            next(run)
        run.close()  # type: ignore[attr-defined]
        newest, before = checkpoints(tmp_path / "run")
        state = json.loads((newest / "state.json").read_text())
        inner, *names = [state, *path.split(".")]
        for name in names[:-1]:
            inner = inner[name]
        inner[names[-1]] = value
        (newest / "state.json").write_text(json.dumps(state))
        write_manifest(newest, FILES[:-1])
        (note,) = notes_of(list(run_training(chosen, tmp_path / "run", resume=True)))
        assert f"Going on from {before.name}" in note

    @pytest.mark.parametrize("name", ["0.exp_avg", "0.step", "9.exp_avg", "x"])
    def test_with_numbers_of_other_parameters_is_passed_over(
        self, tmp_path: Path, name: str
    ) -> None:
        kept, newest = Kept(tmp_path), tmp_path / "checkpoint-00000002"
        tensors = load_file(newest / "optimizer.safetensors")
        tensors[name] = torch.zeros(7)
        save_file(tensors, newest / "optimizer.safetensors")
        write_manifest(newest, FILES[:-1])
        steps, (note,) = kept.load()
        assert steps == 1
        assert "checkpoint-00000002" in note

    def test_ends_a_run_that_has_no_other(self, chosen: Settings, tmp_path: Path) -> None:
        next(run_training(chosen, tmp_path / "run"))
        for path in checkpoints(tmp_path / "run"):
            shutil.rmtree(path)
            path.mkdir()
        with pytest.raises(TrainingError, match="all checkpoints are damaged"):
            list(run_training(chosen, tmp_path / "run", resume=True))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("metrics.jsonl", '{"epoch": 1}\n', r"metrics.jsonl:1: no record of an epoch"),
        ("settings.json", "[" * 100_000, r"settings.json: no JSON"),
    ],
)
def test_what_a_run_has_noted_is_looked_at_before_it_goes_on(
    chosen: Settings, tmp_path: Path, name: str, text: str, message: str
) -> None:
    next(run_training(chosen, tmp_path / "run"))
    (tmp_path / "run" / name).write_text(text)
    with pytest.raises(FencepostError, match=message):
        next(run_training(chosen, tmp_path / "run", resume=True))


def assert_same(one: Path, other: Path) -> None:
    for name in ("config.json", "labels.json", "weights.safetensors", "manifest.json"):
        assert (one / "model" / name).read_bytes() == (other / "model" / name).read_bytes(), name


def train_on_a_full_disk(config: str, folder: str) -> list[Any]:
    """Train where there is no more room, and go on each time there is; what was told and left."""
    sys.modules["matplotlib.figure"] = None  # type: ignore[assignment]  # no pictures
    chosen = checked(Settings, json.loads(Path(config).read_text()), where="")
    out, hard = Path(folder), resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    told: list[Any] = []
    run = run_training(chosen, out)
    while not isinstance(next(run), Epoch):
        pass
    weights = (out / "model/weights.safetensors").stat().st_size
    # Smaller than the weights; larger than these and smaller than the state of the optimiser.
    for limit in (weights // 2, weights + 1000):
        before = whole(out / "model"), whole(checkpoints(out)[0])
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            for _ in run:
                pass
        except FencepostError as error:
            told.append(str(error))
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        is_kept = before == (whole(out / "model"), whole(checkpoints(out)[0]))
        told.append([is_kept, [path.name for path in out.rglob(".*")]])
        run = run_training(chosen, out, resume=True)
    for _ in run:
        pass
    return told


def whole(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_full_disk_is_told_and_a_run_goes_on_when_there_is_room(
    driver: Driver, chosen: Settings, tmp_path: Path
) -> None:
    seldom = chosen.training.model_copy(update={"checkpoint_seconds": 1e6})
    chosen = chosen.model_copy(update={"training": seldom})
    config = tmp_path / "settings.json"
    config.write_text(chosen.model_dump_json())
    function = "tests.reliability.test_training:train_on_a_full_disk"
    first, kept_first, second, kept_second = driver.call(function, config, tmp_path / "full")
    assert "too large" in first
    assert "too large" in second
    assert "model: the model cannot be written" in first
    assert "what was there is as before" in first
    assert kept_first == [True, []]
    assert "the checkpoint cannot be written" in second
    assert "the one before is intact" in second
    assert kept_second[1] == []
    list(run_training(chosen, tmp_path / "whole"))
    assert_same(tmp_path / "whole", tmp_path / "full")


class TestNotFinite:
    @pytest.mark.usefixtures("without_pictures")
    def test_losses_leave_a_run_that_can_go_on(
        self, chosen: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from fencepost.training import loop

        plain, calls = loop.batch_losses, 0

        def losses(*arguments: Any) -> dict[str, torch.Tensor]:
            nonlocal calls
            calls += 1
            return {
                name: loss * (float("nan") if calls > 3 else 1)
                for name, loss in plain(*arguments).items()
            }

        longer = chosen.training.model_copy(update={"epochs": 8})
        many = chosen.model_copy(update={"training": longer})
        with monkeypatch.context() as patch:
            patch.setattr("fencepost.training.loop.batch_losses", losses)
            with pytest.raises(TrainingError, match=r"lower training\.rate.*in a new run.*intact"):
                list(run_training(many, tmp_path / "run"))
        assert calls == 13
        *_, last, _ = run_training(many, tmp_path / "run", resume=True)
        assert isinstance(last, Epoch)
        assert (last.epoch, last.skipped) == (8, 9)  # of the tenth there is no checkpoint
        weights = load_trainable(tmp_path / "run/model").network.state_dict()
        assert all(bool(torch.isfinite(value).all()) for value in weights.values())

    def test_weights_are_never_kept(self, tmp_path: Path) -> None:
        kept = Kept(tmp_path)
        with torch.no_grad():
            kept.layer.bias[1] = float("nan")
        with pytest.raises(TrainingError, match=r"the weights bias are not finite.*is intact"):
            kept.save(3)
        assert [path.name[-1] for path in checkpoints(tmp_path)] == ["2", "1"]
        assert kept.load() == (2, [])
        assert bool(torch.isfinite(kept.layer.bias).all())


def train_with_kills(folder: str, kills: str) -> tuple[int, str]:
    """The status and the output of `bench/kill_training.py`."""
    sys.path.insert(0, str(ROOT / "bench"))
    with redirect_stdout(io.StringIO()) as printed:
        compared = import_module("kill_training").compared
        status = compared(Path(folder), kills=int(kills), seed=1)
    return status, printed.getvalue()


def test_a_run_that_is_killed_at_random_moments_ends_like_one_that_was_not(
    driver: Driver, tmp_path: Path
) -> None:
    function = "tests.reliability.test_training:train_with_kills"
    status, printed = driver.call(function, tmp_path, 3)
    assert status == 0, printed
    assert "3 kills, 0 notes on damaged checkpoints\nthe same to the bit" in printed
