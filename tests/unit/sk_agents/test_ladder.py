from hypothesis import given
from hypothesis import strategies as st

from sk_agents.ladder import CLOSE_STDIN, KILL, OVER, TERM, Ladder, Patience


def test_a_stop_closes_stdin_then_terminates_then_kills() -> None:
    ladder = Ladder()
    ladder.stop(100)
    assert ladder.due(100) == [CLOSE_STDIN]
    assert ladder.due(104.9) == []
    assert ladder.due(105) == [TERM]
    assert ladder.due(107.9) == []
    assert ladder.due(108) == [KILL]


def test_an_agent_that_ends_on_closed_stdin_is_over_at_the_end_of_its_output() -> None:
    ladder = Ladder()
    ladder.stop(0)
    ladder.due(0)
    ladder.ended(1)
    ladder.emptied(1)
    assert not ladder.over
    ladder.drained(1.1)
    assert ladder.due(1.1) == [OVER]
    assert ladder.over


def test_what_a_stopped_agent_left_keeps_the_time_of_the_ladder() -> None:
    ladder = Ladder()
    ladder.stop(0)
    ladder.due(0)
    ladder.ended(0.1)
    assert ladder.due(4.9) == []
    assert ladder.due(5) == [TERM]


def test_what_an_agent_left_that_ended_by_itself_has_one_second() -> None:
    ladder = Ladder()
    ladder.ended(10)
    assert ladder.due(10) == [TERM]
    assert ladder.due(10.9) == []
    assert ladder.due(11) == [KILL]


def test_what_survives_a_kill_is_killed_again() -> None:
    ladder = Ladder()
    ladder.ended(0)
    ladder.due(0)
    assert ladder.due(1) == [KILL]
    assert ladder.due(2) == [KILL]


def test_output_that_somebody_else_holds_open_is_waited_for_one_second() -> None:
    ladder = Ladder()
    ladder.ended(0)
    ladder.due(0)
    ladder.emptied(0.5)
    assert ladder.due(1.4) == []
    assert ladder.due(1.5) == [OVER]


def test_an_agent_that_closes_its_output_and_stays_is_ended() -> None:
    ladder = Ladder()
    ladder.drained(0)
    assert ladder.due(0) == [CLOSE_STDIN]
    assert ladder.due(1) == [TERM]
    assert ladder.due(4) == [KILL]
    assert ladder.broken
    assert not ladder.asked


def test_an_agent_that_ends_soon_after_it_closed_its_output_ended_by_itself() -> None:
    ladder = Ladder()
    ladder.drained(0)
    ladder.ended(0.5)
    ladder.emptied(0.5)
    assert ladder.over
    assert not ladder.broken


def test_a_stop_after_the_end_was_not_asked_for() -> None:
    ladder = Ladder()
    ladder.ended(0)
    ladder.stop(0.1)
    assert not ladder.asked


MOVES = st.sampled_from(["stop", "broke", "ended", "drained", "due"])


@given(st.lists(st.tuples(MOVES, st.floats(0, 3)), max_size=30))
def test_every_life_ends_whatever_happens_in_whatever_order(moves: list[tuple[str, float]]) -> None:
    ladder = Ladder()
    now = 0.0
    for move, step in moves:
        now += step
        getattr(ladder, move)(now)
    ladder.stop(now)
    killed = False
    for _ in range(10):
        now = ladder.deadline() or now
        killed |= KILL in ladder.due(now)
    ladder.ended(now)
    ladder.emptied(now)
    ladder.drained(now)
    assert killed
    assert ladder.over


def test_patience_counts_from_the_last_word_and_the_loss_of_the_manager() -> None:
    patience = Patience(0)
    assert patience.deadline() == 600
    patience.attached()
    assert patience.deadline() is None
    patience.heard(50)
    patience.lost(100)
    assert patience.deadline() == 700
    patience.heard(200)
    assert patience.deadline() == 800


def test_patience_is_longer_while_a_turn_is_open() -> None:
    patience = Patience(0)
    patience.turn(is_open=True)
    assert patience.deadline() == 6 * 3600
    patience.turn(is_open=False)
    assert patience.deadline() == 600
