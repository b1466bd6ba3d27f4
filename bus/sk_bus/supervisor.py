"""How one speaks with supervisord: XML-RPC over the instance's unix socket.

The command line, the gateway and the watcher restart components through it, so that also the bus
can be restarted. It blocks (an asyncio caller uses a thread), and knows nothing of what the
processes do.
"""

import http.client
import socket
import xmlrpc.client
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

NOT_RUNNING = 70
ALREADY_STARTED = 60


class SupervisorError(Exception):
    """supervisord refused; ``code`` is its fault code."""

    def __init__(self, code: int, text: str) -> None:
        self.code = code
        super().__init__(text)


class NotRunningError(Exception):
    """No supervisord answers on this instance's socket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One supervised process as supervisord sees it; ``pid`` is 0 while there is none.

    ``state`` is its word (RUNNING, STARTING, BACKOFF, STOPPED, EXITED, FATAL, …), ``started`` in
    seconds since 1970.
    """

    name: str
    state: str
    pid: int
    started: int
    problem: str = ""


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


class Supervisor:
    """supervisord behind ``socket_path``. Every call may raise what :meth:`call` raises."""

    def __init__(self, socket_path: Path, *, timeout: float = 10.0) -> None:
        self._path = socket_path
        self._timeout = timeout

    def call(self, method: str, *arguments: Any) -> Any:
        """One XML-RPC call of supervisord's ``supervisor`` namespace.

        Raises:
            NotRunningError: nobody answers on the socket.
            SupervisorError: supervisord says no.
        """
        body = xmlrpc.client.dumps(arguments, f"supervisor.{method}").encode()
        connection = _Connection(self._path, self._timeout)
        try:
            connection.request("POST", "/RPC2", body, {"Content-Type": "text/xml"})
            reply = connection.getresponse().read()
        except (OSError, http.client.HTTPException) as error:
            raise NotRunningError(f"no supervisord answers on {self._path}: {error}") from error
        finally:
            connection.close()
        try:
            values, _ = xmlrpc.client.loads(reply)
        except xmlrpc.client.Fault as fault:
            raise SupervisorError(fault.faultCode, fault.faultString) from fault
        return values[0]

    def pid(self) -> int:
        return int(cast("int", self.call("getPID")))

    def processes(self) -> dict[str, Process]:
        """Every supervised process by its name."""
        return {
            info["name"]: Process(
                name=info["name"],
                state=info["statename"],
                pid=info["pid"],
                started=info["start"],
                problem=info["spawnerr"],
            )
            for info in cast("list[dict[str, Any]]", self.call("getAllProcessInfo"))
        }

    def stop(self, name: str) -> None:
        """Stop a process and wait until it is gone; it may be gone already."""
        self._tolerant(NOT_RUNNING, "stopProcess", name)

    def start(self, name: str) -> None:
        """Start a process; somebody may have been faster."""
        self._tolerant(ALREADY_STARTED, "startProcess", name)

    def restart(self, name: str) -> None:
        self.stop(name)
        self.start(name)

    def shutdown(self) -> None:
        """Ask supervisord to stop every process and itself; it answers before it does."""
        self.call("shutdown")

    def _tolerant(self, code: int, method: str, name: str) -> None:
        try:
            self.call(method, name)
        except SupervisorError as error:
            if error.code != code:
                raise
