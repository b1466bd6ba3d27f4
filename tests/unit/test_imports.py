"""Who may import what: pure modules touch no clock, loop, socket, file or process.

Pure is the rule; the shells, which may, are named here. A new module is pure until it is listed.
"""

import subprocess
import sys
from pathlib import Path

import grimp
import pytest

PACKAGES = (
    "sk_bus",
    "sk_config",
    "sk_router",
    "sk_agents",
    "sk_history",
    "sk_gateway",
    "sk_demo",
    "sk_cli",
)
IMPURE = {"asyncio", "zmq", "os", "time", "random", "subprocess", "logging", "rocksdict"}
SHELLS = {
    "sk_bus": {
        *("blobs", "broker", "client", "failpoints", "journal", "link", "memory", "paths"),
        *("process", "service", "supervisor", "schema", "tuning", "opening"),
    },
    "sk_config": {
        *(
            "checking",
            "files",
            "folders",
            "icons",
            "keeper",
            "opening",
            "processes",
            "recent",
            "service",
        ),
        *("watcher", "writing"),
    },
    "sk_router": {"faults", "service", "timers", "snapshots"},
    "sk_agents": {
        *("environment", "life", "logbook", "memory", "process", "publishing", "service"),
        *("received", "telling", "holder", "holding", "offspring", "shim", "spool"),
    },
    "sk_history": {
        "answers",
        "indexing",
        "intake",
        "opening",
        "rocks",
        "roster",
        "service",
        "sweep",
        "tidying",
    },
    "sk_gateway": {"browser", "desk", "hub", "server", "service", "transfer", "web"},
    "sk_demo": {"agent"},
    "sk_cli": {
        *(
            "__main__",
            "asking",
            "bygone",
            "choice",
            "commands",
            "completing",
            "ending",
            "instances",
            "invocation",
            "locks",
            "main",
            "manual",
        ),
        *("observing", "orphans", "ports", "sink", "starting", "sweeping", "tables"),
        "replaying",
        "screen",
        "chatting",
        "waiting",
        "when",
        "definitions",
    },
}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, include_external_packages=True, cache_dir=None)


def _is_shell(module: str) -> bool:
    package, _, rest = module.partition(".")
    return rest.partition(".")[0] in SHELLS[package]


@pytest.mark.parametrize("package", PACKAGES)
def test_pure_modules_import_nothing_that_acts(graph: grimp.ImportGraph, package: str) -> None:
    broken = {
        module: sorted(found)
        for module in graph.modules
        if module.partition(".")[0] == package and not _is_shell(module)
        if (found := graph.find_modules_directly_imported_by(module) & IMPURE)
    }
    assert broken == {}, "either these need no such import, or they are shells and belong above"


@pytest.mark.parametrize("package", PACKAGES)
def test_pure_modules_import_no_shell(graph: grimp.ImportGraph, package: str) -> None:
    broken = {
        module: sorted(found)
        for module in graph.modules
        if module.partition(".")[0] == package and not _is_shell(module)
        if (
            found := {
                one
                for one in graph.find_modules_directly_imported_by(module)
                if one.startswith("sk_") and _is_shell(one)
            }
        )
    }
    assert broken == {}, "what a shell does is handed to a pure module as a value"


def test_every_shell_exists(graph: grimp.ImportGraph) -> None:
    missing = [
        f"{package}.{name}"
        for package, names in SHELLS.items()
        for name in names
        if f"{package}.{name}" not in graph.modules
    ]
    assert missing == []


def test_packages_keep_to_their_contracts() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    ended = subprocess.run([str(lint), "--no-cache"], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
