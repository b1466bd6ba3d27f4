"""The answers to one message, as a machine: events come in, what is to be said comes out.

Nothing here waits, prints or asks. It takes deltas by their revision, so that one that comes twice
is said once, and the state of a conversation after something was missed.
"""

from dataclasses import dataclass, field

from sk_bus.events import (
    MessageDelta,
    MessageUpdated,
    PermissionRequested,
    PermissionResolved,
    TurnChanged,
)
from sk_bus.model import (
    AgentName,
    ChannelId,
    Message,
    MessageId,
    Part,
    PermissionId,
    Role,
    TextPart,
    ToolPart,
)
from sk_bus.queries import ConversationView
from sk_bus.vocabulary import Event
from sk_cli import render

# Between two text parts of one answer: what came between isn't text.
_SEAM = "\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    """An agent's answer begins; what is written next is its."""

    agent: AgentName


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrote:
    """The agent wrote more: exactly these characters."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """Something that is no text of the answer happened; a line for the person."""

    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asks:
    """An agent waits for leave."""

    permission: PermissionRequested


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A request needs no answer any more; ``by`` whom it was settled."""

    id: PermissionId
    by: str
    optionId: str | None


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


Said = Began | Wrote | Noted | Asks | Settled | Waits | HeldUp | Ended


@dataclass(slots=True)
class Growing:
    """An answer as far as it was told."""

    id: MessageId
    agent: AgentName
    rev: int = 0
    texts: dict[int, str] = field(default_factory=dict)
    tools: dict[int, str] = field(default_factory=dict)
    last: Message | None = None

    @property
    def text(self) -> str:
        return _SEAM.join(self.texts[index] for index in sorted(self.texts))

    @property
    def well(self) -> bool:
        return self.last is not None and self.last.stopReason == "end_turn"


class Answers:
    """What is said in answer to the message ``question`` in ``channel``."""

    def __init__(self, question: MessageId, channel: ChannelId) -> None:
        self._question = question
        self._channel = channel
        self._begun = False
        self._failed = False
        self._over = False
        self._waits = False
        self._speaking: MessageId | None = None
        self.answers: dict[MessageId, Growing] = {}

    def handle(self, event: Event) -> list[Said]:
        """What there is to say of ``event``; nothing after :class:`Ended`."""
        if self._over or getattr(event, "channel", None) != self._channel:
            return []
        match event:
            case MessageUpdated(message=message):
                return self._updated(message)
            case MessageDelta() if event.messageId in self.answers:
                return self._grew(self.answers[event.messageId], event)
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
            Asks(
                permission=PermissionRequested(
                    id=one.id,
                    channel=one.channel,
                    agent=one.agent,
                    messageId=one.messageId,
                    toolCall=one.toolCall,
                    options=one.options,
                    rejections=one.rejections,
                )
            )
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
                return [Noted(line=render.end_text(message)), *self._end()]
            began_to_wait = message.queued and not self._waits
            self._waits = message.queued
            return [Waits()] if began_to_wait else []
        if message.answers != self._question:
            return []
        if message.role is Role.SYSTEM:
            return self._system(message)
        if not message.agent:
            return []
        answer = self.answers.get(message.id)
        if answer is None:
            answer = self.answers[message.id] = Growing(id=message.id, agent=message.agent)
        said: list[Said] = []
        if message.rev >= answer.rev or message.done:
            answer.rev = max(answer.rev, message.rev)
            for index, part in enumerate(message.parts):
                said += self._part(answer, index, part)
        if message.done:
            answer.last = message
            end = render.end_text(message)
            said += [Noted(line=end)] if end else []
        return self._speaker(answer, said)

    def _grew(self, answer: Growing, delta: MessageDelta) -> list[Said]:
        if delta.rev <= answer.rev:
            return []
        answer.rev = delta.rev
        if delta.part is not None:
            return self._speaker(answer, self._part(answer, delta.index, delta.part))
        if delta.kind != "text" or not delta.text:
            return []
        return self._speaker(answer, self._wrote(answer, delta.index, delta.text))

    def _part(self, answer: Growing, index: int, part: Part) -> list[Said]:
        match part:
            case TextPart(text=str(text)):
                # A text that is too big to travel is a reference: then the deltas told it.
                known = answer.texts.get(index, "")
                fresh = text[len(known) :] if text.startswith(known) else ""
                return self._wrote(answer, index, fresh) if fresh else []
            case ToolPart(tool=tool):
                if answer.tools.get(index) == tool.status:
                    return []
                answer.tools[index] = tool.status
                return [Noted(line=render.part_text(part))]
        return []

    def _wrote(self, answer: Growing, index: int, text: str) -> list[Said]:
        seam = index not in answer.texts and bool(answer.texts)
        answer.texts[index] = answer.texts.get(index, "") + text
        return [Wrote(text=_SEAM + text if seam else text)]

    def _speaker(self, answer: Growing, said: list[Said]) -> list[Said]:
        if said and self._speaking != answer.id:
            self._speaking = answer.id
            return [Began(agent=answer.agent), *said]
        return said

    def _system(self, message: Message) -> list[Said]:
        said: list[Said] = [Noted(line=render.system_text(message))]
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
