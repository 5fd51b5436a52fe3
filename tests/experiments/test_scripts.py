"""The scripts of the paper's tables and figures, on a few sentences of our own."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from experiments import report
from experiments.commands import arguments, command_line, commit, start
from experiments.corpora import OPEN, PAPER, QUICK, check_encoder, chosen
from experiments.keeping import RESULTS
from experiments.running import Plan, run
from experiments.systems.pointing import Pointing
from experiments.table5 import cut
from experiments.tables import difference_table
from fencepost.batching.examples import Example
from fencepost.batching.inputs import Inputs
from fencepost.errors import ConfigError
from fencepost.model.network import Network
from fencepost.scoring.bootstrap import Difference
from fencepost.structure import Sentence
from fencepost.training.loop import Recipe
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
    folder = tmp_path / "data/gum/ner"
    folder.mkdir()
    sentence = {"tokens": ["The", "museum", "in", "Bergen"], "entities": [[0, 4, "X"], [3, 4, "Y"]]}
    for part in ("train", "dev"):
        (folder / f"{part}.jsonl").write_text(8 * f"{json.dumps(sentence)}\n")
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
    folder = tmp_path / "runs/quick/gum-trees/chart/seed-1"
    result = json.loads((folder / "result.json").read_text())
    assert (result["seed"], result["train_sentences"], result["epochs"]) == (1, 8, 1)
    assert 0 <= result["scores"]["tree"]["f1"] <= 100
    assert len((folder / "predicted.jsonl").read_text().splitlines()) == 8


def test_a_finished_run_is_not_done_again(script: Script, data: Path, tmp_path: Path) -> None:
    first = script("loss", "--data", str(data), "--corpora", "gum-trees")
    weights = tmp_path / "runs/quick/gum-trees/pointing/seed-1/weights.safetensors"
    then = weights.stat().st_mtime_ns
    assert script("loss", "--data", str(data), "--corpora", "gum-trees") == first
    assert weights.stat().st_mtime_ns == then


def test_the_previous_label_is_tried_on_trees(script: Script, data: Path) -> None:
    told = script("previous_label", "--data", str(data), "--corpora", "gum-trees")
    assert "gum-trees, previous-label " in told


def test_table_4_compares_with_a_classifier_of_spans(script: Script, data: Path) -> None:
    told = script("table4", "--data", str(data), "--corpora", "gum-entities")
    for name in ("pointing", "no-previous-label", "classifier"):
        assert f"gum-entities, {name} " in told


def test_heads_are_compared_with_a_chart(script: Script, data: Path) -> None:
    told = script("heads", "--data", str(data), "--systems", "beyond", "chart-authors")
    assert "gum-trees, beyond " in told
    assert "beam 4" in told
    assert "beyond - chart-authors" in told


class Stopped(Pointing):
    """Our way, until somebody stops it in the middle."""

    def __init__(self) -> None:
        self.batches = 0

    def losses(
        self, network: Network, batch: Sequence[Example], inputs: Inputs, recipe: Recipe
    ) -> dict[str, Tensor]:
        self.batches += 1
        if self.batches > 2:
            raise KeyboardInterrupt
        return super().losses(network, batch, inputs, recipe)


def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    small = (*QUICK, "training.batch_words=1", "training.checkpoint_seconds=0")
    monkeypatch.setattr("experiments.corpora.QUICK", small)
    told = ["--quick", "--quiet", "--data", str(data), "--out"]
    one = arguments("").parse_args([*told, str(tmp_path / "one")])
    two = arguments("").parse_args([*told, str(tmp_path / "two")])
    with pytest.raises(KeyboardInterrupt):
        run(Plan("gum-trees", system=Stopped()), 1, one)
    stopped, whole = (run(Plan("gum-trees"), 1, options) for options in (one, two))
    assert list(stopped.folder.glob("checkpoint-*"))
    for name in ("weights.safetensors", "predicted.jsonl"):
        assert (stopped.folder / name).read_bytes() == (whole.folder / name).read_bytes()
    assert stopped.result.scores == whole.result.scores


def test_a_trial_leaves_the_folders_of_real_runs_alone(
    script: Script, data: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "runs/gum-trees/pointing/seed-1"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text('{"seed": 1}')  # of a run that is under way
    script("table3", "--data", str(data), "--corpora", "gum-trees", "--systems", "pointing")
    assert [path.name for path in folder.iterdir()] == ["settings.json"]


def test_table_5_times_all_systems(script: Script, data: Path) -> None:
    told = script("table5", "--data", str(data), "--corpora", "gum-trees-words")
    rows = {line.split()[0]: line.split()[1:] for line in told.splitlines() if line}
    assert rows.keys() >= {"pointing", "splitting", "chart"}
    assert "n = 10" in told


def test_words_are_cut_into_sentences_of_one_length() -> None:
    found = cut([Sentence(("a", "b", "c")), Sentence(("d", "e"))], 2)
    assert [sentence.words for sentence in found] == [("a", "b"), ("c", "d")]


def test_no_share_of_samples_is_told_as_none() -> None:
    told = difference_table([("one", "other", Difference(1.0, 0.5, 1.5, 0.0, 10_000))])
    assert "< 0.0001" in told
    assert "0.0000" not in told


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
    assert "<svg" in (tmp_path / "runs/quick/steps-gum-trees.svg").read_text()


@pytest.mark.slow
@needs_shared_data
def test_figure_4_runs_on_the_real_corpus(script: Script, tmp_path: Path) -> None:
    told = script("figure4", "--data", str(SHARED), "--systems", "pointing", "splitting")
    assert "gold spans" in told
    assert "<svg" in (tmp_path / "runs/quick/figure4-gum-trees.svg").read_text()


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
    settings = chosen("x", options).settings  # to count its steps, none is needed
    with pytest.raises(ConfigError, match=r"python -m experiments\.encoder"):
        check_encoder(settings)


def test_a_corpus_without_settings_is_refused() -> None:
    options = arguments("", corpora=("x",)).parse_args([])
    with pytest.raises(ConfigError, match="nothing: no such settings in experiments/configs"):
        chosen("nothing", options)


def test_an_error_of_the_user_is_told_as_text(
    script: Script, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def main() -> None:
        script("table3", "--data", str(tmp_path / "nowhere"))

    with pytest.raises(SystemExit) as ended:
        start(main)
    assert ended.value.code == 2
    assert "nowhere/zh/const/train.ptb" in capsys.readouterr().err


def test_the_command_that_is_kept_names_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    given = ["--seeds", "1", "2", "--out", "/somewhere", "--data=/elsewhere", "--keep", "--quiet"]
    monkeypatch.setattr(sys, "argv", ["x.py", *given])
    assert command_line().endswith(" --seeds 1 2")


def test_the_commit_is_that_of_the_code_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments("")
    before = commit()
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("it may have moved on"))
    assert commit() == before


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
