"""Work for so many minutes, then hold the last half against the first.

The first fifth is warming up and isn't counted. Of memory, descriptors and disk (logs apart) the
median of the last half may be at most 5 % above that of the first.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable

from tests.soak.load import TUNE, Load, configuration
from tests.soak.samples import LOGS, Sample, taken
from tests.support.instance import TestInstance, running

PAUSE = 10.0  # seconds from one sample to the next
MOST = 1.05
MB = 1_000_000


def logs(sample: Sample) -> float:
    return sample.disk[LOGS] / MB


MEASURES: dict[str, Callable[[Sample], float]] = {
    "memory (PSS, MB)": lambda sample: sum(sample.memory.values()) / MB,
    "  of them the bus": lambda sample: sample.memory["bus"] / MB,
    "  of them the history": lambda sample: sample.memory["history"] / MB,
    "descriptors": lambda sample: sum(sample.descriptors.values()),
    "files of databases": lambda sample: sample.databases,
    "disk (MB)": lambda sample: sum(sample.disk.values()) / MB - logs(sample),
    "logs (MB)": logs,
}
# RocksDB opens and closes its files by itself, and logs grow until they are rotated: shown, not
# judged.
JUDGED = ("memory (PSS, MB)", "descriptors", "disk (MB)")


def main() -> int:
    """Run it; 1 when something grew."""
    options = argparse.ArgumentParser(prog="tests.soak", description=__doc__)
    options.add_argument("--minutes", type=float, default=60)
    minutes = options.parse_args().minutes
    with running(config=configuration(), environment={"SK_TUNE": TUNE}) as instance:
        samples, rounds = worked(instance, minutes * 60)
    kept = samples[len(samples) // 5 :]
    half = len(kept) // 2
    if not half:
        print("too short: not two samples were taken")
        return 1
    first, last = kept[:half], kept[-half:]
    print(f"{rounds} rounds in {minutes:g} min; {len(kept)} samples count")
    grown = [name for name in MEASURES if not told(name, first, last, MEASURES[name])]
    for name in samples[-1].memory:  # which one it was
        told(f"  memory of {name}", first, last, lambda one, n=name: one.memory.get(n, 0) / MB)
    for name in samples[-1].disk:
        told(f"  disk of {name}", first, last, lambda one, n=name: one.disk[n] / MB)
    grown = [name for name in grown if name in JUDGED]
    print("grown: " + ", ".join(grown) if grown else "nothing grew by more than 5 %")
    return 1 if grown else 0


def told(
    name: str, first: list[Sample], last: list[Sample], measure: Callable[[Sample], float]
) -> bool:
    """Print both halves' medians; whether the last is within bounds of the first."""
    before = statistics.median(map(measure, first))
    after = statistics.median(map(measure, last))
    change = 100 * (after / before - 1) if before else 0.0
    print(f"{name:28} {before:9.2f} -> {after:9.2f}  {change:+6.1f} %")
    return after <= before * MOST


def worked(instance: TestInstance, seconds: float) -> tuple[list[Sample], int]:
    """The samples of so many seconds of work, and the number of rounds."""
    load = Load(instance)
    samples: list[Sample] = []
    end, due, said = time.monotonic() + seconds, 0.0, 0.0
    while time.monotonic() < end:
        load.round()
        now = time.monotonic()
        if now >= due:
            samples.append(taken(instance))
            due = now + min(PAUSE, seconds / 20)
        if now >= said:
            figures = ", ".join(f"{name} {of(samples[-1]):.1f}" for name, of in MEASURES.items())
            print(
                f"{(seconds - (end - now)) / 60:6.1f} min, {load.rounds} rounds: {figures}",
                flush=True,
            )
            said = now + 60
    load.close()
    return samples, load.rounds


if __name__ == "__main__":
    sys.exit(main())
