"""What the measurements of the whole have in common: an instance, agents that stamp, a page."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.exceptions import ConnectionClosed

from tests.support.instance import TestInstance
from tests.support.page_client import PageClient

AGENT = Path(__file__).with_name("stamping_agent.py")


@contextmanager
def instance(*agents: str) -> Iterator[TestInstance]:
    """An instance that is up, with stamping agents of these names."""
    lines = ["limits: {stopIdleAgentsAfter: never}", "agents:"]
    for name in agents:
        lines += [f"  - name: {name}", f"    command: {sys.executable}", f"    args: ['{AGENT}']"]
    with TestInstance(config="\n".join(lines) + "\n") as made:
        made.up()
        yield made


class Ear:
    """A page that listens on a thread of its own, and notes when each delta arrived."""

    def __init__(self, instance: TestInstance, *, want: tuple[str, ...] = ("delta",)) -> None:
        self.page = PageClient(instance.port, instance.token, want=want)
        self.arrived: dict[str, list[tuple[int, str]]] = {}
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while True:
            try:
                frame = self.page.hear(timeout=600)
            except ConnectionClosed:
                return
            now = time.monotonic_ns()
            if frame["t"] != "ev":
                continue
            with self._changed:
                for event in frame["e"]:
                    if event["type"] == "message:delta":
                        data = event["data"]
                        heard = self.arrived.setdefault(data["channel"], [])
                        heard.append((now, data["text"]))
                self._changed.notify_all()
            self.page.events.clear()
            self.page.frames.clear()

    def await_words(self, channel: str, count: int, timeout: float = 120) -> None:
        """Wait until so many words of a channel have arrived."""
        heard, words = 0, 0

        def enough() -> bool:
            nonlocal heard, words
            arrived = self.arrived.get(channel, [])
            words += sum(text.count(" ") for _, text in arrived[heard:])
            heard = len(arrived)
            return words >= count

        with self._changed:
            if not self._changed.wait_for(enough, timeout):
                raise TimeoutError(f"{words} of {count} words arrived within {timeout} s")


def opened(page: PageClient, agent: str) -> str:
    """The direct conversation with ``agent``, which has answered there already."""
    channel: str = page.call("Direct", agent=agent)["value"]
    page.call("Send", channel=channel, text="warm up")
    await_end(page, channel)
    return channel


def await_end(page: PageClient, channel: str) -> None:
    """Wait until a channel's answer has ended, and forget the events until then."""
    page.until(
        lambda page: any(
            turn["channel"] == channel and not turn["busy"] for turn in page.of("turn:changed")
        )
    )
    page.events.clear()


def percentiles(milliseconds: list[float]) -> dict[str, float]:
    """p50, p99 and the worst, in milliseconds."""
    ordered = sorted(milliseconds)
    return {
        "p50_ms": round(ordered[len(ordered) // 2], 2),
        "p99_ms": round(ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)], 2),
        "worst_ms": round(ordered[-1], 2),
    }


def latencies(arrived: list[tuple[int, str]]) -> list[float]:
    """From an agent's write to the frame, in milliseconds, a stamp each."""
    return [(at - int(stamp)) / 1e6 for at, text in arrived for stamp in text.split()]


def cpu_seconds(instance: TestInstance) -> dict[str, float]:
    """What each process of the instance has used so far, its agents and holders as ``others``.

    By the scheduler's own nanoseconds: the ticks of ``stat`` are too coarse for what idles.
    """
    names = {pid: name for name, pid in instance.pids().items()}
    used: dict[str, float] = {}
    for pid in instance.processes():
        try:
            threads = [
                int((thread / "schedstat").read_text().split()[0])
                for thread in Path(f"/proc/{pid}/task").iterdir()
            ]
        except (FileNotFoundError, ProcessLookupError):
            continue
        name = names.get(pid, "others")
        used[name] = used.get(name, 0.0) + sum(threads) / 1e9
    return used


def spent(before: dict[str, float], after: dict[str, float], seconds: float) -> dict[str, Any]:
    """Percent of a core between two looks, a process each and in all."""
    shares = {name: (after[name] - before.get(name, 0.0)) / seconds * 100 for name in after}
    return {
        name: round(share, 1) for name, share in (shares | {"all": sum(shares.values())}).items()
    }
