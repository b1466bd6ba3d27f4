"""The real sk-history beside a real sk-bus: killed under load, and in a second life of the log."""

import asyncio
import resource
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sk_bus import ids
from sk_bus.blobs import BlobStore
from sk_bus.codec import plain
from sk_bus.contract import Bus
from sk_bus.errors import RefusedError
from sk_bus.events import ChannelsChanged, MessageDelta, MessagesImported, MessageUpdated
from sk_bus.internal import HistoryImported, HistoryRestored
from sk_bus.model import AgentName, Channel, Cursor, Message, Role, TextPart
from sk_bus.queries import (
    Around,
    Blob,
    Conversation,
    ConversationView,
    Export,
    HistoryInfo,
    Import,
    Imported,
    ListChannels,
    Search,
)
from sk_bus.wire import Batch
from sk_history import lines
from tests.support.pair import Pair, Router, with_pair
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.process

ALICE = AgentName("alice")
HERE = ids.channel_id(1)
CHANNEL = Channel(id=HERE, direct=ALICE, members=(ALICE,))
KILLS = 6
SAYING = (TextPart(text="The needle in the hay"),)


def begun(seq: int) -> Message:
    return Message(
        id=ids.message_id(seq),
        channel=HERE,
        createdAt=seq,
        role=Role.AGENT,
        agent=ALICE,
        done=False,
    )


def update(message: Message) -> MessageUpdated:
    return MessageUpdated(channel=HERE, message=message)


def piece(message: Message, rev: int) -> MessageDelta:
    return MessageDelta(
        channel=HERE, messageId=message.id, index=0, kind="text", rev=rev, text=f"{rev} "
    )


def text_up_to(rev: int) -> str:
    return "".join(f"{n} " for n in range(1, rev + 1))


async def conversation(bus: Bus, after: int = 0) -> ConversationView:
    return (await bus.query(Conversation(channel=HERE), after=after, timeout=PATIENCE)).value


def test_killed_under_load_it_loses_nothing_and_doubles_nothing() -> None:
    async def test(pair: Pair, bus: Bus) -> None:
        answer = begun(10)
        async with Router(bus).speaking() as router:
            head = await router.said(ChannelsChanged(channels=(CHANNEL,)), update(answer))
            rev = 0
            for _ in range(KILLS):
                for _ in range(40):
                    router.say(*(piece(answer, rev + n) for n in range(1, 26)))
                    rev += 25
                    await asyncio.sleep(0)
                pair.kill("history")
                for _ in range(40):
                    rev += 1
                    head = await router.said(piece(answer, rev))
                pair.start("history")
                (message,) = (await conversation(bus, head)).messages
                assert message.rev == rev
                assert message.parts == (TextPart(text=text_up_to(rev)),)

    with_pair(test)


def test_who_asks_while_it_starts_is_told_what_was_said_while_it_was_away() -> None:
    async def test(pair: Pair, bus: Bus) -> None:
        answer = begun(10)
        async with Router(bus).speaking() as router:
            head = await router.said(ChannelsChanged(channels=(CHANNEL,)), update(answer))
            await conversation(bus, head)
            for rev in range(1, 2001, 500):
                pair.kill("history")
                await router.said(*(piece(answer, rev + n) for n in range(500)))
                pair.start("history")
                (message,) = (await conversation(bus)).messages
                assert message.rev == rev + 499

    with_pair(test)


def test_a_full_disk_ends_it_and_once_there_is_room_nothing_is_missing() -> None:
    async def test(pair: Pair, bus: Bus) -> None:
        answer = begun(10)
        async with Router(bus).speaking() as router:
            head = await router.said(ChannelsChanged(channels=(CHANNEL,)), update(answer))
            await conversation(bus, head)
            # No file of its may grow any more; to a program that is as a disk that is full.
            full = (20_000, 20_000)
            resource.prlimit(pair.running["history"].pid, resource.RLIMIT_FSIZE, full)
            for rev in range(1, 501):
                head = await router.said(piece(answer, rev))
            assert await pair.ended("history") != 0
            log = (pair.instance.directory / "history.err").read_text()
            assert "history failed" in log
            assert "File too large" in log
            pair.start("history")
            (message,) = (await conversation(bus, head)).messages
            assert (message.rev, message.parts) == (500, (TextPart(text=text_up_to(500)),))

    with_pair(test)


