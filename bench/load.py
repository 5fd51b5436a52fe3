"""Whether a server under load loses, mixes up or hoards anything.

    python bench/load.py [--requests 10000] [--connections 64] [--queue 48] [--model en-small]
    python bench/load.py --minutes 60 --model en-small

A real `fencepost serve` runs in a process of its own, by default with a tiny random model, so that
most of what is measured is the server and not the parser. Each connection asks one request after
the other. A request has two inputs: a number that no other request has, and one of a few hundred
texts, which the server had parsed alone before. The answer has to bring back the number, and the
same spans. A refusal has to be 503 with `Retry-After`; who is refused asks again, until there is
an answer. The memory of the server is looked at after each answer, and told for each tenth of the
requests, or of the time if that is limited instead. The status is 1 if a bound is not
kept: an answer that is missing or another's, any other refusal, memory that grows, a server that
does not end with status 0 when it is told to.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

LAYERS = ("tree", "entities")
TEXTS = 200
SEED = 1
PATIENCE = 60  # seconds for an answer
AGAIN = 0.05  # seconds, at most, until who was refused asks again
PARTS = 10  # after each of them, memory is told
MOST_GROWTH = 0.05  # of the memory in the second part, when caches have filled

Asked = Mapping[str, Any]


def made_up_texts(count: int) -> list[str]:
    """Texts of one or two short sentences."""
    random = Random(SEED)
    words = ("a", "b", "c", "cat", "Ann", "saw", "on", "the", "old", "boat", "é", "🐟", "(b)")

    def sentence() -> str:
        return " ".join(random.choices(words, k=random.randint(2, 12))) + "."

    return [" ".join(sentence() for _ in range(random.randint(1, 2))) for _ in range(count)]


def save_tiny_model(folder: Path) -> None:
    """Save a random model that finds some of everything in next to no time."""
    import torch

    from fencepost.batching.numbers import Numbers
    from fencepost.batching.vocabulary import Labels, Vocabulary
    from fencepost.checkpoints.model import save_model
    from fencepost.checkpoints.trainable import new_model
    from fencepost.config import HeadsSettings, NetworkSettings, checked

    torch.manual_seed(SEED)
    encoder = {"kind": "words", "word_width": 8, "character_width": 4, "character_hidden": 6}
    network = {"encoder": encoder, "lstm_layers": 1, "lstm_hidden": 8}
    small = {"mlp": 8, "decoder": 8}
    heads = {"tree": small, "entities": small, "tags": {}}
    model = new_model(
        checked(NetworkSettings, network, where="load"),
        checked(HeadsSettings, heads, where="load"),
        Numbers(
            {name: Labels(("S", "NP", "VP")) for name in heads},
            Vocabulary(("a", "b"), (2, 2)),
            Vocabulary(("a", "b", "c"), (2, 2, 2)),
        ),
    )
    for parameter in model.network.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    save_model(model, folder)


@contextmanager
def server(model: str, *, queue: int) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """The port of a server in a process of its own."""
    options = ("--model", model, "--queue", str(queue), "--threads", "1", "--max-wait", "60")
    command = (sys.executable, "-m", "fencepost", "serve", "--port", "0", *options)
    variables = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=variables) as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            found = re.search(r":(\d+) ", said)
            if not found:
                raise SystemExit(said + process.stderr.read())
            yield int(found[1]), process
        finally:
            process.kill()


def memory_of(process: int) -> float | None:
    """What a process has in memory, in MiB; None: this system does not tell."""
    try:
        told = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return None
    found = re.search(r"^VmRSS:\s+(\d+) kB$", told, re.MULTILINE)
    return int(found[1]) / 1024 if found else None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back over a connection."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def documents(self) -> list[Any]:
        """What was found in each input."""
        documents: list[Any] = json.loads(self.body)["documents"]
        return documents


class Client:
    """One connection, which is kept open.

    Args:
        port: of a server on this machine.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, asked: Asked) -> Answer:
        """The answer to a request."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._streams
        body = json.dumps(asked).encode()
        writer.write(
            b"POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        )
        async with asyncio.timeout(PATIENCE):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.strip().split("\r\n")
            pairs = (line.split(":", 1) for line in lines)
            headers = {name.strip().lower(): value.strip() for name, value in pairs}
            found = await reader.readexactly(int(headers["content-length"]))
        if headers.get("connection", "").lower() == "close":
            self.close()
        return Answer(int(first.split()[1]), headers, found)

    def close(self) -> None:
        """End the connection."""
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None


def found_in(document: Any) -> Any:
    """What has to be the same, alone or among others: the text, the words and the spans."""
    return (
        document["text"],
        document["status"],
        [
            (
                sentence["words"],
                sentence.get("tags"),
                [[tuple(span[:3]) for span in sentence.get(layer, ())] for layer in LAYERS],
            )
            for sentence in document["sentences"]
        ],
    )


@dataclass(slots=True)
class Load:
    """What is asked, and what came of it."""

    port: int
    process: int
    total: int  # requests; of no account if there is a time
    texts: list[str]
    minutes: float | None = None
    alone: list[Any] = field(default_factory=list)  # what was found in each text
    taken: list[float] = field(default_factory=list)  # seconds, of each answer
    refused: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    samples: list[float] = field(default_factory=list)  # of memory, since it was last told
    memory: list[float] = field(default_factory=list)  # in MiB, the mean of each part
    begun: int = 0
    started: float = 0.0
    seconds: float = 0.0

    async def run(self, connections: int) -> None:
        """Ask for everything once alone, and then for all at once."""
        client = Client(self.port)
        for text in self.texts:
            (document,) = (await client.ask({"inputs": [text]})).documents()
            self.alone.append(found_in(document))
        client.close()
        self._look_at_memory()
        self._tell_memory()
        self.started = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for number in range(connections):
                group.create_task(self._ask(Random(SEED + number)))
        self.seconds = time.perf_counter() - self.started

    def _share(self, requests: int) -> float:
        """How much of the whole it is when so many requests are done, or begun."""
        if self.minutes is None:
            return requests / self.total
        return (time.perf_counter() - self.started) / (60 * self.minutes)

    async def _ask(self, random: Random) -> None:
        """Ask over one connection, as long as there is something left to ask."""
        client = Client(self.port)
        while self._share(self.begun) < 1:
            self.begun += 1
            number, text = f"number {self.begun}", random.randrange(len(self.texts))
            try:
                await self._one(client, number, text, random=random)
            except (OSError, EOFError, ValueError, KeyError, TimeoutError) as error:
                self.wrong[f"lost: {type(error).__name__}"] += 1
                client.close()
        client.close()

    async def _one(self, client: Client, number: str, text: int, *, random: Random) -> None:
        """Ask until there is an answer."""
        while True:
            started = time.perf_counter()
            answer = await client.ask({"inputs": [number, self.texts[text]]})
            taken = time.perf_counter() - started
            if answer.status != 503:
                break
            self.refused += 1
            if not answer.headers.get("retry-after", "").isdecimal():
                self.wrong["503 without Retry-After"] += 1
            await asyncio.sleep(random.uniform(AGAIN / 2, AGAIN))
        if answer.status != 200:
            self.wrong[f"status {answer.status}"] += 1
            return
        self.taken.append(taken)
        self._look_at_memory()
        if self._share(len(self.taken)) * PARTS >= len(self.memory):
            self._tell_memory()
        mine, its_text = answer.documents()
        if mine["text"] != number:
            self.wrong["the answer of another request"] += 1
        elif found_in(its_text) != self.alone[text]:
            self.wrong["other spans than alone"] += 1

    def _look_at_memory(self) -> None:
        found = memory_of(self.process)
        if found is not None:
            self.samples.append(found)

    def _tell_memory(self) -> None:
        if self.samples:
            mean = sum(self.samples) / len(self.samples)
            told = f"{mean:.1f} MiB, from {min(self.samples):.1f} to {max(self.samples):.1f}"
            print(f"until {len(self.taken):,} answers: {told}", flush=True)
            self.memory.append(mean)
            self.samples.clear()

    @property
    def growth(self) -> float:
        """By which share memory has grown since the second part."""
        if len(self.memory) < PARTS // 2:
            return 0.0
        return self.memory[-1] / self.memory[2] - 1

    def told(self) -> Iterator[str]:
        """What was measured, a line each."""
        ordered, rate = sorted(self.taken), len(self.taken) / self.seconds
        yield f"{len(ordered):,} of {self.begun:,} requests answered in {self.seconds:.1f} s"
        yield f"{rate:.0f} a second; in an hour that would be {rate * 3600:,.0f}"
        for share in (0.5, 0.99):
            if ordered:
                place = min(len(ordered) - 1, int(share * len(ordered)))
                yield f"p{share * 100:.0f}: {ordered[place] * 1000:.1f} ms"
        yield f"refused with 503 and asked again: {self.refused:,}"
        yield f"growth of memory since the second tenth: {self.growth:+.1%}"

    def violations(self) -> Iterator[str]:
        """What was not kept, a line each."""
        for what, times in self.wrong.items():
            yield f"{what}: {times:,} times"
        if len(self.taken) + sum(self.wrong.values()) < self.begun:
            yield "not all requests came to an end"
        if self.growth > MOST_GROWTH:
            yield f"memory has grown by {self.growth:.1%}; at most {MOST_GROWTH:.0%} were expected"


def ended_well(process: subprocess.Popen[str]) -> bool:
    """Whether a server that is told to end does so, with status 0."""
    process.send_signal(signal.SIGTERM)
    try:
        return process.wait(30) == 0
    except subprocess.TimeoutExpired:
        return False


def tell(load: Load, more: list[str]) -> int:
    """Print what was measured, and return the status."""
    for line in load.told():
        print(line)
    found = [*load.violations(), *more]
    for line in found:
        print(f"NOT KEPT: {line}")
    return 1 if found else 0


def main() -> int:
    """Measure; 1: a bound is not kept."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    arguments.add_argument("--requests", type=int, default=10_000)
    arguments.add_argument("--minutes", type=float, help="ask for so long, and not so often")
    arguments.add_argument("--connections", type=int, default=64)
    arguments.add_argument("--texts", type=int, default=TEXTS, help="that differ")
    arguments.add_argument("--queue", type=int, default=48, help="of the server")
    arguments.add_argument("--model", help="a name or a folder; without it, a tiny random one")
    arguments.add_argument("--port", type=int, help="of a server that is running already")
    given = arguments.parse_args()
    texts = made_up_texts(given.texts)
    if given.port is not None:
        load = Load(given.port, 0, given.requests, texts, given.minutes)
        asyncio.run(load.run(given.connections))
        return tell(load, [])
    with tempfile.TemporaryDirectory() as place:
        if given.model is None:
            save_tiny_model(Path(place) / "tiny")
        model = given.model or str(Path(place) / "tiny")
        with server(model, queue=given.queue) as (port, process):
            load = Load(port, process.pid, given.requests, texts, given.minutes)
            asyncio.run(load.run(given.connections))
            more = [] if ended_well(process) else ["the server has not ended well"]
    return tell(load, more)


if __name__ == "__main__":
    sys.exit(main())
