"""What real agents do that trips a client, and what proves that we cope: ``python -m tests.traps``.

The table is data beside the recordings; this writes it down for people.
"""

from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "tests" / "golden" / "transcripts" / "traps.yaml"
PAGE = ROOT / "docs" / "traps.md"

_HEAD = """\
# What trips a client of real agents

Thirty-four things that agents do, each seen on the wire, the most dangerous first, and what proves
that Sidekicks copes. *Replays* are recordings in `tests/golden/transcripts`, played against a whole
Sidekicks by `tests/process/test_replays.py`; *tests* lie below `tests/`. Made from `traps.yaml`
there by `python -m tests.traps`; don't edit it by hand. What was decided about each stands in
[architecture](architecture.md).

| | what they do | seen in | replays | tests |
| --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True, kw_only=True)
class Trap:
    trap: str
    agents: list[str]
    replays: list[str]
    tests: list[str]


def traps() -> list[Trap]:
    listed = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return [Trap(**({"replays": []} | one)) for one in listed]


def page() -> str:
    rows = [
        f"| {number} | {one.trap} | {', '.join(one.agents)} | {_codes(one.replays)} |"
        f" {_codes(one.tests)} |\n"
        for number, one in enumerate(traps(), 1)
    ]
    return _HEAD + "".join(rows)


def _codes(names: list[str]) -> str:
    return "<br>".join(f"`{name.rpartition('/')[2]}`" for name in names)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
