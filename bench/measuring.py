"""What a bench needs beside its measures: turns, ratios with bounds, memory, tables, pictures."""

from __future__ import annotations

import ctypes
import gc
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from string import Template
from typing import NamedTuple, TypeVar

import matplotlib
import torch
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, StrMethodFormatter

CHECKOUT = Path(__file__).parents[1]
PAGE = CHECKOUT / "docs/performance.md"
STYLES = (("#0072b2", "o"), ("#d55e00", "s"), ("#009e73", "^"))  # told apart by most eyes

Key = TypeVar("Key")


def taking_turns(
    jobs: Mapping[Key, Callable[[], object]],
    *,
    rounds: int,
    clock: Callable[[], float] = time.process_time,
) -> dict[Key, list[float]]:
    """The seconds that each job takes, by round."""
    times: dict[Key, list[float]] = {name: [] for name in jobs}
    for job in jobs.values():
        job()  # what is done only once is done now
    for _ in range(rounds):
        for name, job in jobs.items():
            gc.collect()
            started = clock()
            job()
            times[name].append(clock() - started)
    return times


class Spread(NamedTuple):
    """The median of figures, with the smallest and the largest."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, figures: Iterable[float]) -> Spread:
        """That of some figures."""
        ordered = sorted(figures)
        return cls(statistics.median(ordered), ordered[0], ordered[-1])

    def columns(self, form: str) -> tuple[str, str]:
        """Two columns of a table: the median and the range."""
        return f"{self.median:{form}}", f"{self.least:{form}}–{self.most:{form}}"


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of times by round, and the bounds that its median has to keep, if any."""

    above: Sequence[float]
    below: Sequence[float]
    least: float = 0.0
    most: float = math.inf

    @property
    def spread(self) -> Spread:
        """The ratio, over the rounds."""
        return Spread.of(a / b for a, b in zip(self.above, self.below, strict=True))

    @property
    def is_kept(self) -> bool:
        """Whether the bounds are."""
        return self.least <= self.spread.median <= self.most

    def columns(self) -> tuple[str, ...]:
        """Four columns of a table: the median, the range, the bound, whether it is kept."""
        bounds = [f"≥ {self.least:g}"] * (self.least > 0) + [f"≤ {self.most:g}"] * (
            self.most < math.inf
        )
        kept = "yes" if self.is_kept else "**no**"
        return *self.spread.columns(".2f"), ", ".join(bounds), kept if bounds else ""


def forget_peak() -> float:
    """MiB that this process has in use, from where its peak is now counted anew."""
    ctypes.CDLL(None).malloc_trim(0)  # memory that is free but kept would hide what is needed next
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _memory("VmRSS")


def peak() -> float:
    """MiB that this process has had in use at most."""
    # Not getrusage, whose peak is inherited from the process that started this one.
    return _memory("VmHWM")


def _memory(name: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, printed as well; all columns but the first are figures."""
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    made = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    print(f"{made}\n", flush=True)
    return made


def draw(path: Path, label: str, panels: Mapping[str, Mapping[str, Mapping[int, Spread]]]) -> None:
    """Write a picture of how something grows, both axes logarithmic.

    Args:
        path: of an SVG file.
        label: what grows.
        panels: for each thing that it grows with, lines by name, of what was found by size.
    """
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    columns = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (name, lines) in zip(columns, panels.items(), strict=True):
        for (part, found), (colour, marker) in zip(lines.items(), STYLES, strict=False):
            medians, least, most = zip(*found.values(), strict=True)
            axes.plot(list(found), medians, color=colour, marker=marker, label=part)
            axes.fill_between(list(found), least, most, color=colour, alpha=0.2, linewidth=0)
            axes.set_xscale("log")
            axes.set_xticks(list(found))
        axes.set_yscale("log", nonpositive="mask")
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        axes.set_xlabel(name)
        axes.grid(color="#dddddd")
        axes.spines[["top", "right"]].set_visible(False)
    columns[0].set_ylabel(label)
    columns[0].legend(frameon=False)
    path.parent.mkdir(exist_ok=True)
    # With neither a date nor names drawn by chance, the same figures give the same picture.
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with matplotlib.rc_context({"svg.hashsalt": "fencepost"}):
        figure.savefig(path, metadata=nothing)


def part(name: str) -> str:
    """A part of the page on performance that another bench has written."""
    return _parted(PAGE.read_text(encoding="utf-8"), name)[1]


def write_part(name: str, text: str, figures: Mapping[str, str]) -> None:
    """Write a part of the page on performance anew, and leave the rest as it is."""
    before, _, after = _parted(PAGE.read_text(encoding="utf-8"), name)
    PAGE.write_text(f"{before}{Template(text).substitute(figures)}{after}", encoding="utf-8")


def _parted(text: str, name: str) -> tuple[str, str, str]:
    """What stands before, between and behind the two marks of a part."""
    first, last = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    start, end = text.index(first) + len(first), text.index(last)
    return text[:start], text[start:end], text[end:]


def circumstances() -> dict[str, str]:
    """What was run, and on what."""
    git = partial(subprocess.check_output, cwd=CHECKOUT, text=True)
    commit = git(["git", "rev-parse", "--short", "HEAD"]).strip()
    changed = git(["git", "status", "--porcelain", "src", "bench"])
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = (line.partition(": ")[2] for line in lines if line.startswith("model name"))
    return {
        "command": " ".join(["python", f"bench/{Path(sys.argv[0]).name}", *sys.argv[1:]]),
        "commit": f"{commit} with changes not committed" if changed else commit,
        "machine": f"{next(names, platform.machine())}, {os.cpu_count()} cores",
        "versions": f"Python {platform.python_version()}, torch {torch.__version__}",
    }
