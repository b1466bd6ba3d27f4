"""How the end of an agent's process is told to people.

What nobody asked for is an error, in words that say which kind it is; what was asked for says how
much it took. That it ended, and what follows, is decided elsewhere.
"""

from signal import Signals

from sk_bus.errors import problem
from sk_bus.internal import FactExited
from sk_bus.model import AgentName, Problem

# What the kernel sends to a program for its own mistakes; anything else comes from somebody.
_CRASHES = ("SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGSYS")


def unasked(fact: FactExited, agent: AgentName, *, starting: bool) -> Problem:
    """Why an agent ended that nobody asked to."""
    if fact.problem is not None:
        return fact.problem
    how = _how(fact)
    if starting:
        return problem(
            "start-failed", "{agent} ended while it started ({how})", agent=agent, how=how
        )
    if fact.signal is not None:
        if _name(fact.signal) in _CRASHES:
            return problem("agent-crashed", "{agent} crashed ({how})", agent=agent, how=how)
        return problem(
            "agent-killed",
            "{agent} was killed from outside ({how}): by somebody, or for want of memory",
            agent=agent,
            how=how,
        )
    if fact.code == 0:
        return problem(
            "agent-finished",
            "{agent} ended by itself, without an error ({how})",
            agent=agent,
            how=how,
        )
    return problem("agent-ended", "{agent} ended by itself ({how})", agent=agent, how=how)


def asked(fact: FactExited) -> str:
    """What it took to end an agent that was asked to."""
    if fact.signal is None:
        return f"it ended by itself when asked to ({_how(fact)})"
    if _name(fact.signal) == "SIGKILL":
        return "it had to be killed"
    return f"it was ended by a signal ({_how(fact)})"


def _how(fact: FactExited) -> str:
    if fact.problem is not None:
        return fact.problem.message
    if fact.signal is None:
        return f"exit code {fact.code}"
    name = _name(fact.signal)
    return f"signal {fact.signal}, {name}" if name else f"signal {fact.signal}"


def _name(number: int) -> str:
    return Signals(number).name if number in set(Signals) else ""
