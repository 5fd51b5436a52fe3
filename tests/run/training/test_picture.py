import sys
from pathlib import Path

import pytest

from fencepost.run.training.metrics import Epoch
from fencepost.run.training.picture import draw_training

PNG = b"\x89PNG\r\n\x1a\n"


def epochs(*means: float) -> list[Epoch]:
    return [
        Epoch(
            number,
            1 / number,
            1.0,
            100.0,
            {"tree": mean, "tags": mean},
            mean,
            mean >= max(means[:number]),
            0,
        )
        for number, mean in enumerate(means, 1)
    ]


@pytest.mark.parametrize("means", [(50.0,), (50.0, 70.0, 60.0), (0.0, 0.0)])
def test_a_picture_is_drawn(tmp_path: Path, means: tuple[float, ...]) -> None:
    draw_training(epochs(*means), tmp_path / "training.png")
    assert (tmp_path / "training.png").read_bytes().startswith(PNG)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_loss_that_is_no_number_does_no_harm(tmp_path: Path) -> None:
    (one,) = epochs(50.0)
    lost = Epoch(2, float("nan"), 1.0, 1.0, one.dev, one.mean, True, 3)
    draw_training([one, lost], tmp_path / "training.png")


def test_without_matplotlib_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError):
        draw_training(epochs(50.0), tmp_path / "training.png")
    assert not list(tmp_path.iterdir())
