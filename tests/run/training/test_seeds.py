import json
from pathlib import Path

import pytest

from fencepost.errors import ConfigError
from fencepost.run.training.metrics import Epoch
from fencepost.run.training.seeds import Seed, Spread, Summary, run_seeds, summarise
from fencepost.run.training.train import Finished
from tests.eight import settings, write_eight
from tests.run.training.test_picture import epochs


def test_mean_and_spread_are_told_by_head() -> None:
    best = epochs(60.0, 62.0, 64.0)
    assert summarise([1, 2, 3], best).heads["tree"] == Spread((60.0, 62.0, 64.0), 62.0, 2.0)
    assert summarise([1], best[:1]).heads["tags"].spread == 0


def test_each_seed_has_its_folder_and_finished_ones_are_not_run_again(tmp_path: Path) -> None:
    data = write_eight(tmp_path / "data.jsonl")
    chosen = settings(data, {"tags": {}}, epochs=2, threads=1)
    out = tmp_path / "out"
    run = run_seeds(chosen, out, count=2)
    for event in run:
        if event == Seed(2, 1, False):
            break  # between two seeds
    with pytest.raises(ConfigError, match="--resume"):
        next(run_seeds(chosen, out, count=2))
    *events, summary, end = run_seeds(chosen, out, count=2, resume=True)
    assert [event for event in events if isinstance(event, Seed)] == [
        Seed(1, 0, True),
        Seed(2, 1, False),
    ]
    assert len([event for event in events if isinstance(event, Epoch)]) == 2
    assert isinstance(summary, Summary)
    assert summary.seeds == (1, 2)
    assert isinstance(end, Finished)
    best = max((1, 2), key=lambda seed: summary.heads["tags"].figures[seed - 1])
    assert end.model == out / f"seed-{best}/model"
    assert sorted(path.name for path in out.iterdir()) == ["seed-1", "seed-2", "summary.json"]
    written = json.loads((out / "summary.json").read_text())
    assert written["heads"]["tags"]["mean"] == pytest.approx(summary.heads["tags"].mean)
    cards = [(out / f"seed-{seed}/model/README.md").read_text() for seed in (1, 2)]
    assert ["seed 1" in cards[0], "seed 2" in cards[1]] == [True, True]
