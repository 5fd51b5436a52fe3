"""Beyond the paper: other ways to train, each against the paper's on dev.

    python -m experiments.beyond

canonical   pointing and labels normalised over what the canonical rules allow
smoothing   a tenth of each label's target shared by all labels
average     a moving average of weights, over some hundred steps
lstm-1, -3  layers of a two-way LSTM on the encoder (the paper has 3; here there are none otherwise)
            with boundaries half as wide, since they take one direction from each side
exploring   half of the sentences along the model's own steps, with a dynamic oracle
both        trees and entities in one network
"""

from __future__ import annotations

from experiments.commands import arguments, start
from experiments.running import Plan, seed_runs
from experiments.systems.exploring import Exploring
from experiments.tables import score_table

TREES = "gum-trees"
# Both directions together are as wide as the encoder's own vectors.
LSTM = ("network.lstm_hidden=192", "network.boundary=halves")

PLANS = (
    Plan(TREES),
    Plan(TREES, "canonical", ("training.pointing_loss=canonical",)),
    Plan(TREES, "smoothing", ("training.label_smoothing=0.1",)),
    Plan(TREES, "average", ("training.average=0.99",)),
    Plan(TREES, "lstm-1", ("network.lstm_layers=1", *LSTM)),
    Plan(TREES, "lstm-3", ("network.lstm_layers=3", *LSTM)),
    Plan(TREES, "exploring", system=Exploring(share=0.5)),
)
TOGETHER = Plan("gum-both")
APART = Plan("gum-entities")
NAMES = [*(plan.name for plan in PLANS), "both"]


def main() -> None:
    """Train and score each."""
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="+", default=NAMES, choices=NAMES, help="not all of them")
    options = parser.parse_args()
    plans = [plan for plan in PLANS if plan.name in options.only]
    rows = [seed_runs(plan, options) for plan in plans]
    if "both" in options.only:
        together = seed_runs(TOGETHER, options)
        apart = seed_runs(APART, options)
        print(score_table([apart, together], "entities"))
        rows.append(together)
    print(score_table(rows, "tree"))


if __name__ == "__main__":
    start(main)
