"""`sk-cli doctor`: look at everything, and say of what is wrong what to do about it.

It changes nothing; ``--agent`` starts an agent that doesn't run, and stops it again.
"""

import asyncio
import http.client
import platform
import shutil
import stat
import time
from collections.abc import AsyncIterator, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from sk_bus import paths
from sk_bus.commands import Start, Stop
from sk_bus.contract import Bus, Hello
from sk_bus.errors import SidekicksError
from sk_bus.events import Kind
from sk_bus.model import AgentState, AgentView
from sk_bus.queries import Current, CurrentConfig
from sk_bus.wire import Batch
from sk_cli import asking, definitions, findings, instances, observing, orphans, replaying, traffic
from sk_cli.completing import agent_names
from sk_cli.failure import Exit
from sk_cli.findings import Finding, fail, ok, warn
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.options import Command, option
from sk_cli.render import one_line
from sk_cli.words import addressed, number, problem_text, t

_LIBRARIES = ("pyzmq", "rocksdict", "msgpack", "orjson", "pydantic", "starlette", "supervisor")
_ANSWER_WITHIN = 5.0
# A first `npx` or `uvx` download takes minutes.
_START_WITHIN = 600.0
# How far back the handshake of a running agent is looked for.
_FRAMES = 100_000


@click.command(cls=Command, help="help.doctor")
@option("--agent", metavar="AGENT", shell_complete=agent_names, help="help.doctor.agent")
@pass_invocation
def command(told: Invocation, *, agent: str | None) -> int:
    found = list(_at_rest(told))
    runs = instances.supervisor_pid(told.choice.instance) is not None
    if runs:
        found += asking.ask(told, lambda bus: _running(told, bus, agent))
    _show(told, found)
    if not runs:
        return int(Exit.NOT_RUNNING)
    return int(Exit.DEGRADED if any(one.state == "fail" for one in found) else Exit.DONE)


def _show(told: Invocation, found: list[Finding]) -> None:
    if told.json:
        told.document(found)
        return
    from sk_cli.tables import STYLES

    width = max(len(t(f"state.{state}")) for state in ("ok", "warn", "fail"))
    for one in found:
        word = told.styled(f"{t(f'state.{one.state}'):<{width}}", fg=STYLES[one.state])
        print(f"{word}  {told.written(one.text)}")
        if one.then:
            print(f"{'':<{width}}  → {told.written(addressed(one.then))}")
    failures = sum(one.state == "fail" for one in found)
    warnings = sum(one.state == "warn" for one in found)
    said = [t("doctor.failures", count=failures), t("config.warnings", count=warnings)]
    told.say(", ".join(said) if failures or warnings else t("doctor.well"))


# --- what can be seen from outside --------------------------------------------------------------


def _at_rest(told: Invocation) -> Iterator[Finding]:
    instance = told.choice.instance
    yield findings.versions(
        {"Python": platform.python_version()} | {name: _version(name) for name in _LIBRARIES}
    )
    for id_, path in (("token", instance.token), ("run", instance.run), ("state", instance.state)):
        if path.exists():
            yield findings.mode(id_, str(path), stat.S_IMODE(path.stat().st_mode))
    data = paths.data_directory(told.choice.config)
    there = next(folder for folder in (data, *data.parents) if folder.exists())
    yield findings.disk(str(there), shutil.disk_usage(there).free)
    if instances.supervisor_pid(instance) is None:
        yield fail("running", t("not-running"), "sk-cli up")
        if orphans.silent_supervisor(instance) is not None:
            yield fail("supervisord", t("doctor.deaf"), "sk-cli down")
        elif instance.supervisor_pid.exists():
            yield warn("stale", t("doctor.stale", path=instance.supervisor_pid), "sk-cli down")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


# --- what the running ones say ------------------------------------------------------------------


async def _running(told: Invocation, bus: Bus, agent: str | None) -> list[Finding]:
    found = [one async for one in _whole(told, bus)]
    if agent is not None:
        found += [one async for one in _agent(told, bus, (await asking.agent(bus, agent)))]
    return found


