"""The agents' definitions in the run directory: what starts them, and where their secrets stand."""

import json
from typing import Any

from sk_bus.paths import Instance


def all_of(instance: Instance) -> list[dict[str, Any]]:
    """Those of now and of before, newest last."""
    found = sorted(instance.definitions.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    return [json.loads(path.read_text(encoding="utf-8")) for path in found]


def of_agent(instance: Instance, agent: str) -> dict[str, Any] | None:
    """The newest definition of ``agent``."""
    return next((one for one in reversed(all_of(instance)) if one.get("name") == agent), None)
