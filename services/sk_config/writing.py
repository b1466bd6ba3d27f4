"""Whether somebody is in the middle of writing a file: half of one may well be valid.

Linux grants a read lease only on a file that nobody has open for writing. Where leases are unknown,
or not ours to take, the answer is no.
"""

import errno
import fcntl
import os
import signal
from contextlib import suppress
from pathlib import Path


def being_written(path: Path) -> bool:
    """Whether any process has the file open for writing."""
    if not hasattr(fcntl, "F_SETLEASE"):
        return False
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            # Who opens it for writing just now has the lease broken, and us told of it: by a signal
            # that does nothing, as the usual one would end us.
            fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        except OSError as error:
            return error.errno == errno.EAGAIN
        finally:
            os.close(descriptor)
    return False
