"""Start, stop and everything between: `sk-cli` and supervisord with real processes."""

import http.client
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
import yaml

from sk_bus.queries import SERVICES
from tests.support.instance import TestInstance, running
from tests.support.patience import PATIENCE
from tests.support.shim_client import AGENT

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def shared() -> Iterator[TestInstance]:
    """One that is up, for tests that leave it as they found it."""
    with running() as instance:
        yield instance


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


def test_up_starts_all_six_and_the_page_answers(shared: TestInstance) -> None:
    assert {name for name, pid in shared.pids().items() if pid} == {*SERVICES, "supervisord"}
    connection = http.client.HTTPConnection("127.0.0.1", shared.port, timeout=PATIENCE)
    connection.request("GET", "/")
    assert b"Sidekicks" in connection.getresponse().read()


def test_a_second_up_says_where_it_runs_and_does_no_harm(shared: TestInstance) -> None:
    before = shared.pids()
    ended = shared.cli("up")
    assert f"pid {before['supervisord']}" in ended.stderr
    assert f"{shared.address}/#t={shared.token}" in ended.stdout
    assert shared.pids() == before


def test_naming_the_file_that_runs_finds_the_instance_that_uses_it(shared: TestInstance) -> None:
    before = shared.pids()
    elsewhere = {"SK_INSTANCE": ""}
    ended = shared.cli("--config", str(shared.config), "up", environment=elsewhere)
    assert f"pid {before['supervisord']}" in ended.stderr
    assert shared.pids() == before


def test_a_login_with_another_run_directory_finds_what_runs(shared: TestInstance) -> None:
    before = shared.pids()
    ended = shared.cli("up", environment={"XDG_RUNTIME_DIR": ""})
    assert f"pid {before['supervisord']}" in ended.stderr
    assert shared.pids() == before


def test_token_and_sockets_are_private(shared: TestInstance) -> None:
    assert stat.S_IMODE(shared.paths.token.stat().st_mode) == 0o600
    assert stat.S_IMODE(shared.paths.run.stat().st_mode) == 0o700
    assert stat.S_IMODE(shared.paths.state.stat().st_mode) == 0o700
    assert len(shared.token) >= 43  # 256 bits in base64


def test_an_answer_is_streamed_and_every_event_has_its_number(shared: TestInstance) -> None:
    ended = shared.cli("send", "@demo", "long 20", "--wait")
    assert "20" in ended.stdout
    events = shared.lines("events", "--all", "--since", "0", "--no-follow")
    first = events[0]["seq"]
    assert [event["seq"] for event in events] == list(range(first, first + len(events)))
    assert {event["epoch"] for event in events} == {events[0]["epoch"]}
    assert {"message:delta", "cmd:Send", "do:send", "fact:frame"} <= {e["type"] for e in events}


def test_what_send_prints_is_what_the_history_keeps(shared: TestInstance) -> None:
    printed = shared.cli("send", "@demo", "code", "--wait").stdout
    last = shared.lines("channels", "messages", "@demo", "-n", "1")[0]
    texts = [part["text"] for part in last["parts"] if part["type"] == "text"]
    assert printed.rstrip("\n") == "\n\n".join(texts).rstrip("\n")


def test_a_request_for_leave_waits_and_says_how_to_answer(shared: TestInstance) -> None:
    sending = subprocess.Popen(
        shared.command("send", "@demo", "permission", "--wait"),
        env=shared.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        waiting = shared.lines(
            "events", "-t", "permission:requested", "--since", "0", "--count", "1"
        )
        request = waiting[0]["data"]
        listed = shared.json("permissions", "list")
        assert [one["id"] for one in listed] == [request["id"]]
        shared.cli("permissions", "answer", request["id"], request["options"][0]["optionId"])
        _, talk = sending.communicate(timeout=PATIENCE)
    finally:
        sending.kill()
        sending.wait()
    assert sending.returncode == 0
    assert f"sk-cli permissions answer {request['id']}" in talk
    assert shared.json("permissions", "list") == []


def test_allow_answers_requests_of_its_kind(shared: TestInstance) -> None:
    ended = shared.cli("send", "@demo", "permission", "--wait", "--allow", "all")
    assert "allowed once" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("send", "#nowhere", "hello"), 4),
        (("send", "@nobody", "hello"), 4),
        (("channels", "show", "nothing"), 4),
        (("agents", "show", "nobody"), 4),
        (("restart", "nothing"), 4),
        (("restart",), 2),
        (("upp",), 2),
        (("events", "--grep", "("), 2),
        (("events", "--since", "whenever"), 2),
        (("send", "@demo", ""), 1),
        (("permissions", "answer", "p0", "yes"), 4),
        (("config", "validate", "/nowhere"), 4),
        (("status",), 0),
        (("version",), 0),
    ],
)
def test_exit_codes_say_what_went_wrong(
    shared: TestInstance, arguments: tuple[str, ...], code: int
) -> None:
    ended = shared.cli(*arguments, check=False)
    assert (ended.returncode, "Traceback" in ended.stderr) == (code, False), ended.stderr


