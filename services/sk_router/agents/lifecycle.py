"""The life of one agent, as a pure state machine: section 3 of the specification.

Events come in, instructions come out, in order. Nothing here knows other agents, the limit, a
clock or a frame: that there is room is said by ``Launched``, that time is up by whoever counts it.
An agent that is being stopped keeps its state until its process group is empty.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

from sk_bus.errors import problem
from sk_bus.internal import FactExited
from sk_bus.model import AgentConfig, AgentName, AgentState, ChannelId, CommandId, Problem
from sk_router.agents import ends
from sk_router.records import AuthMethod, Life

STOPPED, STARTING, READY, BUSY, ERROR = AgentState

StopReason = Literal["asked", "idle", "evicted", "removed", "closing"]


@dataclass(frozen=True, slots=True)
class StartAsked:
    """A start is asked for, by ``command`` or by first use, at input ``seq``."""

    seq: int
    command: CommandId | None = None


@dataclass(frozen=True, slots=True)
class Launched:
    """There is room: the wanted start begins as life ``inc``."""

    inc: int
    config: AgentConfig


@dataclass(frozen=True, slots=True)
class CameUp:
    """The process runs."""


@dataclass(frozen=True, slots=True)
class HandshakeSucceeded:
    capabilities: dict[str, Any]
    mono: int
    methods: tuple[AuthMethod, ...] = ()


@dataclass(frozen=True, slots=True)
class HandshakeFailed:
    """An error, another protocol, or ``startTimeout`` has passed."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class StopAsked:
    reason: StopReason
    command: CommandId | None = None


@dataclass(frozen=True, slots=True)
class RestartAsked:
    seq: int
    command: CommandId | None = None


@dataclass(frozen=True, slots=True)
class Claimed:
    """A channel's turn uses the agent."""

    channel: ChannelId


@dataclass(frozen=True, slots=True)
class Released:
    """Its last user is done."""

    mono: int


@dataclass(frozen=True, slots=True)
class StayedDeaf:
    """It didn't answer ``session/cancel`` in time."""


@dataclass(frozen=True, slots=True)
class Exited:
    """The process group is empty."""

    fact: FactExited
    name: AgentName


@dataclass(frozen=True, slots=True)
class Defined:
    """The configuration has this definition of it."""

    digest: str


Event = (
    StartAsked
    | Launched
    | CameUp
    | HandshakeSucceeded
    | HandshakeFailed
    | StopAsked
    | RestartAsked
    | Claimed
    | Released
    | StayedDeaf
    | Exited
    | Defined
)


@dataclass(frozen=True, slots=True)
class Show:
    """Say the agent's state to everyone."""


@dataclass(frozen=True, slots=True)
class Spawn:
    """Start the process of this life."""


@dataclass(frozen=True, slots=True)
class Initialize:
    """Begin the handshake."""


@dataclass(frozen=True, slots=True)
class Terminate:
    """Run the stop ladder."""


@dataclass(frozen=True, slots=True)
class Succeed:
    commands: tuple[CommandId, ...]
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Refuse:
    commands: tuple[CommandId, ...]
    problem: Problem


@dataclass(frozen=True, slots=True)
class TellReady:
    """Whoever waits for the agent may use it."""


@dataclass(frozen=True, slots=True)
class TellGone:
    """Life ``inc`` is over; ``problem`` says why it can't be used."""

    inc: int
    problem: Problem
    taken: int = 0


Instruction = Show | Spawn | Initialize | Terminate | Succeed | Refuse | TellReady | TellGone


def was_stopped(reason: str) -> Problem:
    """What is said to those who waited for an agent that was stopped instead."""
    match reason:
        case "removed":
            return problem("agent-removed", "the agent has left the configuration")
        case "closing":
            return problem("closing", "Sidekicks is closing")
        case _:
            return problem("agent-stopped", "the agent was stopped")


def running(life: Life) -> bool:
    """Whether it can be used now."""
    return life.state in (READY, BUSY) and life.alive and not life.stopping


