"""sk-config as a process: every way of saving, the file in force over kills, and the watch."""

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest

from sk_bus.client import BusClient, connect
from sk_bus.contract import Resync
from sk_bus.errors import RefusedError
from sk_bus.events import ComponentStateChanged, ConfigChanged
from sk_bus.model import Cursor
from sk_bus.queries import (
    Checked,
    Components,
    Content,
    ContentView,
    Current,
    CurrentConfig,
    Recent,
    Save,
    Schema,
    Validate,
)
from sk_bus.wire import Batch
from tests.support.instance import TestInstance, with_signal
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.process

SECRET = "s3cr3t-s3cr3t"
CONFIG = f"""\
theme: dark
agents:
  - name: demo
    command: sk-demo-agent
    args: [{SECRET}-argument]
    env: {{KEY: {SECRET}}}
"""


class Bare(TestInstance):
    """An instance whose processes are started one by one, and swept without ``sk-cli down``."""

    __test__ = False

    def close(self) -> None:
        for pid in self.processes():
            with_signal(pid, signal.SIGKILL)


def schema_loaded(pid: int) -> bool:
    return "pydantic_core" in Path(f"/proc/{pid}/maps").read_text()


@contextmanager
def started(instance: TestInstance, *names: str) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """Services without a supervisor; they are killed at the end."""
    made = {name: spawn(instance, name) for name in names}
    try:
        yield made
    finally:
        for process in made.values():
            process.kill()
            process.wait()


def spawn(instance: TestInstance, name: str) -> subprocess.Popen[bytes]:
    instance.paths.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (instance.paths.logs / f"{name}.log").open("ab") as log:
        return subprocess.Popen(
            [str(instance.bin / f"sk-{name}")], env=instance.environment, stderr=log, stdout=log
        )


