"""One run: an instance of its own, people, witnesses and a killer; then it is judged."""

import asyncio
import pickle
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import yaml

from sk_bus.client import BusClient, connect
from sk_bus.codec import plain
from sk_bus.errors import SidekicksError
from sk_bus.model import ChannelId, Cursor
from sk_bus.queries import Conversation, Older
from tests.chaos.broken import BROKEN, scripts
from tests.chaos.checks import Verdict, judged
from tests.chaos.evidence import Event, Evidence, Witness, is_public
from tests.chaos.killer import Killer
from tests.chaos.people import Person, Program, World
from tests.chaos.records import lives
from tests.chaos.witnesses import on_the_bus, on_the_page
from tests.support.instance import ROOT, TestInstance

AGENTS = ("alice", "bob")
# So small that both are pruned and snapshotted many times in a minute, and an answer is lost often.
SMALL = {
    "lose-acks": 400,
    "journal-keep": 600_000,
    "journal-segment": 50_000,
    "journal-prune": 1,
    "snapshot-after": 400,
    "snapshot-every": 3,
}


# A history that doubles keeps nobody waiting.
_IN_VAIN = {"cas": 6.0, "replay": 6.0, "memory": 10.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run is to be. ``without`` switches a promise off.

    ``cas`` and ``replay`` are switched off in the product itself, ``memory`` and ``once`` by a
    service of ours (`broken`).

    ``dump`` is a file for the evidence (a pickle), for whoever wants to look at it.
    """

    seed: int
    seconds: float
    agent: str = "demo"
    without: str = ""
    dump: Path | None = None

    @property
    def patience(self) -> float:
        """Seconds after which something is said to wait in vain: without a promise, it may."""
        return _IN_VAIN.get(self.without, 90.0)

    @property
    def environment(self) -> dict[str, str]:
        """What every process of the instance is told."""
        bounds = SMALL | ({"lose-acks": 40} if self.without == "cas" else {})
        told = {"SK_TUNE": ",".join(f"{name}={value}" for name, value in bounds.items())}
        in_itself = self.without and self.without not in BROKEN
        return told | ({"SK_FAIL": f"no_{self.without}"} if in_itself else {})


PROGRAMS = {
    "demo": Program(
        (sys.executable, "-m", "sk_demo.agent"),
        talk=lambda n: f"long {100 + n}",
        ask=lambda n: f"permission {n}",
    ),
    "scripted": Program(
        (sys.executable, str(ROOT / "tests" / "support" / "scripted_agent.py")),
        talk=lambda n: f"!count {150 + n} 4000 !thought hm !count {10 + n} 1000",
        ask=lambda n: f"!count {50 + n} 4000 !permission 2 !count {10 + n} 1000",
    ),
}


def _configuration(agent: str, records: Path) -> str:
    command = PROGRAMS[agent].command
    recorder = str(Path(__file__).with_name("recorder.py"))
    return yaml.safe_dump(
        {
            "limits": {"maxRunningAgents": 2},
            "agents": [
                {
                    "name": name,
                    "command": sys.executable,
                    "args": [recorder, str(records), name, *command],
                    "env": {
                        "SK_DEMO_PACE": "5",
                        "PYTHONPATH": ":".join(str(ROOT / part) for part in ("services", "bus")),
                    },
                }
                for name in AGENTS
            ],
        }
    )


def judgement(plan: Plan) -> Verdict:
    """Run it, and judge."""
    with TestInstance(config=None, environment=plan.environment) as instance:
        records = instance.directory / "records"
        records.mkdir()
        instance.config.write_text(_configuration(plan.agent, records))
        if plan.without in BROKEN:
            instance.environment["SK_BIN"] = str(scripts(instance, plan.without))
        evidence = Evidence(data=instance.data)
        instance.up()
        asyncio.run(_lived(instance, evidence, plan))
        evidence.lives = lives(records)
        instance.down()
        evidence.left = instance.processes()
        if plan.dump is not None:
            plan.dump.write_bytes(pickle.dumps(evidence))
        return judged(evidence)


async def _lived(instance: TestInstance, evidence: Evidence, plan: Plan) -> None:
    async with connect(instance.paths) as one, connect(instance.paths) as other:
        hello = await one.hello()
        world = World(plan.patience)
        begin = Cursor(epoch=hello.epoch, seq=hello.floor - 1)
        live = Witness("the first follower", whole=True, began=begin.seq)
        second = Witness("the second follower", whole=True, began=begin.seq)
        page = Witness("the page", whole=False, began=begin.seq)
        evidence.witnesses += [live, second, page]
        until = time.monotonic() + plan.seconds
        following = [
            asyncio.create_task(on_the_bus(instance, evidence, live, begin, told=world.told)),
            asyncio.create_task(on_the_bus(instance, evidence, second, begin)),
            asyncio.create_task(on_the_page(instance, evidence, page, begin)),
        ]
        people = [
            Person(
                name,
                PROGRAMS[plan.agent],
                (one, other),
                world,
                evidence,
                agents=agents,
                seed=plan.seed,
                first=300 * n,
            )
            for n, (name, agents) in enumerate(
                [*((name, (name,)) for name in AGENTS), ("everybody", AGENTS)]
            )
        ]
        async with asyncio.TaskGroup() as group:
            group.create_task(Killer(instance, evidence, plan.seed).run(until))
            for person in people:
                group.create_task(person.live(until))
        await _settled(one, evidence, plan.patience)
        for person in people:
            if person.channel:
                try:
                    evidence.views[person.channel] = await _messages(one, person.channel, live)
                except SidekicksError as error:
                    evidence.troubles.append(f"the history didn't show {person.channel}: {error}")
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)
        await _replayed(instance, evidence, plan.patience)


async def _settled(bus: BusClient, evidence: Evidence, patience: float) -> None:
    """Wait until every witness has seen the head, and the head stays where it is."""
    deadline = time.monotonic() + patience
    before = -1
    while time.monotonic() < deadline:
        head = (await bus.hello()).head
        if head == before and _all_at(evidence, head):
            return
        before = head
        await asyncio.sleep(2.5)  # ends of answers may come 2 s late
    ends = {one.name: one.seen[-1].seq for one in evidence.witnesses if one.seen}
    evidence.troubles.append(f"it never came to rest: the head is {before}, {ends}")


def _all_at(evidence: Evidence, head: int) -> bool:
    public = [one.seq for one in evidence.log if is_public(one.event)]
    wanted = {True: head, False: public[-1] if public else 0}
    return all(one.seen and one.seen[-1].seq >= wanted[one.whole] for one in evidence.witnesses)


async def _messages(bus: BusClient, channel: ChannelId, live: Witness) -> list[Event]:
    """All messages of a channel, as the history has them, page by page."""
    answer = await bus.query(Conversation(channel=channel), after=live.seen[-1].seq, timeout=60)
    messages = [plain(message) for message in answer.value.messages]
    more = answer.value.more
    while more:
        page = await bus.query(Older(channel=channel, before=messages[0]["id"]), timeout=60)
        messages = [plain(message) for message in page.value.messages] + messages
        more = page.value.more
    return messages


async def _replayed(instance: TestInstance, evidence: Evidence, patience: float) -> None:
    """What the journal still has, read in one go, is a witness too."""
    async with connect(instance.paths) as bus:
        hello = await bus.hello()
        evidence.floor = hello.floor
        began = max(hello.floor - 1, evidence.witnesses[0].began)
        witness = Witness("the journal", whole=True, began=began)
        evidence.witnesses.append(witness)
        try:
            async with asyncio.timeout(patience):
                await on_the_bus(
                    instance, evidence, witness, Cursor(epoch=hello.epoch, seq=began), hello.head
                )
        except TimeoutError:
            evidence.troubles.append("the journal could not be read to its head")
