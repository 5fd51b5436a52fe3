import pytest


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.run.training.train.draw_training", lambda *_: None)
