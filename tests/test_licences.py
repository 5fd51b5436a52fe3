"""The page about licences tells of every version that is pinned, and of no other."""

import re
import tomllib
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
PAGE = (CHECKOUT / "docs/licences.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([\w.-]+) \| (\d\S*) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)


def test_every_pin_has_a_row_and_every_row_a_pin() -> None:
    constraints = (CHECKOUT / "constraints.txt").read_text(encoding="utf-8")
    pinned = re.findall(r"^([\w.-]+)==(\S+)$", constraints, re.MULTILINE)
    assert [(name, version) for name, version, _, _ in ROWS] == pinned


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
