"""The order of everything: which batch gets which numbers, and what each request is told.

Pure, with one door: :meth:`Sequencer.handle` takes a request and returns what is to be done, in
order. A :class:`Commit` is appended to the journal and then published; only then is what follows
it, the acknowledgement, sent. Nothing here reads a clock, a socket or a disk; outcomes of commands
are looked up in the journal through a :class:`Ledger`.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol

from sk_bus.admission import digest, objection
from sk_bus.assembly import array_header, array_of
from sk_bus.codec import plain, value_of
from sk_bus.contract import Hello, Report
from sk_bus.errors import problem
from sk_bus.events import Kind
from sk_bus.instructions import (
    Commit,
    Instruction,
    Known,
    Now,
    Place,
    Prune,
    Read,
    Refuse,
    Reply,
    To,
)
from sk_bus.model import Problem
from sk_bus.retention import needed
from sk_bus.wire import Batch, body_of, packed

_MOST_HELD = 256
_FULL_FOR = "agents"  # whose appends wait while the journal is at its cap
_OPENER = "history"
_LONGEST_NAME = 64
_MOST_SERVICES = 32


class Ledger(Protocol):
    """The journal, as far as the sequencer asks it."""

    def outcome(self, id_: str) -> Known | None:
        """What is known under a command's id."""


@dataclass(frozen=True, slots=True)
class _Held:
    command: dict[str, Any]
    digest: bytes


