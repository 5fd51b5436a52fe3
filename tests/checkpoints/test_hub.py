import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml  # type: ignore[import-untyped]
from huggingface_hub import constants

import fencepost
from fencepost.checkpoints.hub import MOST_BYTES, hub_name
from fencepost.checkpoints.shipped import find_model
from fencepost.errors import ConfigError, ModelError
from fencepost.parser.parser import Parser
from fencepost.runtime.manifest import MANIFEST
from tests.hub import Hub, Repository, serving
from tests.models import lively_model

NAME = "ann/tiny"
WORDS = ["a", "b", "c"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model."""
    folder = tmp_path_factory.mktemp("model")
    Parser(lively_model("tree", "entities", "tags"), card="# Tiny\n").save(folder)
    return folder


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with serving(tmp_path / "cache") as hub:
        yield hub


def test_a_model_is_fetched_once_and_parses(hub: Hub, folder: Path) -> None:
    commit = hub.put(NAME, folder)
    parser = fencepost.load(NAME)
    assert parser.parse(WORDS) == fencepost.load(folder).parse(WORDS)
    assert parser.card == "# Tiny\n"
    assert find_model(NAME).name == commit
    hub.asked.clear()
    fencepost.load(NAME)
    assert hub.fetched == set()


def test_only_files_of_ours_are_fetched(hub: Hub, folder: Path) -> None:
    hub.put(NAME, folder, **{"pytorch_model.bin": b"x", "setup.py": b"x", ".gitattributes": b"x"})
    found = {path.name for path in find_model(NAME).iterdir()}
    assert found == {path.name for path in folder.iterdir()} == hub.fetched
    assert found <= set(MOST_BYTES)
    assert not any(name.endswith((".bin", ".pt", ".pkl", ".py")) for name in MOST_BYTES)


def test_a_revision_is_a_commit_a_tag_or_a_branch(hub: Hub, folder: Path, tmp_path: Path) -> None:
    first = hub.put(NAME, folder)
    second = hub.put(NAME, folder, **{"README.md": b"# New"})
    hub.repositories[NAME].branches["v1.0"] = first
    for revision, commit in ((first, first), ("v1.0", first), ("main", second), (second, second)):
        assert find_model(f"{NAME}@{revision}").name == commit
        assert find_model(NAME, revision=revision).name == commit
    assert fencepost.load(NAME, revision="v1.0").card == "# Tiny\n"
    assert find_model(NAME).name == second
    with pytest.raises(ModelError, match=r"ann/tiny@v9: the hub has ann/tiny, but not this revi"):
        find_model(f"{NAME}@v9")


def test_a_commit_in_the_cache_is_not_asked_for_again(hub: Hub, folder: Path) -> None:
    commit = hub.put(NAME, folder)
    find_model(f"{NAME}@{commit}")
    hub.asked.clear()
    find_model(f"{NAME}@{commit}")
    assert hub.asked == []


def test_without_the_hub_the_last_one_that_was_fetched_is_loaded(hub: Hub, folder: Path) -> None:
    commit = hub.put(NAME, folder)
    find_model(NAME)
    hub.is_broken = True
    assert find_model(NAME).name == commit
    hub.is_broken = False
    with patch.object(constants, "HF_HUB_OFFLINE", True):
        hub.asked.clear()
        assert find_model(NAME).name == commit
        assert hub.asked == []
        with pytest.raises(ModelError, match="nor was the model fetched before"):
            find_model("ann/other")


def test_a_hub_that_is_not_there_is_told(hub: Hub) -> None:
    with (
        patch.object(constants, "ENDPOINT", "http://127.0.0.1:9"),
        pytest.raises(ModelError, match=r"ann/tiny: there is no such folder, .* cannot be reached"),
    ):
        find_model(NAME)


def test_a_download_that_was_cut_off_is_gone_on_with(hub: Hub, folder: Path) -> None:
    commit = hub.put(NAME, folder)
    found = find_model(f"{NAME}@{commit}")
    (found / "weights.safetensors").unlink()
    assert (find_model(f"{NAME}@{commit}") / "weights.safetensors").is_file()


@pytest.mark.parametrize(
    ("repository", "message"),
    [
        (
            None,
            r"ann/tiny: there is no such folder, no model .* and the hub has no such repository",
        ),
        (Repository(gated=True), "its owner lets only some people have it"),
    ],
)
def test_what_cannot_be_had_is_told(hub: Hub, repository: Repository | None, message: str) -> None:
    if repository is not None:
        hub.repositories[NAME] = repository
    with pytest.raises(ModelError, match=message):
        fencepost.load(NAME)


def test_what_is_no_model_of_ours_is_refused_before_it_is_fetched(hub: Hub, folder: Path) -> None:
    hub.repositories[NAME] = Repository()
    hub.repositories[NAME].commit({"config.json": b"{}", "pytorch_model.bin": b"x"})
    with pytest.raises(ModelError, match=r"there is no labels\.json in this repository of the hub"):
        fencepost.load(NAME)
    assert hub.fetched == set()


@pytest.mark.parametrize("name", ["config.json", "weights.safetensors", "README.md"])
def test_what_is_too_large_is_refused_before_it_is_fetched(
    hub: Hub, folder: Path, name: str
) -> None:
    hub.put(NAME, folder)
    hub.sizes[name] = MOST_BYTES[name] + 1
    with pytest.raises(ModelError, match=rf"{name} has [\d,]+ bytes, where at most"):
        fencepost.load(NAME)
    assert hub.fetched == set()


def test_the_manifest_is_checked(hub: Hub, folder: Path) -> None:
    labels = (folder / "labels.json").read_bytes().replace(b"[", b"[ ", 1)
    hub.put(NAME, folder, **{"labels.json": labels})
    with pytest.raises(ModelError, match=r"labels\.json: .* bytes, where manifest\.json says"):
        fencepost.load(NAME)
    weights = bytearray((folder / "weights.safetensors").read_bytes())
    weights[-1] ^= 1
    hub.put(NAME, folder, **{"weights.safetensors": bytes(weights)})
    with pytest.raises(ModelError, match=r"not as it was written, by its checksum"):
        fencepost.load(NAME)


def test_a_folder_comes_before_the_hub_and_has_no_revision(hub: Hub, folder: Path) -> None:
    hub.put(NAME, folder)
    Path(NAME).mkdir(parents=True)
    assert find_model(NAME) == Path(NAME)
    assert hub.asked == []
    for name in (NAME, "en-small"):
        with pytest.raises(ConfigError, match=r"revision: .* only models of the hub"):
            find_model(name, revision="main")
    with pytest.raises(ConfigError, match="names one already"):
        find_model("ann/other@v1", revision="v2")


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("owner/name", True),
        ("owner/name.v2_x-y@refs/pr/1", True),
        ("name", False),
        ("./owner/name", False),
        ("/owner/name", False),
        ("~/name", False),
        ("../name", False),
        ("a/b/c", False),
        ("owner/name@", False),
        ("owner/name@a b", False),
        ("owner/na me", False),
        ("ö/name", False),
        ("owner/name\n", False),
    ],
)
def test_names_of_the_hub_are_told_from_others(name: str, is_one: bool) -> None:
    assert (hub_name(name) is not None) == is_one


def test_a_model_is_pushed_and_loaded_again(hub: Hub, folder: Path) -> None:
    parser = fencepost.load(folder)
    pushed = parser.push_to_hub(
        NAME,
        private=True,
        licence="cc-by-4.0",
        language="en",
        datasets=["universal_dependencies"],
        tags=["mine"],
        scores={"GUM dev": {"tree": 88.73, "tags": 97.8}},
    )
    name, _, commit = pushed.partition("@")
    assert (name, len(commit)) == (NAME, 40)
    assert hub.repositories[NAME].private
    again = fencepost.load(pushed)
    assert again.parse(WORDS) == parser.parse(WORDS)
    _, metadata, text = again.card.split("---\n", 2)
    data = yaml.safe_load(metadata)
    assert text.strip() == "# Tiny"
    assert data["license"] == "cc-by-4.0"
    assert data["library_name"] == "fencepost"
    assert data["pipeline_tag"] == "token-classification"
    assert data["language"] == "en"
    assert data["datasets"] == ["universal_dependencies"]
    assert {"constituency-parsing", "named-entity-recognition", "mine"} <= set(data["tags"])
    (model,) = data["model-index"]
    assert model["name"] == "tiny"
    (result,) = model["results"]
    assert result["dataset"] == {"name": "GUM dev", "type": "gum-dev"}
    assert result["metrics"] == [
        {"type": "f1", "value": 88.73, "name": "F1 of brackets (EVALB)"},
        {"type": "accuracy", "value": 97.8, "name": "accuracy of part-of-speech tags"},
    ]


def test_what_a_card_said_before_stays(hub: Hub, folder: Path) -> None:
    parser = fencepost.load(folder)
    pushed = parser.push_to_hub(NAME, licence="mit", scores={"X": {"tree": 50.0}})
    again = fencepost.load(pushed)
    twice = fencepost.load(again.push_to_hub(NAME, tags=["new"]))
    data = yaml.safe_load(twice.card.split("---\n")[1])
    assert data["license"] == "mit"
    assert "new" in data["tags"]
    assert data["model-index"][0]["results"][0]["metrics"][0]["value"] == 50.0
    third = fencepost.load(twice.push_to_hub(NAME, scores={"Y": {"tags": 9}}))
    assert "50.0" not in third.card


def test_a_branch_other_files_and_the_licence(hub: Hub, folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    fencepost.load(folder).save(own)
    (own / "LICENSE.md").write_text("mine")
    hub.repositories[NAME] = Repository()
    first = hub.repositories[NAME].commit({"notes.md": b"x", "lstm.onnx": b"of another model"})
    pushed = fencepost.load(own).push_to_hub(f"{NAME}@draft", message="Try it", half=True)
    files = hub.repositories[NAME].commits[pushed.partition("@")[2]]
    assert files["LICENSE.md"] == b"mine"
    assert files["notes.md"] == b"x"
    assert len(files["weights.safetensors"]) < (own / "weights.safetensors").stat().st_size
    assert hub.repositories[NAME].branches["main"] == first
    manifest = files[MANIFEST].decode()
    assert ("lstm.onnx" in files) == ("lstm.onnx" in manifest)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tags": "one"}, r"a list is expected, as in \['one'\]"),
        ({"scores": {"X": {"chunks": 1.0}}}, "'chunks' is no task of this model; it has tree"),
        ({"scores": {"X": {"tree": 188}}}, "188 is no per cent"),
    ],
)
def test_wrong_metadata_are_refused_before_anything_is_sent(
    hub: Hub, folder: Path, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        fencepost.load(folder).push_to_hub(NAME, **options)  # type: ignore[arg-type]
    assert hub.asked == []


def test_a_card_that_is_no_yaml_and_a_name_that_is_none_are_told(hub: Hub, folder: Path) -> None:
    parser = fencepost.load(folder)
    with pytest.raises(ModelError, match="no repository of the hub; owner/name is right"):
        parser.push_to_hub("tiny")
    parser.card = "---\na: [\n---\n# Tiny"
    with pytest.raises(ConfigError, match="the metadata of the model card cannot be read"):
        parser.push_to_hub(NAME)
    parser.card = ""
    hub.is_broken = True
    with pytest.raises(ModelError, match="ann/tiny: the hub does not take it"):
        parser.push_to_hub(NAME)


@pytest.mark.slow
def test_a_command_takes_a_name_of_the_hub(hub: Hub, folder: Path, tmp_path: Path) -> None:
    hub.put(NAME, folder)
    env = {
        **os.environ,
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(tmp_path / "home"),
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    command = [sys.executable, "-m", "fencepost", "parse", "a b", "-m", f"{NAME}@main"]
    options: dict[str, object] = {"capture_output": True, "text": True, "timeout": 120}
    done = subprocess.run([*command, "--to", "jsonl"], env=env, check=False, **options)  # type: ignore[call-overload]
    assert (done.returncode, done.stderr) == (0, "")
    env |= {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_OFFLINE": "1"}
    again = subprocess.run([*command, "--to", "jsonl"], env=env, check=False, **options)  # type: ignore[call-overload]
    assert again.stdout == done.stdout
    command[-1] = "ann/other"
    lost = subprocess.run(command, env=env, check=False, **options)  # type: ignore[call-overload]
    assert lost.returncode == 2
    assert lost.stderr.startswith("fencepost: ann/other: there is no such folder")
    assert lost.stderr.count("\n") == 1
