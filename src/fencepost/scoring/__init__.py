"""Scores: brackets as EVALB counts them, entities by strict match, error analysis.

parameters.py   EVALB's parameter files      brackets.py     one sentence's brackets
totals.py       many sentences               evalb.py        the output of EVALB
entities.py     nested entities              fingerprint.py  a hash of gold data
judgements.py   which spans are right        breakdown.py    scores by properties of spans
mistakes.py     why spans are wrong          attachment.py   moved spans
bootstrap.py    significance tests           differences.py  between two parses
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
