"""The workflows ask for tests that run where they run them."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CHECKS = (ROOT / ".github/workflows/checks.yml").read_text(encoding="utf-8")
COLLECT = """\
import sys
for name in ("torch", "transformers", "accelerate"):
    sys.modules[name] = None  # importing it is an ImportError
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_the_tests_of_each_python_need_no_torch() -> None:
    command = re.search(r"python -m pytest ((?:.+\n?)+?)\n", CHECKS)
    assert command is not None
    arguments = [*shlex.split(command[1]), "--collect-only", "-p", "no:cacheprovider"]
    run = [sys.executable, "-c", COLLECT, *arguments]
    done = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_the_pythons_that_are_tested_are_those_that_are_named() -> None:
    named = re.findall(
        r'"Programming Language :: Python :: (3\.\d+)"',
        (ROOT / "pyproject.toml").read_text(encoding="utf-8"),
    )
    for name in ("checks.yml", "release.yml"):
        text = (ROOT / ".github/workflows" / name).read_text(encoding="utf-8")
        tested = re.search(r"python: \[(.+)\]", text)
        assert tested is not None, name
        assert re.findall(r"[\d.]+", tested[1]) == named
