"""Logs that older code wrote: today's code reads them, and goes on from where they end.

None is ever recorded again. ``router-log-1.jsonl`` is of the first router: it ends in the middle
of an answer of alice, with a permission open and a message queued; bob was stopped. In
``router-log-2.jsonl`` alice is taking her session up and still tells of the past; bob has lost his
memory, and was sent a command since. In ``router-log-3.jsonl`` alice answers in a channel, bob is
to follow, and two messages wait, one of them for carol, who was stopped; carol is being prepared in
another channel, and a third one, where bob answers, is being deleted.
"""

import json
from pathlib import Path

from sk_bus.commands import AnswerPermission
from sk_bus.events import CommandResult, MessageUpdated, PermissionResolved
from sk_bus.model import AgentState
from sk_bus.vocabulary import decoded
from sk_router.decide import decide
from sk_router.decision import Input
from sk_router.evolve import evolve
from sk_router.state import restored, snapshot
from tests.support.playbook import Playbook, chunk

_LOGS = Path(__file__).parents[2] / "golden"


def read(log: int = 1) -> Playbook:
    """The router as it is after the log."""
    p = Playbook()
    path = _LOGS / f"router-log-{log}.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        event = decoded(row["event"])
        assert event is not None, row["event"]["type"]
        p.seq = row["seq"]
        p.mono = row.get("mono", p.mono)
        if row.get("own"):
            for state in (p.state, p.folded):
                evolve(state, event)
            p.log.append(event)
    return p


def test_the_log_is_read_as_it_was_meant() -> None:
    p = read()
    assert {name: life.state for name, life in p.state.lives.items()} == {
        "alice": AgentState.BUSY,
        "bob": AgentState.STOPPED,
    }
    assert [channel.direct for channel in p.state.channels.values()] == ["alice", "bob"]
    (talk,) = p.state.talks.values()
    assert talk.turn is not None
    assert (talk.turn.agent, talk.turn.phase, len(talk.queue)) == ("alice", "prompt", 1)
    assert [ask.requestId for ask in p.state.asks.values()] == ["ask-1"]
    assert restored(snapshot(p.state)) == p.state


def test_the_answer_goes_on_and_ends_whole() -> None:
    p = read()
    (id_,) = p.state.asks
    result = p.command(AnswerPermission, permission=id_, optionId="yes")
    assert result is not None
    assert result.ok
    assert [one["id"] for one in p.sent("alice")] == ["ask-1"]
    assert [one.optionId for one in p.of(PermissionResolved)] == ["yes"]
    p.updates("alice", chunk("."))
    p.answers("alice", 3, {"stopReason": "end_turn"})
    ended = next(one.message for one in p.of(MessageUpdated) if one.message.role == "agent")
    assert [getattr(part, "text", None) for part in ended.parts] == [
        "Let me see.",
        "Every",
        None,
        None,
        "thing begins here.",
    ]
    p.passes(300)
    assert [one["params"]["prompt"][0]["text"] for one in p.sent("alice")] == ["And then?"]


def prompt(p: Playbook, name: str) -> list[str]:
    return [
        block["text"]
        for one in p.sent(name)
        if one.get("method") == "session/prompt"
        for block in one["params"]["prompt"]
    ]


def test_a_session_that_was_being_taken_up_is_and_its_past_stays_unseen() -> None:
    p = read(2)
    before = p.messages()
    p.updates("alice", chunk("hi"), session="a1")
    p.passes(300)
    assert prompt(p, "alice") == ["more"]
    assert p.messages() == before


def test_a_memory_that_was_lost_is_told_with_the_next_message() -> None:
    p = read(2)
    (channel,) = [one.id for one in p.state.channels.values() if one.direct == "bob"]
    p.send(channel, "which fruit?")
    past, message = prompt(p, "bob")
    assert message == "which fruit?"
    assert ("remember pears" in past, "compacted" in past) == (True, False)


def test_a_channel_goes_on_with_its_round_its_queue_and_what_each_has_seen() -> None:
    p = read(3)
    (channel,) = p.state.rounds
    p.replies("alice", "4711.", "a1")
    p.answers("bob", 5, {"stopReason": "cancelled"})
    assert [one.name for one in p.state.channels.values()] == ["ops", "lab"]
    p.passes(300)
    past, message, _ = prompt(p, "bob")
    assert message == "@alice @bob what is the code?"
    assert [each in past for each in ("is 4711", "Noted.", "It is 4711.", "compact")] == [
        True,
        True,
        True,
        False,
    ]
    p.replies("bob", "The same.", "b1")
    assert p.codes() == [("agent-joined", "carol"), ("agent-unavailable", "carol")]
    p.passes(300)
    assert prompt(p, "bob")[-2] == "@bob what was the code?"
    p.opened("carol", "c1")
    assert [one.value for one in p.of(CommandResult)] == [
        {"opened": ["carol"], "skipped": [], "failed": []}
    ]
    assert list(p.state.talks) == [channel]


def test_an_event_of_newer_code_is_passed_over() -> None:
    p = read()
    before = snapshot(p.state)
    assert decoded({"type": "state:of-tomorrow", "x": 1}) is None
    memory = decoded({"type": "state:memory", "slice": "of-tomorrow", "key": "k", "value": {}})
    assert memory is not None
    evolve(p.state, memory)
    assert snapshot(p.state) == before


def test_a_snapshot_of_other_code_is_not_read() -> None:
    data = snapshot(read().state)
    assert restored({**data, "version": data["version"] + 1}) is None
    assert restored({}) is None


def test_decide_gives_the_events_that_the_state_has_moved_by() -> None:
    p = read()
    seq = p.seq + 1
    decision = decide(p.state, [Input(seq, 1, p.mono, p.frame("alice", {"id": 99}))])
    for event in decision.events:
        evolve(p.folded, event)
    assert snapshot(p.folded) == snapshot(p.state)
