"""The one decider: what follows from an input of the log, said as events.

``decide`` reads no clock, draws no lot and looks at nothing but the state and its inputs; the state
moves on by exactly the events that it returns. It is called once for each input, and never again:
after a restart the events are evolved, not decided anew.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from sk_bus.commands import Command
from sk_bus.errors import problem
from sk_bus.events import ConfigChanged
from sk_bus.internal import (
    FactExited,
    FactFrame,
    FactUp,
    FileOpenable,
    HistoryImported,
    HistoryPast,
    HistoryRestored,
    TimerFired,
)
from sk_bus.model import AgentName, ChannelId
from sk_bus.vocabulary import Event
from sk_router import closing, commands, histories
from sk_router.acp import frames, messages, sessions
from sk_router.agents import lifecycle, lives, pool
from sk_router.channels import answers, growth, permissions, queue, rooms, stops, turns
from sk_router.decision import Decision, Input
from sk_router.records import Basis, Life
from sk_router.state import Run, State

IDLE_CHECK = 30_000
_CHUNKS = {"agent_message_chunk": "text", "agent_thought_chunk": "thought"}


def decide(
    state: State, inputs: Iterable[Input], text_of: Callable[[str], str | None] | None = None
) -> Decision:
    """Decide on inputs in their order; what follows stands in the decision returned.

    A run of text of one part becomes one delta, also over several inputs. ``text_of`` reads a long
    text by its hash.
    """
    decision = Decision(state, text_of=text_of)
    for one in inputs:
        decision.begin(one)
        event = one.event
        if isinstance(event, FactFrame):
            try:
                data = messages.loaded(event.line)
            except messages.TooDeepError as deep:
                decision.flush()
                _frame(decision, event, deep.top, frames.take_too_deep)
            except ValueError:
                decision.note(f"{event.agent}: a frame that isn't JSON")
                continue
            else:
                if _more_text(decision, event, data):
                    continue
                decision.flush()
                _frame(decision, event, data, frames.take)
        else:
            decision.flush()
            _decide(decision, event)
        _follow_up(decision)
        decision.settle()
    growth.tell_amended(decision)
    decision.settle()
    return decision


def _more_text(decision: Decision, event: FactFrame, data: Any) -> bool:
    """Take the frame if it is more text of the part that grows: nearly all frames are."""
    try:
        if data["method"] != "session/update" or "id" in data:
            return False
        params = data["params"]
        update = params["update"]
        kind = _CHUNKS[update["sessionUpdate"]]
        content = update["content"]
        text = content["text"]
        session = params["sessionId"]
        if content["type"] != "text" or type(text) is not str or not text:
            return False
        channel = decision.state.routes[event.agent, event.inc, session]
        turn = decision.state.talks[channel].turn
    except (KeyError, TypeError):
        return False
    if turn is None or turn.messageId is None or turn.agent != event.agent:
        return False
    if turn.phase != "prompt" or turn.chunk != (update.get("messageId") or ""):
        return False
    joined = decision.joined_at(turn.messageId)
    if joined is None:
        decision.flush()
        parts = decision.state.messages[turn.messageId].parts
        last = parts[-1] if parts else None
        if not isinstance(last, Run):
            return False
        joined = len(parts) - 1, last.kind
    if joined[1] != kind:
        return False
    decision.add_text(channel, turn.messageId, joined[0], kind, text)
    return True


def _decide(decision: Decision, event: Event) -> None:
    match event:
        case Command():
            commands.perform(decision, event)
        case FactUp():
            if _known(decision, event.agent, event.inc):
                lives.step(decision, event.agent, lifecycle.CameUp())
        case FactExited():
            if _known(decision, event.agent, event.inc):
                _exited(decision, event)
        case TimerFired(id=id_):
            _timer(decision, id_)
        case ConfigChanged():
            _configured(decision, event)
        case FileOpenable():
            closing.file_judged(decision, event)
        case HistoryPast():
            histories.recalled(decision, event)
        case HistoryImported():
            histories.imported(decision, event)
        case HistoryRestored():
            histories.restored(decision, event)
        case _:
            pass  # what others say to each other


def _follow_up(decision: Decision) -> None:
    """What follows from any input: starts, turns, the close, and what is told of them."""
    while True:
        while decision.became:
            became = decision.became.popleft()
            stops.agent_became(decision, became)
            if became.gone and lives.configured(decision, became.agent) is None:
                decision.put("lives", became.agent, None)
        for idle in pool.excess(decision.state):
            lives.step(decision, idle, lifecycle.StopAsked("evicted"))
        lives.launch(decision)
        turns.dispatch(decision)
        if not decision.became:
            break
    if pool.living(decision.state) and "idle" not in decision.state.timers:
        decision.timer("idle", decision.mono + IDLE_CHECK)
    rooms.delete_ended(decision)
    queue.tell_waiting(decision)
    queue.tell_turns(decision)
    closing.follow_up(decision)


# --- facts ----------------------------------------------------------------------------------


def _known(decision: Decision, agent: AgentName, inc: int) -> bool:
    """Whether a fact is of the life that we know: others are over, or of another epoch."""
    life = decision.life(agent)
    return life.alive and life.inc == inc


def _frame(
    decision: Decision,
    event: FactFrame,
    data: Any,
    take: Callable[[Decision, AgentName, Any], None],
) -> None:
    if _known(decision, event.agent, event.inc):
        take(decision, event.agent, data)
    else:
        decision.note(f"{event.agent}: a frame of a life that is over")


def _exited(decision: Decision, event: FactExited) -> None:
    given = decision.life(event.agent).answered
    lives.step(decision, event.agent, lifecycle.Exited(event, event.agent))
    permissions.lost(decision, given, event.taken)


# --- time, configuration, a new epoch -------------------------------------------------------


def _timer(decision: Decision, id_: str) -> None:
    deadline = decision.state.timers.get(id_)
    if deadline is None or decision.mono < deadline:
        return  # overtaken
    decision.untimer(id_)
    kind, _, about = id_.partition("/")
    match kind:
        case "start":
            agent = AgentName(about)
            late = problem(
                "start-late",
                "{agent} gave no answer to initialize in {seconds} s",
                agent=agent,
                seconds=lives.patience(decision, agent),
            )
            lives.step(decision, agent, lifecycle.HandshakeFailed(late))
        case "session":
            sessions.late(decision, about)
        case "cancel":
            stops.stayed_deaf(decision, ChannelId(about))
        case "gate":
            sessions.settled(decision, about)
        case "tail":
            answers.forget_tail(decision, about)
        case "idle":
            for idle in pool.idle_since(decision.state, decision.mono):
                lives.step(decision, idle, lifecycle.StopAsked("idle"))
        case _:
            pass  # "quiet": the queue is looked at after every input


def _configured(decision: Decision, event: ConfigChanged) -> None:
    basis = decision.state.basis.get("", Basis())
    decision.put("basis", "", replace(basis, config=event.config))
    for agent in event.config.agents:
        if agent.name in decision.state.lives:
            lives.step(decision, agent.name, lifecycle.Defined(agent.digest))
        else:
            decision.put("lives", agent.name, Life())
            lives.show(decision, agent.name)
    configured = {agent.name for agent in event.config.agents}
    for key in sorted(decision.state.lives.keys() - configured):
        agent_gone = AgentName(key)
        stops.stop_agent(decision, agent_gone, "removed")
        lives.step(decision, agent_gone, lifecycle.StopAsked("removed"))
        if not decision.life(agent_gone).alive:
            decision.put("lives", agent_gone, None)
    permissions.rules_changed(decision)
