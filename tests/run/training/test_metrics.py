from pathlib import Path

import pytest

from fencepost.errors import TrainingError
from fencepost.run.training.metrics import NAME, Epoch, add_epoch, best_epoch, read_epochs
from fencepost.run.training.seeds import run_seeds
from fencepost.run.training.train import run_training
from tests.eight import settings, write_eight
from tests.run.training.test_picture import epochs


def test_epochs_come_back_as_they_were(tmp_path: Path) -> None:
    assert read_epochs(tmp_path) == []
    for epoch in epochs(1.0, 3.0, 2.0):
        add_epoch(tmp_path, epoch)
    assert read_epochs(tmp_path) == epochs(1.0, 3.0, 2.0)


def test_an_epoch_that_is_made_again_takes_the_place_of_the_first(tmp_path: Path) -> None:
    for epoch in epochs(1.0, 3.0, 2.0):
        add_epoch(tmp_path, epoch)
    again = epochs(1.0, 5.0)[1]
    assert add_epoch(tmp_path, again) == [epochs(1.0)[0], again]
    assert read_epochs(tmp_path) == [epochs(1.0)[0], again]


def test_an_epoch_is_made_again_in_a_file_that_does_not_begin_with_the_first(
    tmp_path: Path,
) -> None:
    _, second, third = epochs(1.0, 3.0, 2.0)
    for epoch in (second, third, third):
        add_epoch(tmp_path, epoch)
    assert read_epochs(tmp_path) == [second, third]


def test_of_epochs_that_are_as_good_the_last_is_kept() -> None:
    assert best_epoch(epochs(1.0, 3.0, 3.0, 2.0)).epoch == 3


def test_without_the_one_that_was_kept_the_best_of_the_others_is_told() -> None:
    assert best_epoch(epochs(9.0, 1.0, 3.0, 2.0)[1:]).epoch == 3
    with pytest.raises(TrainingError, match="tells of no epoch; remove the folder of this run"):
        best_epoch([])


GOOD = (
    b'{"epoch": 1, "loss": NaN, "seconds": 1.0, "words_per_second": 100.0, '
    b'"dev": {"tree": 50.0}, "mean": 50, "is_best": true, "skipped": 0}\n'
)


class TestDamaged:
    def test_what_is_no_number_may_be_a_loss(self, tmp_path: Path) -> None:
        (tmp_path / NAME).write_bytes(GOOD)
        (epoch,) = read_epochs(tmp_path)
        assert epoch.loss != epoch.loss
        assert (epoch.dev, epoch.mean, epoch.is_best) == ({"tree": 50.0}, 50.0, True)

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            (GOOD[:60] + b"\n", "Invalid JSON: EOF while parsing an object at column 60"),
            (b"\n", "Invalid JSON: EOF"),
            (b"[]\n", "Input should be an object"),
            (GOOD.replace(b"loss", b"lost"), "loss: Field required"),
            (GOOD.replace(b"{", b'{"x": 1, ', 1), "x: Unexpected keyword argument"),
            (GOOD.replace(b"tree", b"\xff"), "Invalid JSON: invalid unicode"),
            (GOOD.replace(b"true", b"1"), "is_best: Input should be a valid boolean"),
            (GOOD.replace(b"50.0", b'"50"'), "dev: tree: Input should be a valid number"),
            (GOOD.replace(b"50.0", b"9" * 5_000), "Invalid JSON: number out of range"),
            (b"[" * 10_000, "Invalid JSON: recursion limit"),
            (b"\0" * 100_000, "Invalid JSON"),
        ],
        ids=lambda value: value[:30],
    )
    def test_a_line_is_named_with_what_to_do(
        self, tmp_path: Path, line: bytes, message: str
    ) -> None:
        (tmp_path / NAME).write_bytes(GOOD + line + GOOD)
        with pytest.raises(
            TrainingError, match=rf"metrics\.jsonl:2: no record of an epoch: {message}.*--resume"
        ):
            read_epochs(tmp_path)

    def test_a_file_without_an_end_is_not_read_to_its_end(self, tmp_path: Path) -> None:
        (tmp_path / NAME).symlink_to("/dev/zero")
        with pytest.raises(TrainingError, match=r"metrics\.jsonl:1: no record"):
            read_epochs(tmp_path)

    def test_what_cannot_be_read_is_told(self, tmp_path: Path) -> None:
        (tmp_path / NAME).mkdir()
        with pytest.raises(TrainingError, match=r"metrics\.jsonl: cannot be read: Is a directory"):
            read_epochs(tmp_path)
        (tmp_path / "file").touch()
        assert read_epochs(tmp_path / "file") == []  # the folder of the run is told to be none

    def test_a_run_goes_on_once_the_file_is_away(self, tmp_path: Path) -> None:
        chosen = settings(write_eight(tmp_path / "x.jsonl"), {"tags": {}}, epochs=3, threads=1)
        out = tmp_path / "run"
        for event in run_training(chosen, out):
            if isinstance(event, Epoch):
                break
        (out / NAME).write_bytes((out / NAME).read_bytes()[:50])
        with pytest.raises(TrainingError, match=r"run/metrics\.jsonl:1: no record of an epoch"):
            list(run_training(chosen, out, resume=True))
        (out / NAME).rename(tmp_path / NAME)
        *_, last, _ = run_training(chosen, out, resume=True)
        assert last == read_epochs(out)[-1]
        assert [epoch.epoch for epoch in read_epochs(out)] == [2, 3]
        assert (out / "training.png").exists()

    def test_a_summary_of_seeds_says_which_is_missing(self, tmp_path: Path) -> None:
        chosen = settings(write_eight(tmp_path / "x.jsonl"), {"tags": {}}, epochs=1, threads=1)
        list(run_seeds(chosen, tmp_path / "runs", count=2))
        (tmp_path / "runs/seed-2" / NAME).write_text("{}\n")
        with pytest.raises(TrainingError, match=r"seed-2/metrics\.jsonl:1: no record"):
            list(run_seeds(chosen, tmp_path / "runs", count=2, resume=True))
        (tmp_path / "runs/seed-2" / NAME).unlink()
        with pytest.raises(TrainingError, match="tells of no epoch"):
            list(run_seeds(chosen, tmp_path / "runs", count=2, resume=True))