def handle(life: Life, event: Event) -> tuple[Life, list[Instruction]]:
    """The life after ``event``, and what is to be done."""
    match event:
        case StartAsked():
            return _start(life, event)
        case Launched(inc, config) if life.wanted and not life.alive:
            return _launch(life, inc, config)
        case CameUp() if life.alive and not life.up:
            instructions: list[Instruction] = [] if life.stopping else [Initialize()]
            return replace(life, up=True), instructions
        case HandshakeSucceeded() if life.state is STARTING and life.alive and not life.stopping:
            return _succeed(life, event)
        case HandshakeFailed(reason) if life.state is STARTING and life.alive and not life.stopping:
            if life.halted:
                return replace(life, stopping=True), [Terminate(), Show()]
            ended = replace(life, stopping=True, ending="failed", failure=reason)
            return ended, [Terminate(), Show()]
        case StopAsked():
            return _stop(life, event)
        case RestartAsked(seq, command):
            if not life.alive or life.stopping:
                return _start(life, StartAsked(seq, command))
            stopping, instructions = _stop(life, StopAsked("asked"))
            starters = stopping.starters + _one(command)
            return replace(stopping, wanted=seq, starters=starters), instructions
        case Claimed(channel):
            if life.state is READY and running(life):
                return replace(life, claimed=channel, state=BUSY), [Show()]
            return replace(life, claimed=channel), []
        case Released(mono):
            if life.state is BUSY and not life.stopping:
                return replace(life, claimed=None, state=READY, idle=mono), [Show()]
            return replace(life, claimed=None, idle=mono), []
        case StayedDeaf() if running(life):
            deaf = problem("did-not-answer-cancel", "did not answer cancel")
            return replace(life, stopping=True, ending="deaf", failure=deaf), [Terminate(), Show()]
        case Exited(fact, name) if life.alive:
            return _exit(life, fact, name)
        case Defined(digest):
            outdated = life.alive and digest != life.digest
            if outdated == life.outdated:
                return life, []
            return replace(life, outdated=outdated), [Show()]
        case _:
            return life, []  # overtaken: a timer, an answer or a fact of what is over already


def _one(command: CommandId | None) -> tuple[CommandId, ...]:
    return () if command is None else (command,)


def _start(life: Life, event: StartAsked) -> tuple[Life, list[Instruction]]:
    if running(life):
        return life, [Succeed(_one(event.command))]
    starters = life.starters + _one(event.command)
    if life.alive and not life.stopping and not life.halted:
        return replace(life, starters=starters), []
    wanted = replace(life, wanted=life.wanted or event.seq, starters=starters)
    if life.alive or life.wanted:
        return wanted, []
    return replace(wanted, state=STARTING, error=None, ending="", failure=None), [Show()]


def _launch(life: Life, inc: int, config: AgentConfig) -> tuple[Life, list[Instruction]]:
    launched = Life(
        state=STARTING,
        inc=inc,
        digest=config.digest,
        cwd=config.cwd,
        servers=config.mcpServers,
        transports=config.mcpTransports,
        alive=True,
        claimed=life.claimed,
        starters=life.starters,
        stoppers=life.stoppers,
    )
    return launched, [Spawn()]  # it is shown as starting since the start was asked for


def _succeed(life: Life, event: HandshakeSucceeded) -> tuple[Life, list[Instruction]]:
    if life.halted:
        # A stop that came while it started takes effect now.
        return replace(life, stopping=True, ending=life.ending or "asked"), [Terminate(), Show()]
    ready = replace(
        life,
        state=READY,
        capabilities=event.capabilities,
        methods=event.methods,
        idle=event.mono,
        starters=(),
    )
    return ready, [Show(), Succeed(life.starters), TellReady()]


def _stop(life: Life, event: StopAsked) -> tuple[Life, list[Instruction]]:
    stopped = was_stopped(event.reason)
    waiting = _one(event.command)
    given_up: list[Instruction] = [Refuse(life.starters, stopped)] if life.starters else []
    if not life.alive:
        if not life.wanted:
            return life, [Succeed(waiting)]
        gone = replace(life, state=STOPPED, wanted=0, starters=())
        return gone, [Show(), Succeed(waiting), *given_up, TellGone(life.inc, stopped)]
    after = replace(life, wanted=0, stoppers=life.stoppers + waiting)
    if life.stopping:
        return replace(after, starters=()), given_up
    if life.state is STARTING and event.reason != "closing":
        return replace(after, halted=True, ending=event.reason), []
    after = replace(after, stopping=True, ending=event.reason, starters=())
    return after, [Terminate(), Show(), *given_up]


def _exit(life: Life, fact: FactExited, name: AgentName) -> tuple[Life, list[Instruction]]:
    starting = life.state is STARTING
    error: Problem | None = None
    if life.ending in ("failed", "deaf"):
        error = life.failure
    elif not (life.stopping or life.halted or fact.asked):
        error = ends.unasked(fact, name, starting=starting)
    if error is not None and fact.stderr:
        error = replace(error, params={**error.params, "stderr": list(fact.stderr)})
    said = error or was_stopped(life.ending)
    gone = Life(
        state=STARTING if life.wanted else STOPPED if error is None else ERROR,
        error=None if life.wanted else error,
        inc=life.inc,
        wanted=life.wanted,
        claimed=life.claimed,
        starters=life.starters if life.wanted else (),
    )
    refused: list[Instruction] = []
    if life.starters and not life.wanted:
        refused = [Refuse(life.starters, said)]
    return gone, [
        Show(),
        Succeed(life.stoppers, ends.asked(fact)),
        *refused,
        TellGone(life.inc, said, fact.taken),
    ]
