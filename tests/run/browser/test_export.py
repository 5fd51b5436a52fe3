"""A page is written whole or not at all, and nothing else is replaced."""

import hashlib
import io
import json
import re
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from fencepost.batching.numbers import Numbers
from fencepost.batching.vocabulary import Labels
from fencepost.checkpoints.model import save_model
from fencepost.checkpoints.trainable import new_model
from fencepost.cli import main
from fencepost.config import HeadsSettings, NetworkSettings
from fencepost.errors import ConfigError, FencepostError, ModelError
from fencepost.run.browser import POLICY, is_page, runtime
from fencepost.run.browser.export import Exported, export
from fencepost.text.splitters import ENGLISH, SPLITTERS
from tests.runtime.test_encoder import HEADS, LABELS, of_pieces, of_words, random
from tests.tiny import tiny_transformer


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with the files of onnxruntime-web, and other contents."""
    contents = {name: name.encode() for name in runtime.FILES}
    checksums = {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
    monkeypatch.setattr(runtime, "FILES", checksums)
    path = tmp_path / "package.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name, data in contents.items():
            entry = tarfile.TarInfo(f"package/dist/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    save_model(of_pieces(folder / "encoder"), folder / "own", card="# Mine\n")
    return folder / "own"


def written(model: Path, folder: Path, package: Path | None) -> Exported:
    return export(str(model), folder, runtime=package, step=lambda _: None)


def test_all_files_are_listed_with_their_checksums(
    tmp_path: Path, model: Path, package: Path
) -> None:
    page = tmp_path / "some" / "page"
    exported = written(model, page, package)
    files = json.loads((page / "manifest.json").read_text())["files"]
    assert {*files, "manifest.json", "service-worker.js"} == set(exported.bytes)
    assert {path.relative_to(page).as_posix() for path in page.rglob("*") if path.is_file()} == set(
        exported.bytes
    )
    for name, listed in files.items():
        assert hashlib.sha256((page / name).read_bytes()).hexdigest() == listed["sha256"]
    version = hashlib.sha256((page / "manifest.json").read_bytes()).hexdigest()
    worker = (page / "service-worker.js").read_text()
    assert f'"{version}"' in worker
    assert f'"{POLICY}"' in worker
    assert (page / "model/README.md").read_text() == "# Mine\n"
    assert [path.name for path in page.parent.iterdir()] == ["page"]


def test_the_page_is_the_servers_with_another_provider(
    tmp_path: Path, model: Path, package: Path
) -> None:
    written(model, tmp_path / "page", package)
    text = (tmp_path / "page/index.html").read_text()
    assert "static/local/main.js" in text
    assert 'static/main.js"' not in text
    assert "wasm-unsafe-eval" in text
    assert not re.search(r'(?:href|src)="(?:https?:|/)', text)


def test_a_page_is_replaced_and_nothing_else(tmp_path: Path, model: Path, package: Path) -> None:
    page = tmp_path / "page"
    page.mkdir()
    written(model, page, package)
    (page / "old").touch()
    written(model, page, package)
    assert not (page / "old").exists()
    assert is_page(page)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").touch()
    for target in (other, other / "thesis.tex"):
        with pytest.raises(ConfigError, match="holds something else"):
            written(model, target, package)


def test_what_cannot_be_had_leaves_nothing_behind(tmp_path: Path, model: Path) -> None:
    (tmp_path / "broken.tgz").write_text("no archive")
    for source in (tmp_path / "broken.tgz", tmp_path / "nowhere", tmp_path):
        with pytest.raises(ConfigError):
            written(model, tmp_path / "page", source)
    assert [path.name for path in tmp_path.iterdir()] == ["broken.tgz"]


def test_another_version_is_refused(tmp_path: Path, model: Path) -> None:
    (tmp_path / "dist").mkdir()
    for name in runtime.FILES:
        (tmp_path / "dist" / name).write_text("another")
    with pytest.raises(ConfigError, match=r"is not that of onnxruntime-web@.*npm pack"):
        written(model, tmp_path / "page", tmp_path)


@pytest.mark.parametrize(
    ("script", "told"),
    [(None, "npm is not here"), ("echo no network >&2; exit 1", "npm cannot get .*no network")],
)
def test_npm_is_asked_and_its_failure_told(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, told: str
) -> None:
    if script is not None:
        (tmp_path / "npm").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match=rf"{told}.*--runtime takes"):
        written(model, tmp_path / "page", None)


def test_npm_packs_the_package(
    tmp_path: Path, model: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "npm").write_text(f"#!/bin/sh\n/bin/cp {package} .\n")
    (tmp_path / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert is_page(written(model, tmp_path / "page", None).folder)


def other_kinds(folder: Path) -> dict[str, Any]:
    return {"words": of_words(), "byte pairs": of_pieces(folder / "roberta", kind="roberta")}


def test_a_model_with_a_splitter_of_another_language_is_refused(
    tmp_path: Path, package: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SPLITTERS, "elvish", ENGLISH._replace(words=lambda text: []))
    copied = shutil.copytree(model, tmp_path / "model")
    config = copied / "config.json"
    config.write_text(config.read_text().replace('"english"', '"elvish"'))
    (copied / "manifest.json").unlink()
    with pytest.raises(ModelError, match="rules for English, not by those for 'elvish'"):
        written(copied, tmp_path / "page", package)


@pytest.mark.parametrize("kind", ["words", "byte pairs"])
def test_models_of_other_kinds_are_refused(tmp_path: Path, package: Path, kind: str) -> None:
    save_model(other_kinds(tmp_path)[kind], tmp_path / "model")
    with pytest.raises(ModelError, match="in a browser, only"):
        written(tmp_path / "model", tmp_path / "page", package)
    assert not (tmp_path / "page").exists()


def test_markup_in_a_name_stays_data(tmp_path: Path, package: Path) -> None:
    labels = {**LABELS, "tree": Labels(("<script>", "NP"))}
    settings = {"kind": "transformer", "model": tiny_transformer(tmp_path / "encoder")}
    network = NetworkSettings.model_validate({"encoder": settings, "lstm_layers": 0})
    heads = HeadsSettings.model_validate(HEADS.model_dump(exclude_none=True))
    model = random(new_model(network, heads, Numbers(labels)))
    save_model(model, tmp_path / "<b>model")
    exported = written(tmp_path / "<b>model", tmp_path / "page", package)
    holders = [
        name for name in exported.bytes if b"<script>" in (exported.folder / name).read_bytes()
    ]
    assert "index.html" not in holders
    assert "model/model.json" in holders


def test_the_command_tells_sizes(
    tmp_path: Path,
    model: Path,
    package: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = tmp_path / "page"
    command = ["fencepost", "export-web", "-m", str(model)]
    places = ["-o", str(page), "--runtime", str(package)]
    monkeypatch.setattr("sys.argv", [*command, *places])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    out, err = capsys.readouterr()
    assert re.fullmatch(rf"{page}: \d+ files, .* MB, of which the model has .* MB\n", out)
    assert err.count("fencepost: ") == 3


def test_model_and_folder_by_position_are_an_alias(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = str(tmp_path / "page")
    monkeypatch.setattr("sys.argv", ["fencepost", "export-web", "nowhere", page])
    with pytest.raises(SystemExit):
        main()
    first, second, last = capsys.readouterr().err.splitlines()
    assert first == "note: write -m nowhere; the next release needs the option"
    assert second == f"note: write -o {page}; the next release needs the option"
    assert last.startswith("fencepost: nowhere: there is no such folder")
    monkeypatch.setattr("sys.argv", ["fencepost", "export-web", "-m", "nowhere"])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err == "fencepost: a page is several files: -o FOLDER\n"


def test_serve_refuses_what_is_no_page(tmp_path: Path) -> None:
    from fencepost.cli.serve import serve

    with pytest.raises(FencepostError, match="no page that fencepost export-web"):
        serve(local=tmp_path)
