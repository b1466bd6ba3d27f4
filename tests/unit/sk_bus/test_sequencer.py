"""The order of everything, under any loss, repetition and death."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sk_bus.assembly import Append, Assembly
from sk_bus.contract import Hello
from sk_bus.events import AgentLog, CommandResult
from sk_bus.instructions import Commit, Known, Now, Place, Read, Refuse, Reply
from sk_bus.internal import HistoryRestored
from sk_bus.model import AgentName, CommandId
from sk_bus.retention import needed
from sk_bus.sequencer import Sequencer
from sk_bus.wire import Batch, Position, packed, unpacked

EPOCH = 1000
NOW = Now(ts=1, mono=2)
HELLO = Hello(epoch=EPOCH, head=EPOCH, floor=EPOCH + 1, directory="/d", config="/c", open=False)


def line(text: str) -> AgentLog:
    return AgentLog(agent=AgentName("a"), line=text, stream="stderr")


@dataclass
class Disk:
    """A journal that survives the sequencer's death."""

    batches: list[Batch] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)
    outcomes: dict[str, Known] = field(default_factory=dict)
    open: bool = False

    def outcome(self, id_: str) -> Known | None:
        return self.outcomes.get(id_)

    def commit(self, commit: Commit) -> None:
        if commit.batch.count:
            self.batches.append(commit.batch)
        if commit.producer:
            self.places[commit.producer] = commit.place
        self.outcomes.update(commit.outcomes)
        self.open = self.open or commit.opens

    def sequencer(self) -> Sequencer:
        head = self.batches[-1].last if self.batches else EPOCH
        return Sequencer(replace(HELLO, head=head, open=self.open), dict(self.places), self)


class World:
    """A bus, its disk, and a wire that delivers one request at a time."""

    def __init__(self) -> None:
        self.disk = Disk()
        self.bus = self.disk.sequencer()
        self.told: dict[object, Any] = {}

    def request(self, to: object, verb: str, argument: Any, *, dies: str = "") -> Any:
        """What ``to`` is told at once, or None; the bus may die before or after the append."""
        travelled = unpacked(packed(argument))
        for instruction in self.bus.handle(to, verb, travelled, NOW):
            if dies == "before":
                break
            match instruction:
                case Commit():
                    self.disk.commit(instruction)
                    if dies == "after":
                        break
                case Reply(to=asked, value=value):
                    self.told[asked] = unpacked(packed(value))
                case Refuse(to=asked, problem=why):
                    self.told[asked] = why
                case _:
                    raise AssertionError(instruction)
        if dies:
            self.bus = self.disk.sequencer()
        return self.told.pop(to, None)

    def events(self) -> list[tuple[int, Any]]:
        return [event for batch in self.disk.batches for event in batch.events()]


def accepted(told: Any, append: Append) -> bool:
    """Whether a producer takes this as an acknowledgement, as the client does."""
    if isinstance(told, list):
        return True
    if told is not None and told.id == "position":
        assert (told.params["n"], told.params["position"]) == (append.n, append.position)
        return True
    return False


@dataclass
class Counting:
    """A producer whose events are counted; a new one goes on from what the bus says."""

    name: str
    said: int
    assembly: Assembly

    @classmethod
    def born(cls, world: World, name: str) -> "Counting":
        epoch, n, position = world.request(object(), "position", [name])
        return cls(name, position or 0, Assembly(name, epoch, n, position))


STEPS = st.one_of(
    st.tuples(st.just("put"), st.integers(0, 1), st.integers(0, 3)),
    st.tuples(st.just("send"), st.integers(0, 1), st.sampled_from(["", "before", "after", "lost"])),
    st.tuples(st.just("reborn"), st.integers(0, 1), st.just(0)),
    st.tuples(st.just("kill"), st.just(0), st.just(0)),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(STEPS, max_size=60))
