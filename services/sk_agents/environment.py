"""The environment that agents get: that of the user's login shell, without what is ours.

A service that was started by a desktop or by systemd has another PATH than a terminal; agents need
the terminal's. The shell is asked once, with a bound, and its answer kept in memory. This knows
nothing of agents.
"""

import asyncio
import contextlib
import logging
import os
import pwd
import shlex
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass

PATIENCE = 10.0
UMASK = 0o022
_MARK = b"\x1e--sidekicks--\x1e"
_ASK = (
    f"import os;u=os.umask(0);m=bytes.fromhex('{_MARK.hex()}');"
    "e=[k+b'='+v for k,v in os.environb.items()];"
    "os.write(1,m+b'%o'%u+bytes(1)+bytes(1).join(e)+m)"
)
_PLAIN_SHELL = "/bin/sh"
# Ours; and what make and systemd tell the processes that they start, which no agent is.
_NOT_THEIRS = ("SK_", "SUPERVISOR_", "LISTEN_", "WATCHDOG_", "SYSTEMD_EXEC_", "MAKE_TERM")
_NOT_THEIRS_WHOLE = frozenset(
    # Set by the shell for itself, or of no use to a program elsewhere.
    {"_", "SHLVL", "PWD", "OLDPWD"}
    | {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MAKEFILES"}
    | {"NOTIFY_SOCKET", "INVOCATION_ID", "JOURNAL_STREAM", "MAINPID", "MANAGERPID"}
)


@dataclass(frozen=True, slots=True)
class Environment:
    """Variables for an agent, and the file mode mask it begins with."""

    variables: dict[str, str]
    umask: int


class LoginShell:
    """Asks the user's shell, at the first need."""

    def __init__(self, log: logging.Logger, *, private: str) -> None:
        """``private`` is our run directory: no variable that names it is passed on."""
        self._log = log
        self._private = private
        self._answer: asyncio.Task[Environment] | None = None

    async def environment(self) -> Environment:
        """What a new terminal of the user's would have; ours when no shell says."""
        if self._answer is None:
            self._answer = asyncio.create_task(self._asked())
        # Shielded: a start that is given up must not take the answer from the others.
        return await asyncio.shield(self._answer)

    async def _asked(self) -> Environment:
        own = _login() | public(os.environ, self._private)
        for shell in dict.fromkeys((own["SHELL"], _PLAIN_SHELL)):
            try:
                answer = said(await _output(shell, own))
            except (OSError, TimeoutError) as error:
                self._log.warning("%s didn't say its environment: %r", shell, error)
                continue
            if answer is not None:
                return Environment(public(answer.variables, self._private), answer.umask)
            self._log.warning("%s didn't say its environment", shell)
        return Environment(own, UMASK)


def _login() -> dict[str, str]:
    try:
        return logged_in(pwd.getpwuid(os.getuid()))
    except KeyError:  # a user by number only, as in many a container; maybe even without HOME
        return {"HOME": "/", "SHELL": _PLAIN_SHELL, "PATH": os.defpath}


def logged_in(user: pwd.struct_passwd) -> dict[str, str]:
    """What every login sets, and a service manager may leave out."""
    return {
        "HOME": user.pw_dir,
        "USER": user.pw_name,
        "LOGNAME": user.pw_name,
        "SHELL": user.pw_shell or _PLAIN_SHELL,
        "PATH": os.defpath,
    }


def public(variables: Mapping[str, str], private: str) -> dict[str, str]:
    """``variables`` without ours: an agent must not be able to approve its own requests."""
    return {
        name: value
        for name, value in variables.items()
        if not name.startswith(_NOT_THEIRS)
        and name not in _NOT_THEIRS_WHOLE
        and private not in value
    }


def said(output: bytes) -> Environment | None:
    """The environment in a shell's output, between whatever its start-up files print."""
    parts = output.split(_MARK)
    if len(parts) != 3:
        return None
    umask, *entries = parts[1].split(b"\0")
    pairs = (entry.partition(b"=") for entry in entries)
    return Environment(
        {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}, int(umask, 8)
    )


class _Heard(asyncio.SubprocessProtocol):
    """What a process printed, and that it is over: ended, its output at its end or given up."""

    def __init__(self) -> None:
        self.output = bytearray()
        self.over = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        del fd
        self.output += data

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.over.set()


async def _output(shell: str, variables: dict[str, str]) -> bytes:
    """What the shell prints when asked.

    Raises:
        OSError: it can't be run.
        TimeoutError: it took too long; it and what it started are gone.
    """
    question = f"{shlex.quote(sys.executable)} -I -S -c {shlex.quote(_ASK)}"
    # In a session of its own an interactive shell can't reach for our terminal.
    transport, heard = await asyncio.get_running_loop().subprocess_exec(
        _Heard,
        shell,
        "-lic",
        question,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=variables,
        start_new_session=True,
        umask=UMASK,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            await heard.over.wait()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(transport.get_pid(), signal.SIGKILL)
        # Something that left the session may hold the pipe open for good: it is read no further.
        transport.close()
        await heard.over.wait()
    return bytes(heard.output)
