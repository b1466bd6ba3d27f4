"""Which database an epoch is kept in: the right one, one in memory, or the right one later."""

import asyncio
import shutil
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from sk_bus import ids
from sk_bus.codec import plain
from sk_bus.contract import Bus
from sk_bus.events import ChannelsChanged, MessageUpdated
from sk_bus.model import AgentName, Channel, Cursor, Message, Role, TextPart
from sk_bus.queries import Conversation, HistoryInfo, ListChannels
from sk_history import records
from sk_history.fold import Fold
from sk_history.rocks import RocksStore
from sk_history.store import Put
from tests.support.pair import Pair, Router, with_pair
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.process

ALICE = AgentName("alice")
BEFORE = Channel(id=ids.channel_id(1), name="before", members=(ALICE,))
NOW = Channel(id=ids.channel_id(2), name="now", members=(ALICE,))


def said(seq: int, channel: Channel = NOW) -> MessageUpdated:
    message = Message(
        id=ids.message_id(seq),
        channel=channel.id,
        createdAt=seq,
        role=Role.USER,
        parts=(TextPart(text=f"number {seq}"),),
    )
    return MessageUpdated(channel=channel.id, message=message)


def before(folder: Path) -> RocksStore:
    """A database of an earlier epoch with a channel in it, open here."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = RocksStore(folder)
    fold = Fold(store)
    fold.apply(ChannelsChanged(channels=(BEFORE,)))
    fold.apply(said(10, BEFORE))
    store.write(fold.writes(Cursor(epoch=1, seq=1)))
    return store


async def trouble(bus: Bus, *, expected: bool = True) -> str:
    """What the history says of its database, once it says something (or nothing)."""
    async with aclosing(bus.beats()) as beats:
        async for beat in beats:
            report = beat.reports.get("history")
            told = report and report.details.get("historyProblem")
            if report is not None and bool(told) is expected:
                return told or ""
    raise AssertionError("the bus fell silent")


async def names(bus: Bus, after: int = 0) -> list[str]:
    return [one.name for one in (await bus.query(ListChannels(), after=after)).value]


def folder(pair: Pair) -> Path:
    return pair.instance.data / "history"


def test_a_database_that_another_holds_is_left_alone_until_the_next_epoch() -> None:
    held: list[RocksStore] = []

    async def test(pair: Pair, bus: Bus) -> None:
        assert "lock" in (await trouble(bus)).lower()
        async with Router(bus).speaking() as router:
            head = await router.said(ChannelsChanged(channels=(NOW,)), said(11))
            assert await names(bus, head) == ["now"]
            # Now it could be had, but this epoch's log knows nothing of what is in it.
            held[0].close()
            pair.kill("history")
            pair.start("history")
            assert "lock" in (await trouble(bus)).lower()
            head = await router.said(said(12))
            view = (await bus.query(Conversation(channel=NOW.id), after=head)).value
            assert [one.id for one in view.messages] == [ids.message_id(11), ids.message_id(12)]
        pair.kill("bus")
        shutil.rmtree(pair.instance.data / "journal")
        pair.start("bus")
        await pair.ended("history")
        pair.start("history")
        async with pair.bus() as later:
            await trouble(later, expected=False)
            assert await names(later) == ["before"]
            view = (await later.query(Conversation(channel=BEFORE.id))).value
            assert [one.id for one in view.messages] == [ids.message_id(10)]

    with_pair(test, before=lambda pair: held.append(before(folder(pair))))


def test_a_database_of_newer_code_is_refused_and_not_touched() -> None:
    def newer(pair: Pair) -> None:
        store = before(folder(pair))
        store.write([Put(records.meta("schema"), records.row(records.SCHEMA + 1))])
        store.close()

    async def test(pair: Pair, bus: Bus) -> None:
        assert "install that version again" in await trouble(bus)
        assert await names(bus) == []
        store = RocksStore(folder(pair))
        assert store.get(records.channel_key(BEFORE.id)) == records.row(plain(BEFORE))
        assert records.value(store.get(records.meta("schema")) or b"") == records.SCHEMA + 1
        store.close()

    with_pair(test, before=newer)


def test_a_database_that_fails_within_an_epoch_is_waited_for_and_misses_nothing() -> None:
    async def test(pair: Pair, bus: Bus) -> None:
        async with Router(bus).speaking() as router:
            head = await router.said(ChannelsChanged(channels=(NOW,)), said(11))
            assert await names(bus, head) == ["now"]
            pair.kill("history")
            folder(pair).rename(folder(pair).with_name("aside"))
            folder(pair).write_text("in the way")
            pair.start("history")
            assert "tried again" in await trouble(bus)
            head = await router.said(said(12))
            asked = asyncio.ensure_future(
                bus.query(Conversation(channel=NOW.id), after=head, timeout=PATIENCE)
            )
            folder(pair).unlink()
            folder(pair).with_name("aside").rename(folder(pair))
            view = (await asked).value
            assert [one.id for one in view.messages] == [ids.message_id(11), ids.message_id(12)]
            await trouble(bus, expected=False)

    with_pair(test)


def test_a_database_lost_within_an_epoch_is_made_anew_and_that_is_said() -> None:
    async def test(pair: Pair, bus: Bus) -> None:
        async with Router(bus).speaking() as router:
            head = await router.said(
                ChannelsChanged(channels=(replace(NOW, name="old"),)), said(11)
            )
            head = await router.said(ChannelsChanged(channels=(NOW,)))
            assert await names(bus, head) == ["now"]
            pair.kill("history")
            shutil.rmtree(folder(pair))
            pair.start("history")
            head = await router.said(said(12))
            view = (await bus.query(Conversation(channel=NOW.id), after=head)).value
            assert [one.id for one in view.messages] == [ids.message_id(11), ids.message_id(12)]
            assert view.channel.name == "now"
            assert "made anew" in await trouble(bus)

    with_pair(test)


def test_without_room_it_ends_says_why_and_has_everything_once_there_is_some() -> None:
    async def test(pair: Pair, bus: Bus) -> None:
        await names(bus)
        pair.kill("history")
        pair.start("history", largest=300_000)
        async with Router(bus).speaking() as router:
            head = await router.said(ChannelsChanged(channels=(NOW,)))
            assert await names(bus, head) == ["now"]
            for seq in range(11, 120):
                big = replace(said(seq).message, parts=(TextPart(text=f"{seq} " * 1000),))
                head = await router.said(MessageUpdated(channel=NOW.id, message=big))
            assert await pair.ended("history") == 1
            assert "make room" in await trouble(bus)
            pair.start("history")
            view = (await bus.query(Conversation(channel=NOW.id), after=head)).value
            assert view.messages[-1].id == ids.message_id(119)
            await trouble(bus, expected=False)
            found = (await bus.query(HistoryInfo())).value
            assert found.messages == 109

    with_pair(test)
