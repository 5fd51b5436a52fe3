"""F1 by what spans are like, for several systems: Figures 4 and 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from experiments.keeping import keep, picture_path
from experiments.pictures import Series, bars
from experiments.running import Run
from experiments.table2 import runs, suffix, system_arguments
from experiments.tables import spread
from fencepost.cli.tables import table
from fencepost.scoring.breakdown import Breakdown, tree_breakdown


def figure(
    description: str | None,
    name: str,
    *,
    by: str,
    told: str,
    paper: Mapping[str, Sequence[float]],
) -> None:
    """Count, draw and print.

    Args:
        description: of the script.
        name: of the figure.
        by: which breakdown of `fencepost.scoring.breakdown`.
        told: what the bins are of, for people.
        paper: what the paper has, by system.
    """
    options = system_arguments(description, corpora=("gum-trees",)).parse_args()
    for corpus in options.corpora:
        done = runs([corpus], options.systems, options)
        broken = {
            system: [broken_down(run) for run in same]
            for system, same in zip(options.systems, done, strict=True)
        }
        seeds = [run.result.seed for run in done[0]]
        scored = done[0][0].result.scored
        first = next(iter(broken.values()))[0].by[by]
        bins = {bin_: match.gold for bin_, match in first.items() if match.gold}
        figures = {
            system: [[one.by[by][bin_].f1 for one in found] for bin_ in bins]
            for system, found in broken.items()
        }
        rows = [[told, *bins], ["gold spans", *(f"{count:,}" for count in bins.values())]]
        rows += [[system, *map(spread, each)] for system, each in figures.items()]
        print(f"{corpus}, {scored}, F1 by {told}, seeds {' '.join(map(str, seeds))}")
        print(table(rows))
        title = f"F1 by {told}, {corpus}, {done[0][0].result.part}"
        ticks = [f"{bin_}\n({count:,})" for bin_, count in bins.items()]
        series = [
            Series(
                system,
                [fmean(same) for same in each],
                [stdev(same) if len(same) > 1 else 0.0 for same in each],
            )
            for system, each in figures.items()
        ]
        kept_as = f"{name}-{corpus}{suffix(options)}"
        path = picture_path(kept_as, options)
        bars(series, ticks, path=path, title=title, across=f"{told} (gold spans)")
        print(path)
        data: dict[str, Any] = {
            "corpus": corpus,
            "seeds": seeds,
            "of": scored,
            "bins": bins,
            "f1": figures,
            "paper": paper,
            "runs": [run.result.commit for same in done for run in same],
        }
        keep(kept_as, data, options)


def broken_down(run: Run) -> Breakdown:
    """The scores of a run by what spans are like."""
    pairs = zip(run.gold(), run.predicted(), strict=True)
    return tree_breakdown((one.tree, other.tree) for one, other in pairs if one.tree is not None)
