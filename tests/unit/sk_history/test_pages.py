"""Pages, and what the history says of channels, sessions and commands."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sk_bus import ids
from sk_bus.errors import RefusedError
from sk_bus.events import ChannelsChanged, CommandsChanged, MessageUpdated, TurnChanged
from sk_bus.model import (
    AgentName,
    Channel,
    Cursor,
    Message,
    MessageId,
    Role,
    SlashCommand,
    TextPart,
    ToolCall,
    ToolPart,
    WaitingFor,
)
from sk_bus.vocabulary import Event
from sk_history import pages
from sk_history.fold import Fold
from sk_history.store import MemoryStore
from tests.unit.sk_history.logs import around, conversation, newer, older

HERE, THERE = ids.channel_id(1), ids.channel_id(2)
ALICE, BOB = AgentName("alice"), AgentName("bob")
CHANNELS = ChannelsChanged(
    channels=(
        Channel(id=HERE, name="here", members=(ALICE,)),
        Channel(id=THERE, direct=BOB, members=(BOB,)),
    )
)


def said(seq: int, k: int = 0, channel: str = HERE) -> MessageUpdated:
    message = Message(
        id=ids.message_id(seq, k),
        channel=channel,
        createdAt=seq,
        role=Role.USER,
        parts=(TextPart(text=f"{seq}.{k}"),),
    )
    return MessageUpdated(channel=channel, message=message)


def history(*events: Event) -> tuple[MemoryStore, Fold]:
    store = MemoryStore()
    fold = Fold(store)
    for event in (CHANNELS, *events):
        fold.apply(event)
    store.write(fold.writes(Cursor(epoch=1, seq=1 + len(events))))
    return store, fold


def ids_of(page: dict) -> list[str]:
    return [message["id"] for message in page["messages"]]


@given(count=st.integers(0, 320), neighbours=st.integers(0, 3))
def test_paging_back_gives_the_messages_in_slices_of_a_hundred(count: int, neighbours: int) -> None:
    mine = [said(10 + n // 3, n % 3) for n in range(count)]
    others = [said(10 + n, 9, THERE) for n in range(neighbours)]
    store, fold = history(*mine, *others)
    page = conversation(store, fold, HERE)
    got = ids_of(page)
    while page["more"]:
        page = older(store, fold, HERE, MessageId(got[0]))
        assert len(page["messages"]) <= pages.PAGE
        got = ids_of(page) + got
    assert got == [event.message.id for event in mine]


@given(count=st.integers(1, 320), at=st.integers(0, 319))
def test_from_a_message_in_its_place_one_pages_forward_to_the_last(count: int, at: int) -> None:
    mine = [said(10 + n // 3, n % 3) for n in range(count)]
    store, fold = history(*mine, said(10, 9, THERE), said(2000, 0, THERE))
    everything = [event.message.id for event in mine]
    at %= count
    page = around(store, fold, HERE, MessageId(everything[at]))
    got = ids_of(page)
    assert got == everything[max(at - pages.BEFORE, 0) : at + 1 + pages.AFTER]
    assert page["more"] == (got[0] != everything[0])
    more = page["later"]
    while more:
        page = newer(store, fold, HERE, MessageId(got[-1]))
        assert 0 < len(page["messages"]) <= pages.PAGE
        got += ids_of(page)
        more = page["more"]
    assert got == everything[max(at - pages.BEFORE, 0) :]


def test_pages_of_big_messages_are_shorter_and_as_complete() -> None:
    tool = ToolCall(id="t", output="x" * 15_000)
    parts = tuple(ToolPart(tool=tool) for _ in range(50))
    mine = [said(10 + n) for n in range(40)]
    big = [replace(one, message=replace(one.message, parts=parts)) for one in mine]
    store, fold = history(*big)
    page = conversation(store, fold, HERE)
    got = ids_of(page)
    assert 0 < len(got) < 10
    while page["more"]:
        page = older(store, fold, HERE, MessageId(got[0]))
        got = ids_of(page) + got
    assert got == [one.message.id for one in big]
    page = around(store, fold, HERE, MessageId(got[20]))
    forward = ids_of(page)
    assert page["more"]
    more = page["later"]
    while more:
        page = newer(store, fold, HERE, MessageId(forward[-1]))
        forward += ids_of(page)
        more = page["more"]
    assert forward == got[got.index(forward[0]) :]


def test_a_message_of_another_channel_has_no_place_in_this_one() -> None:
    store, fold = history(said(10), said(11, channel=THERE))
    with pytest.raises(RefusedError, match="There is no message"):
        around(store, fold, HERE, MessageId(ids.message_id(11)))


def test_the_tenth_message_of_an_input_comes_after_the_ninth() -> None:
    store, fold = history(said(10, 10), said(10, 9))
    assert ids_of(conversation(store, fold, HERE)) == [
        ids.message_id(10, 9),
        ids.message_id(10, 10),
    ]


def test_an_unknown_channel_is_refused_by_name() -> None:
    store, fold = history()
    with pytest.raises(RefusedError, match=ids.channel_id(77)):
        conversation(store, fold, ids.channel_id(77))


def test_a_text_that_is_no_id_is_refused() -> None:
    store, fold = history()
    with pytest.raises(RefusedError, match="There is no message nonsense"):
        older(store, fold, HERE, MessageId("nonsense"))


def test_channels_come_oldest_first() -> None:
    store, fold = history(ChannelsChanged(channels=CHANNELS.channels[::-1]))
    assert [channel["id"] for channel in pages.channels(fold)] == [HERE, THERE]
    assert [channel["id"] for channel in pages.channels(Fold(store))] == [HERE, THERE]


def test_a_conversation_shows_whose_turn_keeps_it_waiting() -> None:
    waiting = WaitingFor(agent=BOB, channel=THERE)
    store, fold = history(
        TurnChanged(channel=HERE, busy=True, queued=2, answering=BOB, waitingFor=waiting)
    )
    view = conversation(store, fold, HERE)
    assert view["then"] == []
    assert (view["busy"], view["queued"], view["answering"], view["waitingFor"]) == (
        True,
        2,
        BOB,
        {"agent": BOB, "channel": THERE},
    )


def test_a_conversation_shows_who_is_still_to_answer() -> None:
    store, fold = history(TurnChanged(channel=HERE, busy=True, answering=ALICE, then=(BOB,)))
    view = conversation(store, fold, HERE)
    assert (view["answering"], view["then"]) == (ALICE, [BOB])


def test_the_last_announcement_of_commands_is_kept() -> None:
    store, _ = history(
        CommandsChanged(agent=ALICE, commands=(SlashCommand(name="old"),)),
        CommandsChanged(agent=ALICE, commands=(SlashCommand(name="new"),)),
    )
    assert [one["name"] for one in pages.commands(store, ALICE)] == ["new"]
    assert pages.commands(store, BOB) == []
