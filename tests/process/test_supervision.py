"""A whole instance whose supervisor, terminal or services are treated badly while an agent answers.

Each test ends as it began: everything runs. None asks how long that took.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from sk_bus.queries import SERVICES
from tests.support.instance import TestInstance
from tests.support.patience import PATIENCE
from tests.support.standing import Answer, standing, wait
from tests.support.terminal import Terminal

pytestmark = pytest.mark.process

CONFIG = """\
agents:
  - name: demo
    command: sk-demo-agent
    env: {SK_DEMO_PACE: "10"}
"""
SUPERVISORCTL = (sys.executable, "-m", "supervisor.supervisorctl", "-s")
LONG = 400  # words: 4 s
# How long everything is stopped, as when a laptop sleeps: longer than what makes a service hung.
SUSPENDED = float(os.environ.get("SK_SUSPENDED", "11"))
# Stands in for one service: with the file beside it, it can't even begin.
BREAKABLE = """\
#!/bin/sh
if [ -e "{flag}" ]; then echo 'the disk is made of cheese' >> "{flag}"; exit 1; fi
exec "{program}" "$@"
"""


class World:
    """An instance that was started in a terminal which has been closed since."""

    def __init__(self, instance: TestInstance) -> None:
        self.instance = instance
        self.broken = instance.directory / "broken"
        self.pids: dict[str, int] = {}

    def start(self) -> None:
        bin_ = _with_a_breakable_history(self.instance, self.broken)
        self.instance.environment["SK_BIN"] = str(bin_)
        with Terminal(self.instance, "up") as terminal:
            terminal.until("page +http")
            self.pids = self.instance.pids()
            terminal.keys("\x03")  # Ctrl-C; then the terminal is closed
            terminal.ended()

    def holders(self) -> set[int]:
        """The agents' processes and their holders."""
        lines = self.instance.processes()
        return {pid for pid, line in lines.items() if "demo-agent" in line or "shim.py" in line}


def _with_a_breakable_history(instance: TestInstance, flag: Path) -> Path:
    made = instance.directory / "services"
    made.mkdir()
    for name in SERVICES:
        (made / f"sk-{name}").symlink_to(instance.bin / f"sk-{name}")
    script = made / "sk-history"
    script.unlink()
    script.write_text(BREAKABLE.format(flag=flag, program=instance.bin / "sk-history"))
    script.chmod(0o755)
    return made


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with TestInstance(config=CONFIG) as instance:
        made = World(instance)
        made.start()
        yield made


def head(instance: TestInstance) -> str:
    return str(instance.json("status")["bus"]["head"])


def changes(instance: TestInstance, since: str) -> list[dict[str, Any]]:
    """What was said of components since then."""
    told = instance.lines("events", "--since", since, "--no-follow", "-t", "component:state")
    return [event["data"] for event in told]


def test_a_terminal_that_is_closed_takes_nothing_with_it(world: World) -> None:
    assert standing(world.instance) == world.pids
    world.instance.cli("send", "@demo", "hello", "--wait")


def test_a_second_supervisord_ends_and_the_first_does_not_notice(world: World) -> None:
    before = standing(world.instance)
    with Answer(world.instance, LONG) as answer:
        conf = Path(__file__).parents[2] / "deploy" / "supervisord.conf"
        second = subprocess.run(
            [sys.executable, "-m", "supervisor.supervisord", "-n", "-c", str(conf)],
            env=world.instance.environment
            | {"SK_RUN": str(world.instance.paths.run), "SK_LOGS": str(world.instance.paths.logs)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert second.returncode != 0
        assert "already listening" in second.stdout + second.stderr
        assert answer.ends_whole()
    assert standing(world.instance) == before


def test_sighup_restarts_every_service_and_no_agent(world: World) -> None:
    before = standing(world.instance)
    with Answer(world.instance, LONG) as answer:
        agents = world.holders()
        os.kill(before["supervisord"], signal.SIGHUP)
        assert answer.ends_whole()
    after = standing(world.instance)
    assert after["supervisord"] == before["supervisord"]
    assert not {after[name] for name in SERVICES} & {before[name] for name in SERVICES}
    assert world.holders() == agents


def test_supervisorctl_restart_all_in_mid_answer_costs_no_word(world: World) -> None:
    before = standing(world.instance)
    with Answer(world.instance, LONG) as answer:
        agents = world.holders()
        socket = world.instance.paths.supervisor_socket
        subprocess.run(
            [*SUPERVISORCTL, f"unix://{socket}", "restart", "all"],
            env=world.instance.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=True,
            timeout=PATIENCE,
        )
        assert answer.ends_whole()
    after = standing(world.instance)
    assert not {after[name] for name in SERVICES} & {before[name] for name in SERVICES}
    assert world.holders() == agents


def test_services_that_hang_are_found_killed_and_started_again(world: World) -> None:
    before = standing(world.instance)
    since = head(world.instance)
    hanging = {"agents", "router", "history", "gateway"}  # the bus and the watcher: elsewhere
    with Answer(world.instance, LONG) as answer:
        agents = world.holders()
        for name in hanging:
            os.kill(before[name], signal.SIGSTOP)
        assert answer.ends_whole()
    after = standing(world.instance)
    assert {name for name in after if after[name] != before[name]} == hanging
    assert world.holders() == agents
    hung = [one for one in changes(world.instance, since) if one["state"] == "hung"]
    assert {one["component"] for one in hung} == hanging
    # The next executor goes on where the last one stood, and is not hung up on.
    assert "lost its holder" not in (world.instance.paths.logs / "agents.log").read_text()


def test_a_machine_that_slept_finds_everything_as_it_was(world: World) -> None:
    before = standing(world.instance)
    since = head(world.instance)
    with Answer(world.instance, LONG) as answer:
        everything = list(world.instance.processes())
        random.Random(SUSPENDED).shuffle(everything)
        for pid in everything:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(SUSPENDED)  # this is the sleep that is tested
        for pid in everything:
            os.kill(pid, signal.SIGCONT)
        assert answer.ends_whole()
    assert standing(world.instance) == before
    assert not {"hung", "down"} & {one["state"] for one in changes(world.instance, since)}


def test_a_service_that_can_not_begin_is_said_and_comes_back(world: World) -> None:
    before = standing(world.instance)
    world.broken.touch()
    try:
        world.instance.kill("history")
        # So often that nobody hurries to start it any more.
        wait(lambda: len(world.broken.read_text().splitlines()) > 6, "it is tried again and again")
        assert world.instance.supervisor.processes()["history"].state != "FATAL"
        status = world.instance.cli("status", "--json", check=False)
        shown = orjson.loads(status.stdout)
        states = {one["component"]: one["state"] for one in shown["components"]}
        assert states.pop("history") in ("down", "starting")
        assert set(states.values()) == {"running"}
        assert (status.returncode, shown["state"]) == (7, "degraded")
    finally:
        world.broken.unlink()
    after = standing(world.instance)
    assert {name for name in after if after[name] != before[name]} == {"history"}
    world.instance.cli("send", "@demo", "hello", "--wait")
