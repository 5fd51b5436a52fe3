"""How Hypothesis draws: no clock decides whether a test passes, and CI draws the same each time."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fencepost",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("fencepost")