class Listener:
    """Everything that is said from the beginning of the epoch, to be awaited."""

    def __init__(self, bus: BusClient) -> None:
        self.bus = bus
        self.events: list[ConfigChanged | ComponentStateChanged] = []
        self.raw = b""
        self._more = asyncio.Event()

    async def run(self) -> None:
        hello = await self.bus.hello()
        async for item in self.bus.follow(Cursor(epoch=hello.epoch, seq=0)):
            if isinstance(item, Batch):
                self.raw += item.record()
                for _, event in item.events():
                    if isinstance(event, ConfigChanged | ComponentStateChanged):
                        self.events.append(event)
                        self._more.set()
            else:
                assert isinstance(item, Resync)

    @property
    def configs(self) -> list[ConfigChanged]:
        return [event for event in self.events if isinstance(event, ConfigChanged)]

    def states(self, component: str) -> list[ComponentStateChanged]:
        return [
            event
            for event in self.events
            if isinstance(event, ComponentStateChanged) and event.component == component
        ]

    async def configs_are(self, count: int) -> None:
        await self.until(lambda: len(self.configs) >= count)

    async def is_back(self, component: str, restarts: int) -> None:
        """Wait until it runs again, after so many restarts."""
        await self.until(
            lambda: any(
                (one.state, one.restarts) == ("running", restarts) for one in self.states(component)
            )
        )

    async def until(self, claim: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not claim():
                self._more.clear()
                await self._more.wait()


@asynccontextmanager
async def listening(instance: TestInstance) -> AsyncIterator[Listener]:
    async with connect(instance.paths) as bus:
        listener = Listener(bus)
        task = asyncio.create_task(listener.run())
        try:
            yield listener
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def alone(script: Callable[[TestInstance, Listener], Awaitable[None]], config: str | None) -> None:
    """Run a script against bus and config, after the first word about the file."""

    async def whole() -> None:
        async with listening(instance) as listener:
            await listener.until(lambda: bool(listener.configs))
            await script(instance, listener)

    with Bare(config=config) as instance, started(instance, "bus", "config"):
        asyncio.run(whole())


def test_it_runs_by_its_own_word_only_once_the_log_has_the_configuration() -> None:
    async def first_config() -> tuple[int, int]:
        """The head when it first ran by its own word, and the seq of its word on the file."""
        async with connect(instance.paths) as bus, asyncio.timeout(PATIENCE):
            hello = await bus.hello(timeout=PATIENCE)
            async for beat in bus.beats():
                if "config" in beat.reports and beat.reports["config"].state == "running":
                    break
            async for item in bus.follow(Cursor(epoch=hello.epoch, seq=0)):
                assert isinstance(item, Batch)
                for seq, event in item.events():
                    if isinstance(event, ConfigChanged):
                        return beat.head, seq
        raise AssertionError("a follower never ends by itself")

    with Bare(config=CONFIG) as instance, started(instance, "bus", "config"):
        head, seq = asyncio.run(first_config())
        assert head >= seq


# --- every way of saving ----------------------------------------------------------------------


def in_place(path: Path, text: str) -> None:
    path.write_text(text)


def in_two_writes(path: Path, text: str) -> None:
    with path.open("w") as file:
        file.write(text[:5])
        file.flush()
        file.write(text[5:])


def slowly(path: Path, text: str) -> None:
    """In pieces, for longer than a fifth of a second; what stands there meanwhile is valid."""
    with path.open("w") as file:
        for piece in ("# half of it\n", text[:-1], text[-1:]):
            file.write(piece)
            file.flush()
            time.sleep(0.3)  # a slow writer is one who waits


def truncated_first(path: Path, text: str) -> None:
    """As a shell does for a program that takes its time: emptied long before it is written."""
    with path.open("w") as file:
        time.sleep(0.5)
        file.write(text)


def renamed_over(path: Path, text: str) -> None:
    draft = path.with_name("draft")
    draft.write_text(text)
    draft.replace(path)


def like_vim(path: Path, text: str) -> None:
    backup = path.with_name(path.name + "~")
    path.rename(backup)
    path.write_text(text)
    backup.unlink()


def recreated(path: Path, text: str) -> None:
    path.unlink()
    path.write_text(text)


def link_turned(path: Path, text: str) -> None:
    target = path.with_name(f"target-{len(list(path.parent.iterdir()))}")
    target.write_text(text)
    link = path.with_name("link")
    link.symlink_to(target)
    link.replace(path)


def through_a_link(path: Path, text: str) -> None:
    """As a container platform mounts it: the file through a folder that is a link."""
    version = path.parent / f"..{len(list(path.parent.iterdir()))}"
    version.mkdir()
    (version / path.name).write_text(text)
    data = path.parent / "..data"
    fresh = path.parent / "..fresh"
    fresh.symlink_to(version.name)
    fresh.replace(data)
    if path.readlink() != Path("..data") / path.name if path.is_symlink() else True:
        link = path.with_name("link")
        link.symlink_to(Path("..data") / path.name)
        link.replace(path)


def folder_replaced(path: Path, text: str) -> None:
    fresh = path.parent.with_name("fresh")
    fresh.mkdir()
    (fresh / path.name).write_text(text)
    path.parent.rename(path.parent.with_name(f"old-{len(list(path.parent.parent.iterdir()))}"))
    fresh.rename(path.parent)


WAYS = (
    in_place,
    in_two_writes,
    slowly,
    truncated_first,
    renamed_over,
    like_vim,
    recreated,
    link_turned,
    through_a_link,
    folder_replaced,
)


def test_each_way_of_saving_is_noticed_once_and_again() -> None:
    async def script(instance: TestInstance, listener: Listener) -> None:
        # Some once more: behind a link, and in a folder that was replaced.
        for save in (*WAYS, in_place, renamed_over, recreated):
            for theme in ("light", "dark", "system"):
                count = len(listener.configs)
                save(instance.config, f"theme: {theme} # by {save.__name__}\n")
                await listener.configs_are(count + 1)
                (said,) = listener.configs[count:]
                assert (said.valid, said.config.theme) == (True, theme), save.__name__

    alone(script, "theme: dark\n")


def test_after_any_number_of_invalid_files_a_valid_one_applies() -> None:
    bad = ["a: [", "theme: blue", "\t", "agents: 3", "x: 1"]

    async def script(instance: TestInstance, listener: Listener) -> None:
        for number, text in enumerate(bad, 2):
            instance.config.write_text(text)
            await listener.configs_are(number)
        instance.config.write_text("theme: light")
        await listener.until(lambda: listener.configs[-1].valid)
        said = listener.configs[1:-1]
        assert [(one.valid, bool(one.problems), one.config.theme) for one in said] == [
            (False, True, "dark")
        ] * len(bad)
        assert listener.configs[-1].config.theme == "light"

    alone(script, "theme: dark")


def test_a_file_that_comes_back_as_it_was_is_no_news() -> None:
    async def script(instance: TestInstance, listener: Listener) -> None:
        instance.config.touch()
        recreated(instance.config, CONFIG)
        instance.config.write_text("theme: light")
        await listener.until(lambda: len(listener.configs) > 1)
        assert [one.config.theme for one in listener.configs] == ["dark", "light"]

    alone(script, CONFIG)


# --- calls ------------------------------------------------------------------------------------


async def current(listener: Listener) -> CurrentConfig:
    made: CurrentConfig = (await listener.bus.query(Current())).value
    return made


def test_the_first_start_writes_a_starter_file() -> None:
    async def script(instance: TestInstance, listener: Listener) -> None:
        now = await current(listener)
        assert (now.created, now.valid, now.source) == (True, True, "default")
        assert stat.S_IMODE(instance.config.stat().st_mode) == 0o600
        assert next(agent.name for agent in listener.configs[0].config.agents) == "demo"
        content: ContentView = (await listener.bus.query(Content())).value
        assert content.text == instance.config.read_text()
        assert (await listener.bus.query(Recent())).value == (str(instance.config),)
        schema = (await listener.bus.query(Schema())).value
        assert schema["title"] == "Sidekicks configuration"
        instance.config.write_text("theme: light")
        await listener.until(lambda: len(listener.configs) > 1)
        assert not (await current(listener)).created

    alone(script, None)


def test_validate_writes_nothing() -> None:
    async def script(instance: TestInstance, listener: Listener) -> None:
        checked: Checked = (await listener.bus.query(Validate(text="theme: blue"))).value
        assert [(one.line, one.column) for one in checked.problems] == [(1, 8)]
        assert instance.config.read_text() == CONFIG

    alone(script, CONFIG)


def test_save_keeps_mode_and_link_and_can_be_repeated() -> None:
    async def script(instance: TestInstance, listener: Listener) -> None:
        link_turned(instance.config, "theme: light\n")
        target = instance.config.resolve()
        target.chmod(0o640)
        await listener.until(lambda: listener.configs[-1].config.theme == "light")
        content: ContentView = (await listener.bus.query(Content())).value
        save = Save(text="theme: dark\n# mine\n", digest=content.digest)
        for _ in range(2):  # the second as after an answer that was lost
            assert (await listener.bus.query(save)).value.saved
        assert instance.config.is_symlink()
        assert target.read_text() == save.text
        assert stat.S_IMODE(target.stat().st_mode) == 0o640
        assert not list(target.parent.glob("*.draft"))
        await listener.until(lambda: listener.configs[-1].config.theme == "dark")
        assert [one.config.theme for one in listener.configs] == ["dark", "light", "dark"]

    alone(script, CONFIG)


def test_save_is_refused_when_the_file_changed_meanwhile() -> None:
    async def script(instance: TestInstance, listener: Listener) -> None:
        content: ContentView = (await listener.bus.query(Content())).value
        instance.config.write_text("theme: light # by another editor")
        with pytest.raises(RefusedError) as refused:
            await listener.bus.query(Save(text="theme: dark", digest=content.digest))
        assert refused.value.problem.id == "file-changed"
        assert instance.config.read_text() == "theme: light # by another editor"

    alone(script, CONFIG)


def test_an_invalid_save_returns_the_problems_and_writes_nothing() -> None:
    async def script(instance: TestInstance, listener: Listener) -> None:
        content: ContentView = (await listener.bus.query(Content())).value
        save = Save(text="theme: blue", digest=content.digest)
        checked: Checked = (await listener.bus.query(save)).value
        assert (checked.saved, [one.id for one in checked.problems]) == (False, ["out-of-range"])
        assert instance.config.read_text() == CONFIG

    alone(script, CONFIG)


# --- secrets and definitions ------------------------------------------------------------------


def content(path: Path) -> bytes:
    """What is in a file; nothing of what is none, or has gone while we looked."""
    try:
        return path.read_bytes() if path.is_file() else b""
    except FileNotFoundError:
        return b""


def test_secrets_are_in_the_definition_alone() -> None:
    async def script(instance: TestInstance, listener: Listener) -> None:
        (agent,) = listener.configs[0].config.agents
        definition = instance.paths.definitions / f"{agent.digest}.json"
        assert stat.S_IMODE(definition.stat().st_mode) == 0o600
        assert json.loads(definition.read_bytes())["env"] == {"KEY": SECRET}
        instance.config.write_text(CONFIG + f"    oops: {SECRET}\n    title: 3\n")
        await listener.until(lambda: not listener.configs[-1].valid)
        assert SECRET.encode() not in listener.raw
        assert b"sk-demo-agent" not in listener.raw
        for log in instance.paths.logs.glob("*.log"):
            assert SECRET not in log.read_text()
        kept = [
            path
            for path in instance.directory.rglob("*")
            if path != instance.config and SECRET.encode() in content(path)
        ]
        assert kept
        assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in kept)
        assert not any("journal" in str(path) for path in kept)

    alone(script, CONFIG)