def test_whatever_is_lost_or_dies_each_event_stands_once_and_in_order(
    steps: list[tuple[str, int, Any]],
) -> None:
    world = World()
    producers = [Counting.born(world, name) for name in ("p", "q")]

    def send(producer: Counting, fate: str) -> None:
        append = producer.assembly.next()
        if append is None:
            return
        dies = fate if fate in ("before", "after") else ""
        told = world.request(object(), "append", append.argument(), dies=dies)
        if fate != "lost" and accepted(told, append):
            producer.assembly.settled()

    for what, which, how in steps:
        producer = producers[which]
        match what:
            case "put":
                lines = [line(f"{producer.name}{producer.said + k + 1}") for k in range(how)]
                producer.said += how
                producer.assembly.put(list(lines), producer.said)
            case "send":
                send(producer, how)
            case "reborn":
                producers[which] = Counting.born(world, producer.name)
            case _:
                world.bus = world.disk.sequencer()
    for producer in producers:
        while not producer.assembly.empty:
            send(producer, "")

    events = world.events()
    assert [seq for seq, _ in events] == list(range(EPOCH + 1, EPOCH + 1 + len(events)))
    for producer in producers:
        said = [event.line for _, event in events if event.line[0] == producer.name]
        assert said == [f"{producer.name}{k + 1}" for k in range(producer.said)]


class Router:
    """Ends each command with its own seq; dies and is born again from its place at the bus."""

    def __init__(self, world: World) -> None:
        epoch, n, self.decided = world.request(object(), "position", ["router"])
        self.assembly = Assembly("router", epoch, n, self.decided)

    def decide(self, world: World) -> None:
        for seq, event in world.events():
            if seq > (self.decided or 0) and event.type == "cmd:Direct":
                result = CommandResult(id=event.id, ok=True, value=seq)
                self.assembly.put([line(f"did {event.id}"), result], seq)
                self.decided = seq

    def send(self, world: World, fate: str) -> None:
        append = self.assembly.next()
        if append is None:
            return
        dies = fate if fate in ("before", "after") else ""
        told = world.request(object(), "append", append.argument(), dies=dies)
        if fate != "lost" and accepted(told, append):
            self.assembly.settled()


FATES = st.sampled_from(["", "", "before", "after", "lost"])
COMMAND_STEPS = st.one_of(
    st.tuples(st.just("command"), st.integers(0, 5), FATES),
    st.tuples(st.just("decide"), st.just(0), FATES),
    st.tuples(st.just("reborn"), st.just(0), st.just("")),
    st.tuples(st.just("open"), st.just(0), st.just("")),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(COMMAND_STEPS, max_size=60))
def test_one_command_id_has_one_effect_and_one_result_after_it(
    steps: list[tuple[str, int, str]],
) -> None:
    world = World()
    router = Router(world)

    def opens() -> None:
        if not world.bus.hello.open:
            assembly = Assembly("history", EPOCH, 0, None)
            assembly.put([HistoryRestored()], EPOCH)
            append = assembly.next()
            assert append is not None
            world.request(object(), "append", append.argument())

    for what, which, fate in steps:
        match what:
            case "command":
                world.request(object(), "command", command(which), dies=fate.replace("lost", ""))
            case "decide":
                router.decide(world)
                router.send(world, fate)
            case "reborn":
                router = Router(world)
            case _:
                opens()
    opens()
    for which in range(6):
        world.request(which, "command", command(which))
    for _ in range(2):
        router.decide(world)
        while not router.assembly.empty:
            router.send(world, "")

    events = world.events()
    assert [seq for seq, _ in events] == list(range(EPOCH + 1, EPOCH + 1 + len(events)))
    for which in range(6):
        id_ = f"k{which}"
        asked = [seq for seq, event in events if event.type == "cmd:Direct" and event.id == id_]
        did = [seq for seq, event in events if getattr(event, "line", "") == f"did {id_}"]
        ends = [(seq, event) for seq, event in events if getattr(event, "id", "") == id_][1:]
        assert len(asked) == len(did) == len(ends) == 1
        assert asked[0] < did[0] < ends[0][0]
        known = world.request("again", "command", command(which))
        assert known == [
            ends[0][0],
            {"type": "cmd:result", "id": id_, "ok": True, "value": asked[0]},
        ]


def command(which: int) -> dict[str, Any]:
    return {"type": "cmd:Direct", "id": f"k{which}", "by": "test", "agent": "a"}


# --- one by one -----------------------------------------------------------------------------


def append_of(
    *,
    n: int = 1,
    previous: Position = None,
    position: Position = 1,
    producer: str = "p",
    epoch: int = EPOCH,
    events: bytes = packed([{"type": "x"}]),
    count: int = 1,
) -> list[Any]:
    return [producer, epoch, n, previous, position, 1, count, events, [], False]


