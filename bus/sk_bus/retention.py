"""What may leave the journal: the oldest stretches, once nobody needs them.

Pure. Someone who lags far behind keeps everything; in an epoch in which one of those who must read
has not reported yet, nothing leaves.
"""

from dataclasses import dataclass, field

from sk_bus.contract import Hello, Report

KEEP = 64 * 2**20
CAP = 2 * 2**30
# Who does something with what stands in the log, so that it mustn't go before they have.
_READERS = ("agents", "history", "config", "router")


def needed(reports: dict[str, Report], hello: Hello) -> int:
    """The lowest seq that somebody still needs; what is below it may go."""
    lowest = hello.head + 1
    for name in _READERS:
        report = reports.get(name)
        if report is None or report.epoch != hello.epoch:
            return hello.floor
        wanted = report.cursor + 1 if report.floor is None else report.floor
        lowest = min(lowest, wanted)
    return max(lowest, hello.floor)


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of the journal that ends with ``last``, of ``size`` bytes."""

    last: int
    size: int


@dataclass(slots=True)
class Segments:
    """The journal in stretches of about one megabyte: how much would go with what."""

    done: list[Segment] = field(default_factory=list)
    tail: int = 0  # bytes after the last segment's end
    length: int = 2**20

    @property
    def size(self) -> int:
        """Bytes of the whole journal."""
        return sum(segment.size for segment in self.done) + self.tail

    def added(self, last: int, size: int) -> Segment | None:
        """A record that ends with ``last`` was appended; the segment that it completed, if any."""
        self.tail += size
        if self.tail < self.length:
            return None
        segment = Segment(last, self.tail)
        self.done.append(segment)
        self.tail = 0
        return segment

    def removable(self, below: int, keep: int) -> int:
        """The new floor when all goes that may: below ``below``, and not of the newest ``keep``.

        0 when nothing goes.
        """
        size = self.size
        floor = 0
        for segment in self.done:
            if segment.last >= below or size - segment.size < keep:
                break
            size -= segment.size
            floor = segment.last + 1
        return floor

    def removed(self, floor: int) -> None:
        """Everything below ``floor`` has gone."""
        self.done = [segment for segment in self.done if segment.last >= floor]
