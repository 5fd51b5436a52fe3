"""The types in the JavaScript of the parser and of the patterns fit together."""

import subprocess

import pytest

from tests.web.local.helpers import WEB, needs_node

TSC = WEB / "node_modules/typescript/bin/tsc"


@needs_node
@pytest.mark.slow
@pytest.mark.skipif(not TSC.exists(), reason="no typescript: npm --prefix tests/web ci")
def test_types_fit_together() -> None:
    command = ["node", str(TSC), "-p", str(WEB / "tsconfig.json")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    typed = ("static/local/", "static/patterns.js")
    errors = [line for line in ended.stdout.splitlines() if any(name in line for name in typed)]
    assert errors == []
