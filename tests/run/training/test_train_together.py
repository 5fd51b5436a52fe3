"""`fencepost train` in two processes, as people start it: results, resumes, kills and errors."""

import json
import shutil
import signal
import time
from itertools import islice
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
import torch
from torch import Tensor

from fencepost.checkpoints.trainable import load_trainable
from fencepost.config import read_settings
from fencepost.errors import ConfigError
from fencepost.run.training.metrics import read_epochs
from fencepost.run.training.train import run_training
from fencepost.training.device import accelerator_for
from tests.eight import write_eight
from tests.training.pair import (
    SECONDS,
    Started,
    accelerate_launch,
    ended,
    fencepost,
    free_port,
    run_pair,
    start,
    started,
)

pytestmark = pytest.mark.slow

CONFIG = """
[data]
train = [{{ path = "{data}" }}]
dev = [{{ path = "{data}" }}]

[network]
encoder = {{ kind = "words", min_count = 1, unknown = 0.0, word_width = 16 }}
lstm_layers = 1
lstm_hidden = 16
dropout = 0.0

[heads.tree]
mlp = 16
decoder = 16

[heads.tags]

[training]
epochs = 6
batch_words = 12
accumulate = 2
threads = 1
average = 0.5
checkpoint_seconds = 0
"""
# Single precision rounds at 6e-8, and the steps add some of that up. Adam divides a gradient by its
# size, so that where it is small, rounding is a larger part of it: weights have more room.
LOSS = 1e-6
WEIGHTS = 2e-4  # a tenth of the rate, which is how far one step takes a weight


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    data = write_eight(folder / "data.jsonl")
    (folder / "config.toml").write_text(CONFIG.format(data=data))
    return folder


@pytest.fixture(scope="module")
def config(folder: Path) -> Path:
    return folder / "config.toml"


@pytest.fixture(scope="module")
def whole(folder: Path, config: Path) -> Path:
    """A run of one process that was never stopped."""
    list(run_training(read_settings(config), folder / "whole"))
    return folder / "whole"


def command(config: Path, out: Path, *more: str) -> list[str]:
    return ["train", str(config), "--out", str(out), *more]


def launch(*arguments: str) -> Started:
    """What accelerate does to run a command of ours in two processes, and to say nothing itself."""
    return start(
        accelerate_launch,
        *("--multi_gpu", "--num_processes", "2", "--num_machines", "1"),
        *("--mixed_precision", "no", "--dynamo_backend", "no"),
        *("--main_process_port", free_port()),
        *("-m", "fencepost", *arguments),
    )


def same_runs(one: Path, other: Path) -> None:
    for epoch, same in zip(read_epochs(one), read_epochs(other), strict=True):
        assert epoch.loss == pytest.approx(same.loss, rel=LOSS)
        assert epoch.dev == same.dev
        assert (epoch.epoch, epoch.is_best) == (same.epoch, same.is_best)
    ours, theirs = (load_trainable(run / "model").network.state_dict() for run in (one, other))
    assert ours.keys() == theirs.keys()
    for name in ours:
        torch.testing.assert_close(
            learned(name, ours), learned(name, theirs), rtol=0, atol=WEIGHTS, msg=name
        )


def learned(name: str, weights: dict[str, Tensor]) -> Tensor:
    """Weights that have a gradient, and not rounding alone.

    What adds the same to the scores of all boundaries changes no probability. So do the biases of
    pointing, the first where a unit is linear over all boundaries: their gradient is zero but for
    rounding. Adam makes whole steps of that.
    """
    if name.startswith("heads.tree.point.") and name.endswith(".bias"):
        return weights[name][:0]
    return weights[name][:-1] if name == "heads.tree.biaffine" else weights[name]


def test_a_run_of_one_process_goes_on_in_two(config: Path, folder: Path, whole: Path) -> None:
    out = folder / "wider"
    list(islice(run_training(read_settings(config), out), 4))
    ends = run_pair(fencepost, *command(config, out, "--resume"))
    assert [status for status, *_ in ends] == [0, 0]
    assert ends[0][1].startswith("epoch ")
    assert ends[1][1:] == ("", "")
    same_runs(out, whole)


def test_one_that_is_killed_ends_the_other_and_one_process_goes_on(
    config: Path, folder: Path, whole: Path
) -> None:
    out = folder / "narrower"
    processes = started(fencepost, command(config, out), command(config, out))
    wait_for_steps(out, 3)
    processes[1].process.kill()
    began = time.monotonic()
    (status, _, told), (killed, *_) = ended(processes)
    assert (status, killed) == (2, -signal.SIGKILL)
    assert time.monotonic() - began < 60
    assert told.count("fencepost: another process of this run has ended") == 1
    assert "Traceback" not in told
    assert len(read_epochs(out)) < 6
    list(run_training(read_settings(config), out, resume=True))
    same_runs(out, whole)