# --- kills ------------------------------------------------------------------------------------


def test_the_last_valid_configuration_survives_a_kill() -> None:
    async def script() -> None:
        async with listening(instance) as listener:
            await listener.until(lambda: bool(listener.configs))
            instance.config.write_text("theme: [")
            await listener.until(lambda: len(listener.configs) == 2)
            services["config"].kill()
            services["config"].wait()
            for path in instance.paths.definitions.iterdir():
                path.unlink()  # as after a reboot
            services["config"] = spawn(instance, "config")
            now = await current(listener)
            assert (now.valid, now.theme) == (False, "dark")
            (agent,) = listener.configs[-1].config.agents
            assert (instance.paths.definitions / f"{agent.digest}.json").exists()
            instance.config.write_text("theme: light")
            await listener.until(lambda: listener.configs[-1].valid)
            assert [one.valid for one in listener.configs] == [True, False, True]

    with (
        Bare(config=CONFIG) as instance,
        started(instance, "bus", "config") as services,
    ):
        asyncio.run(script())


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_start_with_the_file_of_last_time_does_without_the_schema() -> None:
    async def script() -> None:
        async with listening(instance) as listener:
            await listener.until(lambda: bool(listener.configs))
            services["config"].kill()
            services["config"].wait()
            services["config"] = spawn(instance, "config")
            assert (await current(listener)).valid
            assert not schema_loaded(services["config"].pid)
            instance.config.write_text("theme: light")
            await listener.configs_are(2)
            assert schema_loaded(services["config"].pid)

    with (
        Bare(config=CONFIG) as instance,
        started(instance, "bus", "config") as services,
    ):
        asyncio.run(script())


