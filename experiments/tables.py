"""Runs as tables: mean and spread over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev

from experiments.running import Run
from fencepost.cli.tables import table


def score_table(runs: Sequence[Sequence[Run]], layer: str) -> str:
    """A table with precision, recall and F1 on dev.

    Args:
        runs: for each row, those with different seeds.
        layer: `tree` or `entities`.
    """
    rows = [["", "P", "R", "F1", "seeds", "minutes", "words/s"]]
    for same in runs:
        results = [run.result for run in same]
        figures = [
            spread([result.figure(layer, which) for result in results])
            for which in ("precision", "recall", "f1")
        ]
        rows.append(
            [
                f"{results[0].corpus}, {results[0].name}",
                *figures,
                " ".join(str(result.seed) for result in results),
                f"{fmean(result.minutes for result in results):.1f}",
                f"{fmean(result.words_per_second for result in results):.0f}",
            ]
        )
    return table(rows)


def spread(figures: Sequence[float]) -> str:
    """The mean of some figures, and how far they spread.

    >>> spread([90.0, 91.0]), spread([90.0])
    ('90.50 ± 0.71', '90.00')
    """
    mean = f"{fmean(figures):.2f}"
    return f"{mean} ± {stdev(figures):.2f}" if len(figures) > 1 else mean
