"""The real executor on the real bus, with the test as its router and a scripted agent behind it."""

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from sk_agents.flood import LINES
from sk_bus.errors import RefusedError
from sk_bus.events import AgentLog, AgentStateChanged, ConfigChanged
from sk_bus.internal import DoStart, FactExited, FactFrame, FactUp
from sk_bus.model import AgentConfig, AgentName, AgentState, PublicConfig
from sk_bus.queries import ListAgents, Logs
from tests.support.executing import Acting, Executing, executing, left
from tests.support.patience import PATIENCE
from tests.support.shim_client import alive, eventually

pytestmark = pytest.mark.process

SECRET = "s3cret-value-of-env"


def run(test: Callable[[Executing], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """A test with a bus and an executor of its own."""

    @wraps(test)
    def made() -> None:
        async def whole() -> None:
            async with executing() as made:
                await test(made)

        asyncio.run(whole())

    del made.__wrapped__  # pytest would take the argument for a fixture
    return made


def recorded(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """What the scripted agent read, with its pid."""
    pairs = (line.split(" ", 1) for line in path.read_text().splitlines())
    return [(int(pid), json.loads(text)) for pid, text in pairs]


def words(count: int) -> str:
    return "".join(f"{k} " for k in range(count))


def count_of(acting: Acting, kind: type[Any]) -> int:
    return len(acting.facts(kind))


def logged(executing: Executing, stream: str) -> list[str]:
    return [
        event.line
        for _, event in executing.events
        if isinstance(event, AgentLog) and event.stream == stream
    ]


def eventually_gone(path: Path) -> None:
    eventually(lambda: not path.exists())


def taken(alice: Acting, n: int) -> None:
    eventually(lambda: (alice.folder / "taken").read_text() == f"{n:020d}")


def ended(pid: int) -> None:
    eventually(lambda: not alive(pid))


def only(executing: Executing, pids: set[int]) -> None:
    eventually(lambda: set(left(executing)) == pids)


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def umask(pid: int) -> str:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("Umask"))


def holding(folder: Path, text: str) -> list[Path]:
    found = []
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError, IsADirectoryError):  # it went meanwhile
            if text.encode() in path.read_bytes():
                found.append(path)
    return found


def wipe(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


# --- one life -----------------------------------------------------------------------------------


@run
async def test_an_agent_starts_answers_and_stops(executing: Executing) -> None:
    alice = await (await executing.agent()).ready()
    answer = await alice.answer(alice.prompt("!count 500"))
    assert answer["result"]["stopReason"] == "end_turn"
    assert alice.text() == words(500)
    alice.stop()
    exited = await alice.exited()
    assert (exited.code, exited.asked, exited.taken) == (0, True, 3)
    await asyncio.to_thread(eventually_gone, alice.folder)
    ours = {process.pid for process in executing.processes.values()}
    await asyncio.to_thread(only, executing, ours)  # the holder goes last


@run
async def test_an_agent_may_live_twice(executing: Executing) -> None:
    first = await (await executing.agent()).ready()
    await first.answer(first.prompt("!stderr 2"))
    first.stop()
    assert (await first.exited()).stderr == ("stderr line 0", "stderr line 1")
    second = await (await executing.agent()).ready()
    assert second.pid != first.pid
    assert count_of(first, FactUp) == count_of(second, FactUp) == 1
    second.stop()
    assert (await second.exited()).stderr == ()  # these are its own last words, and no one else's


@run
async def test_the_end_follows_the_last_frame_and_carries_stderr(executing: Executing) -> None:
    alice = await (await executing.agent()).ready()
    alice.prompt("!stderr 30 !count 300 !exit 3")
    exited = await alice.exited()
    assert (exited.code, exited.asked) == (3, False)
    assert exited.stderr == tuple(f"stderr line {k}" for k in range(10, 30))
    assert alice.text() == words(300)
    facts = [event for _, event in executing.events if isinstance(event, FactFrame | FactExited)]
    assert isinstance(facts[-1], FactExited)


@run
async def test_every_line_is_a_frame_or_a_line_of_the_log(executing: Executing) -> None:
    alice = await (await executing.agent()).ready()
    await alice.answer(alice.prompt("before !noise after !split"))
    assert alice.text() == "before after häppchen🍰 "
    assert logged(executing, "stdout") == [
        "Starting…",
        '"x"',
        "12",
        "null",
        "[1]",
        "\x1b[31mred\x1b[0m",
        "",
        "�� bad",
        "with CR",
    ]
    lines = [event.line for event in alice.facts(FactFrame)]
    assert "{}" in lines
    assert '{"level":"info","id":1}' in lines


@run
async def test_a_long_line_travels_as_a_blob_and_one_over_the_cap_is_skipped(
    executing: Executing,
) -> None:
    alice = await (await executing.agent()).ready()
    await alice.answer(alice.prompt("!bigline 5000000 !overlong 70000000 after"))
    frames = alice.facts(FactFrame)
    (big,) = (frame for frame in frames if frame.raw is not None)
    assert len(big.line) < 4000
    chunk = json.loads(big.line)["params"]["update"]["content"]["text"]
    assert alice.blob(chunk["$blob"]["sha256"]) == "x" * 5_000_000
    assert json.loads(alice.blob(big.raw.sha256))["method"] == "session/update"
    (skipped,) = logged(executing, "stdout")
    assert skipped.endswith("(70000000 bytes)")


@run
async def test_megabytes_of_stderr_hold_nobody_up(executing: Executing) -> None:
    began = time.monotonic()
    digest = executing.define(env={"SA_STDERR": "10000000"})
    alice = await (await executing.agent(digest=digest)).ready()
    await alice.answer(alice.prompt("!stderr 5000 done"))
    await executing.until(lambda: any("bytes)" in line for line in logged(executing, "stderr")))
    executing.order(AgentStateChanged(agent=alice.name, state=AgentState.READY))
    await executing.producer.drained()
    seq = executing.producer.position
    last = tuple(f"stderr line {k}" for k in range(4800, 5000))
    async with asyncio.timeout(PATIENCE):  # what goes to stderr comes by a way of its own
        while (await executing.bus.query(Logs(agent=alice.name), after=seq + 1)).value != last:
            pass
    assert len(logged(executing, "stderr")) <= (LINES + 1) * (time.monotonic() - began + 2)


# --- starts that fail ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("definition", "problem", "named"),
    [
        ({"command": "no-such-program"}, "not-on-path", "/somewhere/bin"),
        ({"command": "/no/such/file"}, "command-not-found", "/no/such/file"),
        ({"cwd": "/no/such/folder"}, "cwd-missing", "/no/such/folder"),
        ({"cwd": "{home}/plain"}, "cwd-unusable", "/plain can't be used: Not a directory"),
        ({"cwd": "/" + "x" * 300}, "cwd-unusable", "File name too long"),
        ({"command": "x" * 300}, "not-on-path", "/somewhere/bin"),
        (
            {"command": "nothing", "path": "/" + "x" * 300, "env": {"PATH": "/a"}},
            "not-on-path",
            "env: PATH",  # not what it says: values of env are secret
        ),
        ({"command": "plain", "path": "{home}"}, "not-executable", "plain"),
        ({"command": "no-interpreter", "path": "{home}"}, "not-executable", "No such file"),
    ],
)
def test_a_start_that_fails_says_why(definition: dict[str, Any], problem: str, named: str) -> None:
    @run
    async def test(executing: Executing) -> None:
        home = executing.root / "home"
        (home / "plain").write_text("no program")
        (home / "no-interpreter").write_text("#!/no/interpreter\n")
        (home / "no-interpreter").chmod(0o700)
        fields = {
            key: value.format(home=home) if isinstance(value, str) else value
            for key, value in definition.items()
        }
        digest = executing.define(**({"path": "/somewhere/bin", "args": []} | fields))
        alice = Acting(executing, AgentName("alice"), executing.hello.epoch + 1)
        alice.start(digest)
        exited = await alice.exited()
        assert exited.problem is not None
        assert exited.problem.id == problem
        assert named in exited.problem.message
        assert (exited.code, exited.signal, count_of(alice, FactUp)) == (None, None, 0)

    test()


@run
async def test_a_definition_that_is_gone_fails_the_start(executing: Executing) -> None:
    alice = Acting(executing, AgentName("alice"), executing.hello.epoch + 1)
    alice.start("0" * 64)
    exited = await alice.exited()
    assert exited.problem is not None
    assert exited.problem.id == "definition-missing"


@run
async def test_an_agent_that_exits_at_once_says_its_last_words(executing: Executing) -> None:
    digest = executing.define(env={"SA_EXIT_ON_START": "7"})
    alice = await executing.agent(digest=digest)
    exited = await alice.exited()
    assert (exited.code, exited.stderr) == (7, ("can't start: no licence",))


# --- secrets and surroundings -------------------------------------------------------------------


@run
async def test_secrets_reach_the_agent_and_nothing_else(executing: Executing) -> None:
    servers = [
        {"name": "files", "command": "x", "args": [], "env": [{"name": "K", "value": SECRET}]}
    ]
    code = (
        "import os, sys\n"
        "line = sys.stdin.readline()\n"
        "print('env', os.environ['KEY'] == 's3cret-value-of-env', 'line', 's3cret' in line)\n"
        "print('seen', os.environ['KEY'], file=sys.stderr, flush=True)\n"
        "sys.stdin.read()"
    )
    digest = executing.define(
        sys.executable, "-u", "-c", code, env={"KEY": SECRET}, mcpServers=servers
    )
    alice = await executing.agent(digest=digest)
    alice.line("session/new", {"mcpServers": {"$def": f"{digest}#/mcpServers"}})
    await executing.until(lambda: logged(executing, "stdout") and logged(executing, "stderr"))
    assert logged(executing, "stdout") == ["env True line True"]
    assert logged(executing, "stderr") == ["seen •••"]
    alice.stop()
    assert (await alice.exited()).stderr == ("seen •••",)
    await asyncio.to_thread(eventually_gone, alice.folder)  # the spool is what the agent wrote
    assert holding(executing.root / "c", SECRET) == []
    assert SECRET not in executing.log("agents")


@run
async def test_an_agents_environment_is_the_login_shells_without_ours(executing: Executing) -> None:
    executing.kill("agents")
    (executing.root / "home" / ".profile").write_text(
        "export FROM_PROFILE=yes BOTH=shell; umask 027; echo hi\n"
    )
    executing.start("agents", SUPERVISOR_SERVER_URL="unix://x", WHERE=str(executing.instance.run))
    digest = executing.define(env={"OWN": "1", "BOTH": "own"})
    alice = await (await executing.agent(digest=digest)).ready()
    names = ("FROM_PROFILE", "OWN", "BOTH", "PWD", "SK_INSTANCE", "SUPERVISOR_SERVER_URL", "WHERE")
    await alice.answer(alice.prompt(" ".join(f"!env {name}" for name in names)))
    assert alice.text().split() == [
        "FROM_PROFILE=yes",
        "OWN=1",
        "BOTH=own",
        f"PWD={executing.root / 'home'}",
        "SK_INSTANCE=None",
        "SUPERVISOR_SERVER_URL=None",
        "WHERE=None",
    ]
    assert umask(alice.pid) == "0027"


# --- our own death ------------------------------------------------------------------------------


@run
async def test_killed_in_the_middle_of_an_answer_nothing_is_lost_or_doubled(
    executing: Executing,
) -> None:
    record = executing.root / "record"
    digest = executing.define(env={"SA_RECORD": str(record)})
    alice = await (await executing.agent(digest=digest)).ready()
    n = alice.prompt("!count 3000 500")
    for k in range(1, 6):
        await executing.until(lambda k=k: f" {k * 400} " in alice.text())
        executing.kill("agents")
        executing.start("agents")
    await alice.answer(n)
    assert alice.text() == words(3000)
    ends = [event.end for event in alice.facts(FactFrame)]
    assert ends == sorted(set(ends))
    assert [message["id"] for _, message in recorded(record)] == [1, 2, 3]
    assert {pid for pid, _ in recorded(record)} == {alice.pid}
    assert count_of(alice, FactUp) == 1


@pytest.mark.parametrize(
    "failpoint", ["agents_before_start", "agents_mid_in", "agents_before_ack", "agents_after_exit"]
)
def test_killed_in_an_exact_window_everything_still_happens_once(failpoint: str) -> None:
    @run
    async def test(executing: Executing) -> None:
        record = executing.root / "record"
        digest = executing.define(env={"SA_RECORD": str(record)})
        executing.kill("agents")
        executing.start("agents", SK_FAIL=failpoint)

        async def again() -> None:
            await executing.died("agents")
            executing.start("agents")

        async with asyncio.TaskGroup() as group:
            group.create_task(again())
            alice = await (await executing.agent(digest=digest)).ready()
            await alice.answer(alice.prompt("!count 2000"))
            alice.stop()
            exited = await alice.exited()
        assert (exited.code, exited.taken) == (0, 3)
        assert alice.text() == words(2000)
        assert [message["id"] for _, message in recorded(record)] == [1, 2, 3]
        bob = await (await executing.agent("bob")).ready()
        assert [count_of(alice, kind) for kind in (FactUp, FactExited)] == [1, 1]
        assert count_of(bob, FactUp) == 1

    test()


@run
async def test_an_agent_that_ends_while_we_are_away_is_told_when_we_return(
    executing: Executing,
) -> None:
    alice = await (await executing.agent()).ready()
    nobody_looks = executing.root / "nobody-looks"
    alice.prompt(f"!until {nobody_looks} last words !exit 4")
    await executing.until(lambda: executing.producer.position)
    await executing.producer.drained()
    await asyncio.to_thread(taken, alice, 3)
    executing.kill("agents")
    nobody_looks.touch()
    await asyncio.to_thread(ended, alice.pid)
    executing.start("agents")
    exited = await alice.exited()
    assert (exited.code, exited.taken) == (4, 3)
    assert alice.text() == "last words "


@run
async def test_what_is_ordered_while_we_are_away_is_done_when_we_return(
    executing: Executing,
) -> None:
    record = executing.root / "record"
    digest = executing.define(env={"SA_RECORD": str(record)})
    alice = await (await executing.agent(digest=digest)).ready()
    alice.prompt("!hang")
    await asyncio.to_thread(taken, alice, 3)
    executing.kill("agents")
    message = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": alice.session}}
    alice.n += 1
    alice.raw(json.dumps(message))
    alice.stop()
    executing.start("agents")
    exited = await alice.exited()
    assert (exited.taken, exited.asked) == (4, True)
    methods = [message["method"] for _, message in recorded(record)]
    assert methods[2:] == ["session/prompt", "session/cancel"]


@run
async def test_the_bus_killed_in_mid_answer_costs_nothing(executing: Executing) -> None:
    alice = await (await executing.agent()).ready()
    n = alice.prompt("!count 2000 500")
    await executing.until(lambda: " 500 " in alice.text())
    executing.kill("bus")
    executing.start("bus")
    await alice.answer(n)
    assert alice.text() == words(2000)


@run
async def test_a_killed_holder_ends_its_agent_and_is_told(
    executing: Executing,
) -> None:
    alice = await (await executing.agent()).ready()
    alice.prompt("said !grandchild !daemon !silent")
    await executing.until(lambda: "said" in alice.text())
    os.kill(parent(alice.pid), signal.SIGKILL)
    exited = await alice.exited()
    assert exited.problem is not None
    assert (exited.problem.id, exited.taken) == ("shim-lost", 3)
    services = {process.pid for process in executing.processes.values()}
    await asyncio.to_thread(only, executing, services)


# --- beside each other --------------------------------------------------------------------------


@run
async def test_one_agents_credit_is_its_own_and_bounds_its_backlog(executing: Executing) -> None:
    alice = await (await executing.agent("alice")).ready()
    bob = await (await executing.agent("bob")).ready()
    executing.decide(on=False)
    n = alice.prompt("!count 5000")
    await executing.until(lambda: count_of(alice, FactFrame) >= 202)
    m = bob.prompt("!count 50")
    await bob.answer(m)
    assert bob.text() == words(50)
    # Two answers before, and then exactly what the credit allows.
    assert count_of(alice, FactFrame) == 202
    executing.decide(on=True)
    await alice.answer(n)
    assert alice.text() == words(5000)


@run
async def test_after_our_death_what_is_not_decided_still_counts(executing: Executing) -> None:
    alice = await (await executing.agent()).ready()
    executing.decide(on=False)
    n = alice.prompt("!count 1000")
    await executing.until(lambda: count_of(alice, FactFrame) >= 202)
    executing.kill("agents")
    executing.start("agents")
    bob = await (await executing.agent("bob")).ready()
    await bob.answer(bob.prompt("!count 50"))
    assert count_of(alice, FactFrame) == 202
    executing.decide(on=True)
    await alice.answer(n)
    assert alice.text() == words(1000)


@run
async def test_a_blocked_stdin_holds_up_nobody_else_and_no_stop(executing: Executing) -> None:
    alice = await (await executing.agent("alice")).ready()
    bob = await (await executing.agent("bob")).ready()
    await alice.answer(alice.prompt("!deaf"))
    for _ in range(4):
        alice.prompt("x" * 100_000)
    await bob.answer(bob.prompt("!count 10"))
    executing.kill("agents")
    executing.start("agents")
    await bob.answer(bob.prompt("!count 10"))
    alice.stop()
    exited = await alice.exited()
    assert exited.asked
    assert exited.taken < 7


# --- a new epoch, and queries -------------------------------------------------------------------


@run
async def test_a_life_without_a_place_in_our_position_is_put_to_rest(executing: Executing) -> None:
    alice = await (await executing.agent()).ready()
    executing.kill("agents")
    for task in executing.tasks:
        task.cancel()  # the test's router doesn't live through an epoch's end
    executing.kill("bus")
    wipe(Path(executing.hello.directory) / "journal")
    executing.start("bus")
    executing.start("agents")
    await asyncio.to_thread(ended, alice.pid)
    await asyncio.to_thread(eventually_gone, alice.folder)


@run
async def test_agents_are_listed_with_state_and_memory_also_after_our_death(
    executing: Executing,
) -> None:
    alice = await (await executing.agent()).ready()  # what a fork still shares weighs nothing
    agents = (AgentConfig(name=alice.name, title="Alice", digest="d", cwd="/"),)
    executing.order(
        ConfigChanged(path="/x", valid=True, config=PublicConfig(agents=agents)),
        AgentStateChanged(agent=alice.name, state=AgentState.BUSY),
    )
    await executing.producer.drained()
    after = (await executing.bus.hello()).head
    for _ in range(2):
        (view,) = (await executing.bus.query(ListAgents(), after=after)).value
        assert (view.title, view.state) == ("Alice", AgentState.BUSY)
        assert view.memory is not None
        assert view.memory > 1_000_000
        executing.kill("agents")
        executing.start("agents")


@run
async def test_the_logs_of_an_unknown_agent_are_refused(executing: Executing) -> None:
    with pytest.raises(RefusedError, match=r"no such agent: \.\./\.\./etc"):
        await executing.bus.query(Logs(agent=AgentName("../../etc")))


@run
async def test_an_order_for_a_life_that_never_began_is_said_and_skipped(
    executing: Executing,
) -> None:
    Acting(executing, AgentName("ghost"), executing.hello.epoch + 1).stop()
    alice = await (await executing.agent()).ready()
    assert alice.pid
    assert "never began" in executing.log("agents")


@run
async def test_an_order_to_start_is_carried_out_once(executing: Executing) -> None:
    alice = await executing.agent()
    again = DoStart(agent=alice.name, inc=alice.inc, digest=executing.define())
    executing.order(again, again)
    await alice.ready()
    assert count_of(alice, FactUp) == 1
