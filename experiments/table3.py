"""Table 3: trees of Chinese by bottom-up pointing and a chart.

python -m experiments.table3                   # the Sinica sample
python -m experiments.table3 --corpora ctb7    # the paper's own, on a graphics card

python -m experiments.table3 --corpora genia-trees icepahc --systems pointing   # and others
"""

from __future__ import annotations

from experiments.commands import arguments
from experiments.table2 import SYSTEMS, runs
from experiments.tables import score_table


def main() -> None:
    """Train and score each system."""
    parser = arguments(__doc__, corpora=("sinica",))
    parser.add_argument("--systems", nargs="+", default=("pointing", "chart"), choices=SYSTEMS)
    options = parser.parse_args()
    print(score_table(runs(options.corpora, options.systems, options), "tree"))


if __name__ == "__main__":
    main()
