"""The pointing loss over all boundaries against candidates only (section 5, "training loss").

python -m experiments.loss                       # open corpora
python -m experiments.loss --corpora ptb ctb7    # the paper's, on a graphics card
"""

from __future__ import annotations

from experiments.commands import arguments, start
from experiments.running import Plan, seed_runs
from experiments.tables import score_table


def plans(corpus: str) -> tuple[Plan, ...]:
    """Both ways to normalise."""
    return (Plan(corpus), Plan(corpus, "candidates", ("training.pointing_loss=candidates",)))


def main() -> None:
    """Train and score both on each corpus."""
    options = arguments(__doc__, corpora=("gum-trees", "sinica")).parse_args()
    rows = [seed_runs(plan, options) for corpus in options.corpora for plan in plans(corpus)]
    print(score_table(rows, "tree"))


if __name__ == "__main__":
    start(main)
