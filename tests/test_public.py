"""What `import fencepost` gives, and what it does not pull in."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import fencepost

ROOT = Path(__file__).parent.parent


def test_the_public_names_are_sorted_and_there() -> None:
    assert fencepost.__all__ == sorted(fencepost.__all__)
    for name in fencepost.__all__:
        assert getattr(fencepost, name).__doc__


def test_tab_completion_lists_what_is_public() -> None:
    assert dir(fencepost) == sorted([*fencepost.__all__, "__version__"])
    assert fencepost.__version__ == importlib.metadata.version("fencepost")


def test_one_version_is_named_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    section = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert citation is not None
    assert section is not None
    assert citation[1] == project["version"]
    assert section[1] in (project["version"], "Unreleased")


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = fencepost.nothing


@pytest.mark.parametrize("module", ["fencepost", "fencepost.formats", "fencepost.cli.app"])
def test_importing_does_not_load_what_is_heavy(module: str) -> None:
    code = (
        f"import sys, {module}\n"
        "heavy = {'torch', 'numpy', 'spacy', 'nltk', 'transformers', 'rich.progress'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_loaded_late_is_what_its_module_has() -> None:
    from fencepost.formats import read, write
    from fencepost.parser.parser import Parser, load
    from fencepost.structure import Document, Entity

    for name, value in (
        ("read", read),
        ("write", write),
        ("Parser", Parser),
        ("load", load),
        ("Document", Document),
        ("Entity", Entity),
    ):
        assert getattr(fencepost, name) is value
