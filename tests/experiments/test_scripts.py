"""The scripts of the paper's tables and figures, on a few sentences of our own."""

import json
import shutil
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
from experiments.running import Plan, Run, run
from experiments.systems.pointing import Pointing
from experiments.table5 import cut
from experiments.tables import difference_table
from fencepost.batching.examples import Example
from fencepost.batching.inputs import Inputs
from fencepost.checkpoints.trainable import TrainableModel
from fencepost.errors import ConfigError, DataError
from fencepost.formats import ParseReader
from fencepost.model.network import Network
from fencepost.run.prepare import CORPORA
from fencepost.scoring.bootstrap import Difference
from fencepost.structure import Parse, Sentence, Span, Tree
from fencepost.training.loop import Recipe
from tests.eight import LINES
from tests.shared import SHARED, needs_shared_data

Script = Callable[..., str]
SMALL = tuple(change for change in QUICK if not change.startswith("training.epochs"))


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
    assert "dev, last" in told
    folder = tmp_path / "runs/quick/gum-trees/chart/seed-1"
    result = json.loads((folder / "result.json").read_text())
    assert (result["seed"], result["train_sentences"], result["epochs"]) == (1, 8, 1)
    assert (result["part"], result["weights"]) == ("dev", "last")
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
    """Our way, until somebody stops it after some batches."""

    def __init__(self, batches: int = 2) -> None:
        self.batches = batches

    def losses(
        self, network: Network, batch: Sequence[Example], inputs: Inputs, recipe: Recipe
    ) -> dict[str, Tensor]:
        if not self.batches:
            raise KeyboardInterrupt
        self.batches -= 1
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


