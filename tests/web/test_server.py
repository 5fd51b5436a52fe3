"""The command: what it takes, what it says, and how it ends."""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import fencepost
import fencepost.web as fencepost_web
from fencepost.cli import serve as module
from fencepost.errors import ConfigError
from fencepost.parser import parser as loading
from fencepost.structure import Document
from fencepost.web import app as web
from fencepost.web import server
from fencepost.web.server import address_of, listen
from fencepost.web.settings import Settings
from tests.web.hostile import asked, until, words_begun
from tests.web.serving import PARSER

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(module.serve)


class Started:
    """What would have been served."""

    settings: Settings
    model: str
    asked: dict[str, Any]
    ran: dict[str, Any]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """The command, but nothing is loaded and nothing is served."""
    found = Started()

    def load(name: str, **asked: Any) -> Any:
        found.asked = {"name": name, **asked}
        return PARSER

    def make_app(parser: Any, settings: Settings, *, model: str) -> str:
        found.settings, found.model = settings, model
        return "app"

    def serve(app: str, listening: socket.socket, **asked: Any) -> None:
        found.ran = asked

    monkeypatch.delenv("FENCEPOST_TOKEN", raising=False)
    monkeypatch.setattr(loading, "load", load)
    monkeypatch.setattr(web, "make_app", make_app)
    monkeypatch.setattr(server, "serve", serve)
    return found


def run(*arguments: str, **variables: str) -> str:
    """What the command says on standard error, where all goes well."""
    result = CliRunner().invoke(app, ["--port", "0", *arguments], env=variables)
    assert result.exception is None, result.exception
    assert result.stdout == ""
    return result.stderr


def fails(*arguments: str, **variables: str) -> str:
    """The error that it raises, which is printed and ends it with status 2."""
    result = CliRunner().invoke(app, ["--port", "0", *arguments], env=variables)
    assert isinstance(result.exception, ConfigError)
    return str(result.exception)


