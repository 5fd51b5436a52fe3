"""A server under load, and whether the bench that puts it there sees what goes wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.web.serving import PARSER

BENCH = Path(__file__).parents[2] / "bench/load.py"


def measured(*arguments: object) -> tuple[int, str]:
    """The status of the bench, and what it says."""
    command = [sys.executable, str(BENCH), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.mark.slow
def test_a_server_under_load_loses_and_mixes_up_nothing(tmp_path: Path) -> None:
    PARSER.save(tmp_path / "model")
    load = ("--requests", 200, "--connections", 16, "--queue", 8, "--texts", 20)
    status, said = measured(*load, "--model", tmp_path / "model")
    assert status == 0, said
    assert "200 of 200 requests answered" in said
    refusals = re.search(r"refused with 503 and asked again: ([\d,]+)", said)
    assert refusals
    assert refusals[1] != "0"  # else nothing was said about refusals


def document(text: str) -> dict[str, Any]:
    return {"text": text, "status": "ok", "sentences": [{"words": text.split(), "tree": []}]}


class Answers:
    """What a server that is not ours says."""

    def __init__(self, say: Callable[[list[str], int], tuple[int, dict[str, str], Any]]) -> None:
        self.say = say
        self.asked = 0
        self.lock = threading.Lock()


@contextmanager
def other_server(answers: Answers) -> Iterator[int]:
    """The port of a server that answers as it is told to."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one piece: else the system waits between them

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with answers.lock:
                answers.asked += 1
                number = answers.asked
            status, headers, data = answers.say(body["inputs"], number)
            said = json.dumps(data).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(said))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def right(inputs: list[str], number: int) -> tuple[int, dict[str, str], Any]:
    return 200, {}, {"documents": [document(text) for text in inputs]}


def mixed_up(inputs: list[str], number: int) -> tuple[int, dict[str, str], Any]:
    if len(inputs) == 2 and number % 10 == 0:
        return right(["number 1", inputs[1]], number)
    return right(inputs, number)


def other_spans(inputs: list[str], number: int) -> tuple[int, dict[str, str], Any]:
    status, headers, data = right(inputs, number)
    if len(inputs) == 2 and number % 10 == 0:
        data["documents"][1]["sentences"][0]["tree"] = [[0, 1, "S", 0.5]]
    return status, headers, data


def refuses(
    status: int, **headers: str
) -> Callable[[list[str], int], tuple[int, dict[str, str], Any]]:
    def say(inputs: list[str], number: int) -> tuple[int, dict[str, str], Any]:
        if len(inputs) == 2 and number % 10 == 0:
            return status, headers, {}
        return right(inputs, number)

    return say


@pytest.mark.parametrize(
    ("say", "kept"),
    [
        (right, None),
        (refuses(503, **{"Retry-After": "1"}), None),
        (refuses(503), "503 without Retry-After: "),
        (refuses(429), "status 429: "),
        (refuses(500), "status 500: "),
        (mixed_up, "the answer of another request: "),
        (other_spans, "other spans than alone: "),
        (refuses(200), "lost: KeyError: "),
    ],
    ids=["right", "busy", "no-retry", "429", "500", "mixed-up", "other-spans", "lost"],
)
def test_the_bench_sees_what_is_not_kept(
    say: Callable[[list[str], int], tuple[int, dict[str, str], Any]], kept: str | None
) -> None:
    with other_server(Answers(say)) as port:
        status, said = measured("--requests", 30, "--connections", 4, "--texts", 5, "--port", port)
    assert status == (0 if kept is None else 1), said
    assert ("NOT KEPT" in said) == (kept is not None)
    assert kept is None or f"NOT KEPT: {kept}" in said
