"""Table 2: trees of English by bottom-up pointing, top-down splitting and a chart.

    python -m experiments.table2 --seeds 1 2 3    # GUM
    python -m experiments.table2 --corpora ptb    # the paper's own, on a graphics card

The paper takes the figures of others from their papers. Here all three are trained on the same data
with the same encoder, heads of the same sizes and the same number of steps.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from experiments.commands import arguments, start
from experiments.keeping import keep
from experiments.running import Plan, Run, seed_runs
from experiments.systems.chart import Chart
from experiments.systems.pointing import Pointing
from experiments.systems.splitting import Splitting
from experiments.systems.system import System
from experiments.tables import difference_table, differences, score_table

SYSTEMS = ("pointing", "splitting", "chart")


def plan(corpus: str, name: str, epochs: int | None = None) -> Plan:
    """The plan of a system on a corpus.

    Args:
        corpus: a file of settings.
        name: of the system.
        epochs: if there are to be more or fewer than the settings say.
    """
    systems: dict[str, Callable[[], System]] = {"splitting": Splitting, "chart": Chart}
    changes = () if epochs is None else (f"training.epochs={epochs}",)
    more = "" if epochs is None else f"-{epochs}-epochs"
    return Plan(corpus, f"{name}{more}", changes, systems.get(name, Pointing)())


def runs(
    corpora: Sequence[str], systems: Sequence[str], options: argparse.Namespace
) -> list[list[Run]]:
    """The runs of each system on each corpus, with all seeds."""
    return [
        seed_runs(plan(corpus, name, options.epochs), options)
        for corpus in corpora
        for name in systems
    ]


def system_arguments(
    description: str | None, *, corpora: tuple[str, ...], systems: tuple[str, ...] = SYSTEMS
) -> argparse.ArgumentParser:
    """The options of every script that compares systems."""
    parser = arguments(description, corpora=corpora)
    parser.add_argument("--systems", nargs="+", default=systems, choices=SYSTEMS)
    parser.add_argument("--epochs", type=int, help="more or fewer than the settings say")
    return parser


def main() -> None:
    """Train and score each system."""
    options = system_arguments(__doc__, corpora=("gum-trees",)).parse_args()
    done = runs(options.corpora, options.systems, options)
    print(score_table(done, "tree"))
    for corpus in options.corpora if len(options.systems) > 1 else ():
        here = [same for same in done if same[0].plan.corpus == corpus]
        found, scored = differences(here), here[0][0].result.scored
        print(f"\n{corpus}, {scored}\n{difference_table(found)}")
        data = [{"first": one, "second": other, **by.to_dict()} for one, other, by in found]
        keep(
            f"significance-{corpus}{suffix(options)}",
            {
                "seeds": [one.result.seed for one in here[0]],
                "of": scored,
                "differences": data,
            },
            options,
        )


def suffix(options: argparse.Namespace) -> str:
    """What tells figures of longer or shorter runs from those with the usual number of epochs."""
    return "" if options.epochs is None else f"-{options.epochs}-epochs"


if __name__ == "__main__":
    start(main)
