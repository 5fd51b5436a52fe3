"""Pages that could fall behind the code are checked against it.

`python -m tests.test_docs` writes the page of the command line anew, and what examples print.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import fencepost

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reference/command-line.md"
COMMANDS = (
    "parse",
    "convert",
    "merge",
    "prepare",
    "score",
    "trace",
    "inspect",
    "train",
    "evaluate",
    "calibrate",
    "audit",
)
SHOWING = ("docs/guides/probabilities.md", "docs/guides/constraints.md")  # what they print, too


def help_of(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "fencepost", *command, "--help"],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "COLUMNS": "90", "TERMINAL_WIDTH": "90"},
    )
    return done.stdout.replace("python -m fencepost", "fencepost").strip()


def command_line_page() -> str:
    parts = [
        "# Command line\n\n"
        "Results go to standard output, notes and progress bars to standard error (bars only if\n"
        "that is a terminal). The status is 0 if all went well, 1 if `inspect` found problems,\n"
        "and 2 if something was wrong with the input or the options.\n",
        f"```text\n{help_of()}\n```\n",
    ]
    parts += (f"## {name}\n\n```text\n{help_of(name)}\n```\n" for name in COMMANDS)
    return "\n".join(parts)


def test_the_page_of_the_command_line_is_what_help_prints() -> None:
    assert PAGE.read_text() == command_line_page(), "run python -m tests.test_docs"


def python_blocks(path: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)


def run_block(block: str, names: dict[str, object]) -> str:
    """A block of Python with what it prints below it, as comments."""
    code = re.sub(r"(^#[^\n]*\n)*\Z", "", block, flags=re.MULTILINE)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, names)
    return code + "".join(f"# {line}".rstrip() + "\n" for line in out.getvalue().splitlines())


def with_output(page: str) -> str:
    """A page whose blocks of Python have below them what they print."""
    names: dict[str, object] = {}

    def rerun(match: re.Match[str]) -> str:
        return f"```python\n{run_block(match[1], names)}```"

    text = (ROOT / page).read_text()
    return re.sub(r"```python\n(.*?)```", rerun, text, flags=re.DOTALL)


@pytest.mark.parametrize("page", SHOWING)
def test_the_python_of_a_page_prints_what_stands_below_it(page: str) -> None:
    assert (ROOT / page).read_text() == with_output(page), "run python -m tests.test_docs"


def test_the_readings_that_are_shown_are_those_that_are_found() -> None:
    block = python_blocks(ROOT / "README.md")[1]
    names: dict[str, object] = {"fencepost": fencepost, "parser": fencepost.load()}
    assert run_block(block, names) == block


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md", "docs/guides/parse.md"])
def test_the_python_that_is_shown_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "train.conll").write_text("a\tB-X\n\n")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = python_blocks(ROOT / page)
    assert blocks
    for block in blocks:
        exec(block, names)
    assert names["fencepost"] is fencepost


def test_the_first_python_that_is_shown_prints_what_stands_below_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    block = python_blocks(ROOT / "README.md")[0]
    exec(block, {})
    shown = [line[2:] for line in block.splitlines() if line.startswith("# ")]
    assert capsys.readouterr().out.splitlines() == shown


def test_the_commands_that_are_shown_print_what_stands_below_them() -> None:
    (block,) = re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    shown = re.findall(r"\$ ([^\n]+)\n([^$]*)", block)
    assert len(shown) == 2
    for command, expected in shown:
        arguments = [sys.executable, "-m", *shlex.split(command)]
        done = subprocess.run(arguments, capture_output=True, check=True, text=True, cwd=ROOT)
        assert done.stdout.strip() == expected.strip()


if __name__ == "__main__":
    PAGE.write_text(command_line_page())
    for page in SHOWING:
        (ROOT / page).write_text(with_output(page))
