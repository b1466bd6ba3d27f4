"""How long a test waits for what must come: one bound for all, which only a failure ever reaches.

A shared machine can be ten times slower than one expects. So it says nothing of how long something
takes; that is for `make bench`.
"""

PATIENCE = 90.0  # seconds
