"""The pointing system in plain Python: configurations, constraints, the oracle and its inverse."""

from fencepost.transition.canonical import CanonicalConfiguration
from fencepost.transition.configuration import Configuration
from fencepost.transition.constraints import ConstrainedConfiguration, Constraints, Limits
from fencepost.transition.oracle import Pointing, fill_gaps, pointings, replay

__all__ = [
    "CanonicalConfiguration",
    "Configuration",
    "ConstrainedConfiguration",
    "Constraints",
    "Limits",
    "Pointing",
    "fill_gaps",
    "pointings",
    "replay",
]
