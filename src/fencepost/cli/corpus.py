"""Parsing a corpus into a folder of JSON lines or Parquet, here or on a Ray cluster."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fencepost.cli.options import Machine, Source, Target
from fencepost.cli.progress import corpus as bar
from fencepost.cli.tables import plural, table
from fencepost.errors import ConfigError

if TYPE_CHECKING:
    from fencepost.integrations.cluster import Workers
    from fencepost.parser.options import ParseOptions
    from fencepost.run.corpus.plan import Plan
    from fencepost.run.corpus.results import Format
    from fencepost.run.corpus.rows import RowSettings
    from fencepost.run.corpus.run import Summary

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMG]?)i?B?", re.IGNORECASE)


def is_corpus(out: str, to: str | None, *, engine: str | None, tasks: Sequence[str]) -> bool:
    """Whether the output is a folder of rows.

    Raises:
        ConfigError: it has to be, but this is no folder.
    """
    from fencepost.formats.files import is_folder, is_stream
    from fencepost.formats.registry import bare_suffix
    from fencepost.run.corpus.store import is_remote

    rows = to in ("jsonl", "parquet")
    is_file = out == "-" or is_stream(out)
    folder = not is_file and (is_folder(out) or is_remote(out) or (rows and not bare_suffix(out)))
    if engine is not None or to == "parquet":
        if to is not None and not rows:
            raise ConfigError(f"--engine writes jsonl or parquet, not {to}")
        if not folder and (is_file or bare_suffix(out)):
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


@dataclass(frozen=True, slots=True)
class Corpus:
    """How a corpus is divided, and who parses it."""

    engine: Annotated[
        Literal["stream", "ray"] | None,
        typer.Option(help="Who parses a corpus: this process, or the workers of a Ray cluster."),
    ] = None
    address: Annotated[
        str | None,
        typer.Option(
            help="Of the Ray cluster; without it, RAY_ADDRESS, or else a new one on this machine."
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many on Ray, each with --threads; without it, as many as there is room for.",
        ),
    ] = None
    gpus: Annotated[float, typer.Option(min=0, help="For each worker on Ray; 0.5 shares one.")] = (
        0.0
    )
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a corpus after a stop.")] = (
        False
    )
    shard_size: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES",
            help="Of input in a shard, as in 4MB; without it, what suits the corpus.",
        ),
    ] = None
    max_row_size: Annotated[
        str | None,
        typer.Option(metavar="BYTES", help="Refuse rows that are longer; without it, than 16MB."),
    ] = None
    text_column: Annotated[
        str | None,
        typer.Option(help="Where JSON lines and Parquet have the text, if not in `text`."),
    ] = None
    id_column: Annotated[
        str | None, typer.Option(help="Where they have its name, if not in `id`.")
    ] = None

    def on_ray(self, threads: int | None, device: str) -> Workers | None:
        """The workers that are asked for; None: this process."""
        from fencepost.integrations.cluster import Workers

        if self.engine == "ray":
            if device != "cpu":
                raise ConfigError("--device is for this process; --gpus gives Ray's workers theirs")
            return Workers(
                address=self.address, count=self.workers, threads=threads or 1, gpus=self.gpus
            )
        if self.address or self.workers or self.gpus:
            raise ConfigError("--address, --workers and --gpus go with --engine ray")
        return None

    def rows(self, source: Source) -> RowSettings:
        """How rows are read."""
        from fencepost.run.corpus.rows import RowSettings

        return RowSettings(
            encoding=source.encoding,
            format=source.from_,
            text_column=self.text_column or "text",
            id_column=self.id_column or "id",
            most_bytes=bytes_of(self.max_row_size or "16MB"),
        )


def parse_corpus(
    inputs: Sequence[str],
    options: ParseOptions,
    *,
    source: Source,
    target: Target,
    machine: Machine,
    corpus: Corpus,
) -> None:
    """Parse a corpus, say what came of it, and exit with 2 if a shard could not be made."""
    from fencepost.run.corpus.plan import make_plan
    from fencepost.run.corpus.results import SUFFIXES
    from fencepost.run.corpus.run import Run, absorbed, fingerprint, parse_here
    from fencepost.run.corpus.store import pyarrow
    from fencepost.run.corpus.work import Job

    started = time.monotonic()
    format: Format = "parquet" if target.to == "parquet" else "jsonl"
    if format == "parquet":
        pyarrow()  # before anything is made for it
    rows, on = corpus.rows(source), corpus.on_ray(machine.threads, machine.device)
    plan = make_plan(
        inputs,
        settings=rows,
        kind=source.kind,
        is_text=source.text,
        shard_bytes=None if corpus.shard_size is None else bytes_of(corpus.shard_size),
        without=target.out,
        suffix=SUFFIXES[format],
    )
    _check_inputs(plan, on=on, resume=corpus.resume)
    from fencepost.checkpoints.shipped import find_model
    from fencepost.parser.options import record_of

    parser = machine.load()
    asked = parser.check_options(**options)
    folder = find_model(machine.model)
    settings = {
        "model": folder.resolve().name,
        "fingerprint": fingerprint(folder),
        "kind": source.kind,
        **record_of(asked),
        "max_words": parser.max_words,
        "precision": machine.precision,
    }
    job = Job(out=target.out, format=format, rows=rows)
    run = Run(job, plan, settings, resume=corpus.resume)
    with _stoppable(inputs), bar(plan.bytes, quiet=target.quiet) as tell:
        if on is None:
            found = parse_here(run, parser, asked, tell=tell)
        else:
            from fencepost.integrations.ray import Loading, parse_on_ray

            loading = Loading(
                model=machine.model,
                fingerprint=settings["fingerprint"],
                max_words=parser.max_words,
                backend=machine.backend,
                precision=machine.precision,
            )
            del parser  # the workers have their own
            found = parse_on_ray(run, asked, loading=loading, workers=on, tell=tell)
        summary = absorbed(run, found)
    if not target.quiet:
        print("\n".join(_lines(summary, time.monotonic() - started)))
    for record in summary.errors:
        print(f"fencepost: {record.file} was not made: {record.error}", file=sys.stderr)
    if summary.errors:
        print("fencepost: the rest is there; --resume tries these again", file=sys.stderr)
        raise typer.Exit(2)


@contextmanager
def _stoppable(inputs: Sequence[str]) -> Iterator[None]:
    """On Ctrl-C, say how to go on, if the inputs can be read again."""
    try:
        yield
    except KeyboardInterrupt:
        if "-" not in inputs:
            print("fencepost: stopped; the same command with --resume goes on", file=sys.stderr)
        raise


def _check_inputs(plan: Plan, *, on: Workers | None, resume: bool) -> None:
    """Refuse what cannot be read by others, or again."""
    places = {shard.place for portion in plan.portions for shard in portion.shards}
    if "stdin" in places and (on is not None or resume):
        raise ConfigError("standard input can be read only once, and here: give a file instead")


def _lines(summary: Summary, seconds: float) -> Iterator[str]:
    """The summary of a run, in lines."""
    from fencepost.drawing.terminal import printable

    failures = sum(summary.failures.values())
    numbers = {
        "rows": summary.rows,
        "sentences": summary.sentences,
        "words": summary.words,
        "not parsed": failures,
    }
    yield table([[name, f"{number:,}"] for name, number in numbers.items()])
    for reason, count in summary.failures.most_common():
        name = printable(summary.first.get(reason, ""))
        place = f" ({'first: ' * (count > 1)}{name})" if name else ""
        yield f"  {count:,} × {reason}{place}"
    size = f"{summary.bytes / 1e6:,.1f} MB" if summary.bytes >= 1e6 else f"{summary.bytes:,} bytes"
    yield f"{plural(summary.shards, 'shard')} of {size} in {seconds:,.0f} s"
    total = sum(summary.stages.values())
    if total:
        stages = ", ".join(
            f"{name} {100 * spent / total:.0f} %" for name, spent in summary.stages.items()
        )
        speed = summary.words_now / max(seconds, 1e-9)
        yield f"{speed:,.0f} words a second; time of the workers: {stages}"
