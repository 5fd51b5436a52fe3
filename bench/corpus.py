"""What Ray costs and gains beside the plain stream, and what a worker needs: part of `make bench`.

    python bench/corpus.py [--quick]

The text is made of the sentences of GUM dev if it is beside the checkout, or else of those in
`examples/`, drawn with a seed. One plain stream, two at once in processes of their own, and one and
two workers of a Ray cluster on this machine take turns at parsing it with `en-small`, on one thread
each, into JSON lines. What two can gain at all is told by the plain ones: cores may share what they
compute with, and others may be at work. Times are by the clock on the wall, and without start-up:
with k workers, they run from the k-th portion that is done to the last one; start-up is told apart.
Memory is what a worker has in use at most beyond what it had with the model loaded, for one portion
of a text and for one ten times as large. The status is 1 if a bound is not kept.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from measuring import CHECKOUT, Ratio, Spread, circumstances, forget_peak, peak, table

import fencepost
from fencepost import read
from fencepost.checkpoints.shipped import find_model
from fencepost.integrations import ray as on_ray
from fencepost.integrations.cluster import Workers, connected, require_ray
from fencepost.integrations.ray import Loading, parse_on_ray
from fencepost.parser.parser import MOST_WORDS
from fencepost.run.corpus.plan import make_plan
from fencepost.run.corpus.results import Format
from fencepost.run.corpus.rows import RowSettings
from fencepost.run.corpus.run import Run, absorbed, fingerprint, parse_here
from fencepost.run.corpus.work import Done, Job

GUM = CHECKOUT.parent / "shared/data/gum/const/dev.ptb"
EXAMPLES = CHECKOUT / "examples/kitchen.train.ptb"
MODEL = "en-small"
SEED = 1
ROWS = RowSettings()
PLAIN, PLAIN_TWO, ONE, TWO = "plain stream", "2 plain streams", "Ray, 1 worker", "Ray, 2 workers"
CORES = {PLAIN: 1, PLAIN_TWO: 2, ONE: 1, TWO: 2}
MEASURED: tuple[tuple[Format, int], ...] = (
    ("jsonl", 1),
    ("parquet", 1),
    ("parquet", 5),
    ("parquet", 10),
)


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is measured."""

    rounds: int
    portions: int  # an even number
    portion_words: int
    memory_words: int  # of the smaller text


