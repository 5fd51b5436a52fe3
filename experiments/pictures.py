"""Pictures of figures: bars, lines and points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLOURS = {"pointing": "#1b7837", "splitting": "#b35806", "chart": "#5e3c99"}


class Series(NamedTuple):
    """The figures of one system."""

    name: str
    figures: Sequence[float]
    spreads: Sequence[float] = ()


def bars(
    series: Sequence[Series], ticks: Sequence[str], *, path: Path, title: str, across: str
) -> None:
    """Groups of bars, one for each system, on a scale that begins below the lowest of them."""
    figure, axes = _sheet(title)
    width = 0.8 / len(series)
    for number, one in enumerate(series):
        places = [place + (number - (len(series) - 1) / 2) * width for place in range(len(ticks))]
        axes.bar(
            places,
            one.figures,
            width=0.9 * width,
            yerr=one.spreads or None,
            color=COLOURS.get(one.name),
            error_kw={"elinewidth": 1, "ecolor": "#444444"},
            label=one.name,
        )
    lowest = min(value for one in series for value in one.figures)
    axes.set_ylim(bottom=max(0.0, 5 * (lowest // 5) - 5))
    axes.set_xticks(range(len(ticks)), ticks)
    axes.set_xlabel(across)
    axes.set_ylabel("F1")
    _finish(figure, axes, path)


def lines(
    series: Sequence[Series],
    places: Sequence[float],
    *,
    path: Path,
    title: str,
    across: str,
    along: str,
    logarithmic: bool = False,
) -> None:
    """A line for each system; `logarithmic` is about what goes across."""
    figure, axes = _sheet(title)
    for one in series:
        axes.plot(places, one.figures, marker="o", color=COLOURS.get(one.name), label=one.name)
    if logarithmic:
        axes.set_xscale("log", base=2)
        axes.set_xticks(places, [f"{place:g}" for place in places])
    axes.set_ylim(bottom=0)
    axes.set_xlabel(across)
    axes.set_ylabel(along)
    _finish(figure, axes, path)


def _sheet(title: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title)
    return figure, axes


def _finish(figure: Figure, axes: Axes, path: Path) -> None:
    axes.grid(color="#eeeeee", axis="y")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    save(figure, path)


def save(figure: Figure, path: Path) -> None:
    """Write a picture as SVG: the same bytes from the same figures."""
    with rc_context({"svg.hashsalt": path.stem, "svg.fonttype": "none"}):
        figure.savefig(path, format="svg", metadata={"Date": None})
