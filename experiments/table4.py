"""Table 4: nested entities, with and without the previous label's embedding in the decoder.

Beside them, a plain classifier of spans on the same encoder (`systems/classifier.py`).

python -m experiments.table4                                   # open corpora
python -m experiments.table4 --corpora ace2004 ace2005 genia   # the paper's, on a graphics card
"""

from __future__ import annotations

from experiments.commands import arguments, start
from experiments.running import Plan, seed_runs
from experiments.systems.classifier import Classifier
from experiments.tables import score_table


def plans(corpus: str) -> tuple[Plan, ...]:
    """With the label that the last step made, without it, and each span by itself."""
    return (
        Plan(corpus),
        Plan(corpus, "no-previous-label", ("heads.entities.previous_label=false",)),
        Plan(corpus, "classifier", system=Classifier()),
    )


def main() -> None:
    """Train and score each on each corpus."""
    corpora = ("gum-entities", "litbank", "genia-entities", "germeval")
    options = arguments(__doc__, corpora=corpora).parse_args()
    rows = [seed_runs(plan, options) for corpus in options.corpora for plan in plans(corpus)]
    print(score_table(rows, "entities"))


if __name__ == "__main__":
    start(main)
