"""`sk-cli` at work: an instance that is up, for tests that leave it as they found it."""

import http.client
import signal
import stat
import subprocess
import time
from collections.abc import Iterator

import orjson
import pytest

from sk_bus.queries import SERVICES
from tests.support.instance import TestInstance, running
from tests.support.patience import PATIENCE
from tests.support.shim_client import eventually

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def shared() -> Iterator[TestInstance]:
    """One that is up, for tests that leave it as they found it."""
    with running() as instance:
        yield instance


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

    def kept() -> str:
        last = shared.lines("channels", "messages", "@demo", "-n", "1")[0]
        texts = [part["text"] for part in last["parts"] if part["type"] == "text"]
        return "\n\n".join(texts).rstrip("\n")

    eventually(lambda: kept() == printed.rstrip("\n"))


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
        eventually(
            lambda: [one["id"] for one in shared.json("permissions", "list")] == [request["id"]]
        )
        shared.cli("permissions", "answer", request["id"], request["options"][0]["optionId"])
        _, talk = sending.communicate(timeout=PATIENCE)
    finally:
        sending.kill()
        sending.wait()
    assert sending.returncode == 0
    assert f"sk-cli permissions answer {request['id']}" in talk
    eventually(lambda: shared.json("permissions", "list") == [])


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
    said = shared.directory / "said"
    with said.open("w") as file:
        behind = subprocess.Popen(
            shared.command("send", "@demo", "help", "--wait"),
            env=shared.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
        )
    try:
        needed = f"sk-cli permissions answer {asked[0]['data']['id']}"
        eventually(lambda: needed in said.read_text())
        shared.cli("stop", "@demo")
        assert behind.wait(PATIENCE) == 1  # its message went with the queue
    finally:
        behind.kill()
        behind.wait()


def test_events_are_shown_while_the_history_is_away(shared: TestInstance) -> None:
    shared.supervisor.stop("history")
    try:
        ended = shared.cli("events", "--since", "0", "--no-follow", "-n", "1", "-t", "agent:state")
    finally:
        shared.supervisor.start("history")
        shared.is_ready()
    assert "agent:state" in ended.stdout
    assert "sk-history does not answer" in ended.stderr


def test_names_that_fit_nothing_known_are_pointed_out(shared: TestInstance) -> None:
    said = shared.cli("events", "--no-follow", "-t", "mesage:*", "-a", "nobody").stderr
    assert "mesage:*" in said
    assert "“nobody” is configured; there are: demo" in said


def test_status_is_watched_until_one_has_seen_enough(shared: TestInstance) -> None:
    shown = shared.directory / "shown"
    with shown.open("w") as file:
        watching = subprocess.Popen(
            shared.command("status", "--watch", "--json"),
            env=shared.environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
        )
    try:
        eventually(lambda: shown.read_text().count("\n") >= 2)
        watching.send_signal(signal.SIGINT)
        assert watching.wait(PATIENCE) == 0
    finally:
        watching.kill()
        watching.wait()
    first, second, *_ = map(orjson.loads, shown.read_text().splitlines())
    assert [one["component"] for one in first["components"]] == list(SERVICES)
    assert first["pid"] == second["pid"] == shared.pids()["supervisord"]


def test_tables_end_where_their_words_end(shared: TestInstance) -> None:
    lines = shared.cli("status").stdout.splitlines() + shared.cli("agents", "list").stdout.split(
        "\n"
    )
    assert [line for line in lines if line != line.rstrip()] == []


def test_restarting_a_component_gives_it_a_new_process(shared: TestInstance) -> None:
    before = shared.pids()
    (said,) = shared.json("restart", "history")
    assert said["before"] == before["history"]
    assert shared.pids() == before | {"history": said["after"]}
    shared.is_ready()


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
