"""What a running Sidekicks answered: three agents, two channels, a request for leave, a history."""

from typing import Any

from sk_bus.commands import (
    AddMember,
    AnswerPermission,
    Cancel,
    Create,
    Delete,
    Direct,
    EditQueued,
    Open,
    Prepare,
    RemoveMember,
    RemoveQueued,
    Rename,
    Restart,
    Send,
    Start,
    Stop,
)
from sk_bus.contract import Heartbeat, Hello, Report
from sk_bus.errors import problem
from sk_bus.events import (
    AgentLog,
    AgentStateChanged,
    ChannelsChanged,
    CommandsChanged,
    ComponentStateChanged,
    MessageDelta,
    MessageUpdated,
    PermissionRequested,
    PermissionResolved,
    TurnChanged,
    UsageChanged,
)
from sk_bus.internal import DoSend, FactFrame
from sk_bus.model import (
    AgentName,
    AgentState,
    AgentView,
    Channel,
    ChannelId,
    Component,
    ComponentName,
    Message,
    MessageId,
    Permission,
    PermissionId,
    PermissionOption,
    Problem,
    Role,
    SlashCommand,
    TextPart,
    ToolCall,
    ToolPart,
    Usage,
)
from sk_bus.queries import (
    SERVICES,
    Answering,
    Blob,
    Checked,
    Commands,
    Components,
    Content,
    ContentView,
    Conversation,
    ConversationView,
    Current,
    CurrentConfig,
    Export,
    ExportPage,
    Forget,
    HistoryInfo,
    HistoryView,
    Hit,
    Hits,
    Import,
    Imported,
    ListAgents,
    ListChannels,
    Logs,
    Permissions,
    Preview,
    PreviewView,
    Recent,
    Schema,
    Search,
    SpanView,
    Validate,
)
from tests.support.recorded_bus import batch

EPOCH = 1_796_000_000_000_000
T0 = 1_796_046_131_000  # 2026-11-30 13:42:11 UTC
CONFIG = "/home/ann/.config/sidekicks/sidekicks.yaml"
ALICE, BOB, DAN = AgentName("alice"), AgentName("bob"), AgentName("dan")
REVIEW, DIRECT = ChannelId("c1796000000000010.0"), ChannelId("c1796000000000020.0")
FAILED = problem(
    "start-late",
    "{agent} did not answer initialize within {seconds} s",
    agent="dan",
    seconds=30,
    stderr=["\x1b[31mno key\x1b[0m", "bye"],
)

HELLO = Hello(
    epoch=EPOCH,
    head=EPOCH + 5010,
    floor=EPOCH + 1,
    directory="/home/ann/.config/sidekicks/data/0123456789abcdef",
    config=CONFIG,
    open=True,
)
BEAT = Heartbeat(
    epoch=EPOCH,
    head=HELLO.head,
    reports={
        str(name): Report(
            service=str(name),
            pid=41002 + at,
            epoch=EPOCH,
            cursor=HELLO.head,
            heard=999_600,
            details={"browsers": 2} if name == "gateway" else {},
        )
        for at, name in enumerate(SERVICES)
    },
)
AGENTS = (
    AgentView(name=ALICE, title="Alice", state=AgentState.BUSY, memory=300 * 2**20),
    AgentView(name=BOB, title="Bob the builder", state=AgentState.READY, outdated=True),
    AgentView(name=DAN, title="dan", state=AgentState.ERROR, error=FAILED),
)
CHANNELS = (
    Channel(id=REVIEW, name="review", description="What we ship", members=(ALICE, BOB)),
    Channel(id=DIRECT, direct=BOB, members=(BOB,)),
)
ASKED = Permission(
    id=PermissionId("p1796000000000500.0"),
    channel=REVIEW,
    agent=BOB,
    messageId=MessageId("m1796000000000102.0"),
    toolCall=ToolCall(id="t1", title="rm -rf build", kind="execute"),
    options=(
        PermissionOption(optionId="once", name="Allow once", kind="allow_once"),
        PermissionOption(optionId="never", name="Refuse", kind="reject_once"),
    ),
    rejections=2,
)


def _message(n: int, role: Role, text: str = "", **more: Any) -> Message:
    parts = (TextPart(text=text),) if text else ()
    fields = {"parts": parts, "channel": REVIEW, "createdAt": T0 + n * 1000, "role": role}
    return Message(id=MessageId(f"m17960000000001{n:02}.0"), **{**fields, **more})


