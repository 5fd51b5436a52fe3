from pathlib import Path

from fencepost.run.metrics import add_epoch, best_epoch, read_epochs
from tests.run.test_picture import epochs


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


def test_of_epochs_that_are_as_good_the_last_is_kept() -> None:
    assert best_epoch(epochs(1.0, 3.0, 3.0, 2.0)).epoch == 3
