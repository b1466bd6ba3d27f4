"""From an agent's stdout to a WebSocket frame, idle: ``python -m tests.bench.latency``.

Prints one JSON object. Beside it stands what a bare pipe and a bare socket take on this machine.
"""

import json
import os
import socket
import threading
import time

from sk_bus.model import ChannelId
from tests.bench.talk import (
    Ear,
    cpu_seconds,
    instance,
    latencies,
    opened,
    percentiles,
    spent,
)
from tests.support.page_client import PageClient

DELTAS = 600
PAUSE = 20
TOKENS_A_SECOND = 100
IDLE_AFTER = 3  # seconds: for two the bus beats faster


def yardstick() -> dict[str, float]:
    """A stamp through one pipe, one thread and one socket pair: what no design can undercut."""
    out, into = os.pipe()
    near, far = socket.socketpair()

    def forward() -> None:
        while data := os.read(out, 4096):
            near.sendall(data)

    thread = threading.Thread(target=forward, daemon=True)
    thread.start()
    taken = []
    for _ in range(200):
        begun = time.monotonic_ns()
        os.write(into, b"x")
        far.recv(1)
        taken.append((time.monotonic_ns() - begun) / 1e6)
        time.sleep(0.005)
    os.close(into)
    thread.join()
    return {f"yardstick_{name}": value for name, value in percentiles(taken).items()}


def measure() -> dict[str, object]:
    with instance("stamper") as made, PageClient(made.port, made.token) as page:
        channel = ChannelId(opened(page, "stamper"))
        ear = Ear(made)
        page.call("Send", channel=channel, text=f"stamp {DELTAS} {PAUSE}")
        ear.await_words(channel, DELTAS)
        result: dict[str, object] = dict(percentiles(latencies(ear.arrived[channel])))
        result["deltas"] = DELTAS
        ear.arrived.clear()

        before, begun = cpu_seconds(made), time.monotonic()
        pause = 1000 / TOKENS_A_SECOND
        page.call("Send", channel=channel, text=f"stamp {10 * TOKENS_A_SECOND} {pause}")
        ear.await_words(channel, 10 * TOKENS_A_SECOND)
        used = spent(before, cpu_seconds(made), time.monotonic() - begun)
        result["cpu_percent_at_100_tokens_a_second"] = used

        time.sleep(IDLE_AFTER)
        before, begun = cpu_seconds(made), time.monotonic()
        time.sleep(10)  # a measurement of doing nothing takes its time
        used = spent(before, cpu_seconds(made), time.monotonic() - begun)
        result["cpu_percent_idle"] = used
    return result | yardstick()


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