def test_a_text_that_is_not_utf_8_is_refused_and_nothing_else_notices(
    shared: TestInstance,
) -> None:
    ended = shared.cli("send", "@demo", "caf\udce9", check=False)
    assert ended.returncode == 2
    assert "byte 4 is 0xe9" in ended.stderr
    shared.cli("send", "@demo", "help", "--wait")


def test_the_last_events_are_the_last_that_were_asked_for(shared: TestInstance) -> None:
    for _ in range(2):
        shared.cli("send", "@demo", "help", "--wait")
    everything = ("events", "--since", "0", "--no-follow", "-t", "turn:changed")
    shown = shared.cli(*everything, "-n", "3").stdout.splitlines()
    assert shown == shared.cli(*everything).stdout.splitlines()[-3:]
    assert len(shown) == 3
    assert (
        shared.lines("events", "-n", "2", "-t", "turn:*", "--count", "2")
        == shared.lines(*everything)[-2:]
    )


def test_a_message_behind_a_request_for_leave_says_what_it_waits_for(
    shared: TestInstance,
) -> None:
    since = str(shared.json("send", "@demo", "permission")["seq"])
    asked = shared.lines("events", "--since", since, "-t", "permission:requested", "--count", "1")
    late = shared.cli("send", "@demo", "help", "--wait", "--timeout", "2s", check=False)
    shared.cli("stop", "@demo")
    assert late.returncode == 5
    assert f"sk-cli permissions answer {asked[0]['data']['id']}" in late.stderr
    assert "sk-cli stop @demo" in late.stderr


def test_events_are_shown_while_the_history_is_stopped(shared: TestInstance) -> None:
    history = shared.pids()["history"]
    os.kill(history, signal.SIGSTOP)
    try:
        ended = shared.cli("events", "--since", "0", "--no-follow", "-n", "1", "-t", "agent:state")
    finally:
        os.kill(history, signal.SIGCONT)
    assert "agent:state" in ended.stdout
    assert "sk-history does not answer" in ended.stderr


def test_names_that_fit_nothing_known_are_pointed_out(shared: TestInstance) -> None:
    said = shared.cli("events", "--no-follow", "-t", "mesage:*", "-a", "nobody").stderr
    assert "mesage:*" in said
    assert "“nobody” is configured; there are: demo" in said


def test_tables_end_where_their_words_end(shared: TestInstance) -> None:
    lines = shared.cli("status").stdout.splitlines() + shared.cli("agents", "list").stdout.split(
        "\n"
    )
    assert [line for line in lines if line != line.rstrip()] == []


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
    assert shown() == [("talks", "ready"), ("other", "stopped")]
    first = pids()
    assert len(first) == 1
    lines = [f"stderr line {k}" for k in range(50, 250)]
    assert own.cli("agents", "logs", "talks").stdout.splitlines() == lines
    own.cli("agents", "restart", "TALKS")
    assert len(pids()) == 1
    assert pids() != first
    own.cli("agents", "stop", "talks")
    assert (shown()[0], pids()) == (("talks", "stopped"), set())
    assert own.cli("agents", "logs", "talks").stdout.splitlines() == lines


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


def test_restarting_a_component_gives_it_a_new_process(shared: TestInstance) -> None:
    before = shared.pids()
    (said,) = shared.json("restart", "history")
    assert said["before"] == before["history"]
    assert shared.pids() == before | {"history": said["after"]}


def test_status_counts_the_restarts(shared: TestInstance) -> None:
    def restarts() -> dict[str, int]:
        return {one["component"]: one["restarts"] for one in shared.json("status")["components"]}

    before = restarts()
    shared.cli("restart", "gateway")
    counted = f'"component":"gateway".*"restarts":{before["gateway"] + 1}'
    shared.cli("events", "--since", "0", "-t", "component:state", "--grep", counted, "--count", "1")
    assert restarts() == before | {"gateway": before["gateway"] + 1}


def test_restarting_components_amid_an_answer_changes_nothing_of_it(shared: TestInstance) -> None:
    whole = shared.cli("send", "@demo", "long 200", "--wait").stdout
    sending = subprocess.Popen(
        shared.command("send", "@demo", "long 200", "--wait"),
        env=shared.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert sending.stdout is not None
        begun = sending.stdout.read(20)
        shared.cli("restart", "--all")
        rest = sending.stdout.read()
        sending.wait(timeout=PATIENCE)
    finally:
        sending.kill()
        sending.wait()
    assert begun + rest == whole
    assert sending.returncode == 0


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
    assert ends(hung, 1)


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
    ended = own.cli("up", "--timeout", "12", check=False, environment={"SK_BIN": str(broken)})
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


def test_a_pipe_that_closes_ends_the_command_quietly(shared: TestInstance) -> None:
    watching = subprocess.Popen(
        shared.command("events", "--since", "0", "--json"),
        env=shared.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert watching.stdout is not None
    watching.stdout.readline()
    watching.stdout.close()
    deadline = time.monotonic() + PATIENCE
    while watching.poll() is None and time.monotonic() < deadline:
        shared.cli("send", "@demo", "hello", "--wait")  # something for it to write
    assert watching.returncode == 0
    assert watching.stderr is not None
    assert watching.stderr.read() == b""
