"""``make bench``: every figure that Sidekicks has a goal for, beside its yardstick.

Each measurement is a process of its own and prints JSON; here they are run one after the other and
set in a table. Nothing here passes or fails: machines are shared, so look at the ratios, and run it
again. ``--json`` prints all that was measured, ``NAME …`` runs only those measurements.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.instance import ROOT

MEASUREMENTS = (
    *("sdk", "latency", "flood", "standing", "bus", "history", "search", "page"),
    "command_line",
)

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. ``figure`` and ``yardstick`` word what stands in the measurements."""

    what: str
    goal: str
    needs: tuple[str, ...]
    figure: Callable[[Figures], str]
    yardstick: Callable[[Figures], str]
    met: Callable[[Figures], bool]


ROWS = (
    Row(
        "agent's stdout to WebSocket frame, idle",
        "p50 ≤ 3 ms, p99 ≤ 8 ms",
        ("latency",),
        lambda m: f"p50 {m['latency']['p50_ms']} ms, p99 {m['latency']['p99_ms']} ms",
        lambda m: (
            f"a pipe and a socket: p50 {m['latency']['yardstick_p50_ms']} ms, "
            f"p99 {m['latency']['yardstick_p99_ms']} ms"
        ),
        lambda m: m["latency"]["p50_ms"] <= 3 and m["latency"]["p99_ms"] <= 8,
    ),
    Row(
        "deltas through everything, one agent",
        "≥ 15,000/s, none lost",
        ("flood", "sdk"),
        lambda m: f"{m['flood']['chunks_a_second']:,}/s, {_none_lost(m['flood']['whole'])}",
        lambda m: f"the official SDK's client alone: {m['sdk']['sdk_updates_a_second']:,}/s",
        lambda m: m["flood"]["chunks_a_second"] >= 15_000 and m["flood"]["whole"],
    ),
    Row(
        "another agent's p99 beside a flood",
        "≤ 50 ms",
        ("flood", "latency"),
        lambda m: f"{m['flood']['other_agent']['p99_ms']} ms",
        lambda m: f"the same, idle: {m['latency']['p99_ms']} ms",
        lambda m: m["flood"]["other_agent"]["p99_ms"] <= 50,
    ),
    Row(
        "a command beside a flood, p99",
        "≤ 50 ms",
        ("flood", "bus"),
        lambda m: f"{m['flood']['command']['p99_ms']} ms",
        lambda m: f"the bus alone, idle: {m['bus']['command_ms_p99']} ms",
        lambda m: m["flood"]["command"]["p99_ms"] <= 50,
    ),
    Row(
        "a killed service until it reports again",
        "≤ 0.5 s",
        ("standing",),
        lambda m: _each(m["standing"]["respawn_s"], "s"),
        lambda m: f"a Python with the imports: {m['standing']['import_s']} s",
        lambda m: max(m["standing"]["respawn_s"].values()) <= 0.5,
    ),
    Row(
        "silence of an answer while it is gone",
        "≤ 1 s",
        ("standing",),
        lambda m: _each(m["standing"]["silence_ms"], "ms"),
        lambda _: "between two words: 10 ms",
        lambda m: max(m["standing"]["silence_ms"].values()) <= 1000,
    ),
    Row(
        "make up, installed",
        "≤ 2.5 s",
        ("standing",),
        lambda m: f"{m['standing']['up_s']} s, at worst {m['standing']['up_worst_s']} s",
        lambda m: f"a Python with the imports: {m['standing']['import_s']} s",
        lambda m: m["standing"]["up_s"] <= 2.5,
    ),
    Row(
        "memory of services and supervisord, PSS",
        "≤ 200 MB",
        ("standing",),
        lambda m: f"{m['standing']['pss_all_mb']} MB",
        lambda m: f"six Pythons with the imports: {m['standing']['imports_pss_mb']} MB",
        lambda m: m["standing"]["pss_all_mb"] <= 200,
    ),
    Row(
        "a holder (shim), RSS",
        "≤ 12 MB",
        ("standing",),
        lambda m: f"{m['standing']['shim_rss_mb']} MB",
        lambda m: f"a bare Python: {m['standing']['bare_rss_mb']} MB",
        lambda m: m["standing"]["shim_rss_mb"] <= 12,
    ),
    Row(
        "CPU, idle, all processes",
        "≤ 1 % of a core",
        ("latency",),
        lambda m: f"{m['latency']['cpu_percent_idle']['all']} %",
        lambda _: "none: 0 %",
        lambda m: m["latency"]["cpu_percent_idle"]["all"] <= 1,
    ),
    Row(
        "CPU, an agent at 100 tokens a second",
        "≤ 20 % of a core",
        ("latency",),
        lambda m: f"{_ours(m['latency']['cpu_percent_at_100_tokens_a_second']):.1f} %",
        lambda m: (
            "the agent and its holder: "
            f"{m['latency']['cpu_percent_at_100_tokens_a_second']['others']} %"
        ),
        lambda m: _ours(m["latency"]["cpu_percent_at_100_tokens_a_second"]) <= 20,
    ),
    Row(
        "Conversation at 1,000,000 messages",
        "≤ 2 × raw, ≤ 10 ms",
        ("history",),
        lambda m: f"{m['history']['conversation']['asked']['p50']} ms",
        lambda m: f"the rows alone: {m['history']['conversation']['raw']['p50']} ms",
        lambda m: _near(m["history"]["conversation"]),
    ),
    Row(
        "Older at 1,000,000 messages",
        "≤ 2 × raw, ≤ 10 ms",
        ("history",),
        lambda m: f"{m['history']['older']['asked']['p50']} ms",
        lambda m: f"the rows alone: {m['history']['older']['raw']['p50']} ms",
        lambda m: _near(m["history"]["older"]),
    ),
    Row(
        "storing a finished message",
        "≤ 3 × raw",
        ("search",),
        lambda m: f"{m['search']['stored']['stored']['p50']} ms",
        lambda m: f"the rows in a write batch: {m['search']['stored']['raw']['p50']} ms",
        lambda m: m["search"]["stored"]["times raw (p50)"] <= 3,
    ),
    Row(
        "search in 100,000 messages, first page",
        "≤ 100 ms",
        ("search",),
        lambda m: _slowest(m["search"]["first page"]),
        lambda m: f"reading every message: {m['search']['reading every message']['p50']} ms",
        lambda m: max(one["p50"] for one in m["search"]["first page"].values()) <= 100,
    ),
    Row(
        "sk-cli --help",
        "≤ 0.25 s",
        ("command_line",),
        lambda m: f"{m['command_line']['help_s']} s",
        lambda m: f"a Python with click: {m['command_line']['click_s']} s",
        lambda m: m["command_line"]["help_s"] <= 0.25,
    ),
    Row(
        "sk-cli events, first line",
        "≤ 0.4 s",
        ("command_line",),
        lambda m: f"{m['command_line']['events_s']} s, as JSON {m['command_line']['json_s']} s",
        lambda m: f"a Python with click: {m['command_line']['click_s']} s",
        lambda m: max(m["command_line"][key] for key in ("events_s", "json_s")) <= 0.4,
    ),
    Row(
        "database with its index",
        "≤ 1.5 × the text",
        ("search",),
        lambda m: f"{m['search']['database / text']} ×",
        lambda m: f"the text: {m['search']['bytes of text'] / 1e6:.0f} MB",
        lambda m: m["search"]["database / text"] <= 1.5,
    ),
    Row(
        "the page's first load, gzip",
        "≤ 110 kB",
        ("page",),
        lambda m: f"{m['page']['first_load_bytes'] / 1000:.1f} kB",
        lambda _: "nothing: 0 kB",
        lambda m: m["page"]["first_load_bytes"] <= 110_000,
    ),
    Row(
        "the page with 100 messages, ready",
        "≤ 1 s",
        ("page",),
        lambda m: f"{m['page']['ready_ms']} ms, at worst {m['page']['ready_worst_ms']} ms",
        lambda m: f"a page without a script: {m['page']['bare_ms']} ms",
        lambda m: m["page"]["ready_ms"] <= 1000,
    ),
    Row(
        "20,000 deltas at 200/s, 2,000 messages held",
        "≤ 5 % of frames dropped, no task > 200 ms, same HTML",
        ("page",),
        lambda m: (
            f"{m['page']['streamed']['dropped_percent']} % dropped, longest task "
            f"{m['page']['longest_task_ms']} ms, HTML "
            f"{'the same' if m['page']['same_html'] else 'DIFFERENT'}, at most "
            f"{m['page']['most_messages_in_dom']} messages in the document"
        ),
        lambda m: f"a page at rest: {m['page']['idle']['dropped_percent']} % dropped",
        lambda m: (
            m["page"]["streamed"]["dropped_percent"] <= 5
            and m["page"]["longest_task_ms"] <= 200
            and m["page"]["same_html"]
        ),
    ),
)


