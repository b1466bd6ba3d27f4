"""The position: invariants 3 and 5, as far as the ledger alone can hold them."""

from collections import Counter
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from sk_agents.ledger import Ledger, Told

EPOCH = 1000
AGENTS = st.sampled_from(["alice", "bob"])


def ledger(position: Any = None) -> Ledger:
    return Ledger(position, epoch=EPOCH)


def test_a_position_of_another_epoch_counts_for_nothing() -> None:
    old = Ledger(None, epoch=5)
    old.began("alice", 7)
    assert ledger(old.position()).lives == {}


def test_an_order_that_is_open_keeps_the_cursor_before_it() -> None:
    one = ledger()
    one.opened(1003)
    one.read(1009, decided=2000)
    assert one.cursor == 1002
    one.closed(1003)
    one.read(1009, decided=2000)
    assert one.cursor == 1009


def test_the_cursor_stays_behind_the_router() -> None:
    one = ledger()
    one.read(1009, decided=1004)
    assert one.cursor == 1004


def test_an_order_for_a_life_that_is_over_concerns_nobody() -> None:
    one = ledger()
    one.began("alice", 1001)
    one.ended("alice", 1001)
    assert not one.concerns("alice", 1001, 1005)
    assert one.concerns("alice", 1006, 1007)


def test_a_life_of_another_epoch_is_over() -> None:
    assert ledger().over("alice", 999)


def test_a_life_before_one_that_has_begun_is_over() -> None:
    one = ledger()
    one.began("alice", 1006)
    assert one.over("alice", 1001)
    assert not one.over("alice", 1006)


def test_a_life_that_nobody_told_of_is_still_to_be_taken_up() -> None:
    one = ledger()
    one.read(1004, decided=2000)  # caused by 1003; its order to start stands at 1007
    assert not one.over("alice", 1003)


def test_what_was_told_survives() -> None:
    one = ledger()
    one.began("alice", 1001)
    one.told("alice", 1001, out=10, err=20)
    one.told("alice", 1001, taken=3)
    told = ledger(one.position()).lives["alice"]
    assert told == Told(inc=1001, out=10, err=20, taken=3)


class Executor(RuleBasedStateMachine):
    """An executor that is killed between any two steps, and a holder that never is.

    The log is a list of orders. What is put to the bus with a position is confirmed at once, or
    lost with the executor; whatever it did to the holder stays done.
    """

    @initialize()
    def begin(self) -> None:
        self.log: list[tuple[str, str, int, int]] = []  # (kind, agent, inc, n)
        self.lives: dict[str, int] = {}  # the router's idea of what runs, and the last n it sent
        self.sent: dict[str, int] = {}
        self.taken: Counter[tuple[str, int]] = Counter()  # the holders'
        self.stdin: dict[tuple[str, int], list[int]] = {}
        self.started: Counter[tuple[str, int]] = Counter()
        self.over: set[tuple[str, int]] = set()
        self.exits: Counter[tuple[str, int]] = Counter()
        self.bus: Any = None
        self.ledger = ledger()
        self.next = 0
        self.open: list[tuple[int, tuple[str, str, int, int]]] = []

    # --- the router

    @rule(agent=AGENTS)
    def order_start(self, agent: str) -> None:
        if agent not in self.lives:
            inc = EPOCH + len(self.log)
            self.lives[agent], self.sent[agent] = inc, 0
            self.log.append(("start", agent, inc, 0))

    @rule(agent=AGENTS)
    def order_send(self, agent: str) -> None:
        if agent in self.lives:
            self.sent[agent] += 1
            self.log.append(("send", agent, self.lives[agent], self.sent[agent]))

    # --- the executor

    @rule()
    def read(self) -> None:
        if self.next == len(self.log):
            return
        kind, agent, inc, n = self.log[self.next]
        seq = EPOCH + self.next
        self.next += 1
        if self.ledger.concerns(agent, inc, seq):
            self.ledger.opened(seq)
            self.open.append((seq, (kind, agent, inc, n)))
        self.ledger.read(seq, decided=10**9)

    @rule(which=st.integers(0, 3))
    def carry_out(self, which: int) -> None:
        """One agent's oldest order; another's may be blocked meanwhile."""
        agents = list(dict.fromkeys(order[1] for _, order in self.open))
        if not agents:
            return
        agent = agents[which % len(agents)]
        at = next(k for k, (_, order) in enumerate(self.open) if order[1] == agent)
        seq, (kind, _, inc, n) = self.open.pop(at)
        life = (agent, inc)
        if kind == "start":
            if life not in self.stdin:  # the folder's lock: a second start fails
                self.started[life] += 1
                self.stdin[life] = []
            if agent not in self.ledger.lives:
                self.ledger.began(agent, inc)
        elif n > self.taken[life] and life not in self.over:
            assert n == self.taken[life] + 1
            self.stdin[life].append(n)
            self.taken[life] = n
            self.ledger.told(agent, inc, taken=n)
        self.ledger.closed(seq)

    @rule()
    def confirm(self) -> None:
        self.ledger.read(EPOCH + self.next - 1, decided=10**9)
        self.bus = self.ledger.position()

    @rule(agent=AGENTS)
    def end(self, agent: str) -> None:
        """The agent ends; the executor tells it, and the bus confirms that."""
        life = self.ledger.lives.get(agent)
        if life is None:
            return
        self.over.add((agent, life.inc))
        self.exits[agent, life.inc] += 1
        self.ledger.ended(agent, life.inc)
        for seq, order in list(self.open):
            if order[1:3] == (agent, life.inc):
                self.open.remove((seq, order))
                self.ledger.closed(seq)
        self.confirm()
        if self.lives.get(agent) == life.inc:
            del self.lives[agent]

    @rule()
    def kill(self) -> None:
        self.ledger = ledger(self.bus)
        self.open = []
        self.next = max(0, self.ledger.cursor + 1 - EPOCH)

    # --- what must hold

    @invariant()
    def each_life_starts_once_and_ends_once(self) -> None:
        assert all(count == 1 for count in self.started.values())
        assert all(count == 1 for count in self.exits.values())

    @invariant()
    def stdin_holds_the_lines_in_order_each_once(self) -> None:
        for lines in self.stdin.values():
            assert lines == list(range(1, len(lines) + 1))

    def teardown(self) -> None:
        """Once nobody is killed any more, everything ordered is done."""
        while self.next < len(self.log):
            self.read()
        while self.open:
            self.carry_out(0)
        for agent, inc in self.lives.items():
            assert self.stdin[agent, inc] == list(range(1, self.sent[agent] + 1))


TestExecutor = Executor.TestCase
