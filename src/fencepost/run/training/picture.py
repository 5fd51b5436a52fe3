"""A picture of a training run: loss and dev figures against epochs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from fencepost.run.training.metrics import Epoch, best_epoch

NAME = "training.png"
COLOURS = {"tree": "#1b7837", "entities": "#b35806", "tags": "#5e3c99"}


def draw_training(epochs: Sequence[Epoch], path: Path) -> None:
    """Write the picture of a run, whole or not at all.

    Raises:
        ImportError: there is no matplotlib, which only this needs.
    """
    # Without pyplot no window system is asked for, and nothing is kept after the drawing.
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    numbers = [epoch.epoch for epoch in epochs]
    best = best_epoch(epochs)
    figure = Figure(figsize=(7, 6), layout="constrained")
    above, below = figure.subplots(2, sharex=True)
    above.plot(numbers, [epoch.loss for epoch in epochs], marker=".", color="#444444")
    above.set_ylabel("training loss")
    above.set_ylim(bottom=0)
    for head in epochs[-1].dev:
        figures = [epoch.dev[head] for epoch in epochs]
        below.plot(
            numbers,
            figures,
            marker=".",
            color=COLOURS.get(head),
            label=f"{head} {'accuracy' if head == 'tags' else 'F1'}: {best.dev[head]:.2f}",
        )
    below.axvline(best.epoch, color="#999999", linestyle=":", label=f"best: epoch {best.epoch}")
    below.set_ylabel("dev, per cent")
    below.set_xlabel("epoch")
    below.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    below.legend(loc="lower right")
    for axes in (above, below):
        axes.grid(color="#eeeeee")
        axes.spines[["top", "right"]].set_visible(False)
    draft = path.with_name(f".{path.name}")
    figure.savefig(draft, format="png", dpi=120)
    os.replace(draft, path)
