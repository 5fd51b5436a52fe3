"""Figure 4: F1 by the length of spans, bottom-up pointing against the others.

    python -m experiments.figure4 --seeds 1 2 3    # GUM
    python -m experiments.figure4 --corpora ptb    # the paper's own, on a graphics card

The runs are those of Table 2; what is finished is not trained again.
"""

from __future__ import annotations

from experiments.breakdowns import figure
from experiments.commands import start

# The paper's own bars: ours, and Nguyen et al. (2021), on the test part of PTB.
PAPER = {
    "pointing": (96.24, 95.00, 95.91, 97.07, 96.85),
    "splitting": (96.10, 94.80, 95.60, 96.53, 96.33),
}


def main() -> None:
    """Count, draw and print."""
    figure(__doc__, "figure4", by="length", told="words in the span", paper=PAPER)


if __name__ == "__main__":
    start(main)
