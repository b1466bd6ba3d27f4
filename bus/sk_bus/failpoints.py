"""Places where a process can be made to die, so that a test can hit the exact window.

``SK_FAIL=after_append:3`` kills the process, as ``kill -9`` would, when it comes to the place
named ``after_append`` for the third time. Nothing is set outside tests; unset, a place costs one
comparison. ``SK_FAIL=no_cas`` and ``SK_FAIL=no_replay`` switch a promise off instead: the checker
that watches over it must then cry out.
"""

import os
import signal

_name, _, _count = os.environ.get("SK_FAIL", "").partition(":")
_left = int(_count or 1)


def disabled(promise: str) -> bool:
    """Whether this promise is switched off, to see whether anybody notices."""
    return promise == _name


def failpoint(name: str) -> None:
    """Die here if the environment says so."""
    global _left  # noqa: PLW0603  a process dies once
    if name == _name:
        _left -= 1
        if _left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
