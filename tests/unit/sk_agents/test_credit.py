from collections import deque

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sk_agents.credit import Credit

FRAMES = 4
BYTES = 100
AGENTS = st.sampled_from(["alice", "bob"])


class Credited(RuleBasedStateMachine):
    """Invariant 11: an agent's backlog never exceeds its credit, and it is counted truly."""

    def __init__(self) -> None:
        super().__init__()
        self.credit = Credit(frames=FRAMES, size=BYTES)
        self.flying: deque[tuple[str, int] | None] = deque()
        self.log: list[tuple[str, int] | None] = []
        self.decided = 0

    @rule(agent=AGENTS, size=st.integers(1, 150))
    def frame(self, agent: str, size: int) -> None:
        if self.credit.allows(agent, size):
            self.credit.spend(agent, size)
            self.flying.append((agent, size))

    @rule()
    def other(self) -> None:
        self.credit.other()
        self.flying.append(None)

    @rule(count=st.integers(1, 5))
    def published(self, count: int) -> None:
        count = min(count, len(self.flying))
        self.credit.published(len(self.log) + 1, count)
        self.log += [self.flying.popleft() for _ in range(count)]

    @rule(step=st.integers(0, 5))
    def decide(self, step: int) -> None:
        # The router may be heard of before our own batch comes by.
        self.decided = min(self.decided + step, len(self.log) + len(self.flying))
        self.credit.decide(self.decided)

    @invariant()
    def the_backlog_is_what_lies_beyond_the_router(self) -> None:
        beyond = [entry for seq, entry in enumerate(self.log, 1) if seq > self.decided]
        for agent in ("alice", "bob"):
            sizes = [entry[1] for entry in [*beyond, *self.flying] if entry and entry[0] == agent]
            assert self.credit.backlog(agent) == (len(sizes), sum(sizes))

    @invariant()
    def the_backlog_is_within_the_credit(self) -> None:
        for agent in ("alice", "bob"):
            frames, size = self.credit.backlog(agent)
            assert frames <= 1 or (frames <= FRAMES and size <= BYTES)


TestCredited = Credited.TestCase


def test_one_frame_always_passes_however_big() -> None:
    assert Credit(size=10).allows("alice", 1_000_000)


def test_one_agents_flood_leaves_anothers_credit_alone() -> None:
    credit = Credit(frames=1)
    credit.spend("alice", 1)
    assert not credit.allows("alice", 1)
    assert credit.allows("bob", 1)


def test_what_a_former_life_published_counts_until_the_router_has_decided_on_it() -> None:
    credit = Credit(frames=1)
    credit.former("alice", 7, 10)
    credit.decide(6)
    assert not credit.allows("alice", 1)
    credit.decide(7)
    assert credit.allows("alice", 1)


@given(st.integers(0, 5), st.integers(0, 5))
def test_what_is_about_to_be_handed_over_counts(frames: int, about: int) -> None:
    credit = Credit(frames=5, size=1000)
    for _ in range(frames):
        credit.spend("alice", 1)
    assert credit.allows("alice", 1, frames=about, spent=about) == (frames + about < 5)


def test_nothing_is_allowed_before_what_a_former_life_published_is_known() -> None:
    credit = Credit(behind=True)
    assert not credit.allows("alice", 1)
    for seq in range(1, 201):
        credit.former("alice", seq, 1)
    credit.caught_up()
    assert not credit.allows("alice", 1)
    assert credit.allows("bob", 1)
