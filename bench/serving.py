"""How many requests a second the server answers, batched against one by one: as ratios.

Two servers run in processes of their own, one that parses together what comes in together, and
one that parses each request alone; they take turns at answering the same requests over real
sockets, from 1, 8 and 32 clients at once. Times are by the clock on the wall.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from random import Random

import torch
from measuring import Ratio, Spread, circumstances, table, taking_turns

import fencepost
from fencepost.web.app import make_app
from fencepost.web.server import address_of, listen, serve
from fencepost.web.settings import Settings

CLIENTS = (1, 8, 32)
REQUESTS = 64  # in a round
ROUNDS = 5
SEED = 1
TOGETHER, ALONE = "together", "one by one"
SETTINGS = {
    TOGETHER: Settings(max_wait=60),
    ALONE: Settings(max_wait=60, batch_words=1, gather=0),
}


def made_up_texts(count: int) -> list[str]:
    """Texts of one to three sentences."""
    random = Random(SEED)
    names = ("Ann", "The old captain", "A friend of mine", "Nobody", "The museum in Bergen")
    verbs = ("saw", "has painted", "will never sell", "was looking for", "wrote about")
    things = ("the boat", "a red house by the sea", "seven letters from Oslo", "his telescope")
    ends = ("", " on Monday", " with great care", " while the dogs barked", " and went home")

    def sentence() -> str:
        return " ".join(map(random.choice, (names, verbs, things))) + random.choice(ends) + "."

    return [" ".join(sentence() for _ in range(random.randint(1, 3))) for _ in range(count)]


def answer(kind: str) -> None:
    """Be one of the servers."""
    parser = fencepost.load(threads=1)
    with listen("127.0.0.1", 0) as listening:
        print(address_of(listening, "127.0.0.1"), flush=True)
        serve(make_app(parser, SETTINGS[kind]), listening)


@contextmanager
def server(kind: str) -> Iterator[int]:
    """The port of a server in a process of its own."""
    command = [sys.executable, __file__, kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r":(\d+)$", process.stdout.readline().strip())
            assert found
            yield int(found[1])
        finally:
            process.terminate()


def ask(port: int, texts: list[str], *, clients: int) -> None:
    """Ask for the parses of all texts, with some clients at once, each over one connection."""

    def one(some: list[str]) -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=120)
        for text in some:
            body = json.dumps({"text": text}).encode()
            connection.request("POST", "/v1/parse", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            data = response.read()
            assert response.status == 200, data
        connection.close()

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(one, (texts[first::clients] for first in range(clients))))


def batches(port: int) -> tuple[float, float]:
    """How many batches a server has parsed, and how many requests they had."""
    connection = HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/metrics")
    told = connection.getresponse().read().decode()
    connection.close()
    names = ("fencepost_batch_requests_count", "fencepost_batch_requests_sum")
    found = [re.search(rf"^{name} (\S+)$", told, re.MULTILINE) for name in names]
    count, total = (float(match[1]) if match else 0.0 for match in found)
    return count, total


def main() -> None:
    """Measure both servers."""
    texts = made_up_texts(REQUESTS)
    rows = []
    with server(TOGETHER) as together, server(ALONE) as alone:
        for clients in CLIENTS:
            before = batches(together)
            jobs = {
                TOGETHER: partial(ask, together, texts, clients=clients),
                ALONE: partial(ask, alone, texts, clients=clients),
            }
            times = taking_turns(jobs, rounds=ROUNDS, clock=time.perf_counter)
            count, total = (b - a for a, b in zip(before, batches(together), strict=True))
            rates = {name: Spread.of(REQUESTS / taken for taken in times[name]) for name in jobs}
            rows.append(
                (
                    str(clients),
                    f"{total / count:.1f}",
                    f"{rates[ALONE].median:.1f}",
                    f"{rates[TOGETHER].median:.1f}",
                    *Ratio(times[ALONE], times[TOGETHER]).columns()[:2],
                )
            )
    header = ("clients", "requests a batch", *(f"{name}, a second" for name in (ALONE, TOGETHER)))
    table((*header, "ratio", "range"), rows)
    for name, value in circumstances().items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        torch.set_num_threads(1)
        answer(sys.argv[1])
    else:
        main()
