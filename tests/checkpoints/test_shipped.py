from pathlib import Path

import pytest

from fencepost.checkpoints import shipped
from fencepost.checkpoints.shipped import find_model, shipped_models
from fencepost.errors import ModelError


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with two models, beside a folder that is none; work is done elsewhere."""
    folder = tmp_path / "package"
    for name in ("xx-small", "en-small"):
        (folder / name).mkdir(parents=True)
        (folder / name / "config.json").write_text("{}")
    (folder / "notes").mkdir()
    monkeypatch.setattr(shipped, "MODELS", folder)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return folder


def test_models_are_listed_by_name(models: Path) -> None:
    assert shipped_models() == ("en-small", "xx-small")


def test_a_package_without_models_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "MODELS", tmp_path / "nowhere")
    assert shipped_models() == ()
    with pytest.raises(ModelError, match=r"ships with fencepost \(none\)"):
        find_model("en-small")


def test_a_name_is_one_of_ours_before_it_is_a_folder(models: Path) -> None:
    Path("en-small").mkdir()
    Path("mine").mkdir()
    assert find_model("en-small") == models / "en-small"
    assert find_model("./en-small") == Path("en-small")
    assert find_model("mine") == find_model(Path("mine")) == Path("mine")


def test_a_home_is_known(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "model").mkdir()
    assert find_model("~/model") == tmp_path / "model"


def test_the_folder_of_a_run_is_told_with_its_model(models: Path) -> None:
    Path("runs/tree/model").mkdir(parents=True)
    assert find_model("runs/tree") == Path("runs/tree")
    Path("runs/tree/model/config.json").write_text("{}")
    with pytest.raises(ModelError) as raised:
        find_model("runs/tree")
    assert str(raised.value) == (
        "runs/tree: the folder of a run; the model of this run is runs/tree/model"
    )
    Path("runs/tree/config.json").write_text("{}")
    assert find_model("runs/tree") == Path("runs/tree")


def test_a_model_that_ships_has_no_revisions(models: Path) -> None:
    with pytest.raises(ModelError) as raised:
        find_model("en-small@v1")
    assert str(raised.value) == (
        "en-small@v1: a model that ships has no revisions; en-small is right"
    )


@pytest.mark.parametrize("name", ["nothing", "no/where/here", "~nobody-of-this-name/model", "a\0b"])
def test_what_is_not_there_is_told_with_what_is(models: Path, name: str) -> None:
    with pytest.raises(ModelError) as raised:
        find_model(name)
    assert str(raised.value) == (
        f"{name}: there is no such folder, no model of that name ships with fencepost "
        "(en-small, xx-small), and one of the Hugging Face hub has a name such as owner/name"
    )
