"""Figure 5: F1 by the number of children, bottom-up pointing against the others.

    python -m experiments.figure5 --seeds 1 2 3    # GUM
    python -m experiments.figure5 --corpora ptb    # the paper's own, on a graphics card

The runs are those of Table 2; what is finished is not trained again.
"""

from __future__ import annotations

from experiments.breakdowns import figure
from experiments.commands import start

# The paper's own bars: ours, and Nguyen et al. (2021), on the test part of PTB.
PAPER = {
    "pointing": (96.10, 94.30, 90.89, 88.52, 88.65),
    "splitting": (95.85, 94.00, 90.49, 88.03, 87.95),
}


def main() -> None:
    """Count, draw and print."""
    figure(__doc__, "figure5", by="children", told="children of the span", paper=PAPER)


if __name__ == "__main__":
    start(main)
