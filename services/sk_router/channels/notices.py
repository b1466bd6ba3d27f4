"""System messages: what Sidekicks itself says in a channel, by a code that each client words."""

from sk_bus.events import MessageUpdated
from sk_bus.model import AgentName, ChannelId, Message, MessageId, Problem, Role
from sk_router.decision import Decision


def say(
    decision: Decision,
    channel: ChannelId,
    agent: AgentName,
    code: str,
    *,
    error: Problem | None = None,
    answers: MessageId | None = None,
    during: MessageId | None = None,
) -> None:
    """Say ``code`` about the agent; with ``answers`` it stands in the place of an answer.

    Else it is said ``during`` the answers under way, also between two of them, where there are any
    and nothing else is named.
    """
    turn, round_ = decision.talk(channel).turn, decision.state.rounds.get(channel)
    if answers is None and during is None:
        during = turn.answers if turn is not None else round_.messageId if round_ else None
    said = Message(
        id=decision.message_id(),
        channel=channel,
        createdAt=decision.ts,
        role=Role.SYSTEM,
        agent=agent,
        answers=answers,
        during=during,
        code=code,
        error=error,
    )
    decision.say(MessageUpdated(channel=channel, message=said))
