"""What a follower is given: every batch after its cursor, in order, once, without a hole.

Pure. The live stream may lose, repeat and overtake; the journal has everything. Whenever the
stream doesn't go on exactly where the cursor stands, the answer is to ask the journal.
"""

from dataclasses import dataclass
from enum import Enum, auto

from sk_bus.assembly import rest_of
from sk_bus.contract import Resync
from sk_bus.model import Cursor
from sk_bus.wire import Batch


class Verdict(Enum):
    """What to do with what the stream offers."""

    DELIVER = auto()
    DROP = auto()
    ASK = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The journal's answer: what follows the cursor, or (``resync``) that nothing can."""

    epoch: int
    head: int
    floor: int
    resync: bool
    batches: tuple[Batch, ...]


class Gaps:
    """One follower's place in the log."""

    def __init__(self, after: Cursor) -> None:
        self.cursor = after

    def offered(self, batch: Batch) -> Verdict:
        """A batch came from the stream. ``DELIVER`` moves the cursor behind it."""
        if batch.epoch != self.cursor.epoch:
            # An older one is a straggler, which the journal's answer would not move either.
            return Verdict.ASK if batch.epoch > self.cursor.epoch else Verdict.DROP
        if batch.count == 0:
            return Verdict.DELIVER if batch.last == self.cursor.seq else Verdict.DROP
        if batch.last <= self.cursor.seq:
            return Verdict.DROP
        if batch.first != self.cursor.seq + 1:
            return Verdict.ASK
        self.cursor = Cursor(epoch=batch.epoch, seq=batch.last)
        return Verdict.DELIVER

    def behind(self, epoch: int, head: int) -> bool:
        """Whether a heartbeat that names ``head`` tells of batches that never came."""
        return epoch > self.cursor.epoch or (epoch == self.cursor.epoch and head > self.cursor.seq)

    def replayed(self, answer: Replayed) -> list[Batch | Resync]:
        """What to deliver of the journal's answer; the cursor moves behind it."""
        if answer.resync:
            self.cursor = Cursor(epoch=answer.epoch, seq=answer.head)
            return [Resync(epoch=answer.epoch, head=answer.head, floor=answer.floor)]
        if self.cursor.seq < answer.floor - 1:  # it was 0: from the beginning
            self.cursor = Cursor(epoch=answer.epoch, seq=answer.floor - 1)
        delivered: list[Batch | Resync] = []
        for batch in answer.batches:
            if batch.last <= self.cursor.seq:
                continue
            whole = batch.first > self.cursor.seq
            delivered.append(batch if whole else rest_of(batch, self.cursor.seq))
            self.cursor = Cursor(epoch=batch.epoch, seq=batch.last)
        return delivered
