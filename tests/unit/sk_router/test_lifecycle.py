"""The table of section 3 of the specification, row by row, and what the rows leave open."""

from typing import Any

import pytest

from sk_bus.errors import problem
from sk_bus.internal import FactExited
from sk_bus.model import AgentName, AgentState, ChannelId, CommandId
from sk_router.agents.lifecycle import (
    BUSY,
    ERROR,
    READY,
    STARTING,
    STOPPED,
    CameUp,
    Claimed,
    Defined,
    Event,
    Exited,
    HandshakeFailed,
    HandshakeSucceeded,
    Initialize,
    Instruction,
    Launched,
    Refuse,
    Released,
    RestartAsked,
    Show,
    Spawn,
    StartAsked,
    StayedDeaf,
    StopAsked,
    Succeed,
    TellGone,
    TellReady,
    Terminate,
    handle,
)
from sk_router.records import Life
from tests.support.playbook import agent

ALICE = AgentName("alice")
ROOM = ChannelId("c0000000000000001.0")
CONFIG = agent("alice")
NO = problem("agent-error", "no")
UP = HandshakeSucceeded({}, 5)
ONE = CommandId("one")
TWO = CommandId("two")


def exited(*, asked: bool = False, code: int = 3, stderr: tuple[str, ...] = ()) -> Exited:
    fact = FactExited(agent=ALICE, inc=7, taken=1, asked=asked, code=code, stderr=stderr)
    return Exited(fact, ALICE)


def after(*events: Event, life: Life | None = None) -> Life:
    life = life or Life()
    for event in events:
        life, _ = handle(life, event)
    return life


def kinds(instructions: list[Instruction]) -> list[type]:
    return [type(one) for one in instructions]


STARTED = after(StartAsked(7), Launched(7, CONFIG), CameUp())
IS_READY = after(UP, life=STARTED)
IS_BUSY = after(Claimed(ROOM), life=IS_READY)
FAILED = after(exited(), life=STARTED)


@pytest.mark.parametrize(
    ("life", "event", "then", "done"),
    [
        (Life(), StartAsked(7), STARTING, [Show]),
        (FAILED, StartAsked(7), STARTING, [Show]),
        (STARTED, UP, READY, [Show, Succeed, TellReady]),
        (STARTED, HandshakeFailed(NO), STARTING, [Terminate, Show]),
        (IS_READY, Claimed(ROOM), BUSY, [Show]),
        (IS_BUSY, Released(9), READY, [Show]),
        (IS_READY, StopAsked("asked"), READY, [Terminate, Show]),
        (IS_READY, StopAsked("closing"), READY, [Terminate, Show]),
        (IS_READY, StopAsked("removed"), READY, [Terminate, Show]),
        (IS_BUSY, StopAsked("asked"), BUSY, [Terminate, Show]),
        (IS_BUSY, StopAsked("closing"), BUSY, [Terminate, Show]),
        (IS_BUSY, StopAsked("removed"), BUSY, [Terminate, Show]),
        (IS_READY, StopAsked("idle"), READY, [Terminate, Show]),
        (IS_READY, StopAsked("evicted"), READY, [Terminate, Show]),
        (IS_READY, exited(), ERROR, [Show, Succeed, TellGone]),
        (IS_BUSY, exited(), ERROR, [Show, Succeed, TellGone]),
        (STARTED, StopAsked("asked"), STARTING, []),
        (STARTED, StopAsked("removed"), STARTING, []),
        (IS_BUSY, StayedDeaf(), BUSY, [Terminate, Show]),
    ],
)
def test_the_rows_of_the_specification(
    life: Life, event: Event, then: AgentState, done: list[type]
) -> None:
    made, instructions = handle(life, event)
    assert (made.state, kinds(instructions)) == (then, done)


