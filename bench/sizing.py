"""What a corpus needs: machines, hours, storage and money, from figures that were measured.

    python bench/sizing.py --speed 1500 --memory 700 --jsonl 90 --parquet 25

The figures come from `bench/corpus.py`; the rest are assumptions, which the options say. The table
of docs/guides/scale.md is made by it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

CORPORA = {"one million": 1e6, "one billion": 1e9, "one hundred billion": 1e11}

MEASURED = {
    "speed": "words a second of a worker with one thread",
    "memory": "megabytes of a worker",
    "jsonl": "bytes written for a word, as JSON lines",
    "parquet": "bytes written for a word, as Parquet",
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, meaning in MEASURED.items():
        parser.add_argument(f"--{name}", type=float, required=True, help=meaning)
    parser.add_argument("--text", type=float, default=5.5, help="bytes of a word of input")
    parser.add_argument("--use", type=float, default=0.85, help="share of the time that counts")
    parser.add_argument("--cores", type=int, default=64, help="of a machine")
    parser.add_argument("--price", type=float, default=0.04, help="of a core for an hour")
    parser.add_argument("--storage", type=float, default=0.023, help="of a gigabyte for a month")
    print("\n".join(lines(parser.parse_args())))


def lines(given: argparse.Namespace) -> Iterator[str]:
    """The table, line by line."""
    yield "| words | text | hours of one core | machines | hours | Parquet | JSON lines | cost |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for name, words in CORPORA.items():
        hours = words / given.speed / given.use / 3600
        machines = machines_for(hours / given.cores)
        stored = words * given.parquet / 1e9
        cost = hours * given.price + stored * given.storage
        cells = [
            name,
            size(words * given.text),
            rounded(hours),
            str(machines) if hours > given.cores / 10 else "1 (2 cores)",
            rounded(hours / (given.cores * machines) if hours > given.cores / 10 else hours / 2),
            size(words * given.parquet),
            size(words * given.jsonl),
            f"{rounded(cost)} $" if cost >= 0.01 else "under a cent",
        ]
        yield f"| {' | '.join(cells)} |"
    memory = given.memory * given.cores / 1e3
    yield ""
    yield f"A machine has {given.cores} cores and needs {memory:.0f} GB for as many workers."


def machines_for(hours: float) -> int:
    """How many machines do in about half a day what takes one so many hours."""
    return max(1, round(hours / 12))


def size(count: float) -> str:
    """A number of bytes, for a person."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if count >= factor:
            return f"{rounded(count / factor)} {unit}"
    return f"{count:,.0f} bytes"


def rounded(number: float) -> str:
    """Two digits that count.

    >>> rounded(15432), rounded(154.3), rounded(1.54), rounded(0.154)
    ('15,000', '150', '1.5', '0.15')
    """
    return f"{float(f'{number:.2g}'):,.{0 if number >= 9.95 else 1 if number >= 0.995 else 2}f}"


if __name__ == "__main__":
    main()
