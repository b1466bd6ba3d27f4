"""One conversation as somebody sits in it, as a machine: events in, what is to be said out.

It knows what was told already, who answers, what waits and who asks for leave. Nothing here waits,
prints or asks.
"""

from dataclasses import dataclass

from sk_bus.events import (
    MessageDelta,
    MessageUpdated,
    PermissionRequested,
    PermissionResolved,
    TurnChanged,
    UsageChanged,
)
from sk_bus.model import (
    AgentName,
    ChannelId,
    Message,
    MessageId,
    PermissionId,
    Role,
    TextPart,
    Usage,
)
from sk_bus.queries import ConversationView
from sk_bus.vocabulary import Event
from sk_cli import messages
from sk_cli.render import one_line, plain_text
from sk_cli.telling import Asks, Noted, Settled, Telling, Told, request
from sk_cli.words import t


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoke:
    """The person wrote something, here or elsewhere."""

    text: str
    queued: bool


Said = Told | Asks | Settled | Spoke


class Talk:
    """What is said in ``channel``, and how it stands there."""

    def __init__(self, channel: ChannelId) -> None:
        self._channel = channel
        self._telling = Telling()
        self._users: dict[MessageId, bool] = {}
        self._system: set[MessageId] = set()
        self.turn = TurnChanged(channel=channel, busy=False)
        self.usage: dict[AgentName, Usage] = {}
        self.open: dict[PermissionId, PermissionRequested] = {}

    @property
    def busy(self) -> bool:
        """Whether there is something that Stop would end."""
        return self.turn.busy or bool(self.turn.queued)

    def begin(self, view: ConversationView, last: int) -> list[Said]:
        """Take the conversation as it stands; say its last so many messages."""
        shown = len(view.messages) - last if last else len(view.messages)
        for message in view.messages[: max(0, shown)]:
            self._updated(message)
        self._telling.interrupted()
        return self.restored(view)

    def restored(self, view: ConversationView) -> list[Said]:
        """What is new in the conversation as it stands, after events may have been missed."""
        said: list[Said] = []
        for message in view.messages:
            said += self._updated(message)
        self.turn = TurnChanged(
            channel=self._channel,
            busy=view.busy,
            queued=view.queued,
            answering=view.answering,
            waitingFor=view.waitingFor,
        )
        self.usage = {AgentName(agent): usage for agent, usage in view.usage.items()}
        waiting = {one.id: request(one) for one in view.permissions}
        fresh = [one for id_, one in waiting.items() if id_ not in self.open]
        self.open = waiting
        return [*said, *(Asks(permission=one) for one in fresh)]

    def handle(self, event: Event) -> list[Said]:
        """What there is to say of ``event``."""
        if getattr(event, "channel", None) != self._channel:
            return []
        match event:
            case MessageUpdated(message=message):
                return self._updated(message)
            case MessageDelta():
                return [*self._telling.grew(event)]
            case TurnChanged():
                self.turn = event
            case UsageChanged(agent=agent, usage=usage):
                self.usage[agent] = usage
            case PermissionRequested():
                self.open[event.id] = event
                return [Asks(permission=event)]
            case PermissionResolved() if self.open.pop(event.id, None):
                return [Settled(id=event.id, by=event.by, optionId=event.optionId)]
        return []

    def waiting(self) -> PermissionRequested | None:
        """The request that has waited longest."""
        return next(iter(self.open.values()), None)

    def _updated(self, message: Message) -> list[Said]:
        match message.role:
            case Role.USER:
                return self._spoke(message)
            case Role.SYSTEM:
                if message.id in self._system:
                    return []
                self._system.add(message.id)
                self._telling.interrupted()
                return [Noted(line=messages.system_text(message))]
            case Role.AGENT:
                return [*self._telling.updated(message)]

    def _spoke(self, message: Message) -> list[Said]:
        known = message.id in self._users
        waited = self._users.get(message.id, False)
        self._users[message.id] = message.queued
        text = "\n".join(plain_text(p.text) for p in message.parts if isinstance(p, TextPart))
        if not known:
            self._telling.interrupted()
            said: list[Said] = [Spoke(text=text, queued=message.queued)]
        elif waited and message.error is not None:
            said = []
        else:
            return []
        if message.error is not None:
            why = messages.end_text(message)
            said.append(Noted(line=t("chat.dropped", text=one_line(text, 40), why=why)))
        return said
