"""Runs as tables: mean and spread over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev

from experiments.running import Run
from fencepost.cli.tables import table
from fencepost.scoring.bootstrap import Counts, Difference, compared
from fencepost.scoring.judgements import judge_trees


def score_table(runs: Sequence[Sequence[Run]], layer: str) -> str:
    """A table with precision, recall and F1.

    Args:
        runs: for each row, those with different seeds.
        layer: `tree` or `entities`.
    """
    rows = [["", "P", "R", "F1", "of", "seeds", "minutes", "words/s"]]
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
                results[0].scored,
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


def differences(
    runs: Sequence[Sequence[Run]], *, samples: int = 10_000
) -> list[tuple[str, str, Difference]]:
    """How sure the differences between systems are, by paired bootstrap over sentences.

    A sentence counts with all of a system's seeds together. What is drawn anew are sentences, not
    seeds: how far other seeds would have led elsewhere is told by the spread, not by this.

    Args:
        runs: for each system, those with different seeds.
        samples: how many are drawn.
    """
    names = [same[0].plan.name for same in runs]
    found = compared([_counts(same) for same in runs], samples=samples)
    return [(names[one], names[other], difference) for one, other, difference in found]


def difference_table(found: Sequence[tuple[str, str, Difference]]) -> str:
    """Differences between systems as a table."""
    rows = [["difference of F1", "", "95 %", "", "p"]]
    for one, other, by in found:
        figures = (by.f1, by.low, by.high)
        rows.append([f"{one} - {other}", *(f"{each:+.2f}" for each in figures), by.told_p])
    return table(rows)


def _counts(runs: Sequence[Run]) -> list[Counts]:
    """What each sentence adds to the score, over all runs."""
    sums: list[Counts] = []
    for run in runs:
        pairs = zip(run.gold(), run.predicted(), strict=True)
        each = [
            judge_trees(gold.tree, found.tree).counts
            for gold, found in pairs
            if gold.tree is not None
        ]
        sums = [_added(*both) for both in zip(sums, each, strict=True)] if sums else each
    return sums


def _added(one: Counts, other: Counts) -> Counts:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]
