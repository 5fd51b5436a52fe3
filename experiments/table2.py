"""Table 2: trees of English by bottom-up pointing, top-down splitting and a chart.

    python -m experiments.table2 --seeds 1 2 3    # GUM
    python -m experiments.table2 --corpora ptb    # the paper's own, on a graphics card

The paper takes the figures of others from their papers. Here all three are trained on the same data
with the same encoder, heads of the same sizes and the same number of steps.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from experiments.commands import arguments
from experiments.keeping import keep
from experiments.running import Plan, Run, run
from experiments.systems.chart import Chart
from experiments.systems.splitting import Splitting
from experiments.tables import difference_table, differences, score_table

SYSTEMS = ("pointing", "splitting", "chart")


def plan(corpus: str, name: str) -> Plan:
    """The plan of a system on a corpus."""
    if name == "splitting":
        return Plan(corpus, name, system=Splitting())
    return Plan(corpus, name, system=Chart()) if name == "chart" else Plan(corpus, name)


def runs(
    corpora: Sequence[str], systems: Sequence[str], options: argparse.Namespace
) -> list[list[Run]]:
    """The runs of each system on each corpus, with all seeds."""
    return [
        [run(plan(corpus, name), seed, options) for seed in options.seeds]
        for corpus in corpora
        for name in systems
    ]


def main() -> None:
    """Train and score each system."""
    parser = arguments(__doc__, corpora=("gum-trees",))
    parser.add_argument("--systems", nargs="+", default=SYSTEMS, choices=SYSTEMS)
    options = parser.parse_args()
    done = runs(options.corpora, options.systems, options)
    print(score_table(done, "tree"))
    for corpus in options.corpora if len(options.systems) > 1 else ():
        found = differences([same for same in done if same[0].plan.corpus == corpus])
        print(f"\n{corpus}\n{difference_table(found)}")
        data = [{"first": one, "second": other, **by.to_dict()} for one, other, by in found]
        keep(f"significance-{corpus}", {"seeds": options.seeds, "differences": data}, options)


if __name__ == "__main__":
    main()
