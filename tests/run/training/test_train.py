"""Runs of training: where they start from, and what they leave."""

import json
import shutil
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from fencepost.checkpoints.trainable import load_trainable
from fencepost.config import Corpus, DataSettings, Settings, checked
from fencepost.errors import ConfigError, FencepostError, ModelError
from fencepost.run.training.corpora import read_corpora
from fencepost.run.training.metrics import Epoch, read_epochs
from fencepost.run.training.train import Finished, Note, run_training
from fencepost.structure import Tree
from fencepost.tasks.labels import NO_LABELS
from fencepost.training.loop import TrainingStep
from tests.eight import LINES, settings, write_eight


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_eight(tmp_path / "data.jsonl")


def events_of(settings: Settings, out: Path) -> tuple[list[Epoch], list[str]]:
    """The epochs of a run and its notes."""
    events = list(run_training(settings, out))
    return (
        [event for event in events if isinstance(event, Epoch)],
        [event.text for event in events if isinstance(event, Note)],
    )


def test_a_run_leaves_a_model_its_figures_and_a_picture(data: Path, tmp_path: Path) -> None:
    epochs, notes = events_of(settings(data, {"tags": {}}, epochs=2), tmp_path / "run")
    assert notes == []
    names = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert [name for name in names if not name.startswith("checkpoint-")] == [
        "metrics.jsonl",
        "model",
        "settings.json",
        "training.png",
    ]
    assert read_epochs(tmp_path / "run") == epochs


