"""What stands on the bus and in the history of what an agent said, held against what it said."""

from typing import Any

from sk_bus.codec import plain
from sk_bus.events import AgentLog, CommandsChanged, MessageDelta, MessageUpdated, UsageChanged
from sk_bus.model import AgentName, ChannelId, Role
from sk_bus.queries import Blob, Conversation
from sk_bus.vocabulary import encoded
from tests.support.conversing import Person
from tests.support.replay_script import TAKING_UP, Frame, Scene
from tests.support.replay_shown import differences, expected, folded, shown


async def differing(
    me: Person,
    agent: AgentName,
    channels: dict[str, ChannelId],
    said: list[tuple[Scene, Frame]],
    *,
    after: int,
) -> list[str]:
    """What is wrong, in words; ``channels`` by their sessions, ``after`` what all is told."""
    found = []
    live = [encoded(one) for one in me.events if isinstance(one, MessageUpdated | MessageDelta)]
    for session, channel in channels.items():
        answer = await me.bus.query(Conversation(channel=channel), after=after)
        kept = [plain(one) for one in answer.value.messages if one.role is Role.AGENT]
        whole = [await _filled(me, one) for one in kept]
        sent = expected(_turns(said, session))
        found += [f"history: {what}" for what in differences(sent, shown(whole))]
        seen = [one for one in folded(live, channel) if one["role"] == "agent"]
        if (grown := [await _filled(me, one) for one in seen]) != whole:
            found.append(f"live: {grown}\nhistory: {whole}")
        found += _usage(me, channel, [frame for _, frame in said if _session(frame) == session])
    found += _commands(me, agent, [frame for _, frame in said if _session(frame) in channels])
    noise = [one.line for one in me.events if isinstance(one, AgentLog) if _out(one, agent)]
    return found + [f"a line that is no frame: {line}" for line in noise]


def _turns(said: list[tuple[Scene, Frame]], session: str) -> list[list[Frame]]:
    """The session's frames by their scenes, without the past, which was shown when it was said."""
    turns: dict[Scene, list[Frame]] = {}
    for scene, frame in said:
        if _session(frame) == session and scene.method not in TAKING_UP:
            turns.setdefault(scene, []).append(frame)
    return list(turns.values())


async def _filled(me: Person, value: Any) -> Any:
    """The value with its long texts in the place of what stands for them."""
    match value:
        case {"sha256": str(sha256), "length": int(), "head": str()}:
            text = await me.bus.query(Blob(sha256=sha256, limit=100_000_000))
            return text.value.decode()
        case dict():
            return {key: await _filled(me, one) for key, one in value.items()}
        case list() | tuple():
            return [await _filled(me, one) for one in value]
        case _:
            return value


def _usage(me: Person, channel: ChannelId, frames: list[Frame]) -> list[str]:
    sent = [(one["used"], one["size"]) for one in _updates(frames, "usage_update")]
    told = [
        (one.usage.used, one.usage.size)
        for one in me.events
        if isinstance(one, UsageChanged) and one.channel == channel
    ]
    return [] if sent == told else [f"usage {sent}, shown {told}"]


def _commands(me: Person, agent: AgentName, frames: list[Frame]) -> list[str]:
    sent = [
        [one["name"] for one in update["availableCommands"]]
        for update in _updates(frames, "available_commands_update")
    ]
    told = [
        [command.name for command in one.commands]
        for one in me.events
        if isinstance(one, CommandsChanged) and one.agent == agent
    ]
    return [] if sent == told else [f"commands {sent}, shown {told}"]


def _updates(frames: list[Frame], kind: str) -> list[Frame]:
    updates = [(frame.get("params") or {}).get("update") or {} for frame in frames]
    return [one for one in updates if one.get("sessionUpdate") == kind]


def _session(frame: Frame) -> str | None:
    session = (frame.get("params") or {}).get("sessionId")
    return session if isinstance(session, str) else None


def _out(log: AgentLog, agent: str) -> bool:
    return log.agent == agent and log.stream == "stdout"