@pytest.mark.parametrize(
    ("events", "then"),
    [
        ([HandshakeFailed(NO), exited(asked=True)], ERROR),
        ([UP, StopAsked("asked"), exited(asked=True)], STOPPED),
        ([UP, Claimed(ROOM), StopAsked("removed"), exited(asked=True)], STOPPED),
        ([StopAsked("asked"), UP, exited(asked=True)], STOPPED),
        ([StopAsked("asked"), HandshakeFailed(NO), exited(asked=True)], STOPPED),
        ([StopAsked("asked"), UP, StartAsked(9), exited(asked=True)], STARTING),
        ([UP, Claimed(ROOM), StayedDeaf(), exited(asked=True)], ERROR),
        ([UP, RestartAsked(9, ONE), exited(asked=True)], STARTING),
        ([RestartAsked(9, ONE), UP, exited(asked=True)], STARTING),
    ],
)
def test_what_is_being_stopped_ends_when_its_process_group_is_empty(
    events: list[Event], then: AgentState
) -> None:
    before = after(*events[:-1], life=STARTED)
    assert before.stopping
    gone = after(events[-1], life=before)
    assert (gone.state, gone.alive, gone.stopping) == (then, False, False)


@pytest.mark.parametrize(
    ("life", "end"),
    [
        (after(StopAsked("asked"), life=STARTED), exited()),  # it failed before the stop was due
        (IS_READY, exited(asked=True)),  # its holder was asked, by whoever swept up
        (IS_BUSY, exited(asked=True)),
    ],
)
def test_an_end_that_somebody_asked_for_is_no_error(life: Life, end: Exited) -> None:
    gone = after(end, life=life)
    assert (gone.state, gone.error, gone.alive) == (STOPPED, None, False)


@pytest.mark.parametrize("life", [Life(), FAILED])
def test_a_stop_of_what_does_not_run_changes_nothing(life: Life) -> None:
    assert handle(life, StopAsked("asked", TWO)) == (life, [Succeed((TWO,))])


def test_a_start_after_a_stop_that_waits_is_a_life_of_its_own() -> None:
    life, done = handle(after(StopAsked("asked"), life=STARTED), StartAsked(9, ONE))
    assert (life.wanted, life.halted, done) == (9, True, [])
    life, done = handle(life, UP)
    assert kinds(done) == [Terminate, Show]
    gone = after(exited(asked=True), life=life)
    assert (gone.state, gone.wanted, gone.starters) == (STARTING, 9, (ONE,))


def test_a_launch_spawns_and_the_handshake_begins_when_the_process_runs() -> None:
    life, done = handle(after(StartAsked(7)), Launched(7, CONFIG))
    assert done == [Spawn()]
    assert (life.inc, life.digest, life.cwd) == (7, CONFIG.digest, CONFIG.cwd)
    life, done = handle(life, CameUp())
    assert done == [Initialize()]
    assert handle(life, CameUp())[1] == []


@pytest.mark.parametrize("life", [after(HandshakeFailed(NO), life=STARTED), STARTED, IS_BUSY])
def test_an_error_carries_the_last_lines_of_stderr(life: Life) -> None:
    life = after(exited(stderr=("no key",)), life=life)
    assert life.error is not None
    assert life.error.params["stderr"] == ["no key"]


@pytest.mark.parametrize(
    ("end", "id_", "said"),
    [
        ({"code": 0}, "agent-finished", "alice ended by itself, without an error (exit code 0)"),
        ({"code": 3}, "agent-ended", "alice ended by itself (exit code 3)"),
        ({"signal": 11}, "agent-crashed", "alice crashed (signal 11, SIGSEGV)"),
        (
            {"signal": 9},
            "agent-killed",
            "alice was killed from outside (signal 9, SIGKILL): by somebody, or for want of memory",
        ),
        ({"problem": NO}, "agent-error", "no"),
    ],
)
@pytest.mark.parametrize("life", [IS_READY, IS_BUSY])
def test_an_end_that_nobody_asked_for_says_which_kind_it_is(
    life: Life, end: dict[str, Any], id_: str, said: str
) -> None:
    error = handle(life, Exited(FactExited(agent=ALICE, inc=7, taken=1, asked=False, **end), ALICE))
    assert error[0].error is not None
    assert (error[0].state, error[0].error.id, error[0].error.message) == (ERROR, id_, said)


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ({"code": 0}, "it ended by itself when asked to (exit code 0)"),
        ({"signal": 15}, "it was ended by a signal (signal 15, SIGTERM)"),
        ({"signal": 9}, "it had to be killed"),
        ({"signal": 64_000}, "it was ended by a signal (signal 64000)"),
        ({"problem": NO}, "it ended by itself when asked to (no)"),
    ],
)
def test_an_end_that_was_asked_for_is_no_error_and_says_what_it_took(
    end: dict[str, Any], said: str
) -> None:
    life = after(StopAsked("asked", TWO), life=IS_BUSY)
    fact = FactExited(agent=ALICE, inc=7, taken=1, asked=True, **end)
    life, done = handle(life, Exited(fact, ALICE))
    assert (life.state, life.error) == (STOPPED, None)
    assert Succeed((TWO,), said) in done