@pytest.mark.parametrize(
    ("argument", "id_"),
    [
        (append_of(n=2), "position"),  # the one before it was lost
        (append_of(previous=5), "position"),
        (append_of(epoch=EPOCH - 1), "epoch"),
        (append_of(producer=""), "malformed-request"),
        (append_of(count=2), "malformed-request"),
        (append_of(events=b""), "malformed-request"),
    ],
)
def test_what_does_not_follow_is_refused_and_changes_nothing(argument: list[Any], id_: str) -> None:
    world = World()
    assert world.request(1, "append", argument).id == id_
    assert world.bus.hello == HELLO
    assert world.request(1, "append", append_of()) == [EPOCH + 1, EPOCH + 1]


def test_while_the_journal_is_full_agents_wait_and_others_pass() -> None:
    world = World()
    world.bus.full = True
    assert world.request(1, "append", append_of(producer="agents")).id == "full"
    moved = append_of(producer="agents", events=packed([]), count=0)
    assert world.request(1, "append", moved) == [EPOCH + 1, EPOCH]
    assert world.request(1, "append", append_of(producer="router")) == [EPOCH + 1, EPOCH + 1]


def test_only_the_history_opens_an_epoch() -> None:
    world = World()
    argument = append_of()
    argument[-1] = True
    world.request(1, "append", argument)
    assert not world.bus.hello.open


def test_all_who_wait_for_a_command_are_told() -> None:
    world = World()
    world.disk.open = True
    world.bus = world.disk.sequencer()
    for to in ("a", "b", "b"):
        assert world.request(to, "command", command(0)) is None
    router = Router(world)
    router.decide(world)
    router.send(world, "")
    assert set(world.told) == {"a", "b"}
    assert len(world.events()) == 3


def test_a_second_result_under_one_id_is_not_the_outcome() -> None:
    world = World()
    world.disk.open = True
    world.bus = world.disk.sequencer()
    world.request(1, "command", command(0))
    assembly = Assembly("router", EPOCH, 0, None)
    for value in (1, 2):
        assembly.put([CommandResult(id=CommandId("k0"), ok=True, value=value)], value)
    append = assembly.next()
    assert append is not None
    world.request(2, "append", append.argument())
    assert world.request(3, "outcome", ["k0"])[1]["value"] == 1


@pytest.mark.parametrize(
    ("epoch", "after", "reads_after"),
    [
        (EPOCH, 0, EPOCH),
        (EPOCH, EPOCH, EPOCH),
        (EPOCH, EPOCH + 1, EPOCH + 1),
        (EPOCH, EPOCH + 2, None),
        (EPOCH, EPOCH - 1, None),
        (EPOCH - 1, EPOCH, None),
        (0, 0, None),
    ],
)
def test_a_replay_reads_or_tells_to_resynchronise(
    epoch: int, after: int, reads_after: int | None
) -> None:
    world = World()
    world.request(1, "append", append_of())
    (instruction,) = world.bus.handle(2, "replay", [epoch, after, 100], NOW)
    if reads_after is None:
        assert isinstance(instruction, Reply)
        assert instruction.value[3] is True
    else:
        assert instruction == Read(to=2, after=reads_after, limit=100)


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.text(max_size=3)
    | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
VERBS = ("hello", "position", "append", "command", "replay", "report", "outcome", "dance")
ARGUMENTS: dict[str, Any] = {
    "append": append_of(),
    "command": command(0),
    "replay": [EPOCH, EPOCH, 10],
    "report": {
        "service": "x",
        "pid": 1,
        "epoch": 1,
        "cursor": 1,
        "state": "",
        "details": {},
        "floor": 1,
    },
}


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(VERBS), ANYTHING, st.integers(0, 9), st.booleans())
def test_no_argument_whatever_ends_the_bus(verb: str, junk: Any, place: int, mutated: bool) -> None:
    world = World()
    argument: Any = junk
    known = ARGUMENTS.get(verb)
    if mutated and isinstance(known, list):
        argument = [junk if k == place else item for k, item in enumerate(known)]
    elif mutated and isinstance(known, dict):
        argument = {k: junk if n == place else v for n, (k, v) in enumerate(known.items())}
    for instruction in world.bus.handle(1, verb, argument, NOW):
        if isinstance(instruction, Commit):
            world.disk.commit(instruction)
            packed([instruction.place.position, instruction.outcomes and 1])
    needed(world.bus.reports, world.bus.hello)
    assert world.request(2, "hello", None)["epoch"] == EPOCH
