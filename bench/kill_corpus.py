"""Kill a run over a corpus again and again, and see whether it ends as if nothing had happened.

    python bench/kill_corpus.py                        20 kills for each format, drawn with seed 1
    python bench/kill_corpus.py --kills 5 --seed 2     a part of that, with other moments

A small random model parses a corpus that this script writes: texts, one of them packed, JSON lines,
Parquet and trees, some of whose rows cannot be parsed. One run is left alone. The other is ended by
SIGKILL at random moments, and goes on after each; every fifth moment is counted from the start of
the process, the others from its first sentences. Then all files are compared byte for byte. The
status is 1 if any differs, is missing, or is left over.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import get_args

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import pyarrow as pa
import pyarrow.parquet as pq
from measuring import CHECKOUT, circumstances, table

import fencepost
from fencepost.checkpoints.model import save_model
from fencepost.parser.options import CheckedOptions
from fencepost.run.corpus.plan import make_plan
from fencepost.run.corpus.results import Format
from fencepost.run.corpus.rows import RowSettings
from fencepost.run.corpus.run import Run, absorbed, parse_here
from fencepost.run.corpus.work import Job

sys.path.insert(0, str(CHECKOUT))

from tests.models import lively_model

WORDS = ("a", "b", "c", "cat", "Ann", "saw", "on", "the", "old", "boat", "é", "🐟", "(b)")
ROWS, EARLY, SHARD_BYTES = 400, 5, 4000


def main() -> int:
    """Parse once alone and once with kills, in each format, compare, and print a table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--kills", type=int, default=20)
    options.add_argument("--seed", type=int, default=1, help="of the moments")
    asked = options.parse_args()
    for name, value in circumstances().items():
        print(f"{name}: {value}")
    print()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        save_model(lively_model("tree", "entities", "tags"), folder / "model")
        source = write_corpus(folder / "in", Random(asked.seed))
        statuses = [
            compared(source, folder, format, kills=asked.kills, seed=asked.seed)
            for format in get_args(Format)
        ]
    return max(statuses)


def compared(source: Path, folder: Path, format: Format, *, kills: int, seed: int) -> int:
    """Run with and without kills, print what happened, and return the status."""
    whole, killed = folder / f"whole-{format}", folder / f"killed-{format}"
    process, begun = start(source, folder / "model", whole, format)
    os.read(begun, 1)
    since = time.perf_counter()
    if ended(process) != 0:
        print(f"{format}: the run without kills has failed")
        return 1
    seconds = time.perf_counter() - since
    random, done, rows = Random(f"{seed}/{format}"), 0, []
    wrong: list[str] = []
    while done < kills:
        moment, is_early = random.uniform(0, seconds / kills), done % EARLY == EARLY - 1
        process, begun = start(source, folder / "model", killed, format)
        if not is_early:
            os.read(begun, 1)
        time.sleep(moment)
        os.kill(process, signal.SIGKILL)
        os.close(begun)
        if ended(process) == 0:  # it was quicker
            wrong += differences(whole, killed)
            shutil.rmtree(killed)
            continue
        done += 1
        portions = [*(killed / "_work").glob("[0-9]*.json")]
        drafts = [path for path in killed.rglob(".*") if path.is_file()]
        place = "start" if is_early else "first sentences"
        counts = (f"{len(portions)}", f"{len(drafts)}")
        rows.append([format, f"{done}", place, f"{moment:.3f}", *counts])
    table(("format", "kill", "after", "s", "portions done", "drafts left"), rows)
    status = ended(start(source, folder / "model", killed, format)[0])
    wrong += differences(whole, killed) if status == 0 else [f"the last run left with {status}"]
    print(f"{format}: {done} kills in a run of {seconds:.1f} s and {len(files_in(whole))} files;")
    print("different: " + ", ".join(wrong) if wrong else "all files have the same bytes", "\n")
    return 1 if wrong else 0


def write_corpus(folder: Path, random: Random) -> Path:
    """Write files of each kind that a corpus may have."""

    def text() -> str:
        return " ".join(random.choices(WORDS, k=random.randint(1, 25))) + "."

    folder.mkdir()
    (folder / "a.txt").write_text("".join(f"{text()}\n\n" for _ in range(ROWS)))
    (folder / "b.txt.gz").write_bytes(gzip.compress(f"{text()}\n\n".encode() * 20))
    lines = [json.dumps({"id": f"{n}", "text": text()}) for n in range(ROWS)]
    lines[7], lines[9] = '{"text": 5}', '{"text": "\\ud800'
    (folder / "c.jsonl").write_text("".join(f"{line}\n" for line in lines))
    columns = {"text": [text() if n % 50 else None for n in range(ROWS)], "id": range(ROWS)}
    pq.write_table(pa.table(columns), folder / "d.parquet", row_group_size=60)
    (folder / "e.txt").write_bytes(b"caf\xe9\n\nfine\n\n\n")
    (folder / "f.ptb").write_text("(S (A a) (B b))\n(S (A\n" * 20)
    return folder


def start(source: Path, model: Path, out: Path, format: Format) -> tuple[int, int]:
    """Start a process that parses, or goes on; returns its number, and what tells its start.

    It is a copy of this one, which has loaded most of what is needed.
    """
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, reading
    status = 1
    try:
        rows = RowSettings()
        plan = make_plan([str(source)], settings=rows, shard_bytes=SHARD_BYTES)
        run = Run(
            Job(out=str(out), format=format, rows=rows), plan, {"model": "small"}, resume=True
        )
        parser = fencepost.load(model, threads=1)
        asked = CheckedOptions(tasks=("tree", "entities"))
        absorbed(run, parse_here(run, parser, asked, tell=lambda *_: tell(writing)))
        status = 0
    finally:
        os._exit(status)


def tell(writing: int) -> None:
    """Tell the parent that something is parsed."""
    os.write(writing, b".")


def ended(process: int) -> int:
    """Wait for the end of a process, and return its status."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def files_in(folder: Path) -> dict[str, bytes]:
    """All files below a folder, by name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def differences(one: Path, other: Path) -> list[str]:
    """The names of files that only one folder has, or with other bytes."""
    first, second = files_in(one), files_in(other)
    return sorted(name for name in first | second if first.get(name) != second.get(name))


if __name__ == "__main__":
    sys.exit(main())
