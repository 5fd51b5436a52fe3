"""Scores: brackets as EVALB counts them, entities by strict match, and what was scored.

parameters.py   EVALB's parameter files      brackets.py     one sentence's brackets
totals.py       many sentences               evalb.py        what the program prints
entities.py     nested entities              fingerprint.py  which gold data it was
judgements.py   which spans are right        breakdown.py    scores by what spans are like
mistakes.py     why spans are wrong          attachment.py   what stands elsewhere
bootstrap.py    is a difference chance?      differences.py  between two readings
"""

from fencepost.scoring.brackets import Comparison, Counts, Side, side_of_line, side_of_tree
from fencepost.scoring.entities import EntityScore
from fencepost.scoring.fingerprint import Fingerprint
from fencepost.scoring.parameters import COLLINS, Parameters, read_parameters
from fencepost.scoring.totals import Totals

__all__ = [
    "COLLINS",
    "Comparison",
    "Counts",
    "EntityScore",
    "Fingerprint",
    "Parameters",
    "Side",
    "Totals",
    "read_parameters",
    "side_of_line",
    "side_of_tree",
]