def _none_lost(whole: object) -> str:
    return "none lost" if whole else "SOME LOST"


def _each(by_name: dict[str, float], unit: str) -> str:
    worst = max(by_name, key=lambda name: by_name[name])
    best = min(by_name, key=lambda name: by_name[name])
    return f"{by_name[best]} {unit} ({best}) to {by_name[worst]} {unit} ({worst})"


def _slowest(pages: dict[str, dict[str, float]]) -> str:
    what = max(pages, key=lambda name: pages[name]["p50"])
    return f"{pages[what]['p50']} ms at most ({what})"


def _ours(shares: dict[str, float]) -> float:
    """What Sidekicks uses, the agent left out (its holder with it: they can't be told apart)."""
    return shares["all"] - shares["others"]


def _near(one: dict[str, dict[str, float]]) -> bool:
    return one["asked"]["p50"] <= min(10, 2 * one["raw"]["p50"])


def measured(name: str) -> Figures:
    """Run one measurement; what it prints."""
    print(f"measuring {name} …", file=sys.stderr, flush=True)
    ended = subprocess.run(
        [sys.executable, "-m", f"tests.bench.{name}"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if not ended.stdout:
        raise SystemExit(f"{name} ended {ended.returncode} and measured nothing")
    made: Figures = json.loads(ended.stdout)
    return made


def table(figures: Figures) -> str:
    """The rows whose measurements were made, as a table in Markdown."""
    lines = ["| what | measured | yardstick | goal | |", "| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {row.what} | {row.figure(figures)} | {row.yardstick(figures)} | {row.goal} "
        f"| {'met' if row.met(figures) else 'missed'} |"
        for row in ROWS
        if all(name in figures for name in row.needs)
    ]
    return "\n".join(lines)


def main() -> None:
    asked = [name for name in sys.argv[1:] if name != "--json"] or list(MEASUREMENTS)
    unknown = [name for name in asked if name not in MEASUREMENTS]
    if unknown:
        raise SystemExit(f"no such measurement: {unknown[0]}; there are {', '.join(MEASUREMENTS)}")
    figures = {name: measured(name) for name in asked}
    if "--json" in sys.argv:
        print(json.dumps(figures, indent=1))
    else:
        print(table(figures))


if __name__ == "__main__":
    main()