def test_an_answer_to_a_query_holds_what_its_caller_has_seen_done() -> None:
    async def test(pair: Pair, bus: Bus) -> None:
        async with Router(bus).speaking() as router:
            await router.said(ChannelsChanged(channels=(CHANNEL,)))
            for seq in range(10, 40):
                head = await router.said(update(begun(seq)))
                answer = await bus.query(Conversation(channel=HERE), after=head)
                assert answer.asOf.seq >= head
                assert answer.value.messages[-1].id == ids.message_id(seq)

    with_pair(test)


def test_when_the_journal_is_lost_it_says_what_it_kept_and_ends_what_was_under_way() -> None:
    async def test(pair: Pair, bus: Bus) -> None:
        answer = begun(10)
        async with Router(bus).speaking() as router:
            head = await router.said(
                ChannelsChanged(channels=(CHANNEL,)), update(answer), piece(answer, 1)
            )
        await conversation(bus, head)
        before = await bus.hello()
        pair.kill("bus")
        shutil.rmtree(pair.instance.data / "journal")
        pair.start("bus")
        assert await pair.ended("history") == 0, "a history of another epoch ends"
        pair.start("history")
        async with pair.bus() as later:
            hello = await opened(later)
            assert hello.epoch > before.head
            view = await conversation(later)
            (message,) = view.messages
            assert view.channel == CHANNEL
            assert message.error is not None
            assert (message.done, message.error.id) == (True, "interrupted")
            assert message.parts == (TextPart(text="1 "),)

    with_pair(test)


async def opened(bus: Bus) -> Any:
    """The bus's hello once it takes commands."""
    hello = await bus.hello()
    async for item in bus.follow(Cursor(epoch=hello.epoch, seq=0)):
        said = [event for _, event in getattr(item, "events", list)()]
        if any(isinstance(event, HistoryRestored) for event in said):
            return await bus.hello()
    raise AssertionError("the log ended")


def test_a_blob_comes_in_pieces_and_a_wrong_name_is_refused() -> None:
    async def test(pair: Pair, bus: Bus) -> None:
        reference = BlobStore(Path((await bus.hello()).directory)).put("0123456789" * 3000)
        answer = await bus.query(Blob(sha256=reference.sha256, offset=10_003, limit=5))
        assert answer.value == b"34567"
        with pytest.raises(RefusedError, match="There is no blob"):
            await bus.query(Blob(sha256="../../etc/passwd"))

    with_pair(test)


def test_what_was_just_said_is_found_and_shown_in_its_place() -> None:
    async def test(pair: Pair, bus: Bus) -> None:
        async with Router(bus).speaking() as router:
            await router.said(ChannelsChanged(channels=(CHANNEL,)))
            for seq in range(10, 15):
                head = await router.said(update(replace(begun(seq), done=True, parts=SAYING)))
                hits = (await bus.query(Search(text="need hay"), after=head)).value.hits
                assert hits[0].messageId == ids.message_id(seq)
                assert len(hits) == seq - 9
        place = await bus.query(Around(channel=HERE, messageId=hits[2].messageId))
        assert [message.id for message in place.value.messages] == [
            ids.message_id(seq) for seq in range(10, 15)
        ]
        view = (await bus.query(HistoryInfo())).value
        assert (view.channels, view.messages, view.problem) == (1, 5, None)
        assert view.size > 0

    with_pair(test)


def said(seq: int, text: str) -> MessageUpdated:
    return update(replace(begun(seq), done=True, parts=(TextPart(text=text),)))


async def exported(bus: Bus, *, after: int = 0) -> str:
    page = (await bus.query(Export(format="jsonl"), after=after)).value
    text = page.text
    while page.next is not None:
        page = (await bus.query(Export(format="jsonl", after=page.next))).value
        text += page.text
    return text


async def told_of_imports(bus: Bus) -> list[MessagesImported]:
    """What everybody has heard of messages that came by an import."""
    hello = await bus.hello()
    told: list[MessagesImported] = []
    async for item in bus.follow(Cursor(epoch=hello.epoch, seq=0)):
        if isinstance(item, Batch):
            told += [one for _, one in item.events() if isinstance(one, MessagesImported)]
            if item.last >= hello.head:
                break
    return told