def test_accelerate_ends_if_a_process_is_killed_and_launched_again_does_what_one_process_does(
    config: Path, folder: Path, whole: Path
) -> None:
    out = folder / "launched"
    launcher = launch(*command(config, out))
    wait_for_steps(out, 3)
    workers = psutil.Process(launcher.process.pid).children(recursive=True)
    (main,) = (worker for worker in workers if worker.environ().get("RANK") == "0")
    main.kill()
    status, *_ = launcher.ended(60)
    assert status not in (0, -signal.SIGKILL)  # it neither went on nor hung
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert alive == []
    rest = 6 - len(read_epochs(out))
    assert rest > 0
    status, printed, told = launch(*command(config, out, "--resume")).ended()
    assert (status, told) == (0, "")
    *lines, where, _ = printed.splitlines()
    assert where.startswith(f"{out}/model: dev ")
    lines = [line[:8] for line in lines]
    assert len(lines) >= rest  # perhaps once more an epoch of which there was no checkpoint yet
    assert lines == [f"epoch {n}:" for n in range(1, 7)][-len(lines) :]
    same_runs(out, whole)
    assert {path.name for path in out.iterdir()} == {path.name for path in whole.iterdir()}
    newest = max(out.glob("checkpoint-*"))
    assert len(json.loads((newest / "state.json").read_text())["random_of_others"]) == 1


def wait_for_steps(out: Path, steps: int) -> None:
    """Until there is a checkpoint after so many steps."""
    until = time.monotonic() + SECONDS
    while max((int(path.name[-8:]) for path in out.glob("checkpoint-*")), default=0) < steps:
        assert time.monotonic() < until
        time.sleep(0.001)


def test_seeds_are_run_together_too(config: Path, folder: Path) -> None:
    out = folder / "seeds"
    short = ("--set", "training.epochs=1", "--seeds", "2")
    ends = run_pair(fencepost, *command(config, out, *short))
    assert [status for status, *_ in ends] == [0, 0]
    assert ends[1][1:] == ("", "")
    assert sorted(path.name for path in out.iterdir()) == ["seed-1", "seed-2", "summary.json"]
    ends = run_pair(fencepost, *command(config, out, *short, "--resume", "--quiet"))
    assert [status for status, *_ in ends] == [0, 0]
    assert ends[0][1].count("tree") == 2, "in the table, and of the best model"
    assert ends[1][1:] == ("", "")


class TestErrors:
    def told_once(self, ends: list[tuple[int | None, str, str]], text: str) -> None:
        assert [status for status, *_ in ends] == [2, 2]
        assert [output for _, output, _ in ends] == ["", ""]
        assert ends[0][2].startswith("fencepost: ")
        assert ends[0][2].count(text) == 1
        assert "Traceback" not in ends[0][2]
        assert ends[1][2] == ""

    def test_of_settings(self, config: Path, tmp_path: Path) -> None:
        ends = run_pair(fencepost, *command(config, tmp_path / "run", "--set", "training.epoch=1"))
        self.told_once(ends, "training.epoch: no such setting; did you mean training.epochs?")

    def test_of_the_folder(self, config: Path, whole: Path) -> None:
        self.told_once(run_pair(fencepost, *command(config, whole)), "this folder is not empty")

    def test_of_other_settings_than_before(self, config: Path, whole: Path) -> None:
        ends = run_pair(
            fencepost, *command(config, whole, "--resume", "--set", "training.rate=0.5")
        )
        self.told_once(ends, "training.rate: 0.0025 then, 0.5 now")

    def test_of_a_device_that_cannot_be_shared(self, config: Path, tmp_path: Path) -> None:
        device = ("--set", "training.device=cuda:1")
        ends = run_pair(fencepost, *command(config, tmp_path / "run", *device))
        self.told_once(ends, "training.device: 'cuda:1' is one device")

    def test_of_one_process_alone(self, config: Path, tmp_path: Path) -> None:
        """The other machine lacks a file, say."""
        elsewhere = shutil.copy(config, tmp_path / "elsewhere.toml")
        gone = tmp_path / "gone.jsonl"
        text = config.read_text()
        Path(elsewhere).write_text(text.replace(text.split('"')[1], str(gone), 1))
        out = tmp_path / "run"
        ends = ended(started(fencepost, command(config, out), command(Path(elsewhere), out)))
        self.told_once(ends, str(gone))

    def test_of_a_precision_that_the_processor_has_not(self, config: Path, tmp_path: Path) -> None:
        try:
            accelerator_for("cpu", "bf16")
        except ConfigError:
            pass
        else:
            pytest.skip("this processor can run an LSTM in bf16")
        precision = ("--set", "training.precision=bf16")
        ends = run_pair(fencepost, *command(config, tmp_path / "run", *precision))
        self.told_once(ends, "training.precision: bf16 cannot be used on cpu, use fp32")


def test_processes_that_accelerate_did_not_start_are_missed(config: Path, folder: Path) -> None:
    short = command(config, folder / "alone", "--set", "training.epochs=1")
    alone = start(
        accelerate_launch, *("--cpu", "--num_processes", "2"), *("-m", "fencepost", *short)
    )
    status, _, told = alone.ended()
    assert status == 0
    assert "note: accelerate launch has started one process only" in told
