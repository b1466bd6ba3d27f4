"""What an instance uses at a moment: memory, descriptors and disk, each by whose it is."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR

from tests.support.instance import TestInstance

LOGS = "logs"  # what each of them may grow to is bounded by its rotation


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """``memory`` in bytes (PSS) and ``descriptors`` by process, ``disk`` in bytes by folder.

    ``databases`` are the descriptors of files of RocksDB, which come and go as it sees fit.
    """

    memory: dict[str, int]
    descriptors: dict[str, int]
    databases: int
    disk: dict[str, int]


def taken(instance: TestInstance) -> Sample:
    """A sample of the services, supervisord and the holders; agents are none of ours."""
    pids = instance.pids()
    holders = [pid for pid, line in instance.processes().items() if "shim.py" in line]
    named = {**{pid: name for name, pid in pids.items()}, **dict.fromkeys(holders, "holders")}
    memory: Counter[str] = Counter()
    descriptors: Counter[str] = Counter()
    databases = 0
    for pid, name in named.items():
        memory[name] += pss(pid)
        for target in opened(pid):
            if database(target):
                databases += 1
            else:
                descriptors[name] += 1
    return Sample(
        memory=dict(memory),
        descriptors=dict(descriptors),
        databases=databases,
        disk={
            "journal": weight(instance.data / "journal", logs=False),
            "history": weight(instance.data / "history", logs=False),
            "blobs": weight(instance.data / "blobs"),
            "spools": weight(instance.data / "spools"),
            "run": weight(instance.paths.run),
            LOGS: weight(instance.paths.logs)
            + weight(instance.data / "journal", logs=True)
            + weight(instance.data / "history", logs=True),
        },
    )


def opened(pid: int) -> Iterator[str]:
    """What each descriptor of a process stands for."""
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):  # the one that lists them is gone by now
            yield str(entry.readlink())


def database(target: str) -> bool:
    """Whether that is a file which RocksDB keeps open for as long as it likes."""
    return Path(target.removesuffix(" (deleted)")).suffix in (".sst", ".log", ".blob") or any(
        name in target for name in ("/MANIFEST-", "/OPTIONS-", "/CURRENT")
    )


def pss(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    raise ValueError(f"the system doesn't say what process {pid} uses")


def weight(folder: Path, *, logs: bool | None = None) -> int:
    """Bytes that files take on the disk; only RocksDB's own logs, or all but them.

    Folders aren't counted: there are 256 at most for blobs, made as they are needed.
    """
    size = 0
    for path in folder.rglob("*"):
        if logs is None or path.name.startswith("LOG") is logs:
            with suppress(FileNotFoundError):
                found = path.lstat()
                size += 0 if S_ISDIR(found.st_mode) else found.st_blocks * 512
    return size
