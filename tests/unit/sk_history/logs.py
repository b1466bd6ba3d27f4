"""Logs for the history's tests: a small writer of plausible events, and a client that folds them.

The client is written the plain way, value by value, and shares no code with the history.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from sk_bus import ids
from sk_bus.codec import value_of
from sk_bus.events import (
    ChannelsChanged,
    MessageDelta,
    MessageUpdated,
    PermissionRequested,
    PermissionResolved,
    TurnChanged,
    UsageChanged,
)
from sk_bus.model import (
    AgentName,
    Channel,
    ChannelId,
    Message,
    MessageId,
    Part,
    Permission,
    PermissionId,
    PermissionOption,
    Role,
    TextPart,
    ThoughtPart,
    ToolCall,
    ToolPart,
    Usage,
)
from sk_bus.queries import ConversationView
from sk_bus.vocabulary import Event
from sk_bus.wire import unpacked
from sk_history import pages
from sk_history.fold import Fold
from sk_history.store import Store

ALICE = AgentName("alice")


def conversation(store: Store, fold: Fold, channel: ChannelId) -> dict[str, Any]:
    """The view as its reader unpacks it."""
    view: dict[str, Any] = unpacked(pages.conversation(store, fold, channel))
    return view


def older(store: Store, fold: Fold, channel: ChannelId, before: MessageId) -> dict[str, Any]:
    page: dict[str, Any] = unpacked(pages.older(store, fold, channel, before))
    return page


def newer(store: Store, fold: Fold, channel: ChannelId, after: MessageId) -> dict[str, Any]:
    page: dict[str, Any] = unpacked(pages.newer(store, fold, channel, after))
    return page


def around(store: Store, fold: Fold, channel: ChannelId, message: MessageId) -> dict[str, Any]:
    page: dict[str, Any] = unpacked(pages.around(store, fold, channel, message))
    return page


@dataclass
class Writer:
    """Turns a list of small actions into a log that a router could have written."""

    log: list[Event] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)
    growing: dict[MessageId, Message] = field(default_factory=dict)
    queued: dict[MessageId, Message] = field(default_factory=dict)
    asked: dict[PermissionId, ChannelId] = field(default_factory=dict)

    def perform(self, action: tuple[str, int, str]) -> None:
        verb, pick, text = action
        getattr(self, f"_{verb}")(pick, text)

    def _seq(self) -> int:
        return 10 + len(self.log)

    def _channel(self, pick: int) -> ChannelId | None:
        return self.channels[pick % len(self.channels)].id if self.channels else None

    def _make(self, pick: int, text: str) -> None:
        self.channels.append(Channel(id=ids.channel_id(self._seq()), name=text, members=(ALICE,)))
        self.log.append(ChannelsChanged(channels=tuple(self.channels)))

    def _delete(self, pick: int, text: str) -> None:
        channel = self._channel(pick)
        if channel is None:
            return
        self.channels = [one for one in self.channels if one.id != channel]
        for things in (self.growing, self.queued):
            for id_ in [id_ for id_, one in things.items() if one.channel == channel]:
                del things[id_]
        self.asked = {id_: where for id_, where in self.asked.items() if where != channel}
        self.log.append(ChannelsChanged(channels=tuple(self.channels)))

    def _say(self, pick: int, text: str) -> None:
        self._user(pick, text, queued=False)

    def _queue(self, pick: int, text: str) -> None:
        self._user(pick, text, queued=True)

    def _user(self, pick: int, text: str, *, queued: bool) -> None:
        channel = self._channel(pick)
        if channel is None:
            return
        message = Message(
            id=ids.message_id(self._seq()),
            channel=channel,
            createdAt=self._seq(),
            role=Role.USER,
            parts=(TextPart(text=text),),
            queued=queued,
        )
        if queued:
            self.queued[message.id] = message
        self._update(message)

    def _unqueue(self, pick: int, text: str) -> None:
        if self.queued:
            id_ = sorted(self.queued)[pick % len(self.queued)]
            self._update(replace(self.queued.pop(id_), queued=False))

    def _begin(self, pick: int, text: str) -> None:
        channel = self._channel(pick)
        if channel is None:
            return
        message = Message(
            id=ids.message_id(self._seq()),
            channel=channel,
            createdAt=self._seq(),
            role=Role.AGENT,
            agent=ALICE,
            done=False,
        )
        self.growing[message.id] = message
        self._update(message)
        self.log.append(TurnChanged(channel=channel, busy=True, answering=ALICE))

    def _grow(self, pick: int, text: str) -> None:
        self._delta(pick, "thought" if pick % 3 == 0 else "text", text, None)

    def _tool(self, pick: int, text: str) -> None:
        self._delta(pick, "tool", None, ToolPart(tool=ToolCall(id="t", title=text)))

    def _delta(self, pick: int, kind: str, text: str | None, part: Part | None) -> None:
        if not self.growing:
            return
        message = self.growing[sorted(self.growing)[pick % len(self.growing)]]
        last = message.parts[-1] if message.parts else None
        same = last is not None and last.type == kind
        delta = MessageDelta(
            channel=message.channel,
            messageId=message.id,
            index=len(message.parts) - 1 if same else len(message.parts),
            kind=kind,
            rev=message.rev + 1,
            text=text,
            part=part,
        )
        self.growing[message.id] = grown(message, delta)
        self.log.append(delta)

    def _finish(self, pick: int, text: str) -> None:
        if self.growing:
            message = self.growing.pop(sorted(self.growing)[pick % len(self.growing)])
            self._update(replace(message, done=True, stopReason="end_turn"))
            self.log.append(TurnChanged(channel=message.channel, busy=False))

    def _ask(self, pick: int, text: str) -> None:
        if not self.growing:
            return
        message = self.growing[sorted(self.growing)[pick % len(self.growing)]]
        permission = ids.permission_id(self._seq())
        self.asked[permission] = message.channel
        self.log.append(
            PermissionRequested(
                id=permission,
                channel=message.channel,
                agent=ALICE,
                messageId=message.id,
                toolCall=ToolCall(id="t", title=text),
                options=(PermissionOption(optionId="yes", name="Yes"),),
            )
        )

    def _resolve(self, pick: int, text: str) -> None:
        if self.asked:
            id_ = sorted(self.asked)[pick % len(self.asked)]
            channel = self.asked.pop(id_)
            self.log.append(PermissionResolved(id=id_, channel=channel, by="page", optionId="yes"))

    def _use(self, pick: int, text: str) -> None:
        channel = self._channel(pick)
        if channel is not None:
            self.log.append(UsageChanged(channel=channel, agent=ALICE, usage=Usage(used=pick)))

    def _update(self, message: Message) -> None:
        self.log.append(MessageUpdated(channel=message.channel, message=message))


def written(actions: list[tuple[str, int, str]]) -> list[Event]:
    writer = Writer()
    writer.perform(("make", 0, "first"))
    for action in actions:
        writer.perform(action)
    return writer.log


_VERBS = [
    *("grow",) * 8,
    *("begin", "tool", "say", "finish") * 3,
    *("make", "queue", "unqueue", "ask", "resolve", "use"),
    "delete",
]
LOGS = st.lists(
    st.tuples(st.sampled_from(_VERBS), st.integers(0, 9), st.text("aé🎈\n", max_size=4)),
    min_size=20,
    max_size=60,
).map(written)


def grown(message: Message, delta: MessageDelta) -> Message:
    """What a client makes of one delta."""
    parts = list(message.parts)
    if delta.part is not None:
        parts[delta.index : delta.index + 1] = [delta.part]
    elif delta.index == len(parts):
        kind = ThoughtPart if delta.kind == "thought" else TextPart
        parts.append(kind(text=delta.text or ""))
    else:
        parts[delta.index] = replace(parts[delta.index], text=parts[delta.index].text + delta.text)
    return replace(message, parts=tuple(parts), rev=delta.rev)


@dataclass
class Client:
    """One channel as a page sees it, from the beginning or from a snapshot on."""

    channel: ChannelId
    there: bool = False
    messages: dict[MessageId, Message] = field(default_factory=dict)
    permissions: dict[PermissionId, Permission] = field(default_factory=dict)
    busy: bool = False
    usage: dict[str, Usage] = field(default_factory=dict)

    @classmethod
    def snapshot(cls, view: dict[str, Any]) -> "Client":
        made = value_of(ConversationView, view)
        return cls(
            channel=made.channel.id,
            there=True,
            messages={one.id: one for one in made.messages},
            permissions={one.id: one for one in made.permissions},
            busy=made.busy,
            usage=made.usage,
        )

    def fold(self, events: list[Event]) -> "Client":
        for event in events:
            self._take(event)
        return self

    def _take(self, event: Event) -> None:
        match event:
            case ChannelsChanged(channels=channels):
                self.there = any(one.id == self.channel for one in channels)
            case MessageUpdated(channel=self.channel, message=message):
                self.messages[message.id] = message
            case MessageDelta(channel=self.channel, messageId=id_):
                self.messages[id_] = grown(self.messages[id_], event)
            case TurnChanged(channel=self.channel, busy=busy):
                self.busy = busy
            case UsageChanged(channel=self.channel, agent=agent, usage=usage):
                self.usage[agent] = usage
            case PermissionRequested(channel=self.channel):
                self.permissions[event.id] = Permission(
                    id=event.id,
                    channel=event.channel,
                    agent=event.agent,
                    messageId=event.messageId,
                    toolCall=event.toolCall,
                    options=event.options,
                )
            case PermissionResolved(id=id_):
                self.permissions.pop(id_, None)
