"""The port of an instance: its own of last time, else the first free one from 8765."""

import os
import socket

from sk_bus.paths import Instance
from sk_cli.choice import other_instances
from sk_cli.failure import Exit, Failure
from sk_cli.words import t

FIRST_PORT = 8765


def port_for(instance: Instance) -> int:
    """The instance's port: its own of last time, else the first free one; it tries the next ones.

    ``SK_PORT`` names another to begin with; 0 takes any free one.
    """
    wanted = os.environ.get("SK_PORT")
    remembered = _remembered_port(instance)
    if wanted == "0":
        return remembered if remembered and _is_free(remembered) else _any_free_port()
    if wanted is not None:
        if not wanted.isdigit() or not 0 < int(wanted) < 65536:
            raise Failure(t("up.no-port", given=wanted), code=Exit.USAGE)
        candidates = [int(wanted)]
    else:
        candidates = [remembered] if remembered else []
    # A port that another instance remembers stays its own, also while it is down.
    others = {_remembered_port(other) for other in other_instances(instance)}
    begin = (candidates[0] + 1) if candidates else FIRST_PORT
    candidates += [port for port in range(begin, begin + 1000) if port not in others]
    for port in candidates:
        if port < 65536 and _is_free(port):
            return port
    raise Failure(t("up.ports-taken", first=candidates[0]), then=t("up.ports-taken.then"))


def _remembered_port(instance: Instance) -> int | None:
    try:
        text = instance.port.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    return int(text) if text.isdigit() else None


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _any_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