FULL = Extent(3, 14, 2500, 20_000)
QUICK = Extent(1, 6, 500, 1000)


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of a run."""

    words: int
    bytes: int  # written
    rate: float  # words a second, without start-up
    start: float  # seconds before the first portion was begun


def paragraphs() -> Iterator[str]:
    """Paragraphs of a few sentences, without end, in an order drawn with the seed."""
    sentences = [" ".join(parse.words) for parse in read(GUM if GUM.is_file() else EXAMPLES)]
    random = Random(SEED)
    while True:
        yield " ".join(random.choices(sentences, k=random.randint(1, 6)))


def write_text(path: Path, words: int) -> Path:
    """A text of about so many words."""
    with path.open("w", encoding="utf-8") as file:
        for paragraph in paragraphs():
            file.write(f"{paragraph}\n\n")
            words -= paragraph.count(" ") + 1
            if words <= 0:
                return path
    raise AssertionError("paragraphs have no end")


class Measure:
    """Runs over texts, each into a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.parser = fencepost.load(MODEL, threads=1)
        self.asked = self.parser.check_options()
        self.numbers = count()

    def run(self, text: Path, workers: int, *, format: Format = "jsonl", portions: int) -> Taken:
        """Parse a text with so many workers; 0: in this process."""
        size = -(-text.stat().st_size // portions)
        plan = make_plan([str(text)], settings=ROWS, shard_bytes=size)
        out = str(self.folder / f"out-{next(self.numbers)}")
        run = Run(Job(out=out, format=format, rows=ROWS), plan, {})
        started = time.perf_counter()
        dones: list[tuple[float, Done]] = []
        summary = absorbed(run, noted(self._found(run, workers), dones))
        assert not summary.errors
        assert len(dones) == portions
        first = max(workers, 1)
        words = sum(record.words for _, done in dones[first:] for record in done.records)
        seconds = dones[-1][0] - dones[first - 1][0]
        start = dones[0][0] - started - sum(dones[0][1].seconds.values())
        return Taken(summary.words, summary.bytes, words / max(seconds, 1e-9), start)

    def _found(self, run: Run, workers: int) -> Iterator[Done]:
        if not workers:
            return parse_here(run, self.parser, self.asked)
        loading = Loading(
            model=MODEL,
            fingerprint=fingerprint(find_model(MODEL)),
            max_words=MOST_WORDS,
            precision="fp32",
        )
        return parse_on_ray(run, self.asked, loading=loading, workers=Workers(count=workers))


@cache
def measure_here(folder: Path) -> Measure:
    """What measures in this process, which loads the model once."""
    return Measure(folder / f"process-{os.getpid()}")


def plain(folder: Path, text: Path, portions: int) -> float:
    """Words a second of a plain stream in this process."""
    return measure_here(folder).run(text, 0, portions=portions).rate


def plain_two(pool: Executor, measure: Measure, text: Path, portions: int) -> Taken:
    """What two plain streams do at once, which read the same text, each half as many portions."""
    jobs = [pool.submit(plain, measure.folder, text, portions) for _ in range(2)]
    return Taken(0, 0, sum(job.result() for job in jobs), 0.0)


def noted(dones: Iterable[Done], here: list[tuple[float, Done]]) -> Iterator[Done]:
    """The same, which are also put down with the time."""
    for done in dones:
        here.append((time.perf_counter(), done))
        yield done


class _MeasuredWorker(on_ray._Worker):
    """A worker that puts down how much memory it has in use: with the model, and at its peak."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.path = Path(f"{given['job'].out}.memory")
        self.before = forget_peak()

    def __call__(self, batch: Any) -> dict[str, list[str]]:
        done = super().__call__(batch)
        self.path.write_text(f"{self.before} {peak() - self.before}", encoding="ascii")
        return done


def memory_of(measure: Measure, text: Path, format: Format) -> tuple[Taken, float, float]:
    """What came of a text as one portion; MiB of the loaded worker; MiB beyond that at the peak."""
    usual, on_ray._Worker = on_ray._Worker, _MeasuredWorker  # type: ignore[misc]
    try:
        taken = measure.run(text, 1, format=format, portions=1)
    finally:
        on_ray._Worker = usual  # type: ignore[misc]
    (path,) = measure.folder.glob("*.memory")
    before, above = map(float, path.read_text(encoding="ascii").split())
    path.unlink()
    return taken, before, above


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What Ray costs and gains.")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="one round of a short text, to see that it works: bounds may not be kept",
    )
    extent = QUICK if parser.parse_args().quick else FULL
    ray = require_ray()
    with tempfile.TemporaryDirectory() as name:
        measure = Measure(Path(name))
        text = write_text(measure.folder / "text.txt", extent.portions * extent.portion_words)
        started = time.perf_counter()
        with connected(ray, Workers(count=2)):
            cluster = time.perf_counter() - started
            ratios = speeds(measure, text, extent, cluster)
            is_bounded = memory(measure, extent)
    print(f"text: of {'GUM dev' if GUM.is_file() else 'examples/'}, seed {SEED}")
    for key, value in circumstances().items():
        print(f"{key}: {value}")
    sys.exit(not (is_bounded and all(ratio.is_kept for ratio in ratios)))


def speeds(measure: Measure, text: Path, extent: Extent, cluster: float) -> list[Ratio]:
    """How fast each way is, as ratios."""
    half = write_text(measure.folder / "half.txt", extent.portions * extent.portion_words // 2)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        jobs = {
            PLAIN: partial(measure.run, text, 0, portions=extent.portions),
            PLAIN_TWO: partial(plain_two, pool, measure, half, extent.portions // 2),
            ONE: partial(measure.run, text, 1, portions=extent.portions),
            TWO: partial(measure.run, text, 2, portions=extent.portions),
        }
        jobs[PLAIN_TWO]()  # what is done only once is done now
        found: dict[str, list[Taken]] = {name: [] for name in jobs}
        for _ in range(extent.rounds):
            for name, job in jobs.items():
                found[name].append(job())
    rows = []
    for name, runs in found.items():
        rates = Spread.of(taken.rate for taken in runs)
        each = rates.median / CORES[name]
        start = Spread.of(taken.start for taken in runs)
        rows.append((name, *rates.columns(",.0f"), f"{each:,.0f}", *start.columns(".1f")))
    table(("", "words/s", "range", "words/s a core", "start-up, s", "range"), rows)
    print(f"a cluster on this machine starts in {cluster:.1f} s, which is not in the table\n")
    rates_of = {name: [taken.rate for taken in runs] for name, runs in found.items()}
    ratios = {
        "time of 1 worker / plain stream": Ratio(rates_of[PLAIN], rates_of[ONE], most=1.15),
        "time of 2 workers / 2 plain streams": Ratio(rates_of[PLAIN_TWO], rates_of[TWO], most=1.15),
        "words/s of 2 workers / 1 worker": Ratio(rates_of[TWO], rates_of[ONE]),
        "words/s of 2 plain streams / 1": Ratio(rates_of[PLAIN_TWO], rates_of[PLAIN]),
    }
    table(
        ("", "median", "range", "bound", "kept"),
        ((what, *ratio.columns()) for what, ratio in ratios.items()),
    )
    return list(ratios.values())


def memory(measure: Measure, extent: Extent) -> bool:
    """Whether what a worker needs is bounded, however much it is given."""
    rows = []
    needed: dict[tuple[Format, int], float] = {}
    for format, times in MEASURED:
        text = write_text(measure.folder / f"{times}.txt", times * extent.memory_words)
        taken, before, above = memory_of(measure, text, format)
        needed[format, times] = above
        written = taken.bytes / taken.words
        what = f"{format}, {taken.words:,} words"
        rows.append((what, f"{before:.0f}", f"{above:.0f}", f"{written:.1f}"))
    table(("one portion", "loaded, MiB", "above that, MiB", "bytes a word"), rows)
    # Three parts of a text are kept at a time: one is read, one is parsed, and one is written. The
    # smallest text is one part, so it needs less; from the next on, it has to be the same.
    one, five, ten = ([needed["parquet", times]] for times in (1, 5, 10))
    ratios = {
        "memory above the model, 10 times the text / 1": Ratio(ten, one, most=3),
        "memory above the model, 10 times the text / 5": Ratio(ten, five, most=1.2),
    }
    table(
        ("", "ratio", "range", "bound", "kept"),
        ((what, *ratio.columns()) for what, ratio in ratios.items()),
    )
    return all(ratio.is_kept for ratio in ratios.values())


if __name__ == "__main__":
    main()
