"""Whatever is sent to the bus or to a service: an answer or a refusal, never its end."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from sk_bus import wire
from sk_bus.contract import Hello
from sk_bus.errors import MalformedError, SidekicksError
from sk_bus.events import Kind
from sk_bus.instructions import Commit, Known, Now, Place, Prune, Read, Refuse, Reply
from sk_bus.memory import MemoryBus
from sk_bus.model import Problem
from sk_bus.paths import Instance
from sk_bus.queries import QUERIES
from sk_bus.sequencer import Sequencer
from sk_bus.service import Service
from tests.support.strange import altered, briefly, spoilt, values

NOWHERE = Path("/nowhere")
HELLO = Hello(epoch=1000, head=1000, floor=1001, directory="/d", config="/c", open=True)
NOW = Now(ts=1, mono=2)
VERBS = ("append", "command", "replay", "report", "hello", "position", "outcome", "prune", "query")
SEND = {"type": "cmd:Send", "id": "u-1", "by": "page", "channel": "c1", "text": "hi"}
GOOD: dict[str, Any] = {
    "append": ["test", 1000, 1, None, 1, 1, 0, b"\x90", [], False],
    "command": SEND,
    "replay": [1000, 1000, 4096],
    "report": {
        "service": "router",
        "pid": 1,
        "epoch": 1000,
        "cursor": 1000,
        "state": "running",
        "details": {},
    },
    "position": ["router"],
    "outcome": ["u-1"],
    "hello": None,
    "prune": None,
}
REQUESTS = st.sampled_from(VERBS).flatmap(
    lambda verb: st.tuples(
        st.just(verb), altered(GOOD.get(verb), *SEND) | values("u-1", *SEND, *GOOD["report"])
    )
)
PACKED = st.sampled_from(
    [
        wire.request(7, "hello", None),
        wire.request(7, "command", SEND),
        wire.answer(7, [1000, {"a": None}]),
        wire.refusal(7, Problem(id="no", message="No.", params={"a": 1})),
        b"".join(wire.heartbeat(1000, 1001, {"bus": {"pid": 1}})),
    ]
)


class Nothing:
    """A ledger in which nothing stands."""

    def outcome(self, id_: str) -> Known | None:
        return None


def travelled(value: Any) -> Any:
    """The value as it arrives; what can't be packed can't be sent."""
    with suppress(OverflowError, TypeError, ValueError):
        return wire.unpacked(wire.packed(value))
    return None


@briefly
@given(st.binary(max_size=80) | spoilt(PACKED))
@example(wire.packed([7, False, {"id": "no"}]))
def test_bytes_are_read_or_malformed(data: bytes) -> None:
    for read in (wire.request_from, wire.reply_from, wire.heartbeat_from, wire.salvaged):
        with suppress(MalformedError):
            read(data)


@briefly
@given(st.lists(REQUESTS, max_size=8))
@example([("command", SEND | {"id": "\ud800"})])
@example([("report", {"type": "cmd:Send"})])
def test_any_requests_are_answered_refused_or_wait(asked: list[tuple[str, Any]]) -> None:
    bus = Sequencer(replace(HELLO), {}, Nothing())
    for number, (verb, argument) in enumerate(asked):
        head = bus.hello.head
        for instruction in bus.handle(number, verb, travelled(argument), NOW):
            match instruction:
                case Commit(batch=batch):
                    assert batch.first == head + 1
                    assert bus.hello.head == batch.last
                    read = wire.batch_from_record(batch.record())
                    if batch.kinds == Kind.COMMAND and not read.producer:
                        assert len(read.events()) == 1
                case Reply(value=value):
                    wire.answer(number, value)
                case Refuse(problem=why):
                    wire.refusal(number, why)
                case Read(after=after):
                    assert HELLO.floor - 1 <= after <= bus.hello.head
                case Prune():
                    pass
        # What is said each 200 ms to everybody must go on being sayable.
        reports = {name: wire.plain(report) for name, report in bus.reports.items()}
        wire.heartbeat(1000, bus.hello.head, reports)
    assert all(isinstance(place, Place) for place in bus._places.values())


NAMES = st.sampled_from(sorted(QUERIES)) | st.text(max_size=10)
ARGUMENTS = values("channel", "agent", "text", "sha256", "offset", "limit", "path", "after")
QUESTIONS = st.tuples(
    NAMES, ARGUMENTS | st.dictionaries(st.text(max_size=8), ARGUMENTS), st.just(0)
)


@briefly
@given(verb=st.sampled_from(["query", "", "query\0"]), argument=QUESTIONS.map(list) | ARGUMENTS)
def test_any_question_to_a_service_has_an_answer_or_a_refusal(verb: str, argument: Any) -> None:
    async def asked() -> None:
        bus = MemoryBus(directory=NOWHERE)
        instance = Instance(name="test", state=NOWHERE, run=NOWHERE)
        service = Service("history", instance, bus.client(), HELLO)

        async def answer(query: Any) -> None:
            return None

        for kind in QUERIES.values():
            service.answers(kind, answer)
        with suppress(SidekicksError):
            await service.answered(verb, travelled(argument))

    asyncio.run(asked())
