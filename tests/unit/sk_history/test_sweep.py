"""Which blobs go: those that nothing names any more, and none that may still be on its way."""

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sk_bus import ids
from sk_bus.blobs import BlobStore
from sk_bus.events import ChannelsChanged, MessageDelta, MessageUpdated
from sk_bus.model import BlobRef, Channel, Cursor, Message, Role, TextPart, ToolCall, ToolPart
from sk_bus.vocabulary import Event
from sk_history import records, sweep
from sk_history.fold import Fold
from sk_history.store import MemoryStore, Store

HERE, THERE = ids.channel_id(1), ids.channel_id(2)
BOTH = ChannelsChanged(channels=(Channel(id=HERE), Channel(id=THERE)))
ONE = ChannelsChanged(channels=(Channel(id=THERE),))
NOW = 2_000_000_000.0
DAY = 24 * 3600


def blob(directory: Path, text: str, *, age: float = 2 * DAY) -> BlobRef:
    blobs = BlobStore(directory)
    reference = blobs.put(text)
    os.utime(blobs.path(reference.sha256), (NOW - age, NOW - age))
    return reference


def kept(directory: Path, reference: BlobRef) -> bool:
    return BlobStore(directory).path(reference.sha256).exists()


def said(channel: str, reference: BlobRef) -> MessageUpdated:
    message = Message(
        id=ids.message_id(9 if channel == HERE else 8),
        channel=channel,
        createdAt=1,
        role=Role.USER,
        parts=(TextPart(text=reference),),
    )
    return MessageUpdated(channel=channel, message=message)


def history(*events: Event) -> Store:
    store = MemoryStore()
    fold = Fold(store)
    for event in events:
        fold.apply(event)
    store.write(fold.writes(Cursor(epoch=1, seq=1)))
    return store


def swept(directory: Path, store: Store) -> None:
    sweep.remove(directory, *sweep.names(store), now=NOW)
    store.write(sweep.forgotten(directory, store))


def test_a_blob_that_a_message_names_stays_however_old(tmp_path: Path) -> None:
    reference = blob(tmp_path, "named", age=100 * DAY)
    swept(tmp_path, history(BOTH, said(HERE, reference)))
    assert kept(tmp_path, reference)


def test_a_blob_in_a_tool_of_a_growing_message_stays(tmp_path: Path) -> None:
    reference = blob(tmp_path, "output", age=100 * DAY)
    answer = Message(id=ids.message_id(9), channel=HERE, createdAt=1, role=Role.AGENT, done=False)
    delta = MessageDelta(
        channel=HERE,
        messageId=answer.id,
        index=0,
        kind="tool",
        rev=1,
        part=ToolPart(tool=ToolCall(id="t", output=reference)),
    )
    swept(tmp_path, history(BOTH, MessageUpdated(channel=HERE, message=answer), delta))
    assert kept(tmp_path, reference)


def test_the_blobs_of_a_deleted_channel_go(tmp_path: Path) -> None:
    reference = blob(tmp_path, "deleted")
    store = history(BOTH, said(HERE, reference), ONE)
    swept(tmp_path, store)
    assert not kept(tmp_path, reference)
    assert store.first(records.BLOBS, records.end_of(records.BLOBS)) == []


def test_a_blob_that_another_channel_names_too_stays(tmp_path: Path) -> None:
    reference = blob(tmp_path, "shared")
    swept(tmp_path, history(BOTH, said(HERE, reference), said(THERE, reference), ONE))
    assert kept(tmp_path, reference)


def test_a_blob_written_again_just_now_stays(tmp_path: Path) -> None:
    reference = blob(tmp_path, "again", age=5)
    swept(tmp_path, history(BOTH, said(HERE, reference), ONE))
    assert kept(tmp_path, reference)


def test_a_blob_that_no_row_ever_named_stays_a_week(tmp_path: Path) -> None:
    young, old = blob(tmp_path, "young", age=6 * DAY), blob(tmp_path, "old", age=8 * DAY)
    swept(tmp_path, history(BOTH))
    assert (kept(tmp_path, young), kept(tmp_path, old)) == (True, False)


@given(
    st.recursive(
        st.one_of(st.text(max_size=3), st.integers(), st.none()),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
        ),
    )
)
def test_what_names_no_blob_yields_none(value: object) -> None:
    assert list(records.named_blobs(value)) == []


def test_a_blob_in_a_part_of_an_unknown_kind_is_found() -> None:
    raw = {"type": "other", "raw": {"x": [{"$blob": {"sha256": "a" * 64, "length": 9}}]}}
    assert list(records.named_blobs([raw])) == ["a" * 64]
