"""The previous label in the decoder's input, on trees (section 4: it does not help there).

python -m experiments.previous_label                       # open corpora
python -m experiments.previous_label --corpora ptb ctb7    # the paper's, on a graphics card
"""

from __future__ import annotations

from experiments.commands import arguments, start
from experiments.running import Plan, seed_runs
from experiments.tables import score_table


def plans(corpus: str) -> tuple[Plan, ...]:
    """Without the label that the last step made, and with it."""
    return (Plan(corpus), Plan(corpus, "previous-label", ("heads.tree.previous_label=true",)))


def main() -> None:
    """Train and score both on each corpus."""
    options = arguments(__doc__, corpora=("gum-trees", "sinica")).parse_args()
    rows = [seed_runs(plan, options) for corpus in options.corpora for plan in plans(corpus)]
    print(score_table(rows, "tree"))


if __name__ == "__main__":
    start(main)
