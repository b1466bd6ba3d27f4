"""The orderly close: of the whole (``cmd:shutdown``), and of the file in force (``cmd:Open``).

Answers end, the queue is dropped, agents stop. A shutdown is answered when that is done, an Open
when it is accepted: whether its file can be read is the config watcher's word (``file:openable``),
and nothing stops before. What follows the last ``file:closed`` is another epoch.
"""

from dataclasses import replace

from sk_bus.commands import AnswerPermission, Cancel, Command, Open, Shutdown, Stop
from sk_bus.errors import problem
from sk_bus.internal import FileClosed, FileOpenable
from sk_bus.model import AgentName, ChannelId, Problem
from sk_router.agents import lifecycle, lives, pool
from sk_router.channels import permissions, stops
from sk_router.decision import Decision
from sk_router.records import Basis, Opening
from sk_router.state import State


def refusal(state: State, command: Command) -> Problem | None:
    """Why a command comes too late, or too early, because of a close."""
    opening = state.opening
    if isinstance(command, Shutdown):
        return None
    if opening is not None and (opening.closes or isinstance(command, Open)):
        if not opening.closed and isinstance(command, Stop | Cancel | AnswerPermission):
            return None
        text = "Sidekicks is opening {path}; ask again when that is done"
        return problem("opening", text, path=opening.path)
    if state.closing and not isinstance(command, Stop | Cancel | AnswerPermission):
        return problem("closing", "Sidekicks is closing")
    return None


def shut_down(decision: Decision, command: Shutdown) -> None:
    """Close everything; the result comes when nothing is left."""
    basis = decision.state.basis.get("", Basis())
    decision.put("basis", "", replace(basis, closing=(*basis.closing, command.id)))
    _end_all(decision)


def open_asked(decision: Decision, command: Open) -> None:
    """Note that a file is to be opened; the config watcher says whether it can be."""
    _put(decision, Opening(command=command.id, path=command.path))


def file_judged(decision: Decision, event: FileOpenable) -> None:
    """Refuse the Open that waits, or accept it and close what is in force."""
    opening = decision.state.opening
    if opening is None or opening.closes or opening.command != event.command:
        return
    why = event.problem
    if why is None and decision.state.closing:
        why = problem("closing", "Sidekicks is closing")
    if why is not None or event.already:
        _put(decision, None)
        if why is not None:
            decision.refuse([event.command], why)
        else:
            decision.succeed([event.command], {"path": event.path, "already": True})
        return
    decision.succeed([event.command], {"path": event.path, "already": False})
    _put(decision, replace(opening, path=event.path, closes=True))
    _end_all(decision)


def follow_up(decision: Decision) -> None:
    """Say that a close is complete, once no agent is left."""
    state = decision.state
    if pool.living(state):
        return
    if state.closing:
        decision.succeed(state.closing)
        decision.put("basis", "", replace(state.basis[""], closing=()))
    opening = state.opening
    if opening is not None and opening.closes and not opening.closed:
        decision.say(FileClosed(next=opening.path))
        _put(decision, replace(opening, closed=True))


def _put(decision: Decision, opening: Opening | None) -> None:
    basis = decision.state.basis.get("", Basis())
    decision.put("basis", "", replace(basis, opening=opening))


def _end_all(decision: Decision) -> None:
    for channel in sorted(decision.state.talks.keys() | decision.state.rounds.keys()):
        stops.cancel(decision, ChannelId(channel))
    for agent in sorted(decision.state.lives):
        permissions.cancel_all(decision, AgentName(agent), by="stop")
        lives.step(decision, AgentName(agent), lifecycle.StopAsked("closing"))