class TestOptions:
    def test_it_listens_only_at_this_machine_and_says_where(self, started: Started) -> None:
        said = run()
        assert re.fullmatch(r"fencepost: listening at http://127.0.0.1:\d+ .Ctrl-C ends.\n", said)
        assert started.settings == Settings(
            hosts=("127.0.0.1", "localhost", "::1", "127.0.0.1"), token=None
        )
        assert started.asked == {
            "name": "en-small",
            "device": "cpu",
            "threads": None,
            "max_words": 2_000,
            "backend": "auto",
            "precision": "fp32",
        }
        assert started.ran == {"closing": 10, "verbose": False}

    def test_limits_reach_the_application(self, started: Started) -> None:
        limits = ["--max-body=10", "--max-words=20", "--max-wait=3.5", "--queue=4"]
        others = ["--max-sentence=5", "--quiet", "--model=some/where/mine", "--threads=1"]
        assert run(*limits, *others) == ""
        settings = started.settings
        assert (settings.max_body, settings.max_words) == (10, 20)
        assert (settings.max_wait, settings.queue) == (3.5, 4)
        assert (started.asked["max_words"], started.asked["threads"]) == (5, 1)
        assert started.model == "mine"

    def test_a_token_comes_from_anywhere_but_is_never_said(
        self, started: Started, tmp_path: Path
    ) -> None:
        file = tmp_path / "token"
        file.write_text("secret\n")
        for arguments, variables in (
            (["--token", "secret"], {}),
            ([], {"FENCEPOST_TOKEN": "secret"}),
            (["--token-file", str(file)], {}),
        ):
            assert "secret" not in run(*arguments, **variables)
            assert started.settings.token == "secret"
        run(FENCEPOST_TOKEN=" secret\n")
        assert started.settings.token == "secret"

    @pytest.mark.parametrize("token", ["sécret", "a\tb", "a\x7fb", "🙂"])
    def test_a_token_that_no_header_can_hold_is_refused(self, started: Started, token: str) -> None:
        message = fails("--token", token)
        assert "the token has characters that a header cannot hold" in message
        assert token not in message

    def test_a_token_that_is_none_is_refused(self, started: Started, tmp_path: Path) -> None:
        file = tmp_path / "token"
        file.write_text("\n")
        assert "the token is empty" in fails("--token", " ")
        assert "the token is empty" in fails("--token-file", str(file))
        assert "one of them, not both" in fails("--token", "x", "--token-file", str(file))
        other = str(tmp_path / "other")
        told = f"--token-file {other}: cannot be read: No such file or directory"
        assert fails("--token-file", other) == told

    def test_others_who_may_ask_are_warned_of(self, started: Started) -> None:
        assert "anybody who can reach 0.0.0.0" in run("--host", "0.0.0.0")
        assert started.settings.hosts is None
        assert "anybody" not in run("--host", "0.0.0.0", "--token", "x")
        run("--host", "0.0.0.0", "--allow-host", "a.example")
        assert started.settings.hosts == ("a.example",)
        run("--allow-host", "a.example")
        assert started.settings.hosts is not None
        assert started.settings.hosts[-1] == "a.example"

    def test_a_port_in_use_is_told(self, started: Started) -> None:
        with listen("127.0.0.1", 0) as taken:
            port = str(taken.getsockname()[1])
            assert f"port {port}: Address already in use" in fails("--port", port)

    def test_a_host_that_is_none_is_told(self, started: Started) -> None:
        assert "--host 300.0.0.1" in fails("--host", "300.0.0.1")
        assert "--host" in fails("--host", "a" * 100 + ".b")

    @pytest.mark.parametrize("name", ["fastapi", "uvicorn", "prometheus_client"])
    def test_without_its_packages_it_says_how_to_get_them(
        self, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(fencepost, "web", fencepost_web)  # which is put back at the end
        for loaded in [one for one in sys.modules if one.startswith("fencepost.web")]:
            monkeypatch.delitem(sys.modules, loaded)
        monkeypatch.setitem(sys.modules, name, None)
        message = fails()
        assert 'pip install "fencepost[serve]"' in message
        assert name in message

    def test_any_other_module_that_is_missing_is_a_bug(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "fencepost.web.app", None)
        result = CliRunner().invoke(app, [])
        assert isinstance(result.exception, ModuleNotFoundError)

    def test_it_logs_if_asked_to(self, started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[dict[str, Any]] = []
        monkeypatch.setattr(logging, "basicConfig", lambda **given: asked.append(given))
        run("--verbose")
        assert started.ran["verbose"] is True
        assert len(asked) == 1


def test_an_address_is_one_that_browsers_know() -> None:
    with listen("localhost", 0) as listening:
        port = listening.getsockname()[1]
        assert address_of(listening, "localhost") == f"http://localhost:{port}"
        assert address_of(listening, "::1") == f"http://[::1]:{port}"


@contextmanager
def running(*arguments: str, **variables: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The command as a program, and where it listens."""
    process = subprocess.Popen(
        [sys.executable, "-m", "fencepost", "serve", "--port", "0", "--threads", "1", *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **variables},
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found, line + process.stderr.read()
        yield found[0], process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_a_real_server_answers_many_and_ends_when_told(tmp_path: Path) -> None:
    texts = [f"The cat sat on {n} mats. It slept." for n in range(12)]
    PARSER.save(tmp_path / "model")
    with running("--model", str(tmp_path / "model"), FENCEPOST_TOKEN="secret") as found:
        address, process = found
        url, token = f"{address}/v1/parse", {"Authorization": "Bearer secret"}
        assert asked(url, {"text": "a"})[0] == 401
        assert asked(url, {"text": "a"}, **token, Host="evil.example")[0] == 400
        assert asked(url, {"text": "a " * 2**20}, **token)[0] == 413
        with ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(lambda text: asked(url, {"text": text}, **token), texts))
        for text, (status, answer) in zip(texts, answers, strict=True):
            assert status == 200
            assert Document.from_dict(answer["documents"][0]) == PARSER.parse(text)
        # What is waiting when it is told to end is still answered.
        with ThreadPoolExecutor(1) as pool:
            before = words_begun(address, **token)
            last = pool.submit(asked, url, {"text": " ".join(texts * 40)}, **token)
            until(lambda: words_begun(address, **token) > before)
            process.send_signal(signal.SIGINT)
            assert last.result()[0] == 200
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err
    assert "secret" not in err
