"""Permission requests: shown once, answered once, and never left without an answer.

The agent's options are shown in its order and sent back by their ids, byte for byte; their kinds
are hints. Whatever ends the wait (an answer, a stop, the agent) says ``permission:resolved``.
"""

import re
from dataclasses import replace
from itertools import islice
from typing import Any

from sk_bus.commands import AnswerPermission
from sk_bus.errors import problem
from sk_bus.events import PermissionRequested, PermissionResolved
from sk_bus.model import AgentName, ChannelId, PermissionId, PermissionOption
from sk_router.acp import messages
from sk_router.acp.messages import short, string
from sk_router.agents import lives
from sk_router.channels import answers, notices, ruling
from sk_router.decision import Decision
from sk_router.records import Answered, Ask
from sk_router.texts import size

_ID = re.compile(r"p(\d{16})\.\d+")
_MOST_OPTIONS = 100
_LONGEST_OPTION = 1_000  # bytes, of its id and of its name


def requested(
    decision: Decision, channel: ChannelId, agent: AgentName, frame: messages.Request
) -> None:
    """The agent asks to use a tool."""
    turn = decision.talk(channel).turn
    if turn is not None and turn.agent == agent and turn.cancelled:
        lives.write(decision, agent, messages.cancelled(frame.id))
        return
    patch = frame.params.get("toolCall")
    patch = patch if isinstance(patch, dict) else {}
    made = decision.permission_id()
    if turn is not None and turn.agent == agent and turn.phase == "prompt":
        answers.saw(decision, channel, agent, turn)
    message = answers.current(decision, channel, agent)
    tool = answers.patch_tool(decision, message, string(patch.get("toolCallId")) or made, patch)
    options = _options(frame.params.get("options"))
    ask = Ask(
        requestId=frame.id,
        channel=channel,
        agent=agent,
        inc=decision.life(agent).inc,
        messageId=message,
        toolCall=tool,
        options=options,
    )
    if _ruled(decision, made, ask):
        return
    decision.put("asks", made, ask)
    decision.say(
        PermissionRequested(
            id=made,
            channel=channel,
            agent=agent,
            messageId=message,
            toolCall=tool,
            options=options,
            rejections=turn.rejections if turn is not None and turn.agent == agent else 0,
        )
    )


def _options(listed: Any) -> tuple[PermissionOption, ...]:
    if not isinstance(listed, list):
        return ()
    offered = (
        item
        for item in listed
        if isinstance(item, dict)
        and isinstance(item.get("optionId"), str)
        and size(item["optionId"]) <= _LONGEST_OPTION
    )
    return tuple(
        PermissionOption(
            optionId=item["optionId"],
            name=short(item.get("name"), _LONGEST_OPTION) or item["optionId"],
            kind=short(item.get("kind"), _LONGEST_OPTION),
        )
        for item in islice(offered, _MOST_OPTIONS)
    )


def answered(decision: Decision, command: AnswerPermission) -> None:
    """Someone chose an option."""
    ask = decision.state.asks.get(command.permission)
    if ask is None:
        known = _ID.fullmatch(command.permission)
        if known is not None and int(known[1]) < decision.seq:
            gone = problem("no-longer-asked", "no longer asked: it was answered or cancelled")
        else:
            gone = problem("no-such-permission", "no such permission: {id}", id=command.permission)
        decision.refuse([command.id], gone)
        return
    chosen = next((one for one in ask.options if one.optionId == command.optionId), None)
    if chosen is None:
        offered = [one.optionId for one in ask.options]
        decision.refuse(
            [command.id],
            problem(
                "no-such-option",
                "no such option: {option}; the agent offers {offered}",
                option=command.optionId,
                offered=", ".join(offered) or "none",
            ),
        )
        return
    _choose(decision, command.permission, ask, chosen, command.by)
    decision.succeed([command.id])


def rules_changed(decision: Decision) -> None:
    """Answer what waits already by the rules that are in force now."""
    for id_, ask in sorted(decision.state.asks.items()):
        _ruled(decision, PermissionId(id_), ask)


def _ruled(decision: Decision, id_: PermissionId, ask: Ask) -> bool:
    """Let a rule of the configuration answer, and say so in the channel; false where none fits."""
    config = lives.configured(decision, ask.agent)
    found = None if config is None else ruling.ruling(config, ask.toolCall, ask.options)
    if found is None or not lives.reachable(decision.life(ask.agent)):
        return False
    _choose(decision, id_, ask, found.option, "rule")
    told = problem(
        "permission-ruled",
        "{tool} was answered with “{option}” by rule {number} of {agent} ({rule})",
        tool=ruling.titled(ask.toolCall),
        option=found.option.name,
        number=found.number,
        agent=ask.agent,
        rule=ruling.worded(found.rule),
    )
    notices.say(decision, ask.channel, ask.agent, "permission-ruled", error=told)
    return True


def _choose(
    decision: Decision, id_: PermissionId, ask: Ask, chosen: PermissionOption, by: str
) -> None:
    """Send the agent the option, and say who chose it."""
    decision.put("asks", id_, None)
    n = lives.write(decision, ask.agent, messages.selected(ask.requestId, chosen.optionId))
    life = decision.life(ask.agent)
    note = Answered(n=n, permission=id_, channel=ask.channel, by=by, optionId=chosen.optionId)
    # Outside a turn, too, an agent that has just been answered is in use.
    used = replace(life, answered=(*life.answered, note), idle=decision.mono)
    decision.put("lives", ask.agent, used)
    talk = decision.talk(ask.channel)
    turn = talk.turn
    if chosen.kind.startswith("reject") and turn is not None and turn.agent == ask.agent:
        counted = replace(turn, rejections=turn.rejections + 1)
        decision.put_talk(ask.channel, replace(talk, turn=counted))
    decision.say(PermissionResolved(id=id_, channel=ask.channel, by=by, optionId=chosen.optionId))


def cancel_all(
    decision: Decision, agent: AgentName, *, by: str, channel: ChannelId | None = None
) -> None:
    """Cancel what an agent asks (in one channel); it hears so, if it can."""
    for id_, ask in sorted(decision.state.asks.items()):
        if ask.agent == agent and channel in (None, ask.channel):
            _cancel(decision, PermissionId(id_), ask, by)


def withdrawn(decision: Decision, agent: AgentName, request_id: Any) -> None:
    """The agent takes a request back (``$/cancel_request``)."""
    for id_, ask in sorted(decision.state.asks.items()):
        same = type(ask.requestId) is type(request_id) and ask.requestId == request_id
        if ask.agent == agent and same:
            _cancel(decision, PermissionId(id_), ask, "agent")


def _cancel(decision: Decision, id_: PermissionId, ask: Ask, by: str) -> None:
    decision.put("asks", id_, None)
    life = decision.life(ask.agent)
    if life.inc == ask.inc and lives.reachable(life):
        lives.write(decision, ask.agent, messages.cancelled(ask.requestId))
    decision.say(PermissionResolved(id=id_, channel=ask.channel, by=by))


def lost(decision: Decision, given: tuple[Answered, ...], taken: int) -> None:
    """The agent ended before these answers could reach it."""
    for one in given:
        if one.n > taken:
            decision.say(
                PermissionResolved(
                    id=one.permission,
                    channel=one.channel,
                    by=one.by,
                    optionId=one.optionId,
                    delivered=False,
                )
            )
