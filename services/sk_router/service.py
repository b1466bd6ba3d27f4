"""The router's process: inputs from the log to the decider, what it says back to the log.

Recovery first: a snapshot, then what was published since, evolved and never decided anew. Then
each input once, with the last of them as our position at the bus. No rule of the product is here.
"""

import asyncio
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from sk_bus import service as harness
from sk_bus.assembly import check
from sk_bus.blobs import BlobStore
from sk_bus.codec import plain
from sk_bus.commands import Command
from sk_bus.contract import Heartbeat, Hello, Producer, Resync
from sk_bus.errors import SidekicksError, TooLargeError, UnreachableError, problem
from sk_bus.events import ChannelsChanged, CommandResult, Kind
from sk_bus.failpoints import failpoint
from sk_bus.internal import FactFrame
from sk_bus.model import Cursor
from sk_bus.queries import Preview, PreviewView
from sk_bus.tuning import tuned
from sk_bus.vocabulary import Event, decoded
from sk_bus.wire import Batch
from sk_router.decide import decide
from sk_router.decision import Decision, Input
from sk_router.evolve import evolve
from sk_router.faults import Faults
from sk_router.previews import preview
from sk_router.snapshots import SnapshotFiles
from sk_router.state import State
from sk_router.timers import Clock
from sk_router.unfolding import unfolded

NAME = "router"
# What a decision may depend on; everything else is passed over.
_READ = frozenset(
    (
        "fact:up",
        "fact:frame",
        "fact:exited",
        "timer:fired",
        "config:changed",
        "file:openable",
        "history:imported",
        "history:past",
        "history:restored",
    )
)
_KINDS = Kind.COMMAND | Kind.FACT | Kind.INTERNAL | Kind.PUBLIC
_SNAPSHOT_AFTER = tuned("snapshot-after", 20_000)  # events of others
_SNAPSHOT_EVERY = tuned("snapshot-every", 30.0)  # seconds, while others say anything


_FAULT = (
    "Sidekicks itself failed on this and passed it over; `sk-cli logs router` shows where. "
    "Please report it."
)


class LostJournalError(Exception):
    """What the state is folded from is no longer in the journal, and no snapshot stands in."""


def main() -> None:
    harness.run(NAME, _router)


async def _router(service: harness.Service) -> None:
    producer = await service.bus.producer(NAME)
    clock_producer = await service.bus.producer("timer")
    # Asked after the producer: every batch of ours is at or below this head.
    hello = await service.bus.hello()
    files = SnapshotFiles(Path(hello.directory))
    recovered = await _recovered(service, producer, hello, files)
    clock = Clock(clock_producer, recovered.state.timers)
    live = _Live(service, producer, files, clock, recovered)
    service.answers(Preview, live.preview)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(producer.run())
        tasks.create_task(clock_producer.run())
        tasks.create_task(clock.run())
        tasks.create_task(live.run())


@dataclass(slots=True)
class _Recovered:
    """The state after every input up to ``decided``; ``floors`` are those of its snapshots.

    ``forgets``: a channel was deleted, of which a snapshot or the journal behind it may still tell.
    """

    state: State
    epoch: int
    decided: int
    floors: list[int]
    forgets: bool = False


async def _recovered(
    service: harness.Service, producer: Producer, hello: Hello, files: SnapshotFiles
) -> _Recovered:
    position = producer.position
    # An epoch is named by the number its seqs start from: an older position is of an older one.
    if not isinstance(position, int) or position < hello.epoch:
        return _Recovered(State(), hello.epoch, 0, [])
    usable = files.read(hello.epoch, position)
    if not usable and hello.floor > hello.epoch + 1:
        raise LostJournalError(
            f"{hello.directory} has no usable router.snapshot, and its journal begins at "
            f"{hello.floor}; remove the journal folder there to begin a new epoch"
        )
    known = {id_ for one in usable for id_ in one.state.channels}
    state, decided = (usable[0].state, usable[0].decided) if usable else (State(), 0)
    if decided < position:
        known |= await _fold(service, state, Cursor(epoch=hello.epoch, seq=decided), hello.head)
    floors = [one.decided for one in reversed(usable)]
    forgets = bool(known - state.channels.keys())
    return _Recovered(state, hello.epoch, position, floors, forgets)


