"""How far each agent may be ahead of the router: at most 200 frames or 256 KB, always one frame.

Pure: it is told what was handed to the bus, which numbers it got, and how far the router is.
One agent that floods uses up its own credit and nobody else's.
"""

from collections import deque
from dataclasses import dataclass, field

FRAMES = 200
BYTES = 256 * 1024


@dataclass(slots=True)
class _Account:
    """``numbered`` are frames in the log, as (seq, size); the others are still on their way."""

    numbered: deque[tuple[int, int]] = field(default_factory=deque)
    frames: int = 0
    size: int = 0


class Credit:
    """The accounts of all agents."""

    def __init__(self, *, frames: int = FRAMES, size: int = BYTES, behind: bool = False) -> None:
        """``behind``: what a former one of us published is still to be read."""
        self._behind = behind
        self._frames = frames
        self._size = size
        self._accounts: dict[str, _Account] = {}
        # One entry per event put and not yet seen in the log, in the order of both.
        self._unnumbered: deque[tuple[str, int] | None] = deque()
        self._decided = 0

    @property
    def decided(self) -> int:
        """The last input that the router has decided on, as far as we know."""
        return self._decided

    def allows(self, agent: str, size: int, *, frames: int = 0, spent: int = 0) -> bool:
        """Whether ``agent`` may publish another frame of ``size`` bytes.

        ``frames`` and ``spent`` (bytes) count what is about to be handed over before it.
        """
        if self._behind:
            return False
        account = self._account(agent)
        frames += account.frames
        return frames == 0 or (frames < self._frames and account.size + spent + size <= self._size)

    def backlog(self, agent: str) -> tuple[int, int]:
        """(frames, bytes) of ``agent`` beyond the router's position."""
        account = self._account(agent)
        return account.frames, account.size

    def spend(self, agent: str, size: int) -> None:
        """A frame of ``agent`` was handed to the bus."""
        account = self._account(agent)
        account.frames += 1
        account.size += size
        self._unnumbered.append((agent, size))

    def other(self) -> None:
        """An event that is no frame was handed to the bus."""
        self._unnumbered.append(None)

    def published(self, first: int, count: int) -> None:
        """The next ``count`` events handed over stand in the log from ``first`` on."""
        for seq in range(first, first + count):
            entry = self._unnumbered.popleft()
            if entry is not None:
                self._number(seq, *entry)

    def former(self, agent: str, seq: int, size: int) -> None:
        """A frame that a former life of ours published stands in the log at ``seq``."""
        account = self._account(agent)
        account.frames += 1
        account.size += size
        self._number(seq, agent, size)

    def caught_up(self) -> None:
        """Everything that a former life of ours published is known."""
        self._behind = False

    def decide(self, seq: int) -> None:
        """The router has decided on every input up to ``seq``."""
        if seq <= self._decided:
            return
        self._decided = seq
        for account in self._accounts.values():
            while account.numbered and account.numbered[0][0] <= seq:
                self._settle(account)

    def _number(self, seq: int, agent: str, size: int) -> None:
        account = self._account(agent)
        account.numbered.append((seq, size))
        if seq <= self._decided:
            self._settle(account)

    def _settle(self, account: _Account) -> None:
        _, size = account.numbered.popleft()
        account.frames -= 1
        account.size -= size

    def _account(self, agent: str) -> _Account:
        return self._accounts.setdefault(agent, _Account())
