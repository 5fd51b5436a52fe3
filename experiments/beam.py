"""A beam of 20 against greedy search (section 5, "beam search").

    python -m experiments.beam                       # open corpora
    python -m experiments.beam --corpora ptb ctb7    # the paper's, on a graphics card

The models are those of Tables 2 and 3; what is finished is not trained again. Search is scored with
the canonical rules and free of them, which is the paper's way. The beam goes by pointing and labels
in both; the paper's program leaves labels out of it, which is not scored here.
"""

from __future__ import annotations

from experiments.commands import arguments, start
from experiments.keeping import keep
from experiments.running import Plan, seed_runs
from fencepost.cli.tables import table
from fencepost.run.evaluate import evaluate, main_figure

BEAMS = (1, 20)
RULES = {"canonical": True, "free": False}


def main() -> None:
    """Search with each size."""
    options = arguments(__doc__, corpora=("gum-trees", "sinica")).parse_args()
    rows = [["", *(f"{rules}, beam {beams}" for rules in RULES for beams in BEAMS)]]
    for corpus in options.corpora:
        for done in seed_runs(Plan(corpus), options):
            seed = done.result.seed
            model, gold = done.model(), done.gold()
            figures = {
                f"{rules}-{beams}": main_figure(
                    evaluate(model, gold, beams=beams, canonical=canonical)["tree"]
                )
                for rules, canonical in RULES.items()
                for beams in BEAMS
            }
            told = f"{corpus}, {done.result.scored}, seed {seed}"
            rows.append([told, *(f"{f1:.2f}" for f1 in figures.values())])
            data = {
                "corpus": corpus,
                "seed": seed,
                "of": done.result.scored,
                "run": done.result.commit,
                "f1": figures,
            }
            keep(f"beam-{corpus}-{seed}", data, options)
    print(table(rows))


if __name__ == "__main__":
    start(main)
