"""Parsing a corpus into a folder of JSON lines or Parquet, here or on a Ray cluster."""

from __future__ import annotations

import hashlib
import re
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import typer

from fencepost.cli.progress import corpus as bar
from fencepost.cli.tables import plural, table
from fencepost.errors import ConfigError

if TYPE_CHECKING:
    from fencepost.integrations.cluster import Workers
    from fencepost.model.precision import Precision
    from fencepost.parser.asking import Asked, Options
    from fencepost.run.corpus.plan import Plan
    from fencepost.run.corpus.rows import RowSettings
    from fencepost.run.corpus.run import Summary
    from fencepost.run.texts import Kind

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMG]?)i?B?", re.IGNORECASE)


def is_corpus(out: str, to: str | None, *, engine: str | None, tasks: Sequence[str]) -> bool:
    """Whether the output is a folder of rows.

    Raises:
        ConfigError: it has to be, but this is no folder.
    """
    from fencepost.formats.files import is_folder
    from fencepost.formats.registry import bare_suffix
    from fencepost.run.corpus.store import is_remote

    rows = to in ("jsonl", "parquet")
    folder = out != "-" and (is_folder(out) or is_remote(out) or (rows and not bare_suffix(out)))
    if engine is not None or to == "parquet":
        if to is not None and not rows:
            raise ConfigError(f"--engine writes jsonl or parquet, not {to}")
        if not folder and (out == "-" or bare_suffix(out)):
            raise ConfigError(
                f"{out}: a corpus is written to a folder, as in -o parsed/, as many files"
            )
        return True
    usual = "ptb" if "tree" in tasks and "entities" not in tasks else "jsonl"
    return folder and (to or usual) == "jsonl"


def bytes_of(size: str) -> int:
    """A number of bytes, as people write it.

    >>> bytes_of("4MB"), bytes_of("512K"), bytes_of("1.5 GiB")
    (4194304, 524288, 1610612736)
    """
    found = _SIZE.fullmatch(size.strip())
    count = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if count < 1:
        raise ConfigError(f"{size!r} is no number of bytes; 4MB or 65536 is")
    return count


def on_ray(
    engine: str | None, *, address: str | None, count: int | None, threads: int | None, gpus: float
) -> Workers | None:
    """The workers that are asked for; None: this process."""
    from fencepost.integrations.cluster import Workers

    if engine == "ray":
        return Workers(address=address, count=count, threads=threads or 1, gpus=gpus)
    if address or count or gpus:
        raise ConfigError("--address, --workers and --gpus go with --engine ray")
    return None


def parse_corpus(
    inputs: Sequence[str],
    out: str,
    *,
    to: Literal["jsonl", "parquet"],
    model: str,
    options: Options,
    kind: Kind,
    is_text: bool,
    rows: RowSettings,
    shard_bytes: int | None,
    max_words: int | None,
    precision: Precision,
    threads: int | None,
    on: Workers | None,
    resume: bool,
    quiet: bool,
) -> None:
    """Parse a corpus, say what came of it, and exit with 2 if a shard could not be made."""
    from fencepost.run.corpus.plan import make_plan
    from fencepost.run.corpus.run import Run, absorbed, fingerprint, parse_here
    from fencepost.run.corpus.work import Job

    started = time.monotonic()
    plan = make_plan(
        inputs,
        settings=rows,
        kind=kind,
        is_text=is_text,
        shard_bytes=shard_bytes,
        without=out,
    )
    _check_inputs(plan, on=on, resume=resume)
    from fencepost.parser.parser import MOST_WORDS, load
    from fencepost.parser.shipped import find_model

    parser = load(model, threads=threads, max_words=max_words or MOST_WORDS, precision=precision)
    asked = parser.asked(**options)
    settings = {
        "model": find_model(model).resolve().name,
        "fingerprint": fingerprint(find_model(model)),
        "kind": kind,
        **_told(asked, options),
        "max_words": parser.max_words,
        "precision": precision,
    }
    run = Run(Job(out=out, format=to, rows=rows), plan, settings, resume=resume)
    with bar(plan.bytes, quiet=quiet) as tell:
        if on is None:
            found = parse_here(run, parser, asked, tell=tell)
        else:
            from fencepost.integrations.ray import Loading, parse_on_ray

            loading = Loading(
                model=model,
                fingerprint=settings["fingerprint"],
                max_words=parser.max_words,
                precision=precision,
            )
            del parser  # the workers have their own
            found = parse_on_ray(run, asked, loading=loading, workers=on, tell=tell)
        summary = absorbed(run, found)
    if not quiet:
        print("\n".join(_lines(summary, time.monotonic() - started)))
    for record in summary.errors:
        print(f"fencepost: {record.file} was not made: {record.error}", file=sys.stderr)
    if summary.errors:
        print("fencepost: the rest is there; --resume tries these again", file=sys.stderr)
        raise typer.Exit(2)


def _check_inputs(plan: Plan, *, on: Workers | None, resume: bool) -> None:
    """Refuse what cannot be read by others, or again."""
    places = {shard.place for portion in plan.portions for shard in portion.shards}
    if "stdin" in places and (on is not None or resume):
        raise ConfigError("standard input can be read only once, and here: give a file instead")


def _told(asked: Asked, options: Options) -> dict[str, Any]:
    """What a parser is asked for, as plain data."""
    gazetteer = None
    if asked.gazetteer is not None:
        known = repr(sorted(asked.gazetteer.labels.items())).encode("utf-8", "surrogatepass")
        gazetteer = hashlib.sha256(known).hexdigest()
    labels = options.get("labels")
    return {
        "tasks": asked.tasks,
        "beams": asked.beams,
        "labels": None if labels is None else sorted(labels),
        "root": options.get("root"),
        "consistent": asked.consistent,
        "gazetteer": gazetteer,
        "min_probability": asked.min_probability,
    }


def _lines(summary: Summary, seconds: float) -> Iterator[str]:
    """What a run has come to, for a person."""
    failures = sum(summary.failures.values())
    numbers = {
        "rows": summary.rows,
        "sentences": summary.sentences,
        "words": summary.words,
        "not parsed": failures,
    }
    cells = [[name, f"{number:,}"] for name, number in numbers.items()]
    yield table(cells)
    for reason, count in summary.failures.most_common():
        yield f"  {count:,} × {reason}"
    size = f"{summary.bytes / 1e6:,.1f} MB" if summary.bytes >= 1e6 else f"{summary.bytes:,} bytes"
    yield f"{plural(summary.shards, 'shard')} of {size} in {seconds:,.0f} s"
    total = sum(summary.stages.values())
    if total:
        stages = ", ".join(
            f"{name} {100 * spent / total:.0f} %" for name, spent in summary.stages.items()
        )
        speed = summary.words_now / max(seconds, 1e-9)
        yield f"{speed:,.0f} words a second; time of the workers: {stages}"
