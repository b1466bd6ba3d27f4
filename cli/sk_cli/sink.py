"""What an `events` call writes: a line for each event that is wanted, runs of deltas joined."""

import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from sk_bus.wire import Batch
from sk_cli import render, selection, summaries
from sk_cli.folding import Entry, Folding
from sk_cli.invocation import Invocation
from sk_cli.jsontext import json_text
from sk_cli.moments import Moment
from sk_cli.words import number, t


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an `events` call asks for."""

    since: Moment | None
    until: Moment | None
    last: int | None
    count: int | None
    follow: bool
    deltas: str
    wanted: selection.Wanted


class Sink:
    """Writes what is wanted of a batch."""

    def head(self) -> None:
        """Name the columns, for a person."""
        seq, time_, type_, place, said = t("events.heads").split()
        line = f"{seq:<16}  {time_:<12}  {type_:<22}  {place:<16}  {said}"
        print(self._told.styled(line, bold=True), flush=True)

    def __init__(self, told: Invocation, names: dict[str, str], asked: Asked) -> None:
        self._told = told
        self._names = names
        self._asked = asked
        self._folding = Folding()
        self._last_ts = 0
        self._held: deque[str] | None = None
        self.shown = 0

    def hold(self, most: int | None) -> None:
        """Write nothing yet: keep the last ``most`` lines, from now on."""
        self._held = deque(maxlen=most)
        self.shown = 0

    def holds_enough(self) -> bool:
        return self._held is not None and len(self._held) == self._held.maxlen

    def release(self) -> bool:
        """Write what is held, and hold nothing any more; whether that was all."""
        held, self._held, self.shown = self._held, None, 0
        self._write(list(held or ()))
        return self._enough()

    def _enough(self, more: int = 0) -> bool:
        """Whether ``--count`` is reached; what is only held may yet make room for later lines."""
        count = self._asked.count
        return self._held is None and count is not None and self.shown + more >= count

    def take(self, batch: Batch, end: int | None) -> bool:
        """Whether that was all that the call is to show."""
        asked = self._asked
        since = asked.since.ts if asked.since else None
        until = asked.until.ts if asked.until else None
        self._last_ts = batch.ts
        if since is not None and batch.ts < since:
            return False
        if until is not None and batch.ts > until:
            self.flush()
            return True
        lines: list[str] = []
        for seq, event in enumerate(batch.raw(), batch.first):
            if end is not None and seq > end:
                break
            if event.get("type") == "channels:changed":
                self._names |= {one["id"]: _name(one) for one in event["channels"]}
            if event.get("type") == "message:delta" and asked.deltas == "none":
                continue
            entry = Entry(epoch=batch.epoch, seq=seq, ts=batch.ts, event=event)
            if not asked.wanted.holds(event, json_text(event) if asked.wanted.text else ""):
                continue
            ready = self._folding.add(entry) if asked.deltas == "fold" else [entry]
            lines += [self._line(one) for one in ready]
            if self._enough(len(lines)):
                self._write(lines)
                return True
        self._write(lines)
        return False

    def flush(self, *, older_than: int = 0) -> None:
        """Write the run of deltas that is held back, if it is that old (ms)."""
        if older_than and time.time_ns() // 1_000_000 - self._last_ts < older_than:
            return
        self._write([self._line(one) for one in self._folding.flush()])

    def _write(self, lines: list[str]) -> None:
        if self._held is not None:
            self._held.extend(lines)
            return
        if self._asked.count is not None:
            lines = lines[: self._asked.count - self.shown]
        self.shown += len(lines)
        if lines and not self._told.quiet:
            print("\n".join(lines), flush=True)

    def _line(self, entry: Entry) -> str:
        if self._told.json:
            return _json_line(entry)
        type_ = str(entry.event.get("type"))
        said = summaries.summary(entry.event)
        if entry.count > 1:
            type_ = f"{type_} ×{entry.count}"
            kind = render.one_line(str(entry.event.get("kind")))
            lasted = number(entry.lasted / 1000, 1)
            said = t("event.run", kind=kind, count=entry.characters, seconds=lasted)
        place = summaries.where(entry.event, self._names)
        head = f"{entry.seq}  {render.clock(entry.ts)}"
        topic = self._told.styled(f"{type_:<22}", fg="cyan")
        return f"{self._told.styled(head, dim=True)}  {topic}  {place:<16}  {said}"


def _name(channel: dict[str, Any]) -> str:
    return f"@{channel['direct']}" if channel.get("direct") else f"#{channel.get('name')}"


def _json_line(entry: Entry) -> str:
    data = {key: value for key, value in entry.event.items() if key != "type"}
    made: dict[str, Any] = {
        "seq": entry.seq,
        "epoch": entry.epoch,
        "ts": entry.ts,
        "type": entry.event.get("type"),
        "data": data,
    }
    if entry.count > 1:
        made["count"] = entry.count
        made["characters"] = entry.characters
    return json_text(made)
