"""Whether every text and every file ends in a valid result or an error of ours, within a time.

Inputs are made by a seeded generator (`tests/reliability/strategies.py`), not by Hypothesis, since
that is quicker; each has a number, so any part can be run again: `--first 40000`. They go through
the parser, the readers, the scorers, the rows of a corpus and the server's application. What else
comes of one is a violation: it is made as small as it goes, shown, and the status is 1.

With `--browser`, damaged models go through `export-web`, and texts through the parser of the page,
under node; needs `npm --prefix tests/web ci`.

With `--large`, sentences of 50,000 words in files of each format, a megabyte on one line, and
sentences of up to 100,000 words through parsers: the time, and the memory, which has to grow with
the words and not with their square.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import torch
from fastapi.testclient import TestClient
from measuring import CHECKOUT, circumstances, forget_peak, peak, table

import fencepost
from fencepost.formats.registry import FORMATS, READABLE
from fencepost.parser.parser import Parser
from fencepost.run.score import score_entities, score_trees
from fencepost.structure import Parse, Sentence, Span, Tree
from fencepost.text import split_text
from fencepost.web.app import make_app

sys.path.insert(0, str(CHECKOUT))

from tests.models import lively_model, transformer_model
from tests.reliability.browser import browser_routes
from tests.reliability.routes import Route, model_route, routes
from tests.tiny import tiny_transformer

OUTCOMES = ("valid", "status", "refused", "violation")
WEIGHTS = {"parse_many": 3.0, "parse, en-small": 0.5, "parse, tiny BERT": 0.5}  # of routes; else 1
MOST_VIOLATIONS = 10
SHRINKING = 20.0  # seconds
SHIPPED = "en-small"
LENGTHS = {"a small network": (25_000, 50_000, 100_000), SHIPPED: (5_000, 10_000, 20_000)}
FILE_LENGTHS = (12_500, 25_000, 50_000)
SENTENCE = "The cat sat on the mat , and Ann met Bo at the museum in Bergen ."
MEGABYTE = 1_000_000


class TooLong(BaseException):
    """An input took more than its time."""


@dataclass(slots=True)
class Tally:
    """What came of the inputs of a route."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    seconds: float = 0.0


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Raise `TooLong` after so many seconds of the processor, which others may keep busy.

    What waits for something else, or does not even hear that, ends the process after twelve times
    as long by the clock, and is shown.
    """

    def end(*_: object) -> None:
        raise TooLong(f"more than {seconds:g} s of processor time")

    before = signal.signal(signal.SIGPROF, end)
    faulthandler.dump_traceback_later(12 * seconds, exit=True)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGPROF, before)


def shrunk(value: Any, fails: Callable[[Any], bool]) -> Any:
    """The smallest input that still fails, of those that are found in some seconds."""
    until = time.monotonic() + SHRINKING
    if isinstance(value, tuple):
        parts = list(value)
        for index in range(len(parts)):

            def fails_with(part: Any, index: int = index) -> bool:
                return fails((*parts[:index], part, *parts[index + 1 :]))

            parts[index] = _cut(parts[index], fails_with, until)
        return tuple(parts)
    return _cut(value, fails, until)


def _cut(value: Any, fails: Callable[[Any], bool], until: float) -> Any:
    size = len(value) // 2
    while size:
        start = 0
        while start < len(value) and time.monotonic() < until:
            shorter = value[:start] + value[start + size :]
            if fails(shorter):
                value = shorter
            else:
                start += size
        size //= 2
    return value


def fails_like(route: Route, kind: type[BaseException], seconds: float) -> Callable[[Any], bool]:
    """Whether an input ends as another one did."""

    def fails(value: Any) -> bool:
        try:
            with bounded(seconds):
                route.send(value)
        except (Exception, TooLong) as error:
            return type(error) is kind
        return False

    return fails


def fuzz(ways: list[Route], *, seed: int, first: int, wanted: int, seconds: float) -> int:
    """Run inputs through the routes, print what came of them, and return how many violations.

    An interrupt ends it early, with what has come of them so far.
    """
    tallies = {way.name: Tally() for way in ways}
    weights = [WEIGHTS.get(way.name, 1.0) for way in ways]
    slowest: tuple[float, str, int, str] = (0.0, "", 0, "")
    done = violations = number = 0
    since = time.process_time()
    stopped: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: stopped.append(number))
    told = time.monotonic()
    for number in count(first):
        if done >= wanted or violations >= MOST_VIOLATIONS or stopped:
            break
        random = Random(f"{seed}/{number}")
        (way,) = random.choices(ways, weights)
        value = way.make(random)
        tally = tallies[way.name]
        started = time.process_time()
        try:
            with bounded(seconds):
                outcomes = way.send(value)
        except (Exception, TooLong) as error:
            outcomes = ["violation"]
            violations += 1
            small = shrunk(value, fails_like(way, type(error), seconds))
            shown = repr(small) if len(repr(small)) < 2000 else f"{repr(small)[:2000]}..."
            print(f"violation: {way.name}, number {number}: {error!r}\n  {shown}\n", flush=True)
        spent = time.process_time() - started
        tally.outcomes.update(outcomes)
        tally.seconds += spent
        done += len(outcomes)
        each = spent / len(outcomes)
        if each > tally.slowest:
            tally.slowest = each
        if each > slowest[0]:
            slowest = (each, way.name, number, repr(value)[:80])
        if time.monotonic() - told > 30:
            told = time.monotonic()
            print(f"{done:,} inputs, {violations} violations", file=sys.stderr, flush=True)
    table(
        ("route", "inputs", *OUTCOMES, "mean, ms", "slowest, ms"),
        [_row(name, tally) for name, tally in tallies.items()],
    )
    total = sum((tally.outcomes for tally in tallies.values()), Counter[str]())
    told_counts = ", ".join(f"{total[name]:,} {name}" for name in OUTCOMES)
    print(f"{done:,} inputs: {told_counts}; bound {seconds:g} s each; seed {seed}")
    print(f"slowest: {1000 * slowest[0]:.0f} ms, {slowest[1]}, number {slowest[2]}: {slowest[3]}")
    print(f"{time.process_time() - since:.0f} s of processor time; to go on: --first {number}")
    return violations


def _row(name: str, tally: Tally) -> list[str]:
    inputs = tally.outcomes.total()
    figures = [f"{tally.outcomes[outcome]:,}" for outcome in OUTCOMES]
    mean = 1000 * tally.seconds / max(1, inputs)
    return [name, f"{inputs:,}", *figures, f"{mean:.1f}", f"{1000 * tally.slowest:.0f}"]


def long_lines() -> None:
    """Print what it takes to split a very long line."""
    rows = []
    units = ("a ", "a", ".", "a. ", "' ", "\u0301", "👨\u200d", "(", "1,", "\n", " ", "\x00", "猫")
    for unit in units:
        text = unit * (MEGABYTE // len(unit.encode()))
        before = forget_peak()
        started = time.process_time()
        sentences = split_text(text)
        spent = time.process_time() - started
        longest = max(map(len, sentences), default=0)
        found = (f"{len(sentences):,}", f"{longest:,}", f"{spent:.2f}", f"{peak() - before:.0f}")
        rows.append([repr(unit), *found])
        del sentences
    table(("1 MB of", "sentences", "words of the longest", "seconds", "MiB"), rows)


def long_sentences() -> None:
    """Print what a very long sentence takes."""
    parser = Parser(lively_model("tree", "entities"))
    for given in ("a " * (MEGABYTE // 2), ["a"] * 100_000):
        print(f"as it is: {parser.parse(given).status}")
    print()
    rows = []
    for name, lengths in LENGTHS.items():
        before: Measured | None = None
        for length in lengths:
            found = measured_alone(name, length)
            rows.append([name, *found.columns(before)])
            print(*rows[-1], sep="; ", file=sys.stderr, flush=True)
            before = found
    header = ("one sentence, by", "words", "outcome", "spans", "seconds", "MiB")
    table((*header, "MiB per 1,000 words", "per 1,000 more than before"), rows)


class Measured(NamedTuple):
    """What one sentence took."""

    outcome: str
    words: int
    spans: int  # that were found
    seconds: float  # of the processor
    mebibytes: float  # beyond what was in use before

    def columns(self, shorter: Measured | None) -> list[str]:
        """Those of a table; the last compares it with a shorter one."""
        more = ""
        if shorter is not None:
            growth = (self.mebibytes - shorter.mebibytes) / (self.words - shorter.words)
            more = f"{1000 * growth:.2f}"
        return [
            *(f"{self.words:,}", self.outcome, f"{self.spans:,}", f"{self.seconds:.1f}"),
            *(f"{self.mebibytes:.1f}", f"{1000 * self.mebibytes / self.words:.2f}", more),
        ]


def measured_alone(name: str, length: int) -> Measured:
    """What a sentence of so many words takes, in a process of its own.

    In one that has read a long sentence before, memory is left over from it, and hides what the
    next one needs.
    """
    command = [sys.executable, __file__, "--sentence", name, str(length)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Measured(*json.loads(done.stdout.splitlines()[-1]))


def measured(name: str, length: int) -> Measured:
    """What a sentence of so many words takes, in this process."""
    if name == SHIPPED:
        parser, words = fencepost.load(name, threads=1, max_words=length), SENTENCE.split()
    else:
        parser = Parser(lively_model("tree", "entities"), max_words=length)
        words = ["a", "b", "c", "d"]
    given = (words * (length // len(words) + 1))[:length]
    parser.parse(given[:100])  # what is made only once is made now
    before = forget_peak()
    started = time.process_time()
    document = parser.parse(given)
    spent = time.process_time() - started
    used = peak() - before
    (parse,) = document.sentences
    spans = len(parse.tree.spans if parse.tree else ()) + len(parse.entities or ())
    return Measured(document.status, len(parse.words), spans, spent, used)


def long_files() -> None:
    """Print what it takes to write, read and score sentences that are very long, or deep."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for shape in ("flat", "deep"):
            parses = {length: long_parse(length, shape) for length in FILE_LENGTHS}
            formats = READABLE if shape == "flat" else (FORMATS["ptb"], FORMATS["jsonl"])
            for format in formats:
                path = Path(place, f"x{format.suffix}")
                rows.append([shape, format.name])
                for parse in parses.values():
                    started = time.process_time()
                    fencepost.write([parse], path, format=format.name)
                    (found,) = fencepost.read(path, format=format.name)
                    if found.words != parse.words or (found.entities or parse.entities) is None:
                        raise SystemExit(f"{format.name}: something else was read")
                    rows[-1].append(f"{time.process_time() - started:.2f}")
            rows.append([shape, "scored against itself"])
            for parse in parses.values():
                path = Path(place, "x.jsonl")
                fencepost.write([parse], path)
                started = time.process_time()
                f1s = [score(path, path).to_dict()["f1"] for score in (score_trees, score_entities)]
                if f1s != [100, 100]:
                    raise SystemExit(f"a sentence scored against itself has an F1 of {f1s}")
                rows[-1].append(f"{time.process_time() - started:.2f}")
    table(("one sentence", "", *(f"{length:,} words, s" for length in FILE_LENGTHS)), rows)


