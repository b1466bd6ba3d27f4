"""A short chaos run, and four with a promise switched off, which the checker must notice."""

import pytest

from tests.chaos.run import Plan, judgement

pytestmark = pytest.mark.process


@pytest.mark.parametrize("agent", ["demo", "scripted"])
def test_killed_at_random_nothing_is_lost_doubled_or_different(agent: str) -> None:
    verdict = judgement(Plan(seed=1, seconds=8, agent=agent))
    assert verdict.problems == ()
    assert (verdict.lost, verdict.doubled, verdict.pids_the_same) == (0, 0, True)
    assert verdict.kills
    assert verdict.answers


# What a kill hits is chance, and less happens in 8 s where the machine is busy: then it goes on.
LONGER = ((1, 8), (2, 16), (3, 32))


def test_without_compare_and_append_the_checker_sees_things_doubled() -> None:
    assert any(judgement(Plan(seed=n, seconds=s, without="cas")).doubled for n, s in LONGER)


def test_without_replay_the_checker_sees_things_lost() -> None:
    assert any(judgement(Plan(seed=n, seconds=s, without="replay")).lost for n, s in LONGER)


def test_without_its_memory_the_router_leaves_messages_without_an_end() -> None:
    def noticed(seed: int, seconds: float) -> bool:
        verdict = judgement(Plan(seed=seed, seconds=seconds, without="memory"))
        endless = any("never ended" in one or "still waits" in one for one in verdict.problems)
        return endless and "router" in verdict.kills

    assert any(noticed(seed, seconds) for seed, seconds in LONGER)


def test_a_history_that_keeps_things_twice_is_found_out() -> None:
    def noticed(seed: int, seconds: float) -> bool:
        problems = judgement(Plan(seed=seed, seconds=seconds, without="once")).problems
        return any(one.startswith("the history has m") for one in problems)

    # Each finished answer shows it: there is one in the first seconds, but on a busy machine.
    assert any(noticed(seed, seconds) for seed, seconds in ((1, 3), *LONGER))