QUESTION = _message(0, Role.USER, "@alice read gateway.py, @bob comment")
FIRST = _message(
    1,
    Role.AGENT,
    "Alice: it reads\nbytes.",
    agent=ALICE,
    answers=QUESTION.id,
    stopReason="end_turn",
    rev=2,
)
SECOND = _message(
    2,
    Role.AGENT,
    agent=BOB,
    answers=QUESTION.id,
    parts=(
        TextPart(text="I \x1b[2Jlook."),
        ToolPart(tool=ToolCall(id="t1", title="rm -rf build", kind="execute", status="failed")),
    ),
    stopReason="max_tokens",
    rev=3,
)
# It waits, so it is read after what else came of the first question.
WAITING = _message(3, Role.USER, "And then?", queued=True)
JOINED = _message(4, Role.SYSTEM, agent=DAN, code="agent-joined", during=QUESTION.id)
UNABLE = _message(
    5, Role.SYSTEM, agent=DAN, code="agent-unavailable", error=FAILED, answers=QUESTION.id
)
MESSAGES = (QUESTION, FIRST, SECOND, WAITING, JOINED, UNABLE)
VIEW = ConversationView(
    channel=CHANNELS[0],
    messages=MESSAGES,
    more=False,
    busy=True,
    queued=1,
    answering=ALICE,
    usage={"alice": Usage(used=76_000, size=200_000), "bob": Usage(used=900)},
    permissions=(ASKED,),
)
QUIET = ConversationView(channel=CHANNELS[1], messages=(), more=False)
CURRENT = CurrentConfig(
    path=CONFIG,
    source="remembered",
    created=False,
    valid=True,
    problems=(),
    warnings=(
        Problem(
            id="no-such-folder",
            message="there is no folder /x",
            params={"path": "/x"},
            line=9,
            column=5,
            warning=True,
        ),
    ),
    theme="system",
    language="system",
)
CHECKED = Checked(
    problems=(
        Problem(
            id="no-such-folder",
            message="there is no folder /y",
            params={"path": "/y"},
            line=12,
            column=5,
        ),
    ),
    warnings=CURRENT.warnings,
)
HIT = Hit(
    channel=REVIEW,
    messageId=FIRST.id,
    createdAt=FIRST.createdAt,
    role=Role.AGENT,
    agent=ALICE,
    part=0,
    kind="text",
    at=7,
    excerpt="it reads\nbytes.",
    spans=(SpanView(start=3, length=5),),
)


def _conversation(query: Conversation) -> Any:
    known = {REVIEW: VIEW, DIRECT: QUIET}
    return known.get(query.channel) or problem("no-such-channel", "no such channel")


