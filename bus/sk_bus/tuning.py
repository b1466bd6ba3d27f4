"""Bounds that a test makes small, so that what takes hours comes in seconds.

``SK_TUNE=journal-keep=200000,snapshot-every=2``. Nothing is set outside tests: a bound that a
person should be able to choose is in the configuration.
"""

import os


def tuned(name: str, usual: float) -> float:
    """The bound ``name``: what ``SK_TUNE`` says of it, else ``usual``.

    Raises:
        ValueError: what it says is no number.
    """
    for entry in os.environ.get("SK_TUNE", "").split(","):
        key, _, value = entry.partition("=")
        if key == name:
            return float(value)
    return usual
