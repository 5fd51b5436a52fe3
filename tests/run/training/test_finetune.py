"""Fine-tuning without settings: what is chosen, what is left, and how it goes on."""

import json
import shutil
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch

import fencepost
from fencepost.checkpoints.trainable import load_trainable
from fencepost.config import read_table
from fencepost.errors import ConfigError, DataError
from fencepost.formats import read
from fencepost.run.training import finetune
from fencepost.run.training.finetune import NEW_HEAD, planned, recipe_for, run_finetuning, toml_text
from fencepost.run.training.metrics import Epoch, read_epochs
from fencepost.run.training.start import settings_of_run
from fencepost.run.training.train import Finished, run_training
from tests.eight import LINES, settings, write_eight

SMALL = ("training.epochs=2", "training.threads=1")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with three heads."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("base")
    heads: dict[str, Any] = {"tree": {}, "entities": {}, "tags": {}}
    data = write_eight(folder / "data.jsonl")
    list(run_training(settings(data, heads, epochs=1, threads=1), folder / "run"))
    return folder / "run/model"


def entities_of(path: Path, label: Any) -> Path:
    """The eight sentences with entities alone, their types changed."""
    trees = read(write_eight(path.with_name("eight.jsonl")))
    lines = [
        {"words": one.words, "entities": [[a, b, label(name)] for a, b, name in spans]}
        for one, (_, spans) in zip(trees, LINES, strict=True)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def run(data: Path, out: Path, base: Path, **options: Any) -> list[Any]:
    options = {"changes": SMALL, **options}
    chosen, _ = planned([str(data)], out, base=str(base), **options)
    return list(run_finetuning(chosen, out, resume=options.get("resume", False)))


@pytest.mark.usefixtures("without_pictures")
class TestRun:
    def test_other_types_get_a_head_of_their_own(self, base: Path, tmp_path: Path) -> None:
        data = entities_of(tmp_path / "data.jsonl", str.upper)
        *_, end = run(data, tmp_path / "new", base)
        assert isinstance(end, Finished)
        assert end.model == tmp_path / "new"
        model, before = load_trainable(tmp_path / "new"), load_trainable(base)
        assert set(model.numbers.labels["entities"].names) <= {
            "PERSON",
            "ANIMAL",
            "OBJECT",
            "PLACE",
        }
        entities = model.heads.entities
        assert entities is not None
        assert {name: getattr(entities, name) for name in NEW_HEAD} == NEW_HEAD
        assert entities.mlp == 48
        assert model.heads.tree == before.heads.tree
        assert model.numbers.labels["tree"] == before.numbers.labels["tree"]

    def test_known_types_keep_their_head(self, base: Path, tmp_path: Path) -> None:
        names = {"animal": "BEAST"}
        data = entities_of(tmp_path / "data.jsonl", lambda name: names.get(name, name))
        run(data, tmp_path / "new", base)
        model, before = load_trainable(tmp_path / "new"), load_trainable(base)
        assert model.heads.entities == before.heads.entities
        assert "BEAST" in model.numbers.labels["entities"].names

    def test_the_folder_is_a_model_with_its_run_inside(self, base: Path, tmp_path: Path) -> None:
        data = entities_of(tmp_path / "data.jsonl", str.upper)
        run(data, tmp_path / "new", base)
        assert {"config.json", "finetune.toml", "training"} <= {
            path.name for path in (tmp_path / "new").iterdir()
        }
        names = {path.name for path in (tmp_path / "new/training").iterdir()}
        assert names == {"metrics.jsonl", "settings.json"}, "no checkpoints"
        assert f"starting from {base}, on data.jsonl" in (tmp_path / "new/README.md").read_text()

    def test_the_licence_of_the_model_to_start_from_comes_along(
        self, base: Path, tmp_path: Path
    ) -> None:
        data = entities_of(tmp_path / "data.jsonl", str.upper)
        first = tmp_path / "first"
        shutil.copytree(base, first)
        (first / "LICENSE.md").write_text("Give credit.\n")
        run(data, tmp_path / "new", first)
        assert (tmp_path / "new/LICENSE.md").read_text() == "Give credit.\n"
        line = "LICENSE.md is the licence of the weights that training started from"
        assert line in (tmp_path / "new/README.md").read_text()
        fencepost.load(tmp_path / "new").save(tmp_path / "copy")
        assert (tmp_path / "copy/LICENSE.md").read_text() == "Give credit.\n"
        run(data, tmp_path / "without", base)
        assert not (tmp_path / "without/LICENSE.md").exists()
        assert "LICENSE" not in (tmp_path / "without/README.md").read_text()

    def test_train_does_the_same_with_the_settings_it_leaves(
        self, base: Path, tmp_path: Path
    ) -> None:
        data = entities_of(tmp_path / "data.jsonl", str.upper)
        run(data, tmp_path / "new", base)
        chosen = settings_of_run(tmp_path / "new/finetune.toml")
        list(run_training(chosen, tmp_path / "again"))
        assert same_weights(tmp_path / "new", tmp_path / "again/model")

    def test_goes_on_after_a_stop(self, base: Path, tmp_path: Path) -> None:
        data = entities_of(tmp_path / "data.jsonl", str.upper)
        changes = (*SMALL, "training.checkpoint_seconds=0", "training.batch_words=10")
        run(data, tmp_path / "whole", base, changes=changes)
        chosen, _ = planned([str(data)], tmp_path / "new", base=str(base), changes=changes)
        list(islice(run_finetuning(chosen, tmp_path / "new"), 5))
        with pytest.raises(ConfigError, match="pass --resume to go on"):
            run(data, tmp_path / "new", base, changes=changes)
        run(data, tmp_path / "new", base, changes=changes, resume=True)
        assert same_weights(tmp_path / "whole", tmp_path / "new")
        (end,) = run(data, tmp_path / "new", base, changes=changes, resume=True)
        assert end.before

    def test_what_fails_before_it_trains_does_not_block_what_is_corrected(
        self, base: Path, tmp_path: Path
    ) -> None:
        data = write_eight(tmp_path / "data.jsonl")
        with pytest.raises(DataError, match="there is no such file"):
            run(data, tmp_path / "new", base, dev=[str(tmp_path / "nowhere.jsonl")])
        assert not (tmp_path / "new").exists()
        *_, end = run(data, tmp_path / "new", base)
        assert isinstance(end, Finished)

    def test_dev_may_be_a_file(self, base: Path, tmp_path: Path) -> None:
        data = write_eight(tmp_path / "data.jsonl")
        run(data, tmp_path / "new", base, dev=[str(data)])
        assert read_table(tmp_path / "new/finetune.toml")["data"] == {
            "train": [{"path": str(data)}],
            "dev": [{"path": str(data)}],
        }
        assert set(read_epochs(tmp_path / "new/training")[0].dev) == {"tree", "entities", "tags"}

    def test_other_data_than_before_are_told_apart(self, base: Path, tmp_path: Path) -> None:
        data = write_eight(tmp_path / "data.jsonl")
        run(data, tmp_path / "new", base)
        before = (tmp_path / "new/finetune.toml").read_text()
        with pytest.raises(ConfigError, match=r"begun with other settings:\n  data\.train") as told:
            run(write_eight(tmp_path / "other.jsonl"), tmp_path / "new", base, resume=True)
        assert str(told.value).endswith(
            f"start anew from its model, pass -m {tmp_path / 'new'} and another folder: -o NEW."
        )
        assert (tmp_path / "new/finetune.toml").read_text() == before, "those of the run"


def same_weights(one: Path, other: Path) -> bool:
    before, after = (load_trainable(path).network.state_dict() for path in (one, other))
    return before.keys() == after.keys() and all(
        torch.equal(value, after[name]) for name, value in before.items()
    )


class TestPlan:
    def plan(self, base: Path, *data: Path, **options: Any) -> tuple[dict[str, Any], str]:
        chosen: dict[str, Any] = {
            "dev": (), "seed": 1, "reading": {}, "changes": (), **options
        }  # fmt: skip
        return finetune.chosen_settings([str(one) for one in data], base=str(base), **chosen)

    def test_labels_of_trees_and_tags_stay(self, base: Path, tmp_path: Path) -> None:
        table, told = self.plan(base, write_eight(tmp_path / "data.jsonl"))
        assert table["heads"] == {"tree": {}, "entities": {}, "tags": {}}
        assert table["training"]["keep_labels"] == ["tree", "tags"]
        assert table["data"]["hold_out"] == 0.1
        assert told == (
            "8 sentences, 29 words, with tree, entities, tags; 10.0% of them are held out for dev"
        )

    def test_several_files_are_one_corpus(self, base: Path, tmp_path: Path) -> None:
        trees = tmp_path / "trees.ptb"
        trees.write_text("".join(f"{tree}\n" for tree, _ in LINES))
        entities = entities_of(tmp_path / "data.jsonl", str.upper)
        table, _ = self.plan(base, trees, entities)
        assert table["heads"]["tree"] == {}
        assert table["heads"]["entities"]["grid"] == 100

    def test_a_head_that_the_model_does_not_have(self, tmp_path: Path) -> None:
        data = write_eight(tmp_path / "data.jsonl")
        list(run_training(settings(data, {"tags": {}}, epochs=1, threads=1), tmp_path / "run"))
        table, _ = self.plan(tmp_path / "run/model", data)
        assert table["heads"] == {
            "tree": {"mlp": 256, **NEW_HEAD}, "entities": {"mlp": 256, **NEW_HEAD}, "tags": {}
        }  # fmt: skip
        assert table["training"]["keep_labels"] == ["tags"]

    def test_settings_may_be_others(self, base: Path, tmp_path: Path) -> None:
        data = write_eight(tmp_path / "data.jsonl")
        changes = ("data.hold_out=0.3", "training.epochs=7", "network.dropout=0.1")
        table, told = self.plan(base, data, changes=changes)
        assert (table["data"]["hold_out"], table["training"]["epochs"]) == (0.3, 7)
        assert table["network"] == {"dropout": 0.1}
        assert told.endswith("30.0% of them are held out for dev")

    def test_how_files_are_read_is_said(self, base: Path, tmp_path: Path) -> None:
        path = tmp_path / "data.txt"
        path.write_text("Ann\tO\tB-PER\nsat\tO\tO\n\n" * 2)
        reading = {"format": "conll", "entity_columns": (2,)}
        table, told = self.plan(base, path, reading=reading)
        assert told.startswith("2 sentences, 4 words, with entities")
        assert table["heads"]["entities"]["grid"] == 100, "no type is known"

    def test_many_sentences_do_not_have_a_tenth_for_dev(
        self, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(finetune, "_MOST_DEV", 0.5)
        table, _ = self.plan(base, write_eight(tmp_path / "data.jsonl"))
        assert table["data"]["hold_out"] == 0.0625

    def test_without_layers_there_is_nothing_to_learn(self, base: Path, tmp_path: Path) -> None:
        path = tmp_path / "plain.jsonl"
        path.write_text('{"words": ["a"]}\n{"words": ["b"]}\n')
        with pytest.raises(DataError, match="no sentence has a tree, entities or tags"):
            self.plan(base, path)

    def test_few_words_are_seen_more_often(self) -> None:
        recipes = [recipe_for(words) for words in (0, 600, 26_000, 170_000, 5_000_000)]
        assert [recipe["epochs"] for recipe in recipes] == [30, 30, 6, 4, 4]
        assert [recipe["batch_words"] for recipe in recipes] == [100, 100, 400, 400, 600]
        assert [recipe["average"] for recipe in recipes] == [0.9, 0.9444, 0.9744, 0.9941, 0.998]

    def test_the_average_follows_the_steps_that_are_chosen(
        self, base: Path, tmp_path: Path
    ) -> None:
        recipes = [
            recipe_for(26_000, chosen=chosen)
            for chosen in ({}, {"epochs": 3}, {"batch_words": 800}, {"accumulate": 2}, 3)
        ]
        assert [one["average"] for one in recipes] == [0.9744, 0.9487, 0.9487, 0.9487, 0.9744]
        data = write_eight(tmp_path / "data.jsonl")
        table, _ = self.plan(base, data, changes=["training.epochs=1000"])
        assert table["training"]["average"] == 0.9655
        with pytest.raises(ConfigError, match=r"training\.epochs: "):
            run(data, tmp_path / "new", base, changes=["training.epochs=few"])


def test_settings_are_written_as_toml(tmp_path: Path) -> None:
    table = {
        "seed": 1,
        "data": {"train": [{"path": 'a"b\\c.ptb', "rename": {"PP$": "X"}}], "hold_out": 0.1},
        "network": {"dropout": 0.5, "encoder": {"case": True}},
        "heads": {"tree": {}, "tags": {}},
        "search": {},
        "training": {"rate": 1e-05, "keep_labels": ["tree"]},
    }
    path = tmp_path / "x.toml"
    path.write_text(toml_text(table))
    assert read_table(path) == table


def test_epochs_are_told(base: Path, tmp_path: Path, without_pictures: None) -> None:
    events = run(write_eight(tmp_path / "data.jsonl"), tmp_path / "new", base)
    assert [event.epoch for event in events if isinstance(event, Epoch)] == [1, 2]
