"""The history's word in a new epoch."""

from sk_bus import ids
from sk_bus.errors import problem
from sk_bus.events import ChannelsChanged, CommandsChanged, MessageUpdated
from sk_bus.internal import (
    HistoryPast,
    HistoryRestored,
    PastMessage,
    SessionChanged,
    StoredCommands,
    StoredSession,
)
from sk_bus.model import (
    AgentName,
    Channel,
    Cursor,
    Message,
    Role,
    SessionId,
    SlashCommand,
    TextPart,
    ThoughtPart,
)
from sk_bus.vocabulary import Event
from sk_history.fold import Fold
from sk_history.restoring import TOLD, word
from sk_history.store import MemoryStore

ALICE, BOB = AgentName("alice"), AgentName("bob")
HERE, EMPTY = ids.channel_id(1), ids.channel_id(2)
CHANNELS = ChannelsChanged(
    channels=(
        Channel(id=HERE, name="here", members=(ALICE,)),
        Channel(id=EMPTY, direct=BOB, members=(BOB,)),
    )
)


def said(seq: int, role: Role, *texts: str, **rest: object) -> MessageUpdated:
    message = Message(
        id=ids.message_id(seq),
        channel=HERE,
        createdAt=seq,
        role=role,
        parts=tuple(TextPart(text=text) for text in texts),
        **rest,
    )
    return MessageUpdated(channel=HERE, message=message)


def told(*events: Event) -> list[HistoryPast | HistoryRestored]:
    store = MemoryStore()
    fold = Fold(store)
    for event in (CHANNELS, *events):
        fold.apply(event)
    fold.new_epoch()
    store.write(fold.writes(Cursor(epoch=2, seq=0)))
    return word(store, fold)


def past(*events: Event) -> tuple[PastMessage, ...]:
    first, *_ = told(*events)
    return first.messages if isinstance(first, HistoryPast) else ()


def test_what_is_restored_are_channels_members_sessions_and_commands() -> None:
    (restored,) = told(
        SessionChanged(channel=HERE, agent=ALICE, inc=5, sessionId=SessionId("s1")),
        SessionChanged(
            channel=HERE,
            agent=ALICE,
            inc=5,
            sessionId=SessionId("s2"),
            seen=ids.message_id(7),
            since=ids.message_id(6),
        ),
        SessionChanged(channel=HERE, agent=BOB, inc=5, sessionId=SessionId("left")),
        CommandsChanged(agent=ALICE, commands=(SlashCommand(name="fix"),)),
    )
    assert restored == HistoryRestored(
        channels=CHANNELS.channels,
        sessions=(
            StoredSession(
                channel=HERE,
                agent=ALICE,
                sessionId=SessionId("s2"),
                seen=ids.message_id(7),
                since=ids.message_id(6),
            ),
        ),
        commands=(StoredCommands(agent=ALICE, commands=(SlashCommand(name="fix"),)),),
    )


def test_the_past_of_a_channel_comes_before_what_opens_the_epoch() -> None:
    words = told(said(10, Role.USER, "why?"), said(11, Role.AGENT, "so", agent=ALICE))
    assert words[:-1] == [
        HistoryPast(
            channel=HERE,
            messages=(
                PastMessage(id=ids.message_id(10), text="why?"),
                PastMessage(id=ids.message_id(11), text="so", author=ALICE),
            ),
        )
    ]
    assert isinstance(words[-1], HistoryRestored)


def test_only_the_last_messages_are_told() -> None:
    messages = past(*(said(seq, Role.USER, str(seq)) for seq in range(10, 60)))
    assert [one.text for one in messages] == [str(seq) for seq in range(60 - TOLD, 60)]


def test_an_interrupted_answer_counts_as_said() -> None:
    assert [one.text for one in past(said(11, Role.AGENT, "half", done=False))] == ["half"]


def test_what_was_dropped_never_sent_or_empty_is_not_told() -> None:
    assert not past(
        said(10, Role.USER, "dropped", error=problem("cancelled", "Cancelled.")),
        said(11, Role.USER, "waiting", queued=True),
        said(12, Role.SYSTEM, "joined", code="agent-joined"),
        said(13, Role.AGENT, " "),
    )


def test_thoughts_are_not_told() -> None:
    answer = said(11, Role.AGENT, "aloud").message
    thinking = Message(
        id=answer.id,
        channel=HERE,
        createdAt=1,
        role=Role.AGENT,
        parts=(ThoughtPart(text="hm"), *answer.parts),
    )
    assert [one.text for one in past(MessageUpdated(channel=HERE, message=thinking))] == ["aloud"]