async def taking_in_imports(bus: Bus, router: Router, channels: list[Channel]) -> None:
    """What a router does about imports, beside a live answer."""
    follow = bus.follow(Cursor(epoch=(await bus.hello()).epoch, seq=0))
    async for item in follow:
        for _, event in item.events() if isinstance(item, Batch) else ():
            if isinstance(event, HistoryImported):
                channels += event.channels
                router.say(ChannelsChanged(channels=tuple(channels)))


def test_an_export_brought_in_elsewhere_is_exported_from_there_as_the_same_bytes() -> None:
    texts: list[str] = []
    big = "It is a big text. " * 40_000

    async def out(pair: Pair, bus: Bus) -> None:
        async with Router(bus).speaking() as router:
            await router.said(ChannelsChanged(channels=(CHANNEL,)))
            reference = BlobStore(Path((await bus.hello()).directory)).put(big)
            whole = replace(begun(10), done=True, parts=(TextPart(text=reference),))
            head = await router.said(update(whole), *(said(n, f"word {n}") for n in range(11, 400)))
        await conversation(bus, head)
        texts.append(await exported(bus))

    async def back(pair: Pair, bus: Bus) -> None:
        path = pair.instance.directory / "export.jsonl"
        path.write_text(texts[0], encoding="utf-8")
        async with Router(bus).speaking() as router:
            other = Channel(id=ids.channel_id(2), direct=AgentName("bob"))
            await router.said(ChannelsChanged(channels=(other,)))
            answering = replace(begun(900), channel=other.id)
            router.say(MessageUpdated(channel=other.id, message=answering))
            watching = asyncio.ensure_future(taking_in_imports(bus, router, [other]))
            bringing = asyncio.ensure_future(bus.query(Import(path=str(path)), timeout=PATIENCE))
            for rev in range(1, 200):  # an answer streams meanwhile
                router.say(replace(piece(answering, rev), channel=other.id))
                await asyncio.sleep(0)
            assert (await bringing).value == Imported(channels=1, messages=390, kept=0)
            await router.producer.drained()
            head = (await bus.hello()).head
            texts.append(await exported(bus, after=head))
            again = await bus.query(Import(path=str(path)), timeout=PATIENCE)
            assert again.value == Imported(channels=0, messages=0, kept=390)
            assert await told_of_imports(bus) == []
            later = said(500, "later").message
            path.write_text(texts[0] + lines.message_line(plain(later), str), encoding="utf-8")
            more = await bus.query(Import(path=str(path)), timeout=PATIENCE)
            assert more.value == Imported(channels=0, messages=1, kept=390)
            assert await told_of_imports(bus) == [MessagesImported(channel=HERE, count=1)]
            assert (await conversation(bus)).messages[-1] == later
            view = (await bus.query(Conversation(channel=other.id), after=head)).value
            assert view.messages[-1].rev == 199
            hits = (await bus.query(Search(text="big"))).value.hits
            assert [hit.messageId for hit in hits] == [ids.message_id(10)]
            watching.cancel()

    with_pair(out)
    with_pair(back)
    theirs = [line for line in texts[1].splitlines() if '"bob"' not in line]
    assert theirs == texts[0].splitlines()


def test_a_file_with_a_fault_changes_nothing() -> None:
    async def test(pair: Pair, bus: Bus) -> None:
        await bus.query(ListChannels())
        path = pair.instance.directory / "export.jsonl"
        path.write_text(f"{lines.line(lines.HEADER)}{lines.channel_line(CHANNEL)}oops\n")
        with pytest.raises(RefusedError, match=r"Line 3 of .*no JSON"):
            await bus.query(Import(path=str(path)))
        with pytest.raises(RefusedError, match="there is no such file"):
            await bus.query(Import(path=f"{path}.not"))
        assert (await bus.query(ListChannels())).value == ()

    with_pair(test)


def test_a_second_copy_ends_and_says_why() -> None:
    async def test(pair: Pair, bus: Bus) -> None:
        await bus.query(ListChannels())
        second = await asyncio.to_thread(
            subprocess.run,
            [pair.instance.bin / "sk-history"],
            env=pair.instance.environment,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert second.returncode == 1
        assert b"runs already" in second.stderr

    with_pair(test)