@pytest.fixture
def bought(tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the paper's settings, and our sentences where its corpora would be."""
    (tmp_path / "configs").symlink_to(Path(__file__).parents[2] / PAPER)
    folder = tmp_path / "data/ptb"
    folder.mkdir(parents=True)
    for part, sentences in (("train", 8), ("dev", 7), ("test", 5)):
        (folder / f"{part}.ptb").write_text("".join(f"{tree}\n" for tree, _ in LINES[:sentences]))
    monkeypatch.chdir(tmp_path)
    return folder


class Scripted(Stopped):
    """Parses dev without a mistake after some epochs, and badly after the others."""

    def __init__(self, *rights: bool, dev: Path, batches: int = 100) -> None:
        super().__init__(batches)
        self.rights = list(rights)
        self.gold = {parse.words: parse for parse in ParseReader(dev)}
        self.weights: list[dict[str, Tensor]] = []  # after each epoch

    def predict(self, model: TrainableModel, sentences: Sequence[Sentence]) -> list[Parse]:
        if not self.rights:
            return super().predict(model, sentences)
        weights = model.network.state_dict()
        self.weights.append({name: value.clone() for name, value in weights.items()})
        if self.rights.pop(0):
            return [self.gold[sentence.words] for sentence in sentences]
        return [Parse(one, tree=Tree(one, (Span(0, len(one), "X"),))) for one in sentences]


def run_bought(system: Pointing, out: Path, *, epochs: int) -> Run:
    options = arguments("").parse_args(["--quick", "--quiet", "--out", str(out)])
    changes = (f"training.epochs={epochs}", "heads.tree.mlp=16", "heads.tree.decoder=16")
    return run(Plan("ptb", changes=changes, system=system), 1, options)


def test_on_a_corpus_of_the_paper_three_seeds_are_scored_on_test(
    script: Script, bought: Path, tmp_path: Path
) -> None:
    told = script("table2", "--corpora", "ptb", "--systems", "pointing", "chart")
    rows = [line.split() for line in told.splitlines() if line.startswith("ptb, ") and "±" in line]
    assert [row[1] for row in rows] == ["pointing", "chart"]
    assert all("test, best dev epoch 1 2 3" in " ".join(row) for row in rows)
    folder = tmp_path / "runs/quick/ptb/pointing/seed-3"
    result = json.loads((folder / "result.json").read_text())
    assert (result["part"], result["weights"]) == ("test", "best dev epoch")
    assert (result["best_epoch"], result["dev_sentences"]) == (1, 7)
    assert result["scores"]["tree"]["sentences"] == 5
    assert len((folder / "predicted.jsonl").read_text().splitlines()) == 5


def test_other_seeds_can_be_had(script: Script, bought: Path, tmp_path: Path) -> None:
    script("table3", "--corpora", "ptb", "--systems", "pointing", "--seeds", "4")
    folder = tmp_path / "runs/quick/ptb/pointing"
    assert [path.name for path in folder.iterdir()] == ["seed-4"]


def test_the_best_dev_epoch_is_scored_and_of_equal_ones_the_later(
    bought: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.corpora.QUICK", SMALL)
    system = Scripted(False, True, True, False, dev=bought / "dev.ptb")
    done = run_bought(system, tmp_path / "runs", epochs=4)
    assert (done.result.best_epoch, done.result.best_dev) == (3, 100.0)
    found = done.model()
    for name, value in found.network.state_dict().items():
        assert value.equal(system.weights[2][name])
    plain = [Sentence(parse.words) for parse in done.gold()]
    assert [one.tree for one in Pointing().predict(found, plain)] == [
        one.tree for one in done.predicted()
    ]


def test_the_best_dev_epoch_outlives_a_stop(
    bought: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.corpora.QUICK", SMALL)
    dev, one, two = bought / "dev.ptb", tmp_path / "one", tmp_path / "two"
    with pytest.raises(KeyboardInterrupt):
        run_bought(Scripted(False, True, dev=dev, batches=2), one, epochs=3)  # a batch an epoch
    stopped = run_bought(Scripted(False, dev=dev), one, epochs=3)
    whole = run_bought(Scripted(False, True, False, dev=dev), two, epochs=3)
    assert stopped.result.best_epoch == whole.result.best_epoch == 2
    for name in ("weights.safetensors", "predicted.jsonl"):
        assert (stopped.folder / name).read_bytes() == (whole.folder / name).read_bytes()
    assert stopped.result.scores == whole.result.scores


def test_a_run_from_the_start_takes_no_weights_from_another(bought: Path, tmp_path: Path) -> None:
    dev, out = bought / "dev.ptb", tmp_path / "runs"
    first = run_bought(Scripted(True, dev=dev), out, epochs=1)
    assert first.result.best_dev == 100
    (first.folder / "result.json").unlink()
    for path in first.folder.glob("checkpoint-*"):
        shutil.rmtree(path)
    second = run_bought(Scripted(False, dev=dev), out, epochs=1)
    assert second.result.best_dev == 0


def test_without_the_test_part_it_is_said_how_to_make_it(
    script: Script, bought: Path, tmp_path: Path
) -> None:
    (bought / "test.ptb").unlink()
    with pytest.raises(
        ConfigError, match=r"ptb/test\.ptb: .* fencepost prepare ptb SOURCE -o data/ptb$"
    ):
        script("table2", "--corpora", "ptb")
    with pytest.raises(
        ConfigError, match=r"prepare ctb7 SOURCE -o data/ctb7 --train IDS --dev IDS"
    ):
        script("table3", "--corpora", "ctb7")
    assert not (tmp_path / "runs").exists()


def test_a_part_without_sentences_is_refused_before_training(script: Script, bought: Path) -> None:
    (bought / "test.ptb").write_text("")
    with pytest.raises(DataError, match=r"data/ptb/test\.ptb: no sentence to score"):
        script("table2", "--corpora", "ptb")


def test_only_corpora_of_the_paper_are_scored_on_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    options = arguments("").parse_args([])
    names = {path.stem for folder in (OPEN, PAPER) for path in folder.glob("*.toml")}
    assert {name for name in names if chosen(name, options).part == "test"} == set(CORPORA)


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
