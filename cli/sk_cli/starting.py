"""Starting an instance: what must lie in its directories, supervisord, and the wait for all six.

It decides nothing about components: supervisord starts them, the bus says when they are there.
"""

import asyncio
import http.client
import os
import secrets
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

from sk_bus.client import connect
from sk_bus.contract import Heartbeat
from sk_bus.errors import UnreachableError
from sk_bus.model import Cursor
from sk_bus.paths import Instance
from sk_bus.queries import SERVICES
from sk_cli import instances, observing, orphans, ports
from sk_cli.choice import Choice
from sk_cli.failure import Failure
from sk_cli.words import number, t

Say = Callable[[str], None]

# After so long (s) a start says what it waits for.
_PATIENT = 6.0


def start(choice: Choice, *, say: Say, timeout: float) -> int:
    """Start the chosen instance and wait until all of it answers; supervisord's pid.

    Raises:
        Failure: something didn't come up in time; the last lines of its log are in the message.
    """
    instance = choice.instance
    if choice.named and not choice.config.exists():
        raise Failure(t("config.no-file", path=choice.config), then=t("up.no-file.then"))
    orphans.end_supervisor(instance, say)
    orphans.await_services(instance, say)
    _write(instance.runs_in, f"{instance.run}\n")
    _write(instance.pointer, f"{choice.config}\n")
    _write(instance.source, f"{choice.source}\n")
    if not instance.token.exists():
        _write(instance.token, secrets.token_urlsafe(32))
    _write(instance.port, f"{ports.port_for(instance)}\n")
    _supervisord(instance)
    asyncio.run(_ready(instance, say=say, timeout=timeout))
    return instances.supervisor(instance).pid()


def _write(path: Path, text: str) -> None:
    # Whole or not at all: a kill in the middle must not leave half a token.
    fresh = path.with_name(path.name + ".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    fresh.replace(path)


# --- supervisord --------------------------------------------------------------------------------


def scripts() -> Path:
    """The directory with the services' scripts: beside `sk-cli`, or the Python that runs it."""
    named = os.environ.get("SK_BIN")
    candidates = [
        *([Path(named)] if named else []),
        Path(sys.argv[0]).absolute().parent,
        Path(sys.executable).parent,
        Path(sysconfig.get_path("scripts")),
    ]
    for directory in candidates:
        if (directory / "sk-bus").exists():
            return directory
    raise Failure(t("up.not-installed", program=sys.argv[0]), then="make up   |   pip install -e .")


def template() -> Path:
    """Its configuration: in the package once installed, in `deploy` in a checkout."""
    packaged = Path(__file__).parent / "deploy" / "supervisord.conf"
    return packaged if packaged.exists() else Path(__file__).parents[2] / "deploy/supervisord.conf"


def _supervisord(instance: Instance) -> None:
    """Start supervisord; it has its socket open when this returns."""
    environment = os.environ | {
        "SK_INSTANCE": instance.name,
        "SK_BIN": str(scripts()),
        "SK_RUN": str(instance.run),
        "SK_LOGS": str(instance.logs),
    }
    begun = subprocess.run(
        [sys.executable, "-m", "supervisor.supervisord", "-c", str(template())],
        env=environment,
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if begun.returncode != 0:
        log = instances.last_lines(instance.logs / "supervisord.log", 10)
        raise Failure(
            "\n".join([t("up.supervisord"), begun.stderr.strip(), *log]),
        )


# --- the wait -----------------------------------------------------------------------------------


async def _ready(instance: Instance, *, say: Say, timeout: float) -> None:
    reported: dict[str, str] = {}
    began = time.monotonic()
    told = ""
    try:
        async with asyncio.timeout(timeout), connect(instance) as bus:
            # Heartbeats, and whatever else happens, are when it is worth looking again.
            async for item in bus.follow(Cursor(epoch=0, seq=0), heartbeats=True):
                if isinstance(item, Heartbeat):
                    reported = await observing.reported(instance, item)
                if (
                    all(reported.get(name) == "running" for name in SERVICES)
                    and (await bus.hello()).open
                    and await asyncio.to_thread(_page_answers, instance)
                ):
                    break
                late = ", ".join(_missing(reported))
                if time.monotonic() - began > _PATIENT and late != told:
                    told = late
                    say(t("up.waiting", names=late, logs=instance.logs))
    except (TimeoutError, UnreachableError) as error:
        raise Failure(
            _what_is_missing(instance, reported, timeout),
            then=t("up.incomplete.then"),
        ) from error
    say(t("up.ready", seconds=number(time.monotonic() - began, 1)))


def _missing(reported: dict[str, str]) -> list[str]:
    """Who doesn't run yet. When all say that they do, it is the page that doesn't answer."""
    return [str(name) for name in SERVICES if reported.get(name) != "running"] or ["gateway"]


def _what_is_missing(instance: Instance, reported: dict[str, str], timeout: float) -> str:
    missing = _missing(reported)
    lines = [t("up.incomplete", seconds=number(timeout), names=", ".join(missing))]
    for name in missing:
        log = instance.logs / f"{name}.log"
        tail = [_shortened(line) for line in instances.last_lines(log, 15)]
        lines += [f"--- {log}", *(tail or [t("up.log-empty")])]
    return "\n".join(lines)


def _shortened(line: str) -> str:
    """A log's line as one reads it: a traceback's first and last words say what it is."""
    return line if len(line) <= 400 else f"{line[:150]} … {line[-240:]}"


def _page_answers(instance: Instance) -> bool:
    port = int(instance.port.read_text(encoding="ascii"))
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/")
        connection.getresponse()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return True
