"""A person at the bus of real services: gives commands, follows the log, waits for what comes."""

import asyncio
import contextlib
import itertools
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from sk_bus.client import BusClient, connect
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
from sk_bus.events import (
    AgentStateChanged,
    CommandResult,
    MessageDelta,
    MessageUpdated,
    PermissionRequested,
    TurnChanged,
)
from sk_bus.model import (
    AgentName,
    ChannelId,
    CommandId,
    Cursor,
    Message,
    Role,
    TextPart,
)
from sk_bus.paths import Instance
from sk_bus.queries import AnyQuery
from sk_bus.vocabulary import Event
from sk_bus.wire import Batch
from tests.support.patience import PATIENCE

_ids = itertools.count()


class Person:
    """What one has seen since one came, and what one may do."""

    def __init__(self, bus: BusClient, patience: float = PATIENCE) -> None:
        self.bus = bus
        self.patience = patience  # seconds
        self.events: list[Event] = []
        self.states: dict[str, AgentStateChanged] = {}
        self.asked: list[PermissionRequested] = []
        self.seen = 0  # everything up to this seq
        self._messages: dict[str, Message] = {}
        self._turns: dict[str, TurnChanged] = {}
        self._grown: dict[str, list[str]] = {}
        self._came = asyncio.Event()
        self._here = asyncio.Event()

    async def follow(self, after: Cursor) -> None:
        async for item in self.bus.follow(after):
            if isinstance(item, Batch):
                for _, event in item.events():
                    self._see(event)
            self.seen = item.last if isinstance(item, Batch) else item.head
            self._here.set()
            self._came.set()

    async def here(self) -> None:
        """Wait until nothing that is to come can be missed."""
        await self._here.wait()

    def _see(self, event: Event) -> None:
        self.events.append(event)
        match event:
            case AgentStateChanged():
                self.states[event.agent] = event
            case MessageUpdated():
                self._messages[event.message.id] = event.message
            case MessageDelta(text=str(text)) if event.kind == "text":
                self._grown.setdefault(event.messageId, []).append(text)
            case PermissionRequested():
                self.asked.append(event)
            case TurnChanged():
                self._turns[event.channel] = event

    async def until(self, true: Callable[[], Any], timeout: float | None = None) -> Any:
        """Wait until what came makes ``true`` so; its value."""
        async with asyncio.timeout(timeout or self.patience):
            while not (value := true()):
                self._came.clear()
                await self._came.wait()
        return value

    # --- commands ---------------------------------------------------------------------------

    async def give(self, kind: Callable[..., AnyCommand], **fields: Any) -> CommandResult:
        """Have it done; what it did has been seen when this returns."""
        id_ = CommandId(f"person-{os.getpid()}-{next(_ids)}")
        outcome = await self.bus.command(kind(id=id_, **fields), timeout=self.patience)
        # The answer and the log come by two ways, and either may be first.
        await self.until(lambda: self.seen >= outcome.seq)
        return outcome.result

    async def direct(self, agent: str) -> ChannelId:
        made = await self.give(Direct, agent=AgentName(agent))
        assert made.ok, made.problem
        return ChannelId(made.value)

    async def send(self, channel: ChannelId, text: str) -> str:
        """Send it; the message's id."""
        made = await self.give(Send, channel=channel, text=text)
        assert made.ok, made.problem
        return str(made.value)

    async def say(self, channel: ChannelId, text: str) -> Message:
        """Send it, and wait for the whole answer."""
        return await self.answer(channel, await self.send(channel, text))

    async def start(self, agent: str) -> CommandResult:
        return await self.give(Start, agent=AgentName(agent))

    async def stop(self, agent: str) -> CommandResult:
        return await self.give(Stop, agent=AgentName(agent))

    async def restart(self, agent: str) -> CommandResult:
        return await self.give(Restart, agent=AgentName(agent))

    async def cancel(self, channel: ChannelId) -> CommandResult:
        return await self.give(Cancel, channel=channel)

    async def permit(self, asked: PermissionRequested, option: str) -> CommandResult:
        return await self.give(AnswerPermission, permission=asked.id, optionId=option)

    async def ask(self, query: AnyQuery) -> Any:
        """The answer of who has read what we have seen."""
        return (await self.bus.query(query, after=self.seen)).value

    # --- what is to be seen -----------------------------------------------------------------

    def answers(self, message: str) -> list[Message]:
        """What answers the user's message ``message``, as it stands now."""
        return [one for one in self._messages.values() if one.answers == message]

    async def answer(self, channel: ChannelId, message: str, timeout: float = PATIENCE) -> Message:
        """The answer once it has ended, and the channel with it."""

        def ended() -> list[Message]:
            turn = self._turns.get(channel)
            found = [one for one in self.answers(message) if one.done]
            return found if turn is not None and not turn.busy else []

        return (await self.until(ended))[-1]  # type: ignore[no-any-return]

    def now(self, message: Message) -> Message:
        """The message as it stands now: some is amended."""
        return self._messages[message.id]

    def grown(self, message: str) -> str:
        """The text that was seen to grow in answer to a message, done or not."""
        return "".join("".join(self._grown.get(one.id, ())) for one in self.answers(message))

    async def asks(self, channel: ChannelId, count: int = 1) -> list[PermissionRequested]:
        """The channel's permission requests, once there are ``count``."""

        def found() -> list[PermissionRequested]:
            those = [one for one in self.asked if one.channel == channel]
            return those if len(those) >= count else []

        return list(await self.until(found))

    async def becomes(self, agent: str, state: str) -> AgentStateChanged:
        """Wait until the agent is in that state, and not on its way out of it."""

        def there() -> AgentStateChanged | None:
            seen = self.states.get(agent)
            return seen if seen and seen.state.value == state and not seen.stopping else None

        try:
            seen: AgentStateChanged = await self.until(there)
        except TimeoutError:
            raise AssertionError(f"{agent} is not {state}: {self.states.get(agent)}") from None
        return seen


def text(message: Message) -> str:
    """The text parts of a message, joined."""
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    return "".join(one if isinstance(one, str) else one.head for one in texts)


def why(message: Message) -> str:
    """How it ended: its stop reason, or what its error says."""
    if message.error is not None:
        return message.error.message
    assert message.role is Role.AGENT
    return message.stopReason or "no reason"


@asynccontextmanager
async def person(
    instance: Instance, *, past: bool = False, patience: float = PATIENCE
) -> AsyncIterator[Person]:
    """Someone who follows the log of a running instance, from now on or with its ``past``."""
    async with connect(instance) as bus:
        made = Person(bus, patience)
        epoch = (await bus.hello()).epoch if past else 0
        following = asyncio.create_task(made.follow(Cursor(epoch=epoch, seq=0)))
        try:
            await made.here()
            yield made
        finally:
            following.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await following