def test_a_change_while_it_is_down_is_told_when_it_is_back() -> None:
    async def script() -> None:
        async with listening(instance) as listener:
            await listener.until(lambda: bool(listener.configs))
            services["config"].kill()
            services["config"].wait()
            instance.config.write_text("theme: light")
            services["config"] = spawn(instance, "config")
            await listener.until(lambda: len(listener.configs) == 2)
            assert listener.configs[-1].config.theme == "light"

    with (
        Bare(config=CONFIG) as instance,
        started(instance, "bus", "config") as services,
    ):
        asyncio.run(script())


def test_an_invalid_file_at_the_first_start_means_no_agent() -> None:
    async def script(_: TestInstance, listener: Listener) -> None:
        (said,) = listener.configs
        assert (said.valid, said.config.agents) == (False, ())
        assert [(one.line, one.column) for one in said.problems] == [(1, 8)]

    alone(script, "theme: blue")


# --- the watch over the processes -------------------------------------------------------------

_PROGRAM = """\
[program:{name}]
command={command}
startsecs=0
startretries=1000000
autorestart={autorestart}
stopwaitsecs=3
redirect_stderr=true
stdout_logfile={logs}/{name}.log
"""
# A service that does nothing, under a name that exists.
_IDLE = """\
import asyncio
from sk_bus import service


async def body(_: service.Service) -> None:
    await asyncio.Event().wait()


service.run("router", body)
"""


