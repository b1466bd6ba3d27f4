"""Cuts the run off from every network but a loopback of its own, where the machine lets us.

Real agents look for updates, count their uses and fetch lists of models, whatever their settings
say; cut off, that fails at once and reaches nobody.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys

_MARK = "SK_REAL_NETLESS"
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1
_WAYS = (
    ("unshare", "--net", "--"),
    ("unshare", "--map-current-user", "--keep-caps", "--net", "--"),
)


def cut_off() -> bool:
    """Start this program anew without a network; returns when that is done, or can't be.

    True: there is only loopback now.
    """
    if is_cut_off():
        raise_loopback()
        return True
    for way in _WAYS:
        probe = [*way, sys.executable, "-m", "tests.real.netless"]
        try:
            done = subprocess.run(probe, capture_output=True, check=False)
        except FileNotFoundError:
            return False
        if done.returncode == 0:
            command = [*way, sys.executable, "-m", "tests.real", *sys.argv[1:]]
            os.execvpe(command[0], command, os.environ | {_MARK: "1"})
    return False


def is_cut_off() -> bool:
    """Whether this program is the one that was started anew."""
    return bool(os.environ.get(_MARK))


def raise_loopback() -> None:
    """Bring up ``lo``, which is down in a new network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours:
        name = b"lo".ljust(16, b"\0")
        answer = fcntl.ioctl(ours, _SIOCGIFFLAGS, name + bytes(24))
        flags = struct.unpack_from("h", answer, 16)[0] | _IFF_UP
        fcntl.ioctl(ours, _SIOCSIFFLAGS, name + struct.pack("h", flags) + bytes(22))


if __name__ == "__main__":
    raise_loopback()