@pytest.mark.parametrize("end", [{"code": 0}, {"code": 3}, {"signal": 9}])
def test_an_end_while_it_starts_is_a_start_that_failed(end: dict[str, Any]) -> None:
    fact = FactExited(agent=ALICE, inc=7, taken=1, asked=False, **end)
    life, _ = handle(STARTED, Exited(fact, ALICE))
    assert life.error is not None
    assert (life.state, life.error.id) == (ERROR, "start-failed")


def test_an_agent_that_ended_while_it_answered_cancel_late_is_not_heard() -> None:
    life = after(StayedDeaf(), exited(asked=True), life=IS_BUSY)
    assert life.error is not None
    assert life.error.message == "did not answer cancel"


def test_commands_are_answered_at_completion() -> None:
    life = after(StartAsked(7, ONE), Launched(7, CONFIG), CameUp())
    ready, done = handle(life, UP)
    assert Succeed((ONE,)) in done
    stopping, done = handle(ready, StopAsked("asked", TWO))
    assert kinds(done) == [Terminate, Show]
    said = Succeed((TWO,), "it ended by itself when asked to (exit code 3)")
    assert said in handle(stopping, exited(asked=True))[1]


def test_a_start_that_fails_says_so_to_whoever_asked() -> None:
    life = after(StartAsked(7, ONE), Launched(7, CONFIG), CameUp(), HandshakeFailed(NO))
    assert Refuse((ONE,), NO) in handle(life, exited())[1]


def test_a_start_of_what_runs_succeeds_at_once() -> None:
    assert handle(IS_READY, StartAsked(9, ONE)) == (IS_READY, [Succeed((ONE,))])


def test_a_start_while_it_stops_waits_for_the_end_of_it() -> None:
    stopping = after(StopAsked("asked"), life=IS_READY)
    waiting, done = handle(stopping, StartAsked(9, ONE))
    assert (waiting.wanted, done) == (9, [])
    gone, done = handle(waiting, exited(asked=True))
    assert (gone.state, gone.wanted, gone.starters) == (STARTING, 9, (ONE,))


def test_a_stop_takes_back_the_restart_before_it() -> None:
    life = after(RestartAsked(9, ONE), life=IS_READY)
    life, done = handle(life, StopAsked("asked", TWO))
    assert kinds(done) == [Refuse]
    assert after(exited(asked=True), life=life).state is STOPPED


def test_a_stop_before_the_launch_needs_no_process() -> None:
    life, done = handle(after(StartAsked(7, ONE)), StopAsked("asked", TWO))
    assert life.state is STOPPED
    assert kinds(done) == [Show, Succeed, Refuse, TellGone]


def test_two_restarts_are_both_answered_once() -> None:
    life = after(RestartAsked(8, ONE), RestartAsked(9, TWO), life=IS_READY)
    life = after(exited(asked=True), Launched(9, CONFIG), CameUp(), life=life)
    _, done = handle(life, UP)
    assert [one for one in done if isinstance(one, Succeed)] == [Succeed((ONE, TWO))]


def test_what_comes_too_late_changes_nothing() -> None:
    for event in (UP, HandshakeFailed(NO), CameUp(), StayedDeaf(), exited()):
        assert handle(Life(), event) == (Life(), [])


def test_a_changed_definition_marks_what_runs_and_nothing_else() -> None:
    life, done = handle(IS_READY, Defined("another"))
    assert (life.outdated, done) == (True, [Show()])
    assert handle(life, Defined("another")) == (life, [])
    assert handle(life, Defined(CONFIG.digest))[0].outdated is False
    assert handle(Life(), Defined("another")) == (Life(), [])
