"""Temperatures come to lie with the model, and the command says how well they fit."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import typer
from typer.testing import CliRunner

from fencepost.checkpoints.loading import load_model
from fencepost.checkpoints.model import save_model
from fencepost.checkpoints.shipped import find_model
from fencepost.cli.calibrate import calibrate
from fencepost.errors import ConfigError, DataError
from fencepost.formats import read, write
from fencepost.parser.calibration import Bin, Calibration
from fencepost.parser.predict import predict
from fencepost.run.calibrate import (
    FEW,
    check_picture,
    draw_reliability,
    notes,
    run_calibration,
    write_temperatures,
)
from fencepost.run.evaluate import evaluate
from fencepost.structure import Parse, Sentence, Span, Tree
from tests.models import lively_model

STARTS = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".PDF": b"%PDF"}

Run = Callable[..., tuple[str, str]]


@pytest.fixture
def run() -> Run:
    """Runs the command: what it prints on standard output and standard error."""
    app = typer.Typer()
    app.command()(calibrate)

    def command(*arguments: str | Path) -> tuple[str, str]:
        done = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout, done.stderr

    return command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that finds some of everything."""
    save_model(lively_model("tree", "entities", "tags"), tmp_path / "model", card="# Mine\n")
    return tmp_path / "model"


@pytest.fixture
def dev(folder: Path, tmp_path: Path) -> Path:
    """Gold sentences of which the model has two in three right."""
    texts = ["abcabcab"[start : start + n] for n in range(1, 7) for start in (0, 1, 2)]
    found = predict(load_model(folder), [Sentence(tuple(text)) for text in texts])
    gold = [parse if number % 3 else other(parse.sentence) for number, parse in enumerate(found)]
    write(gold, tmp_path / "dev.jsonl")
    return tmp_path / "dev.jsonl"


def other(sentence: Sentence) -> Parse:
    """Annotation that the model would not think of."""
    n = len(sentence)
    tree = Tree(sentence, (Span(0, n, "TOP"), Span(0, n, "S")))
    return Parse(sentence, tree, (Span(0, 1, "X"), Span(n - 1, n, "S")))


def temperatures(folder: Path) -> dict[str, float]:
    network = load_model(folder).network
    return {layer: network.temperature(layer) for layer in network.layers}


