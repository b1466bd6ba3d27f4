"""A decision under way: what has been said so far, and the state that follows from it.

Whatever a decision says is evolved at once, so that the state moves only by what is published.
Records are put whole and told at the end of the input; results of commands come last.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from sk_bus import ids
from sk_bus.codec import plain
from sk_bus.events import CommandResult, MessageDelta
from sk_bus.internal import MemoryChanged
from sk_bus.model import (
    AgentName,
    BlobRef,
    ChannelId,
    CommandId,
    MessageId,
    PermissionId,
    Problem,
    Text,
)
from sk_bus.vocabulary import Event
from sk_router import texts
from sk_router.evolve import evolve
from sk_router.records import Life, Talk
from sk_router.state import State


@dataclass(frozen=True, slots=True)
class Input:
    """One event of the log, with the bus's stamps in milliseconds."""

    seq: int
    ts: int
    mono: int
    event: Event


@dataclass(frozen=True, slots=True)
class Became:
    """An agent runs, or (``inc`` is the life that ended) has gone."""

    agent: AgentName
    gone: bool
    inc: int = 0
    problem: Problem | None = None
    taken: int = 0


@dataclass(slots=True)
class _Joined:
    """Text of one part that waits to be published as one delta."""

    channel: ChannelId
    messageId: MessageId
    index: int
    kind: str
    pieces: list[str]
    length: int


@dataclass(slots=True)
class Decision:
    """What follows from a run of inputs. ``blobs`` are to be written before it is published.

    ``accepted`` are messages of this input that haven't been shown, ``text_of`` reads a blob by
    its hash.
    """

    state: State
    events: list[Event] = field(default_factory=list)
    blobs: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    seq: int = 0
    ts: int = 0
    mono: int = 0
    became: deque[Became] = field(default_factory=deque)
    amended: dict[MessageId, None] = field(default_factory=dict)
    accepted: dict[MessageId, ChannelId] = field(default_factory=dict)
    text_of: Callable[[str], str | None] | None = None
    _messages: int = 0
    _permissions: int = 0
    _before: dict[tuple[str, str], Any] = field(default_factory=dict)
    _results: list[CommandResult] = field(default_factory=list)
    _joined: _Joined | None = None

    def begin(self, input_: Input) -> None:
        """Turn to the next input."""
        self.seq, self.ts, self.mono = input_.seq, input_.ts, input_.mono
        self._messages = self._permissions = 0

    # --- what is said -----------------------------------------------------------------------

    def say(self, event: Event) -> None:
        """Publish ``event``, and let the state follow."""
        if self._joined is not None:
            self.flush()
        self.events.append(event)
        evolve(self.state, event)

    def add_text(
        self, channel: ChannelId, message: MessageId, index: int, kind: str, text: str
    ) -> None:
        """Let part ``index`` grow. What follows on goes into the same delta."""
        joined = self._joined
        if (
            joined is not None
            and joined.messageId == message
            and joined.index == index
            and joined.length + len(text) <= texts.PIECE
        ):
            joined.pieces.append(text)
            joined.length += len(text)
            return
        self.flush()
        for piece in texts.pieces(text):
            self.flush()
            self._joined = _Joined(channel, message, index, kind, [piece], len(piece))

    def flush(self) -> None:
        """Publish the text that waits."""
        joined = self._joined
        if joined is None:
            return
        self._joined = None
        delta = MessageDelta(
            channel=joined.channel,
            messageId=joined.messageId,
            index=joined.index,
            kind=joined.kind,
            rev=self.state.messages[joined.messageId].rev + 1,
            text="".join(joined.pieces),
        )
        self.events.append(delta)
        evolve(self.state, delta)

    def joined_at(self, message: MessageId) -> tuple[int, str] | None:
        """The part of ``message`` that text is waiting for."""
        joined = self._joined
        if joined is None or joined.messageId != message:
            return None
        return joined.index, joined.kind

    def succeed(self, commands: Iterable[CommandId], value: Any = None) -> None:
        self._results += [CommandResult(id=id_, ok=True, value=value) for id_ in commands]

    def refuse(self, commands: Iterable[CommandId], problem: Problem) -> None:
        self._results += [CommandResult(id=id_, ok=False, problem=problem) for id_ in commands]

    def note(self, text: str) -> None:
        """Leave a line for the log."""
        self.notes.append(text)

    def settle(self) -> None:
        """End the input: tell the records that changed, then the results."""
        self.flush()
        for (name, key), before in self._before.items():
            now = getattr(self.state, name).get(key)
            if now != before:
                self.events.append(MemoryChanged(slice=name, key=key, value=plain(now)))
        self._before.clear()
        self.events += self._results
        self._results.clear()

    # --- what is remembered -----------------------------------------------------------------

    def put(self, name: str, key: str, value: Any) -> None:
        """Replace a record; ``None`` forgets it."""
        records = getattr(self.state, name)
        self._before.setdefault((name, key), records.get(key))
        if value is None:
            records.pop(key, None)
        else:
            records[key] = value

    def forget_message(self, message: MessageId) -> None:
        """The message is over for good: nothing more can come to it."""
        self.say(MemoryChanged(slice="messages", key=message))

    def life(self, agent: AgentName) -> Life:
        return self.state.lives.get(agent) or Life()

    def talk(self, channel: ChannelId) -> Talk:
        return self.state.talks.get(channel) or Talk()

    def put_talk(self, channel: ChannelId, talk: Talk) -> None:
        self.put("talks", channel, talk if talk != Talk() else None)

    def timer(self, name: str, deadline: int) -> None:
        """Be woken by ``timer:fired`` when ``mono`` passes ``deadline``."""
        self.put("timers", name, deadline)

    def untimer(self, name: str) -> None:
        if name in self.state.timers:
            self.put("timers", name, None)

    # --- what is made -----------------------------------------------------------------------

    def message_id(self) -> MessageId:
        made = ids.message_id(self.seq, self._messages)
        self._messages += 1
        return made

    def permission_id(self) -> PermissionId:
        made = ids.permission_id(self.seq, self._permissions)
        self._permissions += 1
        return made

    def whole(self, text: Text) -> str:
        """The text itself, where an event holds only what stands for it.

        A hash names one text and no other, so what is read here is as good as part of the input.
        """
        if isinstance(text, str):
            return text
        if text.sha256 in self.blobs:
            return self.blobs[text.sha256]
        found = self.text_of(text.sha256) if self.text_of is not None else None
        return text.head if found is None else found

    def kept(self, text: str, longest: int = texts.LONGEST) -> str | BlobRef:
        """``text`` as an event may hold it."""
        if not texts.too_long(text, longest):
            return text
        made = texts.reference(text)
        self.blobs[made.sha256] = text
        return made