class Sequencer:
    """The state of the log, as far as order needs it."""

    def __init__(
        self, hello: Hello, places: dict[str, Place], ledger: Ledger, *, compare: bool = True
    ) -> None:
        self.hello = hello
        self.reports: dict[str, Report] = {}
        self.full = False  # set by the shell: the journal is at its cap
        self._places = places
        self._ledger = ledger
        self._compare = compare  # off only where a test wants to see what would go wrong
        self._waiters: dict[str, dict[To, None]] = {}
        self._held: dict[str, _Held] = {}

    def handle(self, to: To, verb: str, argument: Any, now: Now) -> list[Instruction]:
        """What is to be done about one request."""
        match verb, argument:
            case "append", [str(), int(), int(), _, _, int(), int(), bytes(), list(), bool()]:
                return self._append(to, argument, now)
            case "command", _:
                return self._command(to, argument, now)
            case "replay", [int(epoch), int(after), int(limit)]:
                return [self._replay(to, epoch, after, limit)]
            case "report", dict():
                return [self._report(to, argument, now)]
            case "hello", _:
                return [Reply(to=to, value=plain(self.hello))]
            case "position", [str(producer)]:
                place = self._places.get(producer, Place())
                return [Reply(to=to, value=[self.hello.epoch, place.n, place.position])]
            case "outcome", [str(id_)]:
                return [Reply(to=to, value=self._outcome(id_))]
            case "prune", _:
                return [Prune(to=to, below=needed(self.reports, self.hello))]
            case "append" | "replay" | "report" | "position" | "outcome", _:
                return [Refuse(to=to, problem=_unreadable(verb))]
            case _:
                why = problem("unknown-verb", "The bus has no verb {verb}.", verb=verb[:64])
                return [Refuse(to=to, problem=why)]

    def floor(self, seq: int) -> None:
        """The journal now begins at ``seq``."""
        self.hello = replace(self.hello, floor=seq)

    # --- batches --------------------------------------------------------------------------

    def _append(self, to: To, argument: list[Any], now: Now) -> list[Instruction]:
        producer, epoch, n, previous, position, kinds, count, events, results, opens = argument
        place = self._places.get(producer, Place())
        if epoch != self.hello.epoch:
            why = problem(
                "epoch",
                "The bus is in epoch {epoch}, not in {ours}.",
                epoch=self.hello.epoch,
                ours=epoch,
            )
            return [Refuse(to=to, problem=why)]
        if self._compare and (n, previous) != (place.n + 1, place.position):
            why = problem(
                "position",
                "{producer} stands elsewhere at the bus.",
                producer=producer,
                n=place.n,
                position=place.position,
            )
            return [Refuse(to=to, problem=why)]
        if (
            not 0 < len(producer) <= _LONGEST_NAME
            or not all(_is_result(item) for item in results)
            or not 0 <= kinds < 256
            or not 0 <= count < 2**31
            or not events.startswith(array_header(count))
        ):
            return [Refuse(to=to, problem=_unreadable("append"))]
        if self.full and producer == _FULL_FOR and count:
            why = problem("full", "The journal is full; {producer} waits.", producer=producer)
            return [Refuse(to=to, problem=why)]
        body = body_of(now.ts, now.mono, producer, position, events)
        batch = self._batch(body, Kind(kinds), count)
        outcomes = self._ended(batch.first, results)
        opening = opens and producer == _OPENER and not self.hello.open
        place = Place(n=n, position=position)
        self._places[producer] = place
        done: list[Instruction] = [
            Commit(
                batch=batch,
                producer=producer,
                place=place,
                outcomes=tuple(outcomes.items()),
                opens=opening,
            ),
            Reply(to=to, value=[batch.first, batch.last]),
        ]
        for id_, known in outcomes.items():
            waiters = self._waiters.pop(id_, ())
            done += [Reply(to=waiter, value=[known.end, known.result]) for waiter in waiters]
        if opening:
            self.hello = replace(self.hello, open=True)
            for id_, held in self._held.items():
                done.append(self._begun(id_, held, now))
            self._held.clear()
        return done

    def _batch(self, body: bytes, kinds: Kind, count: int) -> Batch:
        first = self.hello.head + 1
        self.hello = replace(self.hello, head=self.hello.head + count)
        return Batch(self.hello.epoch, first, count, kinds, body)

    def _ended(self, first: int, results: list[Any]) -> dict[str, Known]:
        """What becomes known by a batch's results; for each id the first one stands."""
        ended: dict[str, Known] = {}
        for index, result in results:
            id_ = result["id"]
            known = ended.get(id_) or self._ledger.outcome(id_) or Known(digest=b"", seq=0)
            if known.result is None:
                ended[id_] = replace(known, end=first + index, result=result)
        return ended

    # --- commands -------------------------------------------------------------------------

    def _command(self, to: To, command: Any, now: Now) -> list[Instruction]:
        why = objection(command)
        if why is not None:
            return [Refuse(to=to, problem=why)]
        id_ = command["id"]
        stands_for = digest(command)
        held = self._held.get(id_)
        known = self._known(id_)
        before = held.digest if held else known.digest if known else stands_for
        if before != stands_for:
            why = problem(
                "command-id-used",
                "The id {id} belongs to another command already; take a new one.",
                id=id_,
            )
            return [Refuse(to=to, problem=why)]
        if known is not None and known.result is not None:
            return [Reply(to=to, value=[known.end, known.result])]
        self._waiters.setdefault(id_, {})[to] = None
        if known is not None or held is not None:
            return []
        new = _Held(command, stands_for)
        if self.hello.open:
            return [self._begun(id_, new, now)]
        if len(self._held) < _MOST_HELD:
            self._held[id_] = new
        return []  # whoever found no room sends it again in a second

    def _begun(self, id_: str, held: _Held, now: Now) -> Commit:
        events = array_of([packed(held.command)])
        batch = self._batch(body_of(now.ts, now.mono, "", None, events), Kind.COMMAND, 1)
        known = Known(digest=held.digest, seq=batch.first)
        return Commit(batch=batch, producer="", place=Place(), outcomes=((id_, known),))

    def _known(self, id_: str) -> Known | None:
        known = self._ledger.outcome(id_)
        if known is not None and known.result is None and known.seq <= self.hello.epoch:
            return None  # the epoch ended before anybody decided on it
        return known

    def _outcome(self, id_: str) -> Any:
        known = self._known(id_)
        return None if known is None or known.result is None else [known.end, known.result]

    # --- the rest -------------------------------------------------------------------------

    def _replay(self, to: To, epoch: int, after: int, limit: int) -> Instruction:
        now = self.hello
        if epoch == now.epoch and after == 0:
            after = now.floor - 1
        if epoch != now.epoch or not now.floor - 1 <= after <= now.head:
            return Reply(to=to, value=replayed(now, resync=True, records=[]))
        return Read(to=to, after=after, limit=limit)

    def _report(self, to: To, argument: dict[str, Any], now: Now) -> Instruction:
        match argument:
            case {
                "service": str(name),
                "pid": int(),
                "epoch": int(),
                "cursor": int(),
                "state": str(),
                "details": dict(),
                **rest,
            } if (
                isinstance(rest.get("floor", 0), int)
                and isinstance(rest.get("mono", 0), int)
                and 0 < len(name) <= _LONGEST_NAME
                and (name in self.reports or len(self.reports) < _MOST_SERVICES)
            ):
                report = value_of(Report, argument)
                self.reports[name] = replace(report, heard=now.mono)
            case _:
                return Refuse(to=to, problem=_unreadable("report"))
        return Reply(to=to, value=plain(self.hello))


def _is_result(item: Any) -> bool:
    match item:
        case [int(), {"id": str()}]:
            return True
        case _:
            return False


def _unreadable(verb: str) -> Problem:
    return problem("malformed-request", "The bus can't read this {verb}.", verb=verb)


def replayed(hello: Hello, *, resync: bool, records: list[bytes]) -> list[Any]:
    """The answer to a replay request."""
    return [hello.epoch, hello.head, hello.floor, resync, records]