def long_parse(length: int, shape: str) -> Parse:
    """A sentence with a span over each five words, or one from each word to the end."""
    sentence = Sentence(tuple(f"w{n % 97}" for n in range(length)), ("NN",) * length)
    if shape == "flat":
        spans = [Span(start, start + 5, "NP") for start in range(0, length, 5)]
        entities = tuple(spans)
    else:
        spans = [Span(start, length, "VP") for start in range(1, length)]
        entities = (Span(0, 3, "X"),)
    return Parse(sentence, Tree(sentence, (Span(0, length, "S"), *spans)), entities)


def main() -> None:
    """Run what is asked for."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    options.add_argument("--count", type=int, default=100_000, help="inputs, at least")
    options.add_argument("--first", type=int, default=0, help="number of the first, to go on")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--seconds", type=float, default=10.0, help="that one input may take")
    options.add_argument("--only", default="", help="routes with this in their names")
    options.add_argument("--browser", action="store_true", help="the page in the browser instead")
    options.add_argument("--large", action="store_true", help="long lines and sentences instead")
    options.add_argument("--sentence", nargs=2, help=argparse.SUPPRESS)  # whose words, how many
    asked = options.parse_args()
    torch.set_num_threads(1)
    if asked.sentence:
        print(json.dumps(measured(asked.sentence[0], int(asked.sentence[1]))))
        return
    for name, value in circumstances().items():
        print(f"{name}: {value}")
    print()
    if asked.large:
        long_files()
        long_lines()
        long_sentences()
        return
    parser = Parser(lively_model("tree", "entities", "tags"))
    with tempfile.TemporaryDirectory() as place, TestClient(make_app(parser)) as server:
        folder = Path(place)
        if asked.browser:
            ways = browser_routes(folder)
        else:
            ways = routes(parser, server, folder)
            ways.append(model_route("en-small", fencepost.load("en-small", threads=1)))
            tiny = Parser(transformer_model(tiny_transformer(folder)))
            ways.append(model_route("tiny BERT", tiny))
        ways = [way for way in ways if asked.only in way.name]
        if not ways:
            options.error(f"no route has {asked.only!r} in its name")
        violations = fuzz(
            ways, seed=asked.seed, first=asked.first, wanted=asked.count, seconds=asked.seconds
        )
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
