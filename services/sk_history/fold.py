"""What events do to the rows: events go in, writes come out, in one batch with the cursor.

The fold holds in memory what is under way (channels, growing messages, the queue, permissions,
turns, usage) and nothing of what is finished. It reads rows when it is made, and never again: its
memory is what its rows say, so that a process killed between any two batches goes on as if it
hadn't been.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sk_bus.codec import plain, value_of
from sk_bus.commands import Shutdown
from sk_bus.events import (
    ChannelsChanged,
    CommandResult,
    CommandsChanged,
    ConfigChanged,
    MessageDelta,
    MessageUpdated,
    PermissionRequested,
    PermissionResolved,
    TurnChanged,
    UsageChanged,
)
from sk_bus.internal import FileOpenable, SessionChanged
from sk_bus.model import (
    Channel,
    ChannelId,
    Cursor,
    Message,
    MessageId,
    Permission,
    PermissionId,
    Role,
)
from sk_bus.vocabulary import Event
from sk_bus.wire import packer
from sk_history import migrating, records
from sk_history.closing import ended
from sk_history.growing import Growing, Stretch
from sk_history.store import Drop, DropRange, Put, Store, Write

# The events that change a row; the shell needn't unpack others.
READ: frozenset[str] = frozenset(
    (
        "channels:changed",
        "message:updated",
        "message:delta",
        "turn:changed",
        "permission:requested",
        "permission:resolved",
        "usage:changed",
        "commands:changed",
        "config:changed",
        "state:session",
        "cmd:shutdown",
        "file:openable",
        "cmd:result",
    )
)

_CURSOR = records.meta("cursor")
_KEEP = records.meta("keepUnfinished")
_CLOSING = records.meta("closing")
_DROPPED = records.meta("dropped")
_DROPPED_AT = records.meta("droppedAt")


_Close = Shutdown | FileOpenable


@dataclass(slots=True)
class _Unfinished:
    """A message that grows (then ``growing`` is set) or waits in the queue."""

    message: Message
    growing: Growing | None = None
    rows: list[bytes] = field(default_factory=list)
    stretch: Stretch | None = None


class Fold:
    """The door of the history. ``apply`` events, then take the ``writes`` and perform them."""

    def __init__(self, store: Store) -> None:
        self._pack = packer()
        self._pending: dict[bytes, bytes | None] = {}
        self._ranges: list[DropRange] = []
        # Deleted channels whose text may still stand in files: to be compacted, then forgotten.
        dropped = store.get(_DROPPED)
        self.dropped: tuple[ChannelId, ...] = tuple(records.value(dropped)) if dropped else ()
        # The last seq of the batch that deleted the last of them; and of the batch that is next.
        dropped_at = store.get(_DROPPED_AT)
        self.dropped_at: int = records.value(dropped_at) if dropped_at else 0
        self.at = 0
        # Channels with messages that the index has yet to take in; all, until somebody has looked.
        self.fresh: set[ChannelId] = set()
        self.cursor: Cursor | None = None
        cursor = store.get(_CURSOR)
        if cursor is not None:
            epoch, seq = records.value(cursor)
            self.cursor = Cursor(epoch=epoch, seq=seq)
        keep = store.get(_KEEP)
        self._keep = keep is not None and bool(records.value(keep))
        self.channels: dict[ChannelId, Channel] = {
            channel.id: channel
            for channel in _values(Channel, store, records.CHANNELS)  # oldest first
        }
        self.permissions: dict[PermissionId, Permission] = {
            permission.id: permission
            for permission in _values(Permission, store, records.PERMISSIONS)
        }
        self.turns: dict[ChannelId, TurnChanged] = {
            turn.channel: turn for turn in _values(TurnChanged, store, records.TURNS)
        }
        self.fresh.update(self.channels)
        # What each agent of a channel has said of its context window (plain).
        self.usages: dict[ChannelId, dict[str, Any]] = {}
        for channel in self.channels:
            prefix = records.usages_of(channel)
            for key, usage in store.first(prefix, records.end_of(prefix)):
                agent = records.agent_of(prefix, key)
                self.usages.setdefault(channel, {})[agent] = records.value(usage)
        self._unfinished: dict[MessageId, _Unfinished] = {}
        for key, _ in store.first(records.UNFINISHED, records.end_of(records.UNFINISHED)):
            self._load(store, *records.unfinished_ids(key))
        self._closing: _Close | None = None
        self._closes: dict[MessageId, Message] = {}
        closing = store.get(_CLOSING)
        if closing is not None:
            command, named = records.value(closing)
            self._closing = value_of(_Close, command)  # type: ignore[arg-type]  # a union is no type
            for channel, message in named:
                data = store.get(records.message_key(channel, message))
                if data is not None:
                    made = value_of(Message, records.message(data))
                    self._closes[made.id] = made

    def _load(self, store: Store, channel: str, message_id: str) -> None:
        data = store.get(records.message_key(channel, message_id))
        if data is None:
            return
        message = value_of(Message, records.message(data))
        entry = _Unfinished(message)
        if not message.done:
            entry.growing = Growing(message)
            prefix = records.deltas_of(channel, message_id)
            for key, value in store.first(prefix, prefix + b"\xff" * 5):
                entry.growing.take(Stretch.stored(records.delta_rev(key), records.value(value)))
                entry.rows.append(key)
        self._unfinished[message.id] = entry

    # --- what is under way -------------------------------------------------------------------

    def so_far(self, message: MessageId) -> Message | None:
        """A message that is still growing, with all that has come of it."""
        entry = self._unfinished.get(message)
        if entry is None or entry.growing is None:
            return None
        return entry.growing.message()

    def growing(self, channel: ChannelId) -> list[Message]:
        """The messages of a channel that are still growing, each with all that has come of it."""
        return [
            entry.growing.message()
            for entry in self._unfinished.values()
            if entry.growing is not None and entry.message.channel == channel
        ]

    # --- events in ---------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        """Take in one event of the log."""
        match event:
            case MessageDelta():
                self._delta(event)
            case MessageUpdated(channel=channel, message=message):
                if channel in self.channels:
                    self._message(message)
            case TurnChanged(channel=channel):
                if channel in self.channels:
                    self._turn(event)
            case ChannelsChanged(channels=channels):
                self._channels(channels)
            case PermissionRequested(channel=channel):
                if channel in self.channels:
                    self._permission(event)
            case PermissionResolved(id=id_):
                self._resolved(id_)
            case UsageChanged(channel=channel, agent=agent, usage=usage):
                if channel in self.channels:
                    said = self.usages.setdefault(channel, {})[agent] = plain(usage)
                    self._put(records.usage_key(channel, agent), said)
            case CommandsChanged(agent=agent, commands=commands):
                self._put(records.commands_key(agent), plain(commands))
            case SessionChanged(channel=channel, agent=agent):
                if channel in self.channels:
                    self._put(records.session_key(channel, agent), plain(event))
            case ConfigChanged(config=config):
                if config.keepUnfinished is not self._keep:
                    self._keep = config.keepUnfinished
                    self._put(_KEEP, self._keep)
            case Shutdown():
                self._close_begins(event)
            case FileOpenable(problem=None, already=False):
                self._close_begins(event)  # it ends with the epoch
            case CommandResult(id=id_, ok=ok):
                match self._closing:
                    case Shutdown(id=closing) if closing == id_:
                        self._close_ends(done=ok)
                    case FileOpenable(command=closing) if closing == id_ and not ok:
                        self._close_ends(done=False)  # another close came first
            case _:
                pass

    def _delta(self, delta: MessageDelta) -> None:
        entry = self._unfinished.get(delta.messageId)
        if entry is None or entry.growing is None or delta.rev <= entry.growing.rev:
            return
        entry.growing.add(delta)
        if entry.stretch is None:
            entry.stretch = Stretch(delta.rev)
        entry.stretch.add(delta)
        if delta.part is not None:
            self._name_blobs(plain(delta.part), records.message_key(delta.channel, delta.messageId))

    def _message(self, message: Message) -> None:
        value = plain(message)
        row = records.sealed(value, pack=self._pack)
        self._keep_message(message, row)
        if records.names_a_blob(row):
            self._name_blobs(value, records.message_key(message.channel, message.id))
        self._forget(message.id)
        if message.id in self._closes:
            self._closes[message.id] = message
        elif self._closing is not None and message.role is Role.AGENT:
            # An agent that was still thinking: its message comes only with the end of its turn.
            self._closes[message.id] = message
            self._put_closing(self._closing)
        if not message.done or message.queued:
            self._unfinished[message.id] = _Unfinished(
                message, None if message.done else Growing(message)
            )
            self._pending[records.unfinished_key(message.channel, message.id)] = b""

    def _keep_message(self, message: Message, row: bytes | None) -> None:
        """Store a message; one that is finished, or was, is to be indexed (anew)."""
        key = records.message_key(message.channel, message.id)
        self._pending[key] = row
        if message.done and not message.queued:
            self._pending[records.fresh_of_row(key)] = self._mark()
            self.fresh.add(message.channel)

    def _mark(self) -> bytes:
        # Differs from write to write, so that an index in the making doesn't miss a second change.
        return (self.cursor.seq if self.cursor else 0).to_bytes(8, "big")

    def _forget(self, id_: MessageId) -> None:
        """Drop the rows that only a message under way has."""
        entry = self._unfinished.pop(id_, None)
        if entry is not None:
            self._pending[records.unfinished_key(entry.message.channel, id_)] = None
            for row in entry.rows:
                self._pending[row] = None

    def _turn(self, turn: TurnChanged) -> None:
        if turn.busy or turn.queued or turn.waitingFor is not None:
            self.turns[turn.channel] = turn
            self._put(records.turn_key(turn.channel), plain(turn))
        elif self.turns.pop(turn.channel, None) is not None:
            self._pending[records.turn_key(turn.channel)] = None

    def _permission(self, event: PermissionRequested) -> None:
        permission = Permission(
            id=event.id,
            channel=event.channel,
            agent=event.agent,
            messageId=event.messageId,
            toolCall=event.toolCall,
            options=event.options,
            rejections=event.rejections,
        )
        self.permissions[event.id] = permission
        key = records.permission_key(event.channel, event.id)
        value = plain(permission)
        self._put(key, value)
        self._name_blobs(value, key)

    def _resolved(self, id_: PermissionId) -> None:
        permission = self.permissions.pop(id_, None)
        if permission is not None:
            self._pending[records.permission_key(permission.channel, id_)] = None

    def _channels(self, channels: tuple[Channel, ...]) -> None:
        now = {channel.id: channel for channel in channels}
        for gone in [id_ for id_ in self.channels if id_ not in now]:
            self._drop_channel(gone)
        for channel in channels:
            if self.channels.get(channel.id) != channel:
                self._put(records.channel_key(channel.id), plain(channel))
        self.channels = dict(sorted(now.items(), key=lambda item: records.id_bytes(item[0])))

    def _drop_channel(self, channel: ChannelId) -> None:
        for id_ in [id_ for id_, one in self.permissions.items() if one.channel == channel]:
            self._resolved(id_)
        for entry in [one for one in self._unfinished.values() if one.message.channel == channel]:
            self._forget(entry.message.id)
        if self.turns.pop(channel, None) is not None:
            self._pending[records.turn_key(channel)] = None
        self.usages.pop(channel, None)
        self._closes = {id_: one for id_, one in self._closes.items() if one.channel != channel}
        for prefix in (records.fresh_of(channel), records.blocks_of(channel)):
            self._drop_range(prefix, prefix + b"\xff")
        self._drop_range(*records.everything_of(channel))
        self._pending[records.channel_key(channel)] = None
        self.dropped = (*self.dropped, channel)
        self.dropped_at = self.at
        self._put(_DROPPED_AT, self.at)
        self._put(_DROPPED, self.dropped)

    def _drop_range(self, begin: bytes, end: bytes) -> None:
        for key in [key for key in self._pending if begin <= key < end]:
            del self._pending[key]
        self._ranges.append(DropRange(begin, end))

    def compacted(self, channels: tuple[ChannelId, ...]) -> None:
        """Nothing of these channels stands in a file any more."""
        if not channels:
            return
        self.dropped = tuple(one for one in self.dropped if one not in channels)
        self._put(_DROPPED, self.dropped)

    # --- the end of things -------------------------------------------------------------------

    def _close_begins(self, command: _Close) -> None:
        self._closing = command
        self._closes = {id_: entry.message for id_, entry in self._unfinished.items()}
        self._put_closing(command)

    def _put_closing(self, command: _Close) -> None:
        named = [[one.channel, one.id] for one in self._closes.values()]
        self._put(_CLOSING, [plain(command), named])

    def _close_ends(self, *, done: bool) -> None:
        if done:
            self._end_unfinished()
        self._closing, self._closes = None, {}
        self._pending[_CLOSING] = None

    def _end_unfinished(self) -> None:
        """Remove what an orderly close left unfinished, or say so when it is to be kept."""
        for id_, message in self._closes.items():
            grown = ended(self.so_far(id_) or message)
            self._forget(id_)
            self._keep_message(grown, records.sealed(plain(grown)) if self._keep else None)

    def new_epoch(self) -> None:
        """Nothing of what was under way goes on: the log that would say how is gone."""
        if self._closing is not None:
            self._close_ends(done=True)
        for id_ in list(self._unfinished):
            entry = self._unfinished[id_]
            message = ended(self.so_far(id_) or entry.message)
            self._forget(id_)
            self._keep_message(message, records.sealed(plain(message)))
        for permission in list(self.permissions):
            self._resolved(permission)
        for channel in self.turns:
            self._pending[records.turn_key(channel)] = None
        self.turns = {}

    # --- writes out --------------------------------------------------------------------------

    def writes(self, cursor: Cursor) -> list[Write]:
        """All that has to be written since the last call, with the cursor, to be one batch."""
        for entry in self._unfinished.values():
            if entry.stretch is not None:
                message = entry.message
                key = records.delta_key(message.channel, message.id, entry.stretch.first)
                self._put(key, entry.stretch.plain())
                entry.rows.append(key)
                entry.stretch = None
        made: list[Write] = list(self._ranges)
        for key, value in self._pending.items():
            made.append(Drop(key) if value is None else Put(key, value))
        if self.cursor is None:
            made += migrating.begun()
        made.append(Put(_CURSOR, self._pack([cursor.epoch, cursor.seq])))
        self._pending, self._ranges = {}, []
        self.cursor = cursor
        return made

    def _put(self, key: bytes, value: Any) -> None:
        self._pending[key] = self._pack(value)

    def _name_blobs(self, value: Any, key: bytes) -> None:
        for sha256 in records.named_blobs(value):
            self._pending[records.blob_key(sha256, key)] = b""


def _values(kind: type[Any], store: Store, prefix: bytes) -> Iterable[Any]:
    for _, data in store.first(prefix, records.end_of(prefix)):
        yield value_of(kind, records.value(data))
