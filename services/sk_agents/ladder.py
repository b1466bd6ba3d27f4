"""How an agent ends, and how long its holder waits for a manager: two pure machines over a clock.

They are told what happened and when, and say what is due; nothing here signals, closes or sleeps.
Times are seconds of a monotonic clock.
"""

from __future__ import annotations

CLOSE_STDIN = "close-stdin"
TERM = "term"
KILL = "kill"
OVER = "over"

_RUNNING = "running"
_CLOSED = "closed"  # stdin is closed: the agent should end by itself
_LINGERING = "lingering"  # it broke off, or ended: a moment for what it still has to say
_TERMINATED = "terminated"
_KILLED = "killed"
_EMPTY = "empty"  # nothing of it is left; its last bytes may still be in the pipe
_OVER = "over"


class Ladder:
    """The end of one agent: asked for, by itself, or because it closed its side of a pipe.

    ``eof`` passes between the closing of stdin and SIGTERM, ``term`` between that and SIGKILL,
    ``linger`` between an end that nobody asked for and SIGKILL for what it left behind.
    """

    def __init__(self, *, eof: float = 5.0, term: float = 3.0, linger: float = 1.0) -> None:
        self._eof = eof
        self._term = term
        self._linger = linger
        self._state = _RUNNING
        self._deadline: float | None = None
        self._due: list[str] = []
        self._ended = False
        self._drained = False
        self.asked = False
        self.broken = False

    @property
    def over(self) -> bool:
        return self._state == _OVER

    @property
    def stopping(self) -> bool:
        return self._state != _RUNNING

    def stop(self, now: float) -> None:
        """A stop is asked for. Asking again changes nothing."""
        if self._ended or self.asked or self._state in (_EMPTY, _OVER):
            return
        self.asked = True
        if self._state in (_RUNNING, _LINGERING):
            self._enter(_CLOSED, now + self._eof, CLOSE_STDIN)

    def broke(self, now: float) -> None:
        """The agent closed its stdin or stdout: whether it is about to end shows in a moment."""
        if self._state == _RUNNING:
            self._enter(_LINGERING, now + self._linger, CLOSE_STDIN)

    def ended(self, now: float) -> None:
        """The agent's own process has ended. What it started may still run."""
        self._ended = True
        if self._state in (_RUNNING, _LINGERING):
            self._enter(_TERMINATED, now + self._linger, TERM)

    def drained(self, now: float) -> None:
        """End of file on stdout: nothing more will come."""
        self._drained = True
        if self._state == _EMPTY:
            self._enter(_OVER, None, OVER)
        elif not self._ended:
            self.broke(now)

    def emptied(self, now: float) -> None:
        """No process of it is left."""
        if self._state in (_EMPTY, _OVER):
            return
        if self._drained:
            self._enter(_OVER, None, OVER)
        else:
            self._enter(_EMPTY, now + self._linger)

    def due(self, now: float) -> list[str]:
        """What is to be done now, in order; each is said once, KILL until nothing is left."""
        if self._deadline is not None and now >= self._deadline:
            match self._state:
                case "closed" | "lingering":
                    self.broken = self._state == _LINGERING
                    self._enter(_TERMINATED, now + self._term, TERM)
                case "terminated" | "killed":
                    # What forks faster than it is killed is killed again.
                    self._enter(_KILLED, now + 0.05, KILL)
                case _:
                    self._enter(_OVER, None, OVER)
        due, self._due = self._due, []
        return due

    def deadline(self) -> float | None:
        """When :meth:`due` must be asked again."""
        return self._deadline

    def _enter(self, state: str, deadline: float | None, *due: str) -> None:
        self._state = state
        self._deadline = deadline
        self._due.extend(due)


class Patience:
    """How long a holder keeps an agent that no manager asks for: section 7 of the specification.

    ``idle`` seconds after it lost the manager and heard the last of the agent; ``turn`` seconds
    while a turn is open.
    """

    def __init__(self, now: float, *, idle: float = 600.0, turn: float = 6 * 3600.0) -> None:
        self._idle = idle
        self._turn = turn
        self._since = now
        self._attached = False
        self._open = False

    def heard(self, now: float) -> None:
        self._since = max(self._since, now)

    def attached(self) -> None:
        self._attached = True

    def lost(self, now: float) -> None:
        self._attached = False
        self._since = max(self._since, now)

    def turn(self, *, is_open: bool) -> None:
        self._open = is_open

    @property
    def turn_open(self) -> bool:
        return self._open

    def deadline(self) -> float | None:
        """When it has waited long enough; ``None`` while a manager is attached."""
        if self._attached:
            return None
        return self._since + (self._turn if self._open else self._idle)