async def _whole(told: Invocation, bus: Bus) -> AsyncIterator[Finding]:
    instance = told.choice.instance
    began = time.monotonic()
    try:
        hello = await bus.hello(timeout=_ANSWER_WITHIN)
    except SidekicksError as error:
        then = "sk-cli logs bus -n 50   |   sk-cli restart bus"
        yield fail("bus", problem_text(error.problem), then)
        return
    yield ok("bus", t("doctor.bus", ms=number((time.monotonic() - began) * 1000, 1)))
    beat = await observing.heartbeat(bus, _ANSWER_WITHIN)
    processes = await asyncio.to_thread(instances.supervisor(instance).processes)
    for one in observing.components(processes, beat, {}):
        yield findings.component(one.component, one.state, one.beat, one.problem)
        if one.details.get("full"):
            yield fail("journal", t("status.full"), t("doctor.disk.then"))
    if hello.historyProblem:
        yield fail("history", t("up.unkept", why=hello.historyProblem), t("doctor.history.then"))
    else:
        yield ok("history", t("doctor.history", path=hello.directory))
    yield findings.clock(await _last_ts(bus, hello), time.time_ns() // 1_000_000)
    address = instances.address(instance)
    yield findings.page(await asyncio.to_thread(_page, instance), address)
    for finding in await _config(bus):
        yield finding
    for finding in await _agents(bus):
        yield finding


async def _last_ts(bus: Bus, hello: Hello) -> int | None:
    last = await replaying.last(bus, hello, lambda batch: [batch.ts], 1)
    return last[-1] if last else None


def _page(instance: paths.Instance) -> int | None:
    port = int(instance.port.read_text(encoding="ascii"))
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_ANSWER_WITHIN)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


async def _config(bus: Bus) -> list[Finding]:
    try:
        current: CurrentConfig = (await bus.query(Current(), timeout=_ANSWER_WITHIN)).value
    except SidekicksError as error:
        return [fail("config", problem_text(error.problem), "sk-cli logs config -n 50")]
    found = [
        warn("config", _is(f"{current.path}:{one.line or 1}", one_line(problem_text(one))), _EDIT)
        for one in current.warnings
    ]
    if current.valid:
        return [ok("config", _is(current.path, t("config.valid"))), *found]
    count = t("config.problems", count=len(current.problems))
    return [fail("config", _is(current.path, count), "sk-cli config validate"), *found]


_EDIT = "sk-cli config edit"


def _is(what: str, how: str) -> str:
    return t("words.is", what=what, how=how)


async def _agents(bus: Bus) -> list[Finding]:
    try:
        listed = await asking.agents(bus)
    except SidekicksError as error:
        return [fail("agents", problem_text(error.problem), "sk-cli logs agents -n 50")]
    return [
        warn(f"agent:{one.name}", _is(one.name, _why(one)), f"sk-cli doctor --agent {one.name}")
        for one in listed
        if one.state is AgentState.ERROR
    ]


def _why(one: AgentView) -> str:
    return one_line(problem_text(one.error)) if one.error else t("state.error")


# --- one agent ----------------------------------------------------------------------------------


async def _agent(told: Invocation, bus: Bus, one: AgentView) -> AsyncIterator[Finding]:
    instance = told.choice.instance
    definition = definitions.of_agent(instance, one.name)
    if definition is not None:
        command = str(definition["command"])
        program = await asyncio.to_thread(shutil.which, command, path=definition["path"])
        yield findings.program(one.name, definition, program)
        if program is None:
            return  # the start would say the same once more
        folder = str(definition["cwd"])
        if not await asyncio.to_thread(Path(folder).is_dir):
            yield fail("agent:cwd", t("doctor.cwd", agent=one.name, path=folder), _EDIT)
    ran = one.state in (AgentState.READY, AgentState.BUSY)
    if not ran:
        start = Start(id=asking.command_id(), agent=one.name)
        result = (await bus.command(start, timeout=_START_WITHIN)).result
        if result.problem is not None:
            yield fail(
                "agent:start",
                one_line(problem_text(result.problem)),
                asking.next_step(result.problem) or f"sk-cli agents logs {one.name}",
            )
            return
        yield ok("agent:start", t("agents.started", agent=one.name))
    hide = traffic.hiding(definitions.all_of(instance))

    def frames(batch: Batch) -> list[traffic.Frame]:
        if not batch.kinds & (Kind.DO | Kind.FACT):
            return []
        return list(traffic.frames(batch, one.name, hide))

    said = await replaying.last(bus, await bus.hello(), frames, _FRAMES)
    for finding in findings.handshake(one.name, said):
        yield finding
    if not ran:
        await asking.done(bus, Stop(id=asking.command_id(), agent=one.name))
