"""Agents' messages as they are told on a terminal, as a machine: events in, what is to be said out.

Nothing here waits, prints or asks. It takes deltas by their revision, so that one that comes twice
is said once, and the state of a conversation after something was missed.
"""

from dataclasses import dataclass, field

from sk_bus.events import MessageDelta, PermissionRequested
from sk_bus.model import (
    AgentName,
    Message,
    MessageId,
    Part,
    Permission,
    PermissionId,
    TextPart,
    ToolPart,
)
from sk_cli import messages

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


Told = Began | Wrote | Noted


class Telling:
    """The answers that are told, by their messages' ids."""

    def __init__(self) -> None:
        self.answers: dict[MessageId, Growing] = {}
        self._speaking: MessageId | None = None

    def interrupted(self) -> None:
        """Something else was said: the next words begin with their author's name again."""
        self._speaking = None

    def updated(self, message: Message) -> list[Told]:
        """What there is to say of an agent's message as it is now."""
        answer = self.answers.get(message.id)
        if answer is None:
            assert message.agent, "an agent's message names its author"
            answer = self.answers[message.id] = Growing(id=message.id, agent=message.agent)
        said: list[Told] = []
        if message.rev >= answer.rev or message.done:
            answer.rev = max(answer.rev, message.rev)
            for index, part in enumerate(message.parts):
                said += self._part(answer, index, part)
        if message.done and (answer.last is None or answer.last != message):
            ended_before = messages.end_text(answer.last) if answer.last else ""
            answer.last = message
            end = messages.end_text(message)
            said += [Noted(line=end)] if end and end != ended_before else []
        return self._speaker(answer, said)

    def grew(self, delta: MessageDelta) -> list[Told]:
        """What there is to say of a delta; nothing of a message that isn't told."""
        answer = self.answers.get(delta.messageId)
        if answer is None or delta.rev <= answer.rev:
            return []
        answer.rev = delta.rev
        if delta.part is not None:
            return self._speaker(answer, self._part(answer, delta.index, delta.part))
        if delta.kind != "text" or not delta.text:
            return []
        return self._speaker(answer, self._wrote(answer, delta.index, delta.text))

    def _part(self, answer: Growing, index: int, part: Part) -> list[Told]:
        match part:
            case TextPart(text=str(text)):
                # A text that is too big to travel is a reference: then the deltas told it.
                known = answer.texts.get(index, "")
                fresh = text[len(known) :] if text.startswith(known) else ""
                return self._wrote(answer, index, fresh) if fresh else []
            case ToolPart(tool=tool):
                state = tool.ended or tool.status
                if answer.tools.get(index) == state:
                    return []
                answer.tools[index] = state
                return [Noted(line=messages.part_text(part))]
        return []

    def _wrote(self, answer: Growing, index: int, text: str) -> list[Told]:
        seam = index not in answer.texts and bool(answer.texts)
        answer.texts[index] = answer.texts.get(index, "") + text
        return [Wrote(text=_SEAM + text if seam else text)]

    def _speaker(self, answer: Growing, said: list[Told]) -> list[Told]:
        if said and self._speaking != answer.id:
            self._speaking = answer.id
            return [Began(agent=answer.agent), *said]
        return said


def request(permission: Permission) -> PermissionRequested:
    """A request that waits, as the event that it came by."""
    return PermissionRequested(
        id=permission.id,
        channel=permission.channel,
        agent=permission.agent,
        messageId=permission.messageId,
        toolCall=permission.toolCall,
        options=permission.options,
        rejections=permission.rejections,
    )