@contextmanager
def supervised(instance: TestInstance, *, by_itself: bool) -> Iterator[None]:
    """Bus, config and a service that idles, under a supervisord of their own.

    Unless it does so ``by_itself``, supervisord never starts the idle one again.
    """
    run, logs = instance.paths.run, instance.paths.logs
    for directory in (run, logs):
        directory.mkdir(mode=0o700, parents=True)
    idle = instance.directory / "idle.py"
    idle.write_text(_IDLE)
    commands = {
        "bus": instance.bin / "sk-bus",
        "config": instance.bin / "sk-config",
        "router": f"{sys.executable} {idle}",
    }
    conf = instance.directory / "supervisord.conf"
    conf.write_text(
        f"[supervisord]\nnodaemon=true\nlogfile={logs}/supervisord.log\npidfile={run}/sup.pid\n"
        f"[unix_http_server]\nfile={run}/sup.sock\nchmod=0700\n"
        "[rpcinterface:supervisor]\n"
        "supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface\n"
        + "".join(
            _PROGRAM.format(
                name=name,
                command=command,
                logs=logs,
                autorestart=str(by_itself or name != "router").lower(),
            )
            for name, command in commands.items()
        )
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "supervisor.supervisord", "-c", str(conf)],
        env=instance.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def watched(
    script: Callable[[TestInstance, Listener], Awaitable[None]], *, by_itself: bool = True
) -> None:
    """Run a script once every component is known to run."""

    async def whole() -> None:
        async with listening(instance) as listener:
            await listener.until(
                lambda: all(
                    [one.state for one in listener.states(name)][-1:] == ["running"]
                    for name in ("bus", "config", "router")
                )
            )
            await script(instance, listener)

    with Bare(config=CONFIG) as instance, supervised(instance, by_itself=by_itself):
        asyncio.run(whole())


def test_a_killed_service_is_started_again_at_once() -> None:
    async def script(_: TestInstance, listener: Listener) -> None:
        for restart in (1, 2, 3):
            (*_, before) = listener.states("router")
            os.kill(before.pid, signal.SIGKILL)
            await listener.is_back("router", restart)
            down, starting, running = listener.states("router")[-3:]
            assert [down.state, starting.state, running.state] == ["down", "starting", "running"]
        components = (await listener.bus.query(Components())).value
        assert {one.component: one.state for one in components} == dict.fromkeys(
            ("bus", "config", "router"), "running"
        )

    # So that it can't have been supervisord, which would take up to a second.
    watched(script, by_itself=False)


def lives(listener: Listener, restarts: int) -> list[int]:
    """The pid of the idle one after so many restarts, once that is known."""
    states = listener.states("router")
    return [one.pid for one in states if one.pid and one.restarts == restarts]


def test_four_deaths_in_a_second_are_undone() -> None:
    async def script(_: TestInstance, listener: Listener) -> None:
        for deaths in range(4):
            await listener.until(lambda deaths=deaths: bool(lives(listener, deaths)))
            os.kill(lives(listener, deaths)[0], signal.SIGKILL)
        await listener.is_back("router", 4)

    watched(script)


def test_a_killed_watch_counts_on() -> None:
    async def script(_: TestInstance, listener: Listener) -> None:
        (watch,) = [one for one in listener.states("config") if one.state == "running"]
        os.kill(watch.pid, signal.SIGKILL)
        await listener.is_back("config", 1)
        (*_, router) = listener.states("router")
        os.kill(router.pid, signal.SIGKILL)
        await listener.is_back("router", 1)
        assert len(listener.configs) == 1

    watched(script)


def test_the_bus_is_watched_as_well() -> None:
    async def script(_: TestInstance, listener: Listener) -> None:
        os.kill(listener.states("bus")[-1].pid, signal.SIGKILL)
        await listener.is_back("bus", 1)

    watched(script)


@pytest.mark.parametrize("name", ["router", "bus"])
def test_a_hung_service_is_killed_and_started_again(name: str) -> None:
    async def script(_: TestInstance, listener: Listener) -> None:
        os.kill(listener.states(name)[-1].pid, signal.SIGSTOP)
        await listener.is_back(name, 1)
        assert "hung" in [one.state for one in listener.states(name)]

    watched(script)
