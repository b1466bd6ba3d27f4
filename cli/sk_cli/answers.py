"""The answers to one message, as a machine: events come in, what is to be said comes out.

Nothing here waits, prints or asks.
"""

from dataclasses import dataclass

from sk_bus.events import (
    MessageDelta,
    MessageUpdated,
    PermissionRequested,
    PermissionResolved,
    TurnChanged,
)
from sk_bus.model import ChannelId, Message, MessageId, Role
from sk_bus.queries import ConversationView
from sk_bus.vocabulary import Event
from sk_cli import messages
from sk_cli.telling import Asks, Growing, Noted, Settled, Telling, Told, request


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """No more answers come. ``well``: at least one came, and each ended as it should."""

    well: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """The message is queued: something else is under way in its channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldUp:
    """What the message waits for waits itself, for leave that somebody has to give."""

    permission: PermissionRequested


Said = Told | Asks | Settled | Waits | HeldUp | Ended


class Answers:
    """What is said in answer to the message ``question`` in ``channel``."""

    def __init__(self, question: MessageId, channel: ChannelId) -> None:
        self._question = question
        self._channel = channel
        self._begun = False
        self._failed = False
        self._over = False
        self._waits = False
        self._telling = Telling()

    @property
    def answers(self) -> dict[MessageId, Growing]:
        return self._telling.answers

    def handle(self, event: Event) -> list[Said]:
        """What there is to say of ``event``; nothing after :class:`Ended`."""
        if self._over or getattr(event, "channel", None) != self._channel:
            return []
        match event:
            case MessageUpdated(message=message):
                return self._updated(message)
            case MessageDelta():
                return [*self._telling.grew(event)]
            case PermissionRequested() if event.messageId in self.answers:
                return [Asks(permission=event)]
            case PermissionRequested() if self._waits and not self._begun:
                return [HeldUp(permission=event)]
            case PermissionResolved():
                return [Settled(id=event.id, by=event.by, optionId=event.optionId)]
            case TurnChanged():
                return self._turn(event)
        return []

    def restored(self, view: ConversationView) -> list[Said]:
        """What there is to say of the conversation as it stands, after events were missed."""
        if self._over:
            return []
        said: list[Said] = []
        for message in view.messages:
            said += self._updated(message)
        said += [
            Asks(permission=request(one))
            for one in view.permissions
            if one.messageId in self.answers
        ]
        if not view.busy and not self._over:
            said += self._end()
        return said

    def _updated(self, message: Message) -> list[Said]:
        if message.id == self._question:
            if message.error is not None:
                self._failed = True
                return [Noted(line=messages.end_text(message)), *self._end()]
            began_to_wait = message.queued and not self._waits
            self._waits = message.queued
            return [Waits()] if began_to_wait else []
        if message.answers != self._question:
            return []
        if message.role is Role.SYSTEM:
            return self._system(message)
        return [*self._telling.updated(message)] if message.agent else []

    def _system(self, message: Message) -> list[Said]:
        said: list[Said] = [Noted(line=messages.system_text(message))]
        if message.code in {"no-recipient", "agent-unavailable"}:
            self._failed = True
            # Where no turn ever begins, nothing else will say that it is over.
            if message.code == "no-recipient" and not self._begun:
                said += self._end()
        return said

    def _turn(self, turn: TurnChanged) -> list[Said]:
        if turn.answers == self._question:
            self._begun = True
            return []
        settled = not turn.busy and (self._failed or bool(self.answers))
        return self._end() if self._begun or settled else []

    def _end(self) -> list[Said]:
        self._over = True
        answers = self.answers.values()
        return [Ended(well=not self._failed and bool(answers) and all(a.well for a in answers))]
