"""The workload: people who talk with an agent each, and press every button while they do.

Everything they do goes by commands with ids of their own; now and then the same one is sent again,
by two clients at once. What came back is noted. The moments depend on the machine, the choices on
the seed.
"""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sk_bus.client import BusClient
from sk_bus.commands import (
    AnswerPermission,
    AnyCommand,
    Cancel,
    Direct,
    Restart,
    Send,
    Start,
    Stop,
)
from sk_bus.errors import SidekicksError
from sk_bus.model import AgentName, ChannelId, CommandId, PermissionId
from tests.chaos.evidence import Asked, Event, Evidence, Seen


@dataclass(slots=True)
class Room:
    """What is to be seen of one channel right now."""

    busy: bool = False
    queued: int = 0
    asked: dict[str, Event] = field(default_factory=dict)


class World:
    """The log's present, for people to look at; a witness tells it."""

    def __init__(self, patience: float) -> None:
        self.patience = patience  # seconds
        self.rooms: dict[str, Room] = {}
        self.agents: set[str] = set()
        self._news = asyncio.Event()

    def told(self, seen: Seen) -> None:
        event = seen.event
        match event["type"]:
            case "agent:state":
                self.agents.add(event["agent"])
            case "turn:changed":
                room = self.room(event["channel"])
                room.busy, room.queued = event["busy"], event.get("queued", 0)
            case "permission:requested":
                self.room(event["channel"]).asked[event["id"]] = event
            case "permission:resolved":
                self.room(event["channel"]).asked.pop(event["id"], None)
            case _:
                return
        self._news.set()

    def room(self, channel: str) -> Room:
        return self.rooms.setdefault(channel, Room())

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait for something to be so.

        Raises:
            TimeoutError: it didn't become so.
        """
        async with asyncio.timeout(self.patience):
            while not true():
                await self.news()

    async def news(self) -> None:
        """Wait for something to happen."""
        self._news.clear()
        await self._news.wait()


@dataclass(frozen=True, slots=True)
class Program:
    """An agent, and what its n-th message says: ``talk``, or ``ask`` that makes it ask us."""

    command: tuple[str, ...]
    talk: Callable[[int], str]
    ask: Callable[[int], str]


class Person:
    """One who talks with one agent."""

    def __init__(
        self,
        agent: str,
        program: Program,
        buses: tuple[BusClient, BusClient],
        world: World,
        evidence: Evidence,
        *,
        seed: int,
        first: int,
    ) -> None:
        self.agent = AgentName(agent)
        self.channel = ChannelId("")
        self._buses = buses
        self._world = world
        self._evidence = evidence
        self._choose = random.Random(f"{agent} {seed}")
        self._program = program
        self._commands = 0
        self._messages = first  # no two texts are the same, whoever says them

    async def live(self, until: float) -> None:
        """Talk until that moment of the monotonic clock, then wait for the last answer."""
        await self._world.until(lambda: self.agent in self._world.agents)
        opened = await self._do(Direct(id=self._id(), agent=self.agent))
        self.channel = ChannelId(opened.value)
        answering = asyncio.create_task(self._answer_permissions())
        try:
            while time.monotonic() < until:
                await self._act()
            await self._quiet()
        except TimeoutError:
            self._evidence.troubles.append(
                f"{self.agent}: something waited for {self._world.patience} s: "
                f"{self._world.room(self.channel)}"
            )
        finally:
            answering.cancel()

    # --- what they do -----------------------------------------------------------------------

    async def _act(self) -> None:
        die = self._choose.random()
        if die < 0.45:
            await self._send()
            await self._quiet()
        elif die < 0.60:
            await asyncio.gather(*(self._send() for _ in range(self._choose.randint(2, 4))))
            await self._quiet()
        elif die < 0.75:
            await self._send(asks=True)
            await self._quiet()
        elif die < 0.85:
            await self._send()
            await asyncio.sleep(self._choose.uniform(0, 0.6))
            await self._do(Cancel(id=self._id(), channel=self.channel))
            await self._quiet()
        elif die < 0.93:
            if self._choose.random() < 0.6:
                await self._send()
                await asyncio.sleep(self._choose.uniform(0, 0.5))
            await self._do(Stop(id=self._id(), agent=self.agent))
            await self._quiet()
            if self._choose.random() < 0.5:
                await self._do(Start(id=self._id(), agent=self.agent))
        else:
            await self._do(Restart(id=self._id(), agent=self.agent))

    async def _send(self, *, asks: bool = False) -> None:
        self._messages += 1
        text = (self._program.ask if asks else self._program.talk)(self._messages)
        await self._do(
            Send(id=self._id(), channel=self.channel, text=text),
            times=self._choose.choice((1, 1, 2, 3)),
        )

    async def _quiet(self) -> None:
        room = self._world.room(self.channel)
        await self._world.until(lambda: not room.busy and not room.queued)

    async def _answer_permissions(self) -> None:
        """Answer what is asked; now and then two at once, of whom one must be too late."""
        done: set[str] = set()
        room = self._world.room(self.channel)
        while True:
            if not set(room.asked) - done:
                await self._world.news()
            for id_, event in list(room.asked.items()):
                if id_ not in done:
                    done.add(id_)
                    await asyncio.sleep(self._choose.uniform(0, 0.8))
                    await asyncio.gather(
                        *(
                            self._do(
                                AnswerPermission(
                                    id=self._id(),
                                    permission=PermissionId(id_),
                                    optionId=self._choose.choice(event["options"])["optionId"],
                                )
                            )
                            for _ in range(self._choose.choice((1, 1, 2)))
                        )
                    )

    # --- how they do it ---------------------------------------------------------------------

    def _id(self) -> CommandId:
        self._commands += 1
        return CommandId(f"{self.agent}-{self._commands}")

    async def _do(self, command: AnyCommand, *, times: int = 1) -> Any:
        """Send a command, ``times`` at once; its result."""
        asked = self._evidence.asked.setdefault(command.id, Asked(command))
        results = await asyncio.gather(
            *(self._once(command, asked, self._buses[n % 2]) for n in range(times))
        )
        return results[0]

    async def _once(self, command: AnyCommand, asked: Asked, bus: BusClient) -> Any:
        try:
            outcome = await bus.command(command, timeout=self._world.patience)
        except SidekicksError as error:
            asked.failures.append(str(error))
            raise TimeoutError(str(error)) from error
        asked.outcomes.append(outcome)
        return outcome.result
