"""Instructions that tests may use, and how Hypothesis draws: CI draws the same each time.

Since these are the same each time, CI draws fewer; a developer's run looks at others, and at more.
"""

import os

from hypothesis import HealthCheck, settings

# Some virtual machines announce AMX and cannot run it: an LSTM in bf16 fails, and with it every
# other LSTM of the process. Read by torch when it is imported.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

IS_CI = "CI" in os.environ

settings.register_profile(
    "fencepost",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=IS_CI,
    max_examples=50 if IS_CI else 100,
)
settings.load_profile("fencepost")
