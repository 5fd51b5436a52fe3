"""The scripts of the paper's tables and figures, on a few sentences of our own."""

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from experiments import report
from experiments.commands import arguments, command_line
from experiments.corpora import OPEN, PAPER, chosen
from experiments.keeping import RESULTS
from fencepost.errors import ConfigError
from tests.eight import LINES
from tests.shared import SHARED, needs_shared_data

Script = Callable[..., str]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Our eight sentences where the corpora would be."""
    trees = "".join(f"{tree}\n" for tree, _ in LINES)
    for language in ("gum", "genia", "zh", "is"):
        folder = tmp_path / "data" / language / "const"
        folder.mkdir(parents=True)
        for part in ("train", "dev"):
            (folder / f"{part}.ptb").write_text(trees)
    return tmp_path / "data"


@pytest.fixture
def script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Script:
    """Calls a script as from the command line, in the project's folder."""
    monkeypatch.chdir(Path(__file__).parents[2])

    def call(name: str, *words: str) -> str:
        given = [name, "--quick", "--out", str(tmp_path / "runs"), *words]
        monkeypatch.setattr(sys, "argv", given)
        import_module(f"experiments.{name}").main()
        return capsys.readouterr().out

    return call


def test_table_2_trains_three_systems_and_compares_them(
    script: Script, data: Path, tmp_path: Path
) -> None:
    told = script("table2", "--data", str(data), "--seeds", "1")
    for name in ("pointing", "splitting", "chart"):
        assert f"gum-trees, {name} " in told
    assert "pointing - splitting" in told
    folder = tmp_path / "runs/gum-trees/chart/seed-1"
    result = json.loads((folder / "result.json").read_text())
    assert (result["seed"], result["train_sentences"], result["epochs"]) == (1, 8, 1)
    assert 0 <= result["scores"]["tree"]["f1"] <= 100
    assert len((folder / "predicted.jsonl").read_text().splitlines()) == 8


def test_a_finished_run_is_not_done_again(script: Script, data: Path, tmp_path: Path) -> None:
    first = script("loss", "--data", str(data), "--corpora", "gum-trees")
    weights = tmp_path / "runs/gum-trees/pointing/seed-1/weights.safetensors"
    then = weights.stat().st_mtime_ns
    assert script("loss", "--data", str(data), "--corpora", "gum-trees") == first
    assert weights.stat().st_mtime_ns == then


def test_a_trial_keeps_nothing_for_the_documentation(script: Script, data: Path) -> None:
    before = sorted(RESULTS.glob("*"))
    script("figures6_7", "--data", str(data), "--corpora", "sinica", "--keep")
    assert sorted(RESULTS.glob("*")) == before


def test_steps_are_counted_and_drawn(script: Script, data: Path, tmp_path: Path) -> None:
    told = script("figures6_7", "--data", str(data), "--corpora", "gum-trees")
    row = next(line for line in told.splitlines() if line.startswith("gum-trees"))
    words = sum(len(tree.split()) for tree, _ in LINES)  # tags and labels among them
    _, sentences, counted, steps, a_word, _ = row.split()
    assert int(sentences) == 8
    assert int(counted) < words
    assert float(a_word) == round(int(steps) / int(counted), 2)
    assert "<svg" in (tmp_path / "runs/steps-gum-trees.svg").read_text()


@pytest.mark.slow
@needs_shared_data
def test_figure_4_runs_on_the_real_corpus(script: Script, tmp_path: Path) -> None:
    told = script("figure4", "--data", str(SHARED), "--systems", "pointing", "splitting")
    assert "gold spans" in told
    assert "<svg" in (tmp_path / "runs/figure4-gum-trees.svg").read_text()


@pytest.mark.parametrize("path", [*OPEN.glob("*.toml"), *PAPER.glob("*.toml")], ids=str)
def test_all_settings_can_be_made_small(path: Path) -> None:
    options = arguments("", corpora=("x",)).parse_args(["--quick", "--data", "elsewhere"])
    found = chosen(path.stem, options)
    assert found.settings.network.encoder.kind == "words"
    assert found.settings.training.epochs == 1
    files = [corpus.path for corpus in (*found.settings.data.train, *found.settings.data.dev)]
    assert not any("shared" in name for name in files)


def test_without_the_encoder_it_is_said_how_to_make_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("experiments.corpora.ENCODER", Path("nowhere"))
    path = tmp_path / "x.toml"
    text = (OPEN / "gum-trees.toml").read_text().replace("runs/experiments/encoder", "nowhere")
    path.write_text(text)
    monkeypatch.setattr("experiments.corpora.OPEN", tmp_path)
    options = arguments("", corpora=("x",)).parse_args([])
    with pytest.raises(ConfigError, match=r"python -m experiments\.encoder"):
        chosen("x", options)


def test_the_command_that_is_kept_names_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys, "argv", ["x.py", "--seeds", "1", "2", "--out", "/somewhere", "--keep", "--quiet"]
    )
    assert command_line().endswith(" --seeds 1 2")


def test_the_page_of_experiments_has_the_figures_that_were_kept() -> None:
    assert report.PAGE.read_text(encoding="utf-8") == report.page()


def test_every_result_says_where_it_comes_from() -> None:
    paths = sorted(RESULTS.glob("*.json"))
    assert paths
    for path in paths:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        assert data["command"].startswith("python -m experiments."), path
        assert len(data["commit"]) == 7, path  # and so no plus: nothing had been changed
        assert data["date"], path
