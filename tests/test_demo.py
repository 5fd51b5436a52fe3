"""`make demo`: its analyses are right, and all that it names works on a fresh clone."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fencepost

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
SCRIPT = (EXAMPLES / "demo.sh").read_text()
NAMED = re.findall(r"^  \.venv/bin/(fencepost .+?)(?:  .*)?$", SCRIPT, re.MULTILINE)

SENTENCES = [
    (
        "(S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .))",
        {"The cat": "animal", "the mat": "object"},
    ),
    (
        "(S (NP (NNP Tom)) (VP (VBZ thinks) (SBAR (IN that) (S (NP (NNP Mary)) (VP (VBZ lives) "
        "(PP (IN in) (NP (NNP Paris))))))) (. .))",
        {"Tom": "person", "Mary": "person", "Paris": "place"},
    ),
    (
        "(S (NP (NP (DT The) (NN president)) (PP (IN of) (NP (NNP France)))) (VP (VBD visited) "
        "(NP (NNP Berlin)) (PP (IN on) (NP (NNP Monday)))) (. .))",
        {
            "The president of France": "person",
            "France": "place",
            "Berlin": "place",
            "Monday": "time",
        },
    ),
]


def test_its_sentences_are_analysed_as_a_person_would() -> None:
    document = fencepost.load(threads=1).parse((EXAMPLES / "demo.txt").read_text())
    assert len(document) == len(SENTENCES)
    for parse, (brackets, entities) in zip(document, SENTENCES, strict=True):
        assert parse.tree is not None
        assert parse.tree.unwrapped == fencepost.Tree.from_brackets(brackets).spans
        assert parse.tags == fencepost.Tree.from_brackets(brackets).tags
        assert {entity.text: entity.label for entity in parse.entities or ()} == entities


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with what the commands find in a fresh clone, and `fencepost` in its path."""
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    (tmp_path / "bin").mkdir()
    for name, runs in (("fencepost", "-m fencepost"), ("python", "")):
        command = tmp_path / "bin" / name
        command.write_text(f'#!/bin/sh\nexec {sys.executable} {runs} "$@"\n')
        command.chmod(0o755)
    return tmp_path


def said(clone: Path, *command: str) -> str:
    path = f"{clone}/bin:{os.environ['PATH']}"
    source = os.pathsep.join((str(ROOT / "src"), os.environ.get("PYTHONPATH", "")))
    run = subprocess.run(
        command,
        cwd=clone,
        env={**os.environ, "PATH": path, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.slow
def test_it_runs(clone: Path) -> None:
    out = said(clone, "sh", "examples/demo.sh")
    assert "The president of France person 0 23" in out
    assert out.count("entities\n") == len(SENTENCES)
    assert "\033" not in out  # which is for terminals


@pytest.mark.slow
@pytest.mark.parametrize("command", [one for one in NAMED if "serve" not in one])
def test_what_it_names_works_on_a_fresh_clone(clone: Path, command: str) -> None:
    _, *arguments = shlex.split(command)
    said(clone, "fencepost", *arguments, *(("--set", "training.epochs=1") * ("train" in command)))


def test_it_names_what_people_do_next() -> None:
    assert [command.split()[1] for command in NAMED] == [
        *("parse", "parse", "draw", "trace", "--help", "serve", "train")
    ]


def test_make_says_what_it_installs() -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("needs make")
    told = subprocess.run(
        [make, "--dry-run", "--always-make", "demo"], cwd=ROOT, capture_output=True, text=True
    ).stdout
    assert told.count('echo "installing ') == 2
