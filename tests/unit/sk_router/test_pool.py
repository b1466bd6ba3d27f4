"""The pool under random events: no wrong state, no limit broken, no process without an owner.

What is shown of each agent is held against the processes of the small world of
``world``, which plays executor and agents, and against the rows of the specification.
"""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sk_bus.commands import Cancel, Restart, Start, Stop
from sk_bus.events import AgentStateChanged, CommandResult, TurnChanged
from sk_bus.internal import DoStart
from sk_bus.model import AgentName
from tests.support.playbook import Playbook
from tests.unit.sk_router.test_properties import WHO
from tests.unit.sk_router.world import LIMIT, NAMES, World

# (from, to), as in the table of section 3; a restart goes on from its end to its start.
ROWS = {
    ("stopped", "starting"),
    ("error", "starting"),
    ("starting", "ready"),
    ("starting", "error"),
    ("starting", "stopped"),
    ("ready", "busy"),
    ("busy", "ready"),
    ("ready", "stopped"),
    ("busy", "stopped"),
    ("ready", "error"),
    ("busy", "error"),
    ("ready", "starting"),
    ("busy", "starting"),
}


class Pool(RuleBasedStateMachine):
    """Three agents, room for two or one, and whatever people and processes do."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.shown: dict[str, AgentStateChanged] = {}
        self.answering: dict[str, str | None] = {}
        self.removed: set[str] = set()
        self._seen = 0

    def perform(self, *step: Any) -> None:
        self.world.perform(step)

    # --- what happens -----------------------------------------------------------------------

    @rule(kind=st.sampled_from([Start, Start, Stop, Restart]), who=WHO)
    def command(self, kind: type, who: str) -> None:
        self.perform("command", kind, who)

    @rule(who=WHO)
    def sends_a_message(self, who: str) -> None:
        self.perform("send", who, "hello")

    @rule(who=WHO)
    def talks(self, who: str) -> None:
        self.perform("talk", who, "hello")

    @rule(who=WHO)
    def comes_up(self, who: str) -> None:
        self.perform("up", who)

    @rule(who=WHO, how=st.sampled_from(["well", "well", "badly"]))
    def responds(self, who: str, how: str) -> None:
        self.perform("respond", who, how)

    @rule(who=WHO)
    def asks(self, who: str) -> None:
        self.perform("ask", who, 7)

    @rule(who=WHO)
    def is_cancelled(self, who: str) -> None:
        self.perform("cancel", who)

    @rule(who=WHO)
    def ends(self, who: str) -> None:
        self.perform("exit", who)

    @rule(milliseconds=st.sampled_from([300, 10_000, 31_000, 700_000]))
    def time_passes(self, milliseconds: int) -> None:
        self.perform("time", milliseconds)

    @rule(
        names=st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=3),
        limit=st.integers(1, LIMIT),
        digest=st.sampled_from(["one", "two"]),
    )
    def is_configured(self, names: list[str], limit: int, digest: str) -> None:
        self.removed |= set(NAMES) - set(names)
        self.perform("configure", names, limit, digest)

    @rule()
    def router_dies(self) -> None:
        self.perform("router dies")

    # --- what must hold ---------------------------------------------------------------------

    @invariant()
    def states_follow_the_rows(self) -> None:
        for event in self.world.p.log[self._seen :]:
            if isinstance(event, AgentStateChanged):
                before = self.shown.get(event.agent)
                if before is not None and before.state != event.state:
                    row = (before.state, event.state)
                    begins_anew = event.agent in self.removed and event.state == "stopped"
                    assert row in ROWS or begins_anew
                self.shown[event.agent] = event
            elif isinstance(event, TurnChanged):
                self.answering[event.channel] = event.answering
        self._seen = len(self.world.p.log)

    @invariant()
    def what_is_shown_is_what_runs(self) -> None:
        world = self.world
        for name, shown in self.shown.items():
            if name not in world.alive:
                assert shown.state in ("stopped", "error", "starting"), "no process"
                assert not shown.stopping
                if shown.state == "starting":
                    assert len(world.alive) >= world.limit, "there is room for it"
                continue
            life = (name, world.alive[name])
            assert shown.stopping is (life in world.stopped)
            if life in world.ready:
                handshakes = (
                    ("ready", "busy") if not shown.stopping else ("ready", "busy", "starting")
                )
                assert shown.state in handshakes
            else:
                assert shown.state == "starting"

    @invariant()
    def busy_is_who_answers(self) -> None:
        for name, shown in self.shown.items():
            if shown.stopping or name not in self.world.alive:
                continue
            answers = name in self.answering.values()
            assert shown.state != "busy" or answers
            assert shown.state != "ready" or not answers

    @invariant()
    def an_error_says_why(self) -> None:
        for shown in self.shown.values():
            assert (shown.state == "error") is (shown.error is not None)

    def teardown(self) -> None:
        self.world.come_to_rest()
        self.states_follow_the_rows()
        self.what_is_shown_is_what_runs()
        for name in self.world.alive:
            assert name in self.world.p.state.lives, "a process without an owner"


Pool.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
test_the_pool = Pool.TestCase


# --- many at once ---------------------------------------------------------------------------


def test_fifty_simultaneous_starts_make_one_process() -> None:
    p = Playbook("alice")
    p.give(*[Start(id=f"start-{n}", agent=AgentName("alice")) for n in range(50)])  # type: ignore[arg-type]
    assert len(p.of(DoStart)) == 1
    p.started("alice")
    results = p.of(CommandResult)
    assert {one.id for one in results} == {f"start-{n}" for n in range(50)}
    assert all(one.ok for one in results)


def test_fifty_starts_while_it_stops_make_one_more_process() -> None:
    p = Playbook("alice")
    p.command(Start, agent=AgentName("alice"))
    p.started("alice")
    p.command(Stop, agent=AgentName("alice"))
    for n in range(50):
        p.command(Start, agent=AgentName("alice"))
        assert p.of(DoStart) == [], n
    p.exits("alice")
    assert len(p.of(DoStart)) == 1
    p.started("alice")
    assert sum(one.ok for one in p.of(CommandResult)) == 50


def test_fifty_messages_to_a_stopped_agent_make_one_process() -> None:
    p = Playbook("alice")
    channel = p.direct("alice")
    for _ in range(50):
        p.send(channel, "hello")
    assert len(p.started_lives()) == 1
    p.command(Cancel, channel=channel)
    assert p.of(DoStart) == []
