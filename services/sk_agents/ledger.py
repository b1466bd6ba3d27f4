"""The executor's position: which orders are carried out, and how far each life has been told.

Pure. Everything that must survive our death is in :meth:`Ledger.position`, which the bus keeps
beside the events it belongs to: so an order is carried out once, and a byte told once.
"""

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One life: offsets of its stdout and stderr up to which it is published, lines it took."""

    inc: int
    out: int = 0
    err: int = 0
    taken: int = 0


class Ledger:
    """What is done. ``epoch`` is the bus's; a position of another one counts for nothing."""

    def __init__(self, position: Any, *, epoch: int) -> None:
        self._epoch = epoch
        known = position if isinstance(position, dict) and position.get("epoch") == epoch else {}
        self._began = int(known.get("cursor", 0))
        self._read = self._began
        self._cursor = self._began
        self._open: dict[int, None] = {}
        self._lives: dict[str, Told] = {
            agent: Told(inc=inc, out=out, err=err, taken=taken)
            for agent, (inc, out, err, taken) in known.get("agents", {}).items()
        }
        self._ended: dict[str, int] = dict(known.get("ended", {}))

    @property
    def cursor(self) -> int:
        """Every order up to it is carried out; follow from here after a restart."""
        return self._cursor

    @property
    def lives(self) -> dict[str, Told]:
        """The lives that have begun and not ended, by agent."""
        return dict(self._lives)

    def position(self) -> dict[str, Any]:
        """What goes to the bus."""
        return {
            "epoch": self._epoch,
            "cursor": self._cursor,
            "agents": {
                agent: [told.inc, told.out, told.err, told.taken]
                for agent, told in self._lives.items()
            },
            "ended": dict(self._ended),
        }

    # --- orders -----------------------------------------------------------------------------

    def concerns(self, agent: str, inc: int, seq: int) -> bool:
        """Whether an order at ``seq`` is still to be carried out.

        Not when it is behind us, of another epoch, or for a life that is over.
        """
        if seq <= self._began or seq < self._epoch or inc <= self._ended.get(agent, -1):
            return False
        life = self._lives.get(agent)
        return life is None or inc >= life.inc

    def opened(self, seq: int) -> None:
        """The order at ``seq`` was read and isn't carried out yet."""
        self._open[seq] = None

    def closed(self, seq: int) -> None:
        """The order at ``seq`` is carried out, or can never be."""
        self._open.pop(seq, None)

    def read(self, seq: int, *, decided: int) -> None:
        """The log is read up to ``seq``, of which the router has decided up to ``decided``.

        The cursor stays behind the router's position, so that after a restart we count again what
        an agent has beyond it.
        """
        self._read = max(self._read, seq)
        oldest = next(iter(self._open), None)  # orders come in the order of the log
        done = self._read if oldest is None else oldest - 1
        self._cursor = max(self._cursor, min(done, decided))

    # --- lives ------------------------------------------------------------------------------

    def began(self, agent: str, inc: int) -> None:
        """A life has begun, to be told from its first byte."""
        self._lives[agent] = Told(inc=inc)

    def told(
        self,
        agent: str,
        inc: int,
        *,
        out: int | None = None,
        err: int | None = None,
        taken: int | None = None,
    ) -> None:
        """Its output is published, or its stdin has taken lines, up to here."""
        life = self._lives[agent]
        if life.inc != inc:
            raise ValueError(f"{agent} lives its life {life.inc}, not {inc}")
        self._lives[agent] = replace(
            life,
            out=life.out if out is None else out,
            err=life.err if err is None else err,
            taken=life.taken if taken is None else taken,
        )

    def ended(self, agent: str, inc: int) -> None:
        """Its end is published: nothing of it will be told or fed again."""
        self._lives.pop(agent, None)
        self._ended[agent] = max(inc, self._ended.get(agent, -1))

    def over(self, agent: str, inc: int) -> bool:
        """Whether a life whose folder is there is nobody's any more.

        One that we know nothing of was begun just before a former one of us died, and its order is
        still to be read: an ``inc`` is older than its order, so the cursor can't tell.
        """
        life = self._lives.get(agent)
        newer = life is not None and inc < life.inc
        return newer or inc < self._epoch or inc <= self._ended.get(agent, -1)