def calibration(layer: str = "tree", *, spans: int = 1000, right: float = 0.5) -> Calibration:
    bins = (Bin(spans // 2, 0.7, right), Bin(spans - spans // 2, 0.9, right))
    return Calibration(layer, 1.5, 1.0, 100, 0.6, 0.5, bins, bins)


class TestCommand:
    def test_writes_temperatures_into_the_model(self, run: Run, folder: Path, dev: Path) -> None:
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        parses = predict(load_model(folder), [parse.sentence for parse in read(dev)])
        out, err = run(folder, dev)
        first, tree, entities = out.splitlines()
        assert first.split()[:3] == ["calibration", "temperature", "spans"]
        assert (tree.split()[0], entities.split()[0]) == ("tree", "entities")
        assert err.splitlines()[-1] == f"temperatures written to {folder / 'config.json'}"
        written = temperatures(folder)
        assert [f"{value:.2f}" for value in written.values()] == [
            line.split()[1] for line in (tree, entities)
        ]
        assert 1.0 not in written.values()
        after = {path.name: path.read_bytes() for path in folder.iterdir()}
        assert {name for name in after if after[name] != before.get(name)} == {
            "config.json",
            "manifest.json",
        }
        old, new = (json.loads(data["config.json"]) for data in (before, after))
        assert {**new, "temperatures": old["temperatures"]} == old
        again = predict(load_model(folder), [parse.sentence for parse in read(dev)])
        assert again == parses
        assert [parse.log_prob for parse in again] != [parse.log_prob for parse in parses]

    def test_begins_with_the_temperature_that_the_model_has(
        self, run: Run, folder: Path, dev: Path
    ) -> None:
        first = [json.loads(line) for line in run(folder, dev, "--json")[0].splitlines()]
        second = [json.loads(line) for line in run(folder, dev, "--json")[0].splitlines()]
        for one, two in zip(first, second, strict=True):
            assert one["temperature_before"] == 1.0
            assert two["temperature_before"] == one["temperature"]
            assert two["temperature"] == pytest.approx(one["temperature"], rel=5e-3)
            assert two["loss_before"] < one["loss_before"]
            assert two["ece_after"] == pytest.approx(one["ece_after"], abs=5e-3)

    def test_leaves_heads_alone_that_the_file_says_nothing_of(
        self, run: Run, folder: Path, tmp_path: Path
    ) -> None:
        write_temperatures(folder, {"entities": 3.5})
        (tmp_path / "dev.ptb").write_text("(S (NP+VP (X a) (X b)) (X c))\n" * 4)
        out, err = run(folder, tmp_path / "dev.ptb", "--from", "ptb")
        assert "entities" not in out
        assert temperatures(folder)["entities"] == 3.5
        assert "note: tree: only " in err

    def test_writes_a_copy_and_leaves_the_model(
        self, run: Run, folder: Path, dev: Path, tmp_path: Path
    ) -> None:
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        out = tmp_path / "new/copy"
        printed = run(folder, dev, "--out", out, "--quiet", "--threads", torch.get_num_threads())
        assert printed[1] == ""
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
        copy = {path.name: path.read_bytes() for path in out.iterdir()}
        assert copy.keys() == before.keys()
        assert {name for name in copy if copy[name] != before[name]} == {
            "config.json",
            "manifest.json",
        }
        assert 1.0 not in temperatures(out).values()
        assert [path.name for path in out.parent.iterdir()] == ["copy"]

    def test_an_empty_folder_takes_a_copy_and_any_other_does_not(
        self, run: Run, folder: Path, dev: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "empty").mkdir()
        run(folder, dev, "--out", tmp_path / "empty")
        assert 1.0 not in temperatures(tmp_path / "empty").values()
        for taken in (folder, dev):
            with pytest.raises(ConfigError, match="there is something already"):
                run(folder, dev, "--out", taken)
        assert set(temperatures(folder).values()) == {1.0}

    @pytest.mark.parametrize("by_path", [False, True])
    def test_a_model_that_ships_is_not_changed(self, run: Run, dev: Path, by_path: bool) -> None:
        model = find_model("en-small")
        with pytest.raises(ConfigError, match="pass --out FOLDER"):
            run(model if by_path else "en-small", dev)

    def test_needs_a_layer_in_common(self, run: Run, folder: Path, tmp_path: Path) -> None:
        (tmp_path / "dev.jsonl").write_text('{"words": ["a"]}\n')
        with pytest.raises(
            DataError, match=r"dev\.jsonl: no sentence has a layer .*tree, entities"
        ):
            run(folder, tmp_path / "dev.jsonl")

    def test_reads_gold_trees_as_evaluation_does(
        self, run: Run, folder: Path, tmp_path: Path
    ) -> None:
        (found,) = predict(load_model(folder), [Sentence(tuple("abc"), ("X",) * 3)], tasks=["tree"])
        marked = str(found.tree).replace("(S ", "(S-TPC-1 ").replace("(NP ", "(NP=2 ")
        marked = marked.replace("(X c)", "(X c) (Y (-NONE- *))")
        assert marked.count("(X c) (Y") == 1
        assert "-TPC" in marked or "=2" in marked
        (tmp_path / "dev.ptb").write_text(f"(TOP {marked})\n")
        data = json.loads(run(folder, tmp_path / "dev.ptb", "--json")[0])
        assert data["right"] == data["spans"] > 0

    def test_entities_that_cross_are_still_gold(
        self, run: Run, folder: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "dev.data").write_text("a b c\n0,2 X|1,3 X\n\n")
        with pytest.raises(DataError, match="cross"):
            run(folder, tmp_path / "dev.data")
        for on_crossing in ("drop-span", "drop-sentence"):
            options = ("--json", "--on-crossing", on_crossing)
            out, _ = run(folder, tmp_path / "dev.data", *options)
            assert json.loads(out)["sentences"] == 1


class TestWriting:
    def test_a_model_is_whole_even_if_writing_fails(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = (folder / "config.json").read_bytes()

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "replace", full)
        with pytest.raises(DataError, match="model: cannot be written: No space left on device"):
            write_temperatures(folder, {"tree": 2.0})
        assert (folder / "config.json").read_bytes() == before
        with pytest.raises(DataError, match="copy: cannot be written"):
            write_temperatures(folder, {"tree": 2.0}, out=tmp_path / "copy")
        assert [path.name for path in tmp_path.iterdir()] == ["model"], "no rest of a copy"

    def test_where_nothing_can_be_written_is_told(self, folder: Path, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(DataError, match="file/copy: cannot be written"):
            write_temperatures(folder, {"tree": 2.0}, out=tmp_path / "file/copy")

    def test_permissions_stay(self, folder: Path) -> None:
        (folder / "config.json").chmod(0o640)
        write_temperatures(folder, {"tree": 2.0})
        assert (folder / "config.json").stat().st_mode & 0o777 == 0o640
        assert temperatures(folder) == {"tree": 2.0, "entities": 1.0}


def test_spans_count_as_evaluation_counts_them(folder: Path, dev: Path) -> None:
    model = load_model(folder)
    gold = [
        parse.over(replace(parse.sentence, tags=(*["X"] * (len(parse.words) - 1), ",")))
        for parse in read(dev)
    ]
    found = {one.layer: one for one in run_calibration(model, gold)}
    reports = {name: report.to_dict() for name, report in evaluate(model, gold).items()}
    for layer in ("tree", "entities"):
        assert found[layer].spans == reports[layer]["predicted"]
        assert found[layer].right == reports[layer]["matched"]
        assert 0 < found[layer].right < found[layer].spans


def test_a_model_without_pointing_heads_is_told() -> None:
    gold = [Parse(Sentence(("a",), ("X",)), entities=())]
    with pytest.raises(DataError, match=r"pointing head for \(none\)"):
        run_calibration(lively_model("tags"), gold)


def test_doubts_are_told() -> None:
    assert list(notes(calibration())) == []
    (few,) = notes(calibration(spans=FEW - 1))
    assert "only 299 predicted spans" in few
    for right, word in ((0.0, "none"), (1.0, "all")):
        (note,) = notes(calibration(right=right))
        assert f"{word} of the predicted spans are right" in note


class TestPicture:
    @pytest.mark.parametrize("suffix", list(STARTS))
    def test_is_drawn(self, run: Run, folder: Path, dev: Path, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"picture{suffix}"
        run(folder, dev, "--picture", path)
        assert path.read_bytes().startswith(STARTS[suffix])
        assert sorted(each.name for each in tmp_path.iterdir()) == [
            "dev.jsonl",
            "model",
            path.name,
        ]

    @pytest.mark.parametrize("heads", [("tree",), ("tree", "entities")])
    def test_has_a_panel_for_each_head(self, tmp_path: Path, heads: tuple[str, ...]) -> None:
        path = tmp_path / "x.svg"
        empty = replace(calibration(), bins_before=(), bins_after=())
        draw_reliability([*map(calibration, heads), empty], path)
        text = path.read_text()
        assert text.count("<!-- share of them") == 1
        for head in heads:
            assert f"<!-- {head}: 1,000 spans -->" in text
        assert text.count("<!-- before: off by 30.0 % -->") == len(heads)
        assert "<!-- tree: 0 spans -->" in text

    def test_what_cannot_be_drawn_is_refused_at_once(
        self, run: Run, dev: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, message in (("x.gif", r"\.svg, \.png, \.pdf"), ("no/x.png", "no folder")):
            with pytest.raises(ConfigError, match=message):
                run(folder, dev, "--picture", tmp_path / name)
        assert set(temperatures(folder).values()) == {1.0}
        monkeypatch.chdir(tmp_path)
        check_picture(Path("x.png"))
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(ConfigError, match="pip install"):
            check_picture(Path("x.png"))
