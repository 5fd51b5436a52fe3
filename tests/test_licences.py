"""The page about licences tells of every version that is pinned, and of no other."""

import re
import tomllib
from pathlib import Path

import pytest
from tools import licences

CHECKOUT = Path(__file__).parents[1]
PAGE = (CHECKOUT / "docs/licences.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([\w.-]+) \| (\d\S*) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)


def test_every_pin_has_a_row_and_every_row_a_pin() -> None:
    constraints = (CHECKOUT / "constraints.txt").read_text(encoding="utf-8")
    pinned = re.findall(r"^([\w.-]+)==(\S+)$", constraints, re.MULTILINE)
    assert [(name, version) for name, version, _, _ in ROWS] == pinned


def test_pip_itself_is_pinned_and_installed_before_all_else() -> None:
    assert "pip" in [name for name, *_ in ROWS]
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    assert re.findall(r"^\t@?\$\(PIP\) (\S+)", makefile, re.MULTILINE)[0] == "pip"


def test_every_licence_is_known() -> None:
    for name, _, licence, _ in ROWS:
        assert licence not in ("not told", "not installed", "UNKNOWN"), name


def test_none_of_what_is_always_there_obliges_who_only_imports_it() -> None:
    for name, _, licence, extras in ROWS:
        if "always" in extras:
            assert not re.search(r"\b(A?GPL|SSPL|BUSL)", licence), name


def test_extras_are_those_of_the_project() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {extra for *_, extras in ROWS for extra in extras.strip().split(", ")}
    assert named <= {"always", *project["optional-dependencies"]}
    assert "always" in named


def test_every_page_names_the_licence_of_the_weights_as_the_model_does() -> None:
    for path, text in licences.pages().items():
        if path != licences.PAGE:
            name = licences.SPDX if path.name == "Dockerfile" else licences.NAME
            assert name.search(text), path
            assert path.read_text(encoding="utf-8") == text, "run python tools/licences.py"
    assert licences.weights()[1] in PAGE
    assert CHECKOUT / "Dockerfile" in licences.pages()


def test_what_a_licence_of_weights_allows_follows_from_its_letters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(licences, "WEIGHTS", tmp_path / "LICENSE.md")
    licences.WEIGHTS.write_text("you may use them under **CC BY-SA 4.0**\n", encoding="utf-8")
    licence, section = licences.weights()
    assert licence == "CC BY-SA 4.0"
    assert "licenses/by-sa/4.0/" in section
    assert "also commercially" in section
    assert "under the same licence" in section
    licences.WEIGHTS.write_text("**CC BY-NC 4.0**\n", encoding="utf-8")
    assert "not use them commercially" in licences.weights()[1]