def test_without_matplotlib_training_goes_on(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    epochs, notes = events_of(settings(data, {"tags": {}}, epochs=3), tmp_path / "run")
    assert len(epochs) == 3
    assert notes == ["training.png is left out; pip install 'fencepost[train]' would draw it"]


def test_a_file_is_no_folder_for_a_run(data: Path) -> None:
    with pytest.raises(ConfigError, match="no folder for a run: Not a directory"):
        next(run_training(settings(data, {"tags": {}}), data / "run"))


@pytest.mark.usefixtures("without_pictures")
def test_a_run_that_fails_before_it_trains_does_not_block_the_corrected_one(
    data: Path, tmp_path: Path
) -> None:
    wrong = [settings(tmp_path / "nowhere.jsonl", {"tags": {}}, epochs=1)]
    wrong += [settings(data, {"tags": {}}, epochs=1, init="nowhere")]
    for chosen in wrong:
        with pytest.raises(FencepostError, match="there is no such"):
            list(run_training(chosen, tmp_path / "run"))
        assert not (tmp_path / "run").exists()
    run = run_training(settings(data, {"tags": {}}, epochs=9), tmp_path / "run")
    next(run)
    with pytest.raises(ConfigError, match="pass --resume"):  # one at a time
        next(run_training(settings(data, {"tags": {}}, epochs=1), tmp_path / "run"))
    assert isinstance(run, Generator)
    with pytest.raises(KeyboardInterrupt):
        run.throw(KeyboardInterrupt)
    epochs, _ = events_of(settings(data, {"tags": {}}, epochs=1), tmp_path / "run")
    assert len(epochs) == 1
    late = settings(data, {"tags": {}}, epochs=1, init="nowhere")
    with pytest.raises(ConfigError, match="begun with other settings"):
        next(run_training(late, tmp_path / "run", resume=True))
    assert (tmp_path / "run/settings.json").exists()


@pytest.mark.usefixtures("without_pictures")
def test_half_precision_learns_too(data: Path, tmp_path: Path) -> None:
    chosen = settings(data, {"tree": {}, "tags": {}}, epochs=8, precision="bf16")
    try:
        epochs, _ = events_of(chosen, tmp_path / "run")
    except ConfigError:
        pytest.skip("this processor cannot run an LSTM in bf16")
    assert epochs[-1].loss < epochs[0].loss
    weights = load_trainable(tmp_path / "run/model").network.state_dict()
    assert {value.dtype for value in weights.values()} == {torch.float32}


@pytest.mark.usefixtures("without_pictures")
class TestFineTuning:
    def test_starts_where_the_other_model_ended(self, data: Path, tmp_path: Path) -> None:
        heads: dict[str, Any] = {"tree": {}, "tags": {}}
        first, _ = events_of(settings(data, heads, epochs=8, rate=1e-2), tmp_path / "first")
        best = max(first, key=lambda e: (e.mean, e.epoch))
        assert best.mean > first[0].mean
        chosen = settings(data, heads, epochs=1, rate=1e-9, init=str(tmp_path / "first/model"))
        (epoch,), notes = events_of(chosen, tmp_path / "second")
        assert notes == []
        assert epoch.dev == best.dev

    def test_tells_what_is_new_and_what_is_left_behind(self, data: Path, tmp_path: Path) -> None:
        events_of(settings(data, {"entities": {}, "tags": {}}, epochs=1), tmp_path / "first")
        words, spans = LINES[0][0].replace("cat", "emu"), [[0, 2, "bird"]]
        other = write_eight(tmp_path / "other.jsonl", [(words, spans)])
        chosen = settings(other, {"entities": {}}, epochs=1, init=str(tmp_path / "first/model"))
        _, notes = events_of(chosen, tmp_path / "second")
        where = f"{tmp_path}/first/model: "
        assert notes == [
            where + "the head entities begins anew, since it has no label in common",
            where + "the head tags is left behind",
        ]
        numbers = load_trainable(tmp_path / "second/model").numbers
        assert numbers.labels["entities"].names == ("bird",)
        assert numbers.words is not None
        assert numbers.words.items[-1] == "emu"
        assert "cat" in numbers.words.items

    def test_goes_on_after_a_stop(self, data: Path, tmp_path: Path) -> None:
        events_of(settings(data, {"tags": {}}, epochs=1), tmp_path / "first")
        init = str(tmp_path / "first/model")
        chosen = settings(data, {"tags": {}}, epochs=3, init=init, checkpoint_seconds=0)
        events_of(chosen, tmp_path / "whole")
        run = run_training(chosen, tmp_path / "stopped")
        for _ in range(3):
            next(run)
        list(run_training(chosen, tmp_path / "stopped", resume=True))
        same_weights(tmp_path / "whole/model", tmp_path / "stopped/model")

    def test_goes_on_with_other_corpora_and_other_labels(self, tmp_path: Path) -> None:
        tree = {"context": True, "grid": 4, "standing": True}
        heads: dict[str, Any] = {"tree": tree, "tags": {}}
        first = corpora_of(
            tmp_path,
            settings(tmp_path, heads, epochs=2, join={"share": 0.5}),
            {"a.ptb": {"rename": {"HEADING": "NP"}}, "b.ptb": {"sample": 0.5}},
        )
        events_of(first, tmp_path / "first")
        names = load_trainable(tmp_path / "first/model").numbers.labels["tree"].names
        assert set(names) == {"S", "NP", "NML", "VP", NO_LABELS}
        chosen = settings(
            tmp_path, heads, epochs=2, init=str(tmp_path / "first/model"), augment={"share": 0.5}
        )
        rule = {"label": "NP", "tags": ["WP"], "to": "WHNP"}
        second = corpora_of(
            tmp_path, chosen, {"b.ptb": {"sample": 1.5, "splice": ["NML"], "relabel": [rule]}}
        )
        _, notes = events_of(second, tmp_path / "second")
        where = f"{tmp_path}/first/model: "
        assert notes == [
            where + "labels of tags that are left behind: 1 (VBP); "
            'training.keep_labels = ["tags"] would keep them',
            where + "labels of tree that are new: 1 (WHNP)",
            where + "labels of tree that are left behind: 1 (NML); "
            'training.keep_labels = ["tree"] would keep them',
        ]
        names = load_trainable(tmp_path / "second/model").numbers.labels["tree"].names
        assert set(names) == {"S", "NP", "VP", "WHNP"}

    def test_needs_a_model(self, data: Path, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match="there is no such folder"):
            next(run_training(settings(data, {"tags": {}}, init="nowhere"), tmp_path / "run"))


TREES = {
    "a.ptb": "(S (HEADING-TTL (NN Oats)) (VP (VBP keep)) (. .))\n" * 9,
    "b.ptb": "(S (NP (WP Who)) (VP (VBD ate)) (. ?))\n"
    "(S (NP (NML (NN oat) (NN bran)) (NN tea)) (VP (VBZ is)) (. .))\n",
}


def corpora_of(folder: Path, chosen: Settings, corpora: dict[str, dict[str, Any]]) -> Settings:
    """Settings with other corpora to train on and to score with."""
    for name, text in TREES.items():
        (folder / name).write_text(text)
    data = chosen.model_dump(mode="json")
    train = [{"path": str(folder / name), **corpus} for name, corpus in corpora.items()]
    dev = [{key: value for key, value in one.items() if key != "sample"} for one in train]
    data["data"].update(train=train, dev=dev)
    return checked(Settings, data, where="test")


@pytest.mark.usefixtures("without_pictures")
def test_an_epoch_is_the_same_after_a_stop(tmp_path: Path) -> None:
    chosen = corpora_of(
        tmp_path,
        settings(
            tmp_path,
            {"tree": {}, "tags": {}},
            epochs=3,
            batch_words=5,
            checkpoint_seconds=0,
            join={"share": 0.3},
            augment={"share": 0.5},
        ),
        {"a.ptb": {"sample": 0.7, "rename": {"HEADING": "NP"}}, "b.ptb": {"sample": 1.5}},
    )
    steps = [
        event
        for event in run_training(chosen, tmp_path / "whole")
        if isinstance(event, TrainingStep)
    ]
    assert len(steps) > 6
    run = run_training(chosen, tmp_path / "stopped")
    for _ in range(4):
        next(run)
    later = [
        event
        for event in run_training(chosen, tmp_path / "stopped", resume=True)
        if isinstance(event, TrainingStep)
    ]
    told = [
        [(one.epoch, one.batch, one.batches, one.words, one.loss) for one in some]
        for some in (steps, later)
    ]
    assert told[0][-len(later) :] == told[1]
    same_weights(tmp_path / "whole/model", tmp_path / "stopped/model")


@pytest.mark.usefixtures("without_pictures")
def test_a_run_from_before_a_setting_was_there_goes_on(data: Path, tmp_path: Path) -> None:
    chosen = settings(data, {"tags": {}}, epochs=1)
    begun = run_training(chosen, tmp_path / "run")
    next(begun)
    path = tmp_path / "run/settings.json"
    before = json.loads(path.read_text())
    del before["training"]["augment"], before["data"]["train"][0]["splice"]
    path.write_text(json.dumps(before))
    assert list(run_training(chosen, tmp_path / "run", resume=True))
    before["data"]["train"][0]["weight"] = 2.0
    path.write_text(json.dumps(before))
    with pytest.raises(ConfigError, match=r"begun with other settings:\n  data\.train: "):
        next(run_training(chosen, tmp_path / "run", resume=True))


def same_weights(one: Path, other: Path) -> None:
    ours: dict[str, Tensor] = load_trainable(one).network.state_dict()
    theirs = load_trainable(other).network.state_dict()
    for name, value in ours.items():
        assert torch.equal(value, theirs[name]), name


@pytest.mark.usefixtures("without_pictures")
def test_the_layers_of_a_sentence_may_lie_in_two_files(tmp_path: Path) -> None:
    trees, entities = tmp_path / "trees.ptb", tmp_path / "entities.jsonl"
    trees.write_text("".join(f"{tree}\n" for tree, _ in LINES))
    lines = [{"words": Tree.from_brackets(tree).words, "entities": spans} for tree, spans in LINES]
    entities.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    both = {"path": str(trees), "also": str(entities)}
    chosen = settings(trees, {"tree": {}, "entities": {}}, epochs=1)
    data = checked(DataSettings, {"train": [both], "dev": [both]}, where="test")
    (epoch,), _ = events_of(chosen.model_copy(update={"data": data}), tmp_path / "run")
    assert set(epoch.dev) == {"tree", "entities"}


def test_sentences_are_skipped_by_their_ids(tmp_path: Path) -> None:
    path = tmp_path / "both.jsonl"
    lines = [
        {"id": id, "words": ["Hi"], "entities": []} for id in ("GUM_news_1-1", "GUM_essay_2-1")
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    def ids(*skip: str) -> list[str | None]:
        corpus = Corpus(path=str(path), skip=skip)
        data = DataSettings(train=(corpus,), dev=(corpus,))
        return [parse.id for _, parse in read_corpora([corpus], data)]

    assert ids() == ["GUM_news_1-1", "GUM_essay_2-1"]
    assert ids("GUM_essay_*") == ["GUM_news_1-1"]
    with pytest.raises(ConfigError, match=r"skip: no sentence has an id like 'GUM_esay_\*'"):
        ids("GUM_news_*", "GUM_esay_*")


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize("state", ["older", "damaged"])
def test_a_run_without_its_last_checkpoint_is_not_finished(
    data: Path, tmp_path: Path, state: str
) -> None:
    chosen = settings(data, {"tags": {}}, epochs=2, threads=1, checkpoint_seconds=0)
    list(run_training(chosen, tmp_path / "run"))
    newest = max((tmp_path / "run").glob("checkpoint-*"))
    if state == "older":
        shutil.rmtree(newest)
    else:
        (newest / "state.json").write_text("{")
    events = list(run_training(chosen, tmp_path / "run", resume=True))
    assert [event.epoch for event in events if isinstance(event, Epoch)] == [2]
    assert isinstance(events[-1], Finished)
    assert not events[-1].before
    assert newest.exists()
    (end,) = run_training(chosen, tmp_path / "run", resume=True)
    assert isinstance(end, Finished)
    assert end.before
