"""How much memory process groups use: PSS, so that what is shared counts once (on Linux)."""

from pathlib import Path

from sk_agents.offspring import everyone


def memory(groups: dict[str, int]) -> dict[str, int]:
    """Bytes by name, for process groups by name; left out where the system doesn't say."""
    names = {group: name for name, group in groups.items()}
    found: dict[str, int] = {}
    for process in everyone():
        name = names.get(process.group)
        if name is not None:
            found[name] = found.get(name, 0) + _pss(process.pid)
    return {name: size for name, size in found.items() if size}


def _pss(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0  # it ended in between, or belongs to somebody else
    for line in text.splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0
