"""Start, stop and everything between: `sk-cli` and supervisord, an instance for each test."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest
import yaml

from tests.support.instance import TestInstance
from tests.support.patience import PATIENCE
from tests.support.shim_client import AGENT, eventually

pytestmark = pytest.mark.process


@pytest.fixture
def own() -> Iterator[TestInstance]:
    """One of the test's own, not started yet."""
    with TestInstance() as instance:
        yield instance


def ends(pid: int, timeout: float = PATIENCE) -> bool:
    """Wait for the end of a process that is no child of ours."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        import select

        return bool(select.select([descriptor], [], [], timeout)[0])
    finally:
        os.close(descriptor)


def agents_of(instance: TestInstance) -> dict[int, str]:
    return {pid: line for pid, line in instance.processes().items() if "sk-demo-agent" in line}


def test_an_agent_that_fails_at_its_start_is_quoted(own: TestInstance) -> None:
    own.config.write_text(
        "agents:\n  - {name: quits, command: sh, args: [-c, 'echo no key >&2; exit 3']}\n"
    )
    own.up()
    ended = own.cli("agents", "start", "quits", check=False)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[1:] == ["  | no key", "next:   sk-cli agents logs quits"]


def test_agents_are_started_listed_read_restarted_and_stopped(own: TestInstance) -> None:
    env = {"SA_STDERR_LINES": "250"}
    agent = {"name": "talks", "command": sys.executable, "args": [str(AGENT)], "env": env}
    own.config.write_text(yaml.safe_dump({"agents": [agent, {"name": "other", "command": "sh"}]}))
    own.up()

    def shown() -> list[tuple[str, str]]:
        return [(one["name"], one["state"]) for one in own.json("agents", "list")]

    def pids() -> set[int]:
        return {pid for pid, line in own.processes().items() if AGENT.name in line}

    own.cli("agents", "start", "talks")
    eventually(lambda: shown() == [("talks", "ready"), ("other", "stopped")])
    first = pids()
    assert len(first) == 1
    lines = [f"stderr line {k}" for k in range(50, 250)]
    eventually(lambda: own.cli("agents", "logs", "talks").stdout.splitlines() == lines)
    own.cli("agents", "restart", "TALKS")
    assert len(pids()) == 1
    assert pids() != first
    own.cli("agents", "stop", "talks")
    eventually(lambda: shown()[0] == ("talks", "stopped"))
    assert pids() == set()
    assert own.cli("agents", "logs", "talks").stdout.splitlines() == lines


def test_a_log_is_followed_over_its_rotation(own: TestInstance) -> None:
    log = own.paths.logs / "history.log"
    log.parent.mkdir(mode=0o700, parents=True)
    log.write_text("the first line\n")
    shown = own.directory / "shown"
    with shown.open("w") as file:
        following = subprocess.Popen(
            own.command("logs", "history", "-f"), env=own.environment, stdout=file
        )
    try:
        eventually(lambda: shown.read_text() == "the first line\n")
        with log.open("a") as file:
            file.write("the second, wh")
            file.flush()
            file.write("ole\n")
        eventually(lambda: shown.read_text().endswith("the second, whole\n"))
        log.rename(log.with_name("history.log.1"))
        log.write_text("the third\n")
        eventually(lambda: shown.read_text().endswith("the second, whole\nthe third\n"))
        following.send_signal(signal.SIGINT)
        assert following.wait(PATIENCE) == 0
    finally:
        following.kill()
        following.wait()


def test_up_says_what_is_other_than_one_expects(own: TestInstance) -> None:
    own.config.write_text("agents: [}\n")
    (own.config.parent / "data").write_text("in the way\n")
    said = own.cli("up").stderr
    assert "the configuration has 1 problem and isn't used: sk-cli config validate" in said
    assert "nothing is kept beyond the next stop" in said
    assert own.cli("down", check=False).returncode == 0
    assert own.processes() == {}


def test_a_file_that_has_vanished_is_named(own: TestInstance) -> None:
    own.up()
    own.config.unlink()
    for arguments in (("config", "validate"), ("config", "show")):
        ended = own.cli(*arguments, check=False)
        assert ended.returncode == 4
        assert f"there is no file {own.config}" in ended.stderr


def test_without_an_instance_commands_say_so(own: TestInstance) -> None:
    ended = own.cli("status", check=False)
    assert ended.returncode == 3
    assert "sk-cli up" in ended.stderr
    assert own.cli("down").returncode == 0


def test_down_leaves_nothing_running(own: TestInstance) -> None:
    own.up()
    own.cli("send", "@demo", "long 2000")
    own.lines("events", "-t", "message:delta", "--since", "0", "--count", "1")
    own.down()
    assert own.processes() == {}
    assert not own.paths.supervisor_socket.exists()


def test_a_killed_supervisord_ends_services_but_no_agent_and_up_goes_on(own: TestInstance) -> None:
    own.up()
    own.cli("send", "@demo", "hello", "--wait")
    address, before, agents = own.address, own.pids(), agents_of(own)
    assert agents
    own.kill("supervisord")
    assert all(ends(pid) for pid in before.values())
    assert agents_of(own) == agents
    own.up()
    after = own.pids()
    assert not set(after.values()) & set(before.values())
    assert own.address == address
    own.cli("send", "@demo", "hello", "--wait")
    assert agents_of(own) == agents


def test_down_after_a_killed_supervisord_ends_the_agents_too(own: TestInstance) -> None:
    own.up()
    own.cli("send", "@demo", "hello", "--wait")
    own.kill("supervisord")
    ended = own.cli("down")
    assert "demo" in ended.stderr
    assert own.processes() == {}


def test_down_finds_what_a_lost_holder_left(own: TestInstance) -> None:
    keeps = own.directory / "keeps.sh"
    keeps.write_text(f"#!/bin/sh\nsetsid sleep 600 &\nexec {own.bin}/sk-demo-agent\n")
    keeps.chmod(0o755)
    own.config.write_text(own.config.read_text().replace("sk-demo-agent", str(keeps)))
    own.up()
    own.cli("send", "@demo", "hello", "--wait")
    own.kill("supervisord")
    (holder,) = (pid for pid, line in own.processes().items() if "shim.py" in line)
    os.kill(holder, signal.SIGKILL)
    assert ends(holder)
    assert any("sleep 600" in line for line in own.processes().values())
    own.cli("down")
    assert own.processes() == {}


def test_up_ends_a_stopped_service_of_a_killed_supervisord(own: TestInstance) -> None:
    own.up()
    hung = own.kill("history", signal.SIGSTOP)
    own.kill("supervisord")
    own.up()
    assert ends(hung)


def test_down_ends_everything_while_the_bus_hangs(own: TestInstance) -> None:
    own.up()
    own.cli("send", "@demo", "hello", "--wait")
    own.kill("bus", signal.SIGSTOP)
    own.cli("down")
    assert own.processes() == {}


def test_what_can_not_start_is_named_with_its_log(own: TestInstance) -> None:
    broken = own.directory / "broken"
    broken.mkdir()
    for name in ("bus", "config", "agents", "router", "gateway"):
        (broken / f"sk-{name}").symlink_to(own.bin / f"sk-{name}")
    script = broken / "sk-history"
    script.write_text("#!/bin/sh\necho 'the disk is made of cheese' >&2\nsleep 0.2\nexit 1\n")
    script.chmod(0o755)
    ended = own.cli("up", "--timeout", "20", check=False, environment={"SK_BIN": str(broken)})
    assert ended.returncode == 1
    # On a busy machine others may be missing as well.
    assert re.search(r"waiting for .*history", ended.stderr)
    assert re.search(r"missing: .*history", ended.stderr)
    assert "the disk is made of cheese" in ended.stderr


def test_the_port_stays_and_gives_way_when_it_is_taken(own: TestInstance) -> None:
    own.up()
    first = own.port
    own.down()
    own.up()
    assert own.port == first
    own.down()
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", first))
        other.listen()
        own.up()
        assert own.port != first


def test_two_ups_at_once_start_one_instance(own: TestInstance) -> None:
    both = [
        subprocess.Popen(own.command("up"), env=own.environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    pages = [one.communicate(timeout=PATIENCE)[0] for one in both]
    assert [one.returncode for one in both] == [0, 0]
    assert pages[0] == pages[1]
    lines = [line for line in own.processes().values() if "supervisor.supervisord" in line]
    assert len(lines) == 1


def test_a_file_that_is_named_but_missing_is_an_error(own: TestInstance) -> None:
    ended = own.cli("--config", "/nowhere/at.yaml", "up", check=False)
    assert ended.returncode == 1
    assert "/nowhere/at.yaml" in ended.stderr


def test_without_a_file_a_first_configuration_is_written(own: TestInstance) -> None:
    own.config.unlink()
    own.up()
    assert "demo" in own.config.read_text()
    assert "demo" in {one["name"] for one in own.json("agents", "list")}


def test_two_configurations_run_side_by_side(own: TestInstance) -> None:
    other = own.directory / "other.yaml"
    other.write_text(own.config.read_text())
    named = {"SK_INSTANCE": "", "SK_CONFIG": str(other)}
    own.up()
    try:
        own.cli("up", environment=named)
        own.cli("send", "@demo", "hello", "--wait", environment=named)
        assert own.json("channels", "list") == []
    finally:
        own.cli("down", environment=named)
    own.cli("send", "@demo", "hello", "--wait")
