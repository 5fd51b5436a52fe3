"""Table 3: trees of Chinese by bottom-up pointing and a chart.

python -m experiments.table3                   # the Sinica sample
python -m experiments.table3 --corpora ctb7    # the paper's own, on a graphics card

python -m experiments.table3 --corpora genia-trees icepahc --systems pointing   # and others
"""

from __future__ import annotations

from experiments.commands import start
from experiments.table2 import runs, system_arguments
from experiments.tables import score_table


def main() -> None:
    """Train and score each system."""
    systems = ("pointing", "chart")
    options = system_arguments(__doc__, corpora=("sinica",), systems=systems).parse_args()
    print(score_table(runs(options.corpora, options.systems, options), "tree"))


if __name__ == "__main__":
    start(main)
