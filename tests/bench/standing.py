"""What the whole weighs, how fast it stands, and how fast it stands again after a death.

``python -m tests.bench.standing`` prints one JSON object. Yardsticks: a Python that imports what
all services import, six times for the memory, once for the time.
"""

import asyncio
import itertools
import json
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sk_bus.client import connect
from sk_bus.contract import Heartbeat
from sk_bus.model import ChannelId, Cursor
from tests.bench.talk import Ear, instance, opened, percentiles
from tests.support.instance import TestInstance
from tests.support.page_client import PageClient

UPS = 5
SERVICES = ("router", "agents", "history", "gateway", "config", "bus")
IMPORTS = "import asyncio, zmq, msgpack, orjson, rocksdict"


def measure() -> dict[str, Any]:
    made: dict[str, Any] = ups()
    with instance("stamper") as running, PageClient(running.port, running.token) as page:
        channel = ChannelId(opened(page, "stamper"))
        made |= memory(running)
        made |= deaths(running, page, channel)
    return made


# --- standing up ----------------------------------------------------------------------------


def ups() -> dict[str, Any]:
    """Seconds that ``sk-cli up`` takes, and what importing costs alone."""
    taken = []
    with TestInstance() as made:
        for _ in range(UPS):
            begun = time.monotonic()
            made.up()
            taken.append(time.monotonic() - begun)
            made.down()
    yardsticks = []
    for _ in range(UPS):
        begun = time.monotonic()
        subprocess.run([sys.executable, "-c", IMPORTS], check=True)
        yardsticks.append(time.monotonic() - begun)
    return {
        "up_s": round(statistics.median(taken), 2),
        "up_worst_s": round(max(taken), 2),
        "import_s": round(statistics.median(yardsticks), 2),
    }


# --- weight ---------------------------------------------------------------------------------


def memory(running: TestInstance) -> dict[str, Any]:
    """PSS of the services and supervisord, and RSS of the holder, in MB."""
    weights = {name: pss(pid) for name, pid in running.pids().items()}
    holders = [pid for pid, line in running.processes().items() if "shim.py" in line]
    return {
        "pss_mb": {name: round(weight, 1) for name, weight in weights.items()},
        "pss_all_mb": round(sum(weights.values()), 1),
        "imports_pss_mb": round(bare_imports(), 1),
        "shim_rss_mb": round(max(rss(pid) for pid in holders), 1),
        "bare_rss_mb": round(bare_rss(), 1),
    }


def pss(pid: int) -> float:
    return _kilobytes(pid, "smaps_rollup", "Pss") / 1024


def rss(pid: int) -> float:
    return _kilobytes(pid, "status", "VmRSS") / 1024


def _kilobytes(pid: int, file: str, field: str) -> int:
    for line in Path(f"/proc/{pid}/{file}").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1])
    raise ValueError(f"/proc/{pid}/{file} has no {field}")


def bare_imports() -> float:
    """PSS of six Pythons that have imported what the services import, and do nothing."""
    return _weighed(["-c", f"{IMPORTS}; print(flush=True); input()"], len(SERVICES), pss)


def bare_rss() -> float:
    """RSS of a Python started as a holder is, that does nothing."""
    return _weighed(["-I", "-S", "-c", "print(flush=True); input()"], 1, rss)


def _weighed(arguments: list[str], count: int, weigh: Callable[[int], float]) -> float:
    bare = [
        subprocess.Popen(
            [sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(count)
    ]
    try:
        for one in bare:
            assert one.stdout is not None
            one.stdout.readline()
        return sum(weigh(one.pid) for one in bare)
    finally:
        for one in bare:
            one.communicate("\n")


# --- deaths ---------------------------------------------------------------------------------


def deaths(running: TestInstance, page: PageClient, channel: ChannelId) -> dict[str, Any]:
    """Kill each service in the middle of an answer of 100 words a second.

    ``respawn``: from the kill until the next process reports. ``silence``: the longest pause
    between two words that a browser saw (of the gateway's own death: until its page is back).
    """
    words = 4_000
    ear, pulse = Ear(running), Pulse(running)
    page.call("Send", channel=channel, text=f"stamp {words} 10")
    ear.await_words(channel, 50)
    respawns, silences = {}, {}
    for name in SERVICES:
        before = time.monotonic_ns()
        begun = time.monotonic()
        known = pulse.known(name) | {running.kill(name, signal.SIGKILL)}
        respawns[name] = round(pulse.next_after(name, known) - begun, 2)
        if name == "gateway":
            ear = Ear(running)
        heard = sum(text.count(" ") for _, text in ear.arrived.get(channel, []))
        ear.await_words(channel, heard + 150)
        arrived = [at for at, _ in ear.arrived[channel] if at >= before - 10**9]
        moments = [before, *(at for at in arrived if at >= before)]
        pauses = [(b - a) / 1e6 for a, b in itertools.pairwise(moments)]
        silences[name] = round(max(pauses))
    PageClient(running.port, running.token).call("Cancel", channel=channel)
    return {
        "respawn_s": respawns,
        "respawn": percentiles([seconds * 1000 for seconds in respawns.values()]),
        "silence_ms": silences,
    }


class Pulse:
    """When each process was first heard of on the bus, by a listener on a thread of its own."""

    def __init__(self, running: TestInstance) -> None:
        self._running = running
        self._heard: dict[tuple[str, int], float] = {}
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        self._loop.run_until_complete(self._follow())

    async def _follow(self) -> None:
        async with connect(self._running.paths) as bus:
            head = (await bus.hello()).head
            after = Cursor(epoch=(await bus.hello()).epoch, seq=head)
            async for item in bus.follow(after, heartbeats=True):
                if isinstance(item, Heartbeat):
                    with self._changed:
                        for name, report in item.reports.items():
                            self._heard.setdefault((name, report.pid), time.monotonic())
                        self._changed.notify_all()

    def next_after(self, name: str, known: set[int]) -> float:
        """Wait for a process under ``name`` that is none of ``known``; when it was heard."""

        def heard() -> float | None:
            moments = (
                at for (one, pid), at in self._heard.items() if one == name and pid not in known
            )
            return min(moments, default=None)

        with self._changed:
            if not self._changed.wait_for(heard, 30):
                raise TimeoutError(f"{name} did not come back within 30 s")
            moment = heard()
            assert moment is not None
            return moment

    def known(self, name: str) -> set[int]:
        with self._changed:
            return {pid for one, pid in self._heard if one == name}


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
