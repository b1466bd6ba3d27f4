"""sk-config: keeps the configuration file, and watches the other processes."""

import asyncio
from contextlib import suppress
from pathlib import Path

from sk_bus import paths
from sk_bus import service as harness
from sk_bus.contract import Producer, Report
from sk_bus.errors import UnreachableError
from sk_bus.events import ComponentStateChanged, ConfigChanged
from sk_bus.internal import FileOpenable
from sk_bus.model import Component
from sk_bus.queries import (
    Checked,
    Components,
    Content,
    ContentView,
    Current,
    CurrentConfig,
    Folder,
    FolderView,
    Forget,
    Icon,
    IconView,
    Recent,
    Save,
    Schema,
    Validate,
)
from sk_config import components as watch
from sk_config import folders, icons, recent
from sk_config.keeper import Keeper, Places, source_of, surroundings_of
from sk_config.opening import Opening
from sk_config.processes import Processes
from sk_config.speech import Speech


async def body(service: harness.Service) -> None:
    """Answer from the first moment, speak once the bus has told what was said last, then watch."""
    await _Desk(service).work()


class _Desk:
    """The one process: what it keeps, and how that meets the bus."""

    def __init__(self, service: harness.Service) -> None:
        self._service = service
        hello = service.hello
        self._file = Path(hello.config)
        self._known = paths.state_home() / "sidekicks" / "recent"
        self._keeper = Keeper(
            places=Places(
                file=self._file,
                data=Path(hello.directory),
                definitions=service.instance.definitions,
                source=source_of(service.instance.source),
                epoch=hello.epoch,
            ),
            surroundings=surroundings_of(self._file),
            speak=self._tell,
        )
        self._producer: Producer | None = None
        self._speech = Speech(hello.epoch, None)
        self._components = watch.Components()
        self._history_problem = hello.historyProblem
        self._opening = Opening(
            service,
            self._file,
            answered=lambda command: command == self._speech.opened,
            say=self._judged,
        )
        # What is said in the log decides nothing here: it need not wake us.
        service.follows = False
        service.advance(hello.head)
        # Up to the moment when the log has our word: before, nobody else knows an agent.
        self._begun_as, service.state = service.state, "starting"
        # Before anything is awaited: a query may be there already, and waits for what it needs.
        service.answers(Current, self._current)
        service.answers(Content, self._content)
        service.answers(Validate, self._validate)
        service.answers(Save, self._save)
        service.answers(Schema, self._schema)
        service.answers(Recent, self._recent)
        service.answers(Forget, self._forget)
        service.answers(Icon, self._icon)
        service.answers(Folder, self._folder)
        service.answers(Components, self._all_components)

    async def work(self) -> None:
        service = self._service
        self._producer = producer = await service.bus.producer("config")
        self._speech = Speech(service.hello.epoch, producer.position)
        self._components = watch.Components(self._speech.components)
        async with asyncio.TaskGroup() as group:
            group.create_task(producer.run())
            await self._keeper.begin()
            group.create_task(self._told())
            recent.opened(self._known, self._file)
            processes = Processes(service, self._components, self._say, self._heard)
            group.create_task(processes.run())
            group.create_task(self._keeper.follow())
            group.create_task(self._opening.run())

    # --- what is said -----------------------------------------------------------------------

    async def _told(self) -> None:
        assert self._producer is not None, "set before anything is read or watched"
        await self._producer.drained()
        self._service.state = self._begun_as
        with suppress(UnreachableError):  # the next report says it too
            await self._service.report_now()

    def _tell(self, event: ConfigChanged, data: bytes | None) -> None:
        if self._speech.config(event, data):
            self._put(event)

    def _say(self, event: ComponentStateChanged) -> None:
        self._speech.component(event)
        self._put(event)

    def _judged(self, event: FileOpenable) -> None:
        self._speech.openable(event)
        self._put(event)

    def _put(self, event: ConfigChanged | ComponentStateChanged | FileOpenable) -> None:
        assert self._producer is not None, "set before anything is read or watched"
        self._producer.put([event], self._speech.position)
        self._service.position = self._speech.position

    def _heard(self, report: Report) -> None:
        if report.service == "history":
            told = report.details.get("historyProblem")
            self._history_problem = told or self._service.hello.historyProblem
        elif report.service == "router":
            self._opening.heard(report)

    # --- what is asked ----------------------------------------------------------------------

    async def _current(self, _: Current) -> CurrentConfig:
        await self._keeper.loaded.wait()
        known = (self._opening.waits, self._history_problem)
        return self._keeper.current("; ".join(filter(None, known)) or None)

    async def _content(self, _: Content) -> ContentView:
        await self._keeper.loaded.wait()
        return self._keeper.content()

    async def _validate(self, query: Validate) -> Checked:
        return await self._keeper.validate(query.text, query.folder)

    async def _save(self, query: Save) -> Checked:
        await self._keeper.loaded.wait()
        return await self._keeper.save(query.text, query.digest)

    async def _schema(self, _: Schema) -> dict[str, object]:
        from sk_config.schema import json_schema  # noqa: PLC0415  see Keeper._judged

        return json_schema()

    async def _recent(self, _: Recent) -> tuple[str, ...]:
        return recent.recent(self._known)

    async def _forget(self, query: Forget) -> tuple[str, ...]:
        return recent.forgotten(self._known, query.path)

    async def _icon(self, query: Icon) -> IconView:
        await self._keeper.loaded.wait()
        return await asyncio.to_thread(icons.read, self._keeper.icon(query.agent))

    async def _folder(self, query: Folder) -> FolderView:
        home = Path(self._keeper.surroundings.home)
        return await asyncio.to_thread(
            folders.listed, query.path, home=home, folder=self._file.parent
        )

    async def _all_components(self, _: Components) -> tuple[Component, ...]:
        await self._keeper.loaded.wait()
        return self._components.all()


def main() -> None:
    """The program ``sk-config``."""
    harness.run("config", body)