async def _fold(service: harness.Service, state: State, after: Cursor, head: int) -> set[str]:
    """Evolve over what we published about inputs behind ``after``; all channels on the way."""
    channels: set[str] = set()
    if after.seq >= head:
        return channels
    async with aclosing(service.bus.follow(after)) as followed:
        async for item in followed:
            if isinstance(item, Resync):
                raise LostJournalError(f"the journal begins at {item.floor}, not at {after.seq}")
            if isinstance(item, Heartbeat):
                continue
            if item.producer == NAME and item.position > after.seq:
                for _, event in item.events():
                    if isinstance(event, ChannelsChanged):
                        channels.update(state.channels)
                    evolve(state, event)
            if item.last >= head:
                return channels
    return channels


class _Live:
    """Input after input, and what follows from each."""

    def __init__(
        self,
        service: harness.Service,
        producer: Producer,
        files: SnapshotFiles,
        clock: Clock,
        recovered: _Recovered,
    ) -> None:
        self._service = service
        self._producer = producer
        self._files = files
        self._clock = clock
        self._state = recovered.state
        self._epoch = recovered.epoch
        self._decided = recovered.decided
        self._floors = recovered.floors[-2:]
        self._blobs = BlobStore(Path(service.hello.directory))
        self._texts = lru_cache(maxsize=32)(self._blobs.text)
        self._faults = Faults(Path(service.hello.directory), recovered.epoch)
        self._heard = 0  # events of others since the last snapshot, inputs or not
        # The input that deleted a channel, while a snapshot or the journal may still hold that.
        self._forgets: int | None = recovered.decided if recovered.forgets else None
        self._snapshot_at = asyncio.get_running_loop().time() + _SNAPSHOT_EVERY

    async def run(self) -> None:
        if self._forgets is not None:
            # Whoever decided on it died before the snapshots were made anew. Where our last words
            # about it are still to come back to us, that is done once more behind them.
            await self._keep()
            await self._keep()
        self._report()
        await self._tell_opening()
        after = Cursor(epoch=self._epoch, seq=self._decided)
        async for item in self._service.bus.follow(after):
            if isinstance(item, Resync):
                raise LostJournalError(f"the journal begins at {item.floor}, behind {after.seq}")
            if isinstance(item, Heartbeat):
                continue
            if item.producer != NAME:
                if item.kinds & _KINDS:
                    self._take(item)
                self._heard += item.count
                await self._snapshot(item.last)
            elif item.count:
                await self._forget(item)
            self._service.advance(item.last)
            self._report()
            await self._tell_opening()

    async def _tell_opening(self) -> None:
        """Let the config watcher hear which file is to be opened, and how far that has come.

        It hears of a state, which it can't miss as it could an event; the log has it first.
        """
        opening = plain(self._state.opening)
        if opening == self._service.details.get("opening"):
            return
        await self._producer.drained()
        if opening is None:
            del self._service.details["opening"]
        else:
            self._service.details["opening"] = opening
        with suppress(UnreachableError):  # the next report says it too
            await self._service.report_now()

    def _take(self, batch: Batch) -> None:
        inputs = [
            Input(seq, batch.ts, batch.mono, self._whole(event))
            for seq, data in enumerate(batch.raw(), batch.first)
            if data.get("type") in _READ or str(data.get("type")).startswith("cmd:")
            if data.get("type") != "cmd:result" and (event := decoded(data)) is not None
        ]
        if not inputs:
            return
        known = set(self._state.channels)
        events = self._decided_on(inputs, batch.first)
        if known - self._state.channels.keys():
            self._forgets = batch.last
        self._decided = batch.last
        failpoint("router_decided")
        try:
            self._producer.put(events, batch.last)
        except TooLargeError:
            self._faults.batch_failed(batch.first)
            raise
        self._clock.look()

    def _decided_on(self, inputs: list[Input], first: int) -> list[Event]:
        """What follows from the inputs of the batch that begins at ``first``.

        A failure is a fault of ours and leaves a state worth nothing: it is noted, we end, and the
        next one of us passes over the input that is to blame.
        """
        if not self._faults.failed_in(first):
            try:
                decision = decide(self._state, inputs, self._text)
            except Exception:
                self._faults.batch_failed(first)
                raise
            return self._kept(decision)
        events: list[Event] = []
        for one in inputs:
            if self._faults.set_aside(one.seq):
                self._service.log.error("passed over %d, which we fail on: %r", one.seq, one.event)
                if isinstance(one.event, Command):
                    why = problem("fault", _FAULT)
                    events.append(CommandResult(id=one.event.id, ok=False, problem=why))
                continue
            try:
                decision = decide(self._state, [one], self._text)
                check([*events, *decision.events])
            except Exception:
                self._faults.input_failed(one.seq)
                raise
            # Outside: a disk that is full is no fault of the input's, and passes.
            events += self._kept(decision)
        return events

    def _kept(self, decision: Decision) -> list[Event]:
        """The events of a decision, with the blobs that they name written."""
        for text in decision.blobs.values():
            self._blobs.put(text)
        for note in decision.notes:
            self._service.log.info("%s", note)
        return decision.events

    def _whole(self, event: Event) -> Event:
        if not isinstance(event, FactFrame) or event.raw is None:
            return event
        try:
            return replace(event, line=unfolded(event.line, self._blobs.text))
        except (OSError, ValueError) as error:
            # Gone, or never ours: an agent can write what looks like a reference.
            self._service.log.warning("%s: a text that can't be read: %s", event.agent, error)
            return event

    def _text(self, sha256: str) -> str | None:
        """A long text of a message, by its hash."""
        try:
            return self._texts(sha256)
        except (OSError, ValueError) as error:
            self._service.log.warning("a message's text can't be read: %s", error)
            return None

    async def _snapshot(self, read: int) -> None:
        """Keep the state now and then, between two batches, with all that was said confirmed.

        What was no input up to ``read`` is decided on as well: else logs alone would fill the
        journal, which keeps what is above our snapshots and the executor what is above our place.
        """
        now = asyncio.get_running_loop().time()
        if not self._heard or (self._heard < _SNAPSHOT_AFTER and now < self._snapshot_at):
            return
        if self._decided < read:
            self._decided = read
            self._producer.put([], read)
        await self._keep()
        self._snapshot_at = now + _SNAPSHOT_EVERY

    async def _keep(self) -> None:
        await self._producer.drained()
        self._files.write(self._epoch, self._decided, self._state)
        self._floors = [*self._floors, self._decided][-2:]
        self._heard = 0

    async def _forget(self, own: Batch) -> None:
        """Let go of a deleted channel, once all that was said of its end has come back to us.

        Both snapshots are made anew, behind our own last words: the journal needs neither those
        nor anything before them.
        """
        if self._forgets is None or own.position < self._forgets:
            return
        self._forgets = None
        self._decided = own.last  # what lies between is our own
        self._producer.put([], own.last)
        await self._keep()
        await self._keep()

    def _report(self) -> None:
        if self._faults.any:
            self._service.state = "degraded"
            self._service.details["fault"] = "an input was passed over; the log says which"
        self._service.position = self._producer.position
        # What the older snapshot can't do without; everything, while there are not two.
        self._service.floor = self._floors[0] + 1 if len(self._floors) == 2 else self._epoch

    async def preview(self, query: Preview) -> PreviewView:
        channel = self._state.channels.get(query.channel)
        if channel is None:
            raise SidekicksError(
                problem("no-such-channel", "no such channel: {channel}", channel=query.channel)
            )
        return preview(self._state, channel, query.text)
