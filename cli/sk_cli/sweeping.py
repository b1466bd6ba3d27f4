"""The broom of `down`: ends holders of agents that nobody is there to end in good order.

It asks each holder for the stop ladder (SIGTERM), and waits until it is gone. What a lost holder
left is killed. A data directory that another instance is using isn't touched.
"""

import signal
from pathlib import Path

from sk_agents import frames, offspring
from sk_bus import paths
from sk_cli import locks
from sk_cli.choice import remembered_in
from sk_cli.instances import wait_ended

# The ladder takes 8 s at most; a holder that is longer about it is stuck.
_LADDER = 15.0
_ROUNDS = 10


def sweep(instance: paths.Instance) -> list[str]:
    """End every agent of ``instance`` that still runs; their names."""
    config = remembered_in(instance) or Path(paths.default_config())
    folders = [
        folder
        for data in (paths.data_directory(config), instance.run / "data")
        if not locks.is_held(data / "bus.lock")
        for folder in sorted((data / "spools").glob("*.*"))
    ]
    held = [folder for folder in folders if locks.is_held(folder / "lock")]
    holders = [(folder, locks.holder(folder / "lock")) for folder in held]
    for _, pid in holders:  # all at once: each ladder takes its seconds
        if pid is not None:
            offspring.send(signal.SIGTERM, [pid])
    for _, pid in holders:
        if pid is not None and not wait_ended(pid, _LADDER):
            offspring.send(signal.SIGKILL, [pid])
            wait_ended(pid, 5.0)
    remains = [folder for folder in folders if _killed_remains(folder)]
    return sorted({_agent(folder) for folder in [*held, *remains]})


def _killed_remains(folder: Path) -> bool:
    """Kill what an agent left whose holder is gone without a word; whether there was anything."""
    try:
        record = frames.record_from((folder / "agent").read_bytes())
    except FileNotFoundError:
        return False
    if (folder / "exit").exists() or record.get("boot") != offspring.boot_id():
        return False
    found = False
    # What it starts while we look carries the mark as well, and is found the next time.
    for _ in range(_ROUNDS):
        left = {
            *offspring.left_of(int(record["pid"]), int(record["started"])),
            *offspring.marked(offspring.mark(str(folder))),
        }
        if not left:
            break
        found = True
        offspring.send(signal.SIGKILL, sorted(left))
        for pid in left:
            wait_ended(pid, 1.0)
    return found


def _agent(folder: Path) -> str:
    return folder.name.rpartition(".")[0]
