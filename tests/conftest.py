"""How Hypothesis draws: no clock decides whether a test passes, and CI draws the same each time.

Since these are the same each time, CI draws fewer; a developer's run looks at others, and at more.
"""

import os

from hypothesis import HealthCheck, settings

IS_CI = "CI" in os.environ

settings.register_profile(
    "fencepost",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=IS_CI,
    max_examples=50 if IS_CI else 100,
)
settings.load_profile("fencepost")
