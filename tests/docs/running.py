"""Runs the blocks of a page, and gives the page as it should be.

Commands of `fencepost` that need no shell run in this process, since importing torch for
each of them would take three seconds; all others are given to bash.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from pydantic import ValidationError

from fencepost.cli import main
from fencepost.config import Settings
from tests.docs.pages import ROOT, Block, name, parts

SECONDS = 120  # for one block of a shell
SHELL = re.compile(r"[|<>&;$`*?(){}~\\\n]|\bexport\b")
QUOTED = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")
COMMENTS = re.compile(r"(^#[^\n]*\n)*\Z", re.MULTILINE)
FRACTION = re.compile(r"(\d+\.\d+(?:e-\d+)?)")
PROMPT = re.compile(r"^\$ ((?:[^\n]*\\\n)*[^\n]*\n)((?:(?!\$ )[^\n]*\n)*)", re.MULTILINE)
ENVIRONMENT = {
    "COLUMNS": "100",
    "HF_HUB_OFFLINE": "1",
    "NO_COLOR": "1",
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
}


def lay_out(folder: Path) -> None:
    """Put into a folder what the pages count on: the examples and the settings."""
    for part in ("examples", "configs"):
        shutil.copytree(ROOT / part, folder / part)


def rerun(page: Path, *, exact: bool = False, notes: list[str] | None = None) -> str:
    """A page with what its blocks print now; they run in the current folder.

    Args:
        page: README or a page of docs/.
        exact: whether figures that may vary are written anew, too.
        notes: collects what a person should look at. A block that fails then stays as it is,
            instead of ending the run.

    Raises:
        AssertionError: if a block fails, with the page and its line.
    """
    return rerun_text(page.read_text(encoding="utf-8"), where=name(page), exact=exact, notes=notes)


def rerun_text(
    text: str, *, where: str, exact: bool = False, notes: list[str] | None = None
) -> str:
    """The text of a page with what its blocks print now."""
    names: dict[str, object] = {"__name__": "__main__"}
    found = []
    with _shell() as shell:
        for part in parts(text):
            if isinstance(part, Block):
                try:
                    block = _run(part, names, shell, exact=exact)
                except (Exception, SystemExit) as error:
                    if notes is None:
                        raise AssertionError(f"{where}:{part.line}: {error!r}") from error
                    notes.append(f"{where}:{part.line}: this block fails: {error!r}")
                    block = part
                if notes is not None and part.text.count("…") > block.text.count("…"):
                    notes.append(f"{where}:{part.line}: was shortened with …; do so again")
                part = block
            found.append(str(part))
    return "".join(found)


def _run(block: Block, names: dict[str, object], shell: Shell, *, exact: bool) -> Block:
    if problem := block.problem():
        raise ValueError(problem)
    if block.file is not None:
        Path(block.file).write_text(block.text, encoding="utf-8")
    if block.not_run is not None:
        return block
    match block.language:
        case "python":
            return block.with_text(_python(block, names, exact=exact))
        case "console":
            return block.with_text(_console(block, shell, exact=exact))
        case "sh":
            shell.script(block.text, status=block.status)
        case "toml":
            _settings(block.text)
        case "json":
            _json(block.text)
    return block


def _python(block: Block, names: dict[str, object], *, exact: bool) -> str:
    """Code with what it prints below it, as comments."""
    code = COMMENTS.sub("", block.text)
    shown = block.text[len(code) :]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "<block>", "exec"), names)
    printed = "".join(f"# {line}" for line in _lines(out.getvalue()))
    return code + _kept(shown, printed, varies=block.varies, exact=exact)


def _console(block: Block, shell: Shell, *, exact: bool) -> str:
    """Commands with what they print below them."""
    commands = list(PROMPT.finditer(block.text))
    if "".join(match[0] for match in commands) != block.text:
        raise ValueError("a console begins with `$ command`")
    found = []
    for match in commands:
        status = block.status if match is commands[-1] else 0
        out = shell.command(match[1], status=status)
        kept = _kept(match[2], "".join(_lines(out)), varies=block.varies, exact=exact)
        found.append(f"$ {match[1]}{kept}")
    return "".join(found)


def _lines(text: str) -> list[str]:
    return [f"{line.rstrip()}\n" for line in text.splitlines()]


def _kept(shown: str, printed: str, *, varies: bool, exact: bool) -> str:
    """What is shown, if it is what is printed; otherwise that.

    In what is shown, `…` stands for anything, and on a line of its own for any lines. The last
    digit of a decimal fraction may be one more or less, since processors round differently. If
    figures may vary, any number stands for any other, and any blanks for others.
    """
    printed = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    pattern = ""
    fractions: list[str] = []
    for line in shown.splitlines(keepends=True):
        if line.strip("# \n") == "…":
            pattern += r"(?:[^\n]*\n)*"
            continue
        pieces = FRACTION.split(line)  # every other one is a fraction
        if varies and not exact:
            line = re.sub(r"\d+(?:\\\.\d+)?", r"\\d+(?:\\.\\d+)?", re.escape(line))
            line = re.sub(r"(?:\\ )+", r"\\ +", line)
        elif not exact:
            fractions += pieces[1::2]
            line = rf"({FRACTION.pattern[1:-1]})".join(map(re.escape, pieces[::2]))
        else:
            line = re.escape(line)
        pattern += line.replace("…", r"[^\n]*")
    match = re.fullmatch(pattern, printed)
    if match is None or not all(map(_near, fractions, match.groups())):
        return _shortened(shown, printed) if exact and "…" in shown else printed
    return shown


def _shortened(shown: str, printed: str) -> str:
    """What is printed, shortened where what is shown is, if they differ in figures alone."""
    pattern, form = "", ""
    for line in shown.splitlines(keepends=True):
        if line.strip("# \n") == "…":
            pattern += r"(?:[^\n]*\n)*"
            form += line.replace("{", "{{").replace("}", "}}")
            continue
        loose = re.sub(r"\d+(?:\\\.\d+)?", r"\\d+(?:\\.\\d+)?", re.escape(line))
        parts = re.sub(r"(?:\\ )+", r"\\ +", loose).split("…")
        pattern += r"[^\n]*".join(f"({part})" for part in parts)
        form += "…".join("{}" for _ in parts)
    match = re.fullmatch(pattern, printed)
    return form.format(*match.groups()) if match else printed


def _near(shown: str, printed: str) -> bool:
    """Whether two decimal fractions are the same but for one in the last digit."""
    one, other = Decimal(shown), Decimal(printed)
    return abs(one - other) <= Decimal((0, (1,), int(one.as_tuple().exponent)))


def _settings(text: str) -> None:
    """Refuse what cannot be a part of a file of settings; a part may leave things out."""
    try:
        Settings.model_validate(tomllib.loads(text))
    except ValidationError as error:
        wrong = [item for item in error.errors() if item["type"] != "missing"]
        if wrong:
            raise ValueError(wrong) from error


def _json(text: str) -> None:
    try:
        json.loads(text)
    except json.JSONDecodeError:
        for line in text.splitlines():  # or one object a line
            json.loads(line)


class Shell:
    """Runs commands; what they leave in the background ends with the page."""

    def __init__(self) -> None:
        self.groups: list[int] = []

    def script(self, text: str, *, status: int) -> None:
        """Run lines; only the status counts."""
        lines = [line for line in text.splitlines() if line.strip() and line[0] != "#"]
        if lines and all(map(_is_simple, lines)):
            for line in lines:
                self.command(line, status=status if line is lines[-1] else 0)
        else:
            self._bash(f"set -o pipefail\n{text}", status=status)

    def command(self, text: str, *, status: int) -> str:
        """What a command prints on standard output."""
        text = text.strip()
        alone, both = re.subn(r" 2>&1$", "", text)
        if _is_simple(alone):
            return own(shlex.split(alone, comments=True)[1:], status=status, both=bool(both))
        bare = QUOTED.sub(lambda quoted: "x" * len(quoted[0]), text)
        first = text[: bare.find(" | ")]
        if " | " in bare and _is_simple(first):  # into other programs, which need no torch
            printed = own(shlex.split(first)[1:])
            return self._bash(text[len(first) + 3 :], status=status, given=printed)
        return self._bash(text, status=status)

    def _bash(self, text: str, *, status: int, given: str = "") -> str:
        # Files and no pipes: what runs on in the background would keep a pipe open.
        with (
            tempfile.TemporaryFile("w+") as into,
            tempfile.TemporaryFile("w+") as out,
            tempfile.TemporaryFile("w+") as err,
        ):
            into.write(given)
            into.seek(0)
            process = subprocess.Popen(
                ["bash", "-e", "-c", text],
                stdin=into,
                stdout=out,
                stderr=err,
                env={**os.environ, **ENVIRONMENT},
                start_new_session=True,
            )
            self.groups.append(process.pid)
            left = process.wait(SECONDS)
            out.seek(0)
            err.seek(0)
            if left != status:
                raise ValueError(f"status {left} and not {status}: {out.read()}{err.read()}")
            return out.read()


@contextlib.contextmanager
def _shell() -> Iterator[Shell]:
    shell = Shell()
    try:
        yield shell
    finally:
        for group in shell.groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGTERM)


def _is_simple(command: str) -> bool:
    """Whether it is one command of ours that needs no shell."""
    bare = QUOTED.sub("", command)
    return bare.startswith("fencepost ") and not SHELL.search(bare)


def own(
    arguments: Sequence[str], *, status: int = 0, both: bool = False, columns: int = 100
) -> str:
    """What `fencepost` prints, run in this process.

    Args:
        arguments: what stands behind `fencepost`.
        status: what it has to leave with.
        both: whether standard error is printed, too.
        columns: how wide its terminal is.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    before, environment = sys.argv, {**os.environ}
    sys.argv = ["fencepost", *arguments]
    os.environ.update({"COLUMNS": str(columns), "HF_HUB_OFFLINE": "1"})
    left: object = None
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out if both else err):
            main()
    except SystemExit as end:
        left = end.code or 0
    finally:
        sys.argv = before
        os.environ.clear()
        os.environ.update(environment)
    printed = [_printed(stream) for stream in (out, err)]
    if left != status:
        raise ValueError(f"status {left} and not {status}: {''.join(printed)}")
    return printed[0]


def _printed(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()