VALUES: dict[type, Any] = {
    ListAgents: AGENTS,
    ListChannels: CHANNELS,
    Conversation: _conversation,
    Permissions: (ASKED,),
    Logs: ("starting", "\x1b[31mhot\x1b[0m"),
    Commands: (SlashCommand(name="plan", description="Make a plan", hint="what for"),),
    Components: tuple(
        Component(component=ComponentName(name), state="running", pid=41002 + at, restarts=at % 2)
        for at, name in enumerate(SERVICES)
    ),
    Current: CURRENT,
    Content: ContentView(text="agents: []\n", digest="d"),
    Validate: CHECKED,
    Recent: (CONFIG, "/home/ann/other.yaml"),
    Forget: (CONFIG,),
    Schema: {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"},
    Search: Hits(hits=(HIT,), next="more"),
    Export: ExportPage(text="# review\n\n## You\n\nhello\n"),
    Import: Imported(channels=1, messages=12, kept=3),
    Blob: b"all of it\x1b[2J\n",
    Preview: PreviewView(
        answering=(Answering(agent=ALICE), Answering(agent=DAN, joins=True, starts=True)),
        unknown=("bib",),
    ),
    HistoryInfo: HistoryView(path="/data/history", size=1_234_567, channels=2, messages=41),
}
OUTCOMES: dict[type, Any] = {
    Create: REVIEW,
    Rename: None,
    Delete: None,
    AddMember: None,
    RemoveMember: None,
    Direct: DIRECT,
    Send: QUESTION.id,
    Cancel: None,
    EditQueued: None,
    RemoveQueued: None,
    Prepare: None,
    AnswerPermission: None,
    Start: None,
    Stop: None,
    Restart: FAILED,
    Open: {"already": False},
}


def _delta(message: Message, text: str, rev: int) -> MessageDelta:
    return MessageDelta(
        channel=REVIEW, messageId=message.id, index=0, kind="text", rev=rev, text=text
    )


def _begun(message: Message) -> Message:
    return Message(
        id=message.id,
        channel=REVIEW,
        createdAt=message.createdAt,
        role=Role.AGENT,
        agent=message.agent,
        answers=QUESTION.id,
        done=False,
    )


def _turn(**fields: Any) -> TurnChanged:
    return TurnChanged(channel=REVIEW, **fields)


REQUESTED = PermissionRequested(
    id=ASKED.id,
    channel=REVIEW,
    agent=BOB,
    messageId=SECOND.id,
    toolCall=ASKED.toolCall,
    options=ASKED.options,
)
RESOLVED = PermissionResolved(id=ASKED.id, channel=REVIEW, by="page", optionId="never")
# What happens after a message was sent to #review.
ANSWERED = (
    batch(
        EPOCH,
        EPOCH + 5011,
        T0,
        MessageUpdated(channel=REVIEW, message=QUESTION),
        _turn(busy=True, answering=ALICE, then=(BOB,), answers=QUESTION.id),
    ),
    batch(EPOCH, EPOCH + 5013, T0, MessageUpdated(channel=REVIEW, message=_begun(FIRST))),
    batch(EPOCH, EPOCH + 5014, T0 + 900, _delta(FIRST, "Alice: it ", 1)),
    batch(EPOCH, EPOCH + 5015, T0 + 1800, _delta(FIRST, "reads\nbytes.", 2)),
    batch(
        EPOCH,
        EPOCH + 5016,
        T0 + 2000,
        MessageUpdated(channel=REVIEW, message=FIRST),
        UsageChanged(channel=REVIEW, agent=ALICE, usage=Usage(used=76_000, size=200_000)),
        _turn(busy=True, answering=BOB, answers=QUESTION.id),
    ),
    batch(EPOCH, EPOCH + 5019, T0 + 2100, MessageUpdated(channel=REVIEW, message=_begun(SECOND))),
    batch(EPOCH, EPOCH + 5020, T0 + 2200, _delta(SECOND, "I \x1b[2Jlook.", 1)),
    batch(EPOCH, EPOCH + 5021, T0 + 2300, REQUESTED),
    batch(EPOCH, EPOCH + 5022, T0 + 2400, RESOLVED),
    batch(
        EPOCH,
        EPOCH + 5023,
        T0 + 2500,
        MessageUpdated(channel=REVIEW, message=SECOND),
        MessageUpdated(channel=REVIEW, message=UNABLE),
        _turn(busy=False),
    ),
)
# The log as it was before: what `events` and `traffic` show.
LOGGED = (
    batch(EPOCH, EPOCH + 4900, T0 - 9000, ChannelsChanged(channels=CHANNELS)),
    batch(
        EPOCH,
        EPOCH + 4901,
        T0 - 8000,
        AgentStateChanged(agent=DAN, state=AgentState.ERROR, error=FAILED),
        AgentLog(agent=DAN, line="\x1b[31mno key\x1b[0m", stream="stderr"),
        CommandsChanged(agent=ALICE, commands=VALUES[Commands]),
        ComponentStateChanged(
            component=ComponentName("router"), state="running", pid=7, restarts=1, since=0
        ),
    ),
    *(
        batch(one.epoch, one.first - 100, one.ts, *(event for _, event in one.events()))
        for one in ANSWERED
    ),
    batch(
        EPOCH,
        EPOCH + 5009,
        T0,
        DoSend(
            agent=ALICE,
            inc=EPOCH + 5,
            n=1,
            line='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}',
        ),
        FactFrame(
            agent=ALICE,
            inc=EPOCH + 5,
            end=300,
            line='{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":'
            '{"loadSession":true},"agentInfo":{"name":"al","version":"2"},"authMethods":'
            '[{"id":"key","name":"API key s3cret-value-9"}]}}',
        ),
    ),
)
