"""Completion in a real shell, set up as a person sets it up."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which completion has been installed."""
    home = tmp_path_factory.mktemp("home")
    command = ["fencepost", "--install-completion", "bash"]
    done = subprocess.run(command, env=_settings(home), capture_output=True, check=True, text=True)
    assert "completion installed" in done.stdout
    return home


def _settings(home: Path) -> dict[str, str]:
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "HOME": str(home), "PATH": path}


def completions(home: Path, *words: str) -> list[str]:
    """What the shell offers for the last of these words."""
    given = " ".join(map(shlex.quote, words))
    script = (
        f"source {shlex.quote(str(home / '.bashrc'))}\n"
        f"COMP_WORDS=({given}) COMP_CWORD={len(words) - 1}\n"
        "asked=$(complete -p fencepost)\n"
        "asked=${asked##*-F }\n"
        '${asked%% *} fencepost\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    command = ["bash", "--norc", "-c", script]
    done = subprocess.run(command, env=_settings(home), capture_output=True, check=True, text=True)
    return done.stdout.split()


def test_commands_are_completed(home: Path) -> None:
    assert completions(home, "fencepost", "ev") == ["evaluate"]
    assert {"parse", "prepare"} <= set(completions(home, "fencepost", "p"))


def test_options_are_completed(home: Path) -> None:
    assert completions(home, "fencepost", "parse", "--n-b") == ["--n-best"]


def test_names_of_formats_are_completed(home: Path) -> None:
    assert completions(home, "fencepost", "convert", "a.ptb", "--to", "j") == ["jsonl"]


def test_choices_are_completed(home: Path) -> None:
    assert completions(home, "fencepost", "parse", "--task", "t") == ["tree", "tags"]


def test_names_of_models_are_completed(home: Path) -> None:
    assert "en-small" in completions(home, "fencepost", "parse", "--model", "en")


def test_files_are_left_to_the_shell(home: Path) -> None:
    script = f"source {shlex.quote(str(home / '.bashrc'))}; complete -p fencepost"
    command = ["bash", "--norc", "-c", script]
    done = subprocess.run(command, env=_settings(home), capture_output=True, check=True, text=True)
    assert "-o default" in done.stdout
    assert completions(home, "fencepost", "score", "examples/gar") == []
