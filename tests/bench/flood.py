"""Deltas through everything, as fast as they come: ``python -m tests.bench.flood [COUNT]``.

One agent floods while another stamps and a person gives commands. Prints one JSON object; nothing
may be lost on the way, or it ends with an error.
"""

import json
import sys
import time

from sk_bus.model import ChannelId
from tests.bench.talk import (
    Ear,
    await_end,
    cpu_seconds,
    instance,
    latencies,
    opened,
    percentiles,
    spent,
)
from tests.support.page_client import PageClient

COUNT = 100_000
STAMPS = 300


def measure(count: int) -> dict[str, object]:
    with (
        instance("flooder", "stamper") as made,
        PageClient(made.port, made.token, want=("public", "result")) as page,
    ):
        flooded = ChannelId(opened(page, "flooder"))
        stamped = ChannelId(opened(page, "stamper"))
        ear = Ear(made)

        # Alone.
        before, begun = cpu_seconds(made), time.monotonic()
        page.call("Send", channel=flooded, text=f"flood {count}")
        ear.await_words(flooded, count)
        taken = time.monotonic() - begun
        arrived = ear.arrived.pop(flooded)
        result: dict[str, object] = {
            "chunks": count,
            "chunks_a_second": round(count / taken),
            "events": len(arrived),
            "cpu_percent": spent(before, cpu_seconds(made), taken),
            "whole": whole(arrived, count),
        }

        # Beside another agent and a person's commands.
        await_end(page, flooded)
        page.call("Send", channel=stamped, text=f"stamp {STAMPS} 10")
        begun = time.monotonic()
        page.call("Send", channel=flooded, text=f"flood {count}")
        commands = []
        while not ear.arrived.get(flooded) or time.monotonic() - begun < 3:
            asked = time.monotonic_ns()
            page.call("Direct", agent="stamper")
            commands.append((time.monotonic_ns() - asked) / 1e6)
            time.sleep(0.02)
        ear.await_words(stamped, STAMPS)
        ear.await_words(flooded, count)
        result["other_agent"] = percentiles(latencies(ear.arrived[stamped]))
        result["command"] = percentiles(commands)
        result["whole_beside_others"] = whole(ear.arrived[flooded], count)
    return result


def whole(arrived: list[tuple[int, str]], count: int) -> bool:
    """Whether the flood came complete and in order."""
    return "".join(text for _, text in arrived) == "".join(f"{n} " for n in range(count))


if __name__ == "__main__":
    made = measure(int(sys.argv[1]) if len(sys.argv) > 1 else COUNT)
    print(json.dumps(made, indent=1))
    sys.exit(0 if made["whole"] and made["whole_beside_others"] else 1)
