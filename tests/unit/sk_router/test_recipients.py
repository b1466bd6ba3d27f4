"""Who answers: the table of the specification, row by row in its order, and that Preview agrees."""

import random
from dataclasses import fields, replace

import pytest

from sk_bus.commands import Send, Stop
from sk_bus.events import CommandResult, MessageUpdated
from sk_bus.model import AgentName, Channel, ChannelId, CommandId
from sk_router.decide import decide
from sk_router.decision import Input
from sk_router.previews import preview
from sk_router.recipients import Room, Route, route
from sk_router.state import State
from sk_router.texts import reference
from tests.support.playbook import Playbook

ALICE, BOB, CAROL = (AgentName(name) for name in ("alice", "bob", "carol"))
AGENTS = (ALICE, BOB, CAROL)
DIRECT = Room(Channel(id=ChannelId("c1"), direct=ALICE, members=(ALICE,)), AGENTS)
EMPTY = Room(Channel(id=ChannelId("c1"), name="ops"), AGENTS)
ONE = replace(EMPTY, channel=replace(EMPTY.channel, members=(ALICE,)))
TWO = replace(EMPTY, channel=replace(EMPTY.channel, members=(ALICE, BOB)))


@pytest.mark.parametrize(
    ("room", "text", "who", "joins", "command"),
    [
        # is in a direct conversation: its agent, always and verbatim
        (DIRECT, "hello", (ALICE,), (), None),
        (DIRECT, "@bob and @carol", (ALICE,), (), None),
        (DIRECT, "/bob:review it", (ALICE,), (), "/bob:review it"),
        (DIRECT, "/alice:review it", (ALICE,), (), "/review it"),
        (DIRECT, "/ALICE:review @bob", (ALICE,), (), "/review @bob"),
        (DIRECT, "/review it", (ALICE,), (), "/review it"),
        (DIRECT, " /review it", (ALICE,), (), None),
        (replace(DIRECT, agents=()), "hello", (ALICE,), (), None),
        # /agent:command arguments, where agent is configured
        (TWO, "/bob:review the code", (BOB,), (), "/review the code"),
        (TWO, "/Bob:review", (BOB,), (), "/review"),
        (TWO, "/carol:review a\n b", (CAROL,), (CAROL,), "/review a\n b"),
        (TWO, "/bob:ask what @alice said", (BOB,), (), "/ask what @alice said"),
        (TWO, "@bob /bob:review", (BOB,), (), "/review"),
        (ONE, "/dan:review it", (ALICE,), (), "/dan:review it"),
        (ONE, "/bob: review", (ALICE,), (), "/bob: review"),
        # has mentions of configured agents: those, in the order of the mentions
        (TWO, "@bob then @alice", (BOB, ALICE), (), None),
        (TWO, "@bob and @carol", (BOB, CAROL), (CAROL,), None),
        (EMPTY, "@carol @alice", (CAROL, ALICE), (CAROL, ALICE), None),
        (TWO, "@bob /review the code", (BOB,), (), "/review the code"),
        (TWO, "@bob, @alice: /review it", (BOB, ALICE), (), "/review it"),
        (TWO, "**@bob**\n/review it", (BOB,), (), "/review it"),
        (TWO, "@bob/@alice /x", (BOB, ALICE), (), "/x"),
        (TWO, "@bob/@alice", (BOB, ALICE), (), None),
        (TWO, "/review @bob the code", (BOB,), (), "/review the code"),
        (TWO, "/review the code @bob", (BOB,), (), "/review the code"),
        (TWO, "@alice /bob:review", (ALICE,), (), "/bob:review"),
        (TWO, "hi @bob /review", (BOB,), (), None),
        # has no mention: who answered last, still a member and configured
        (replace(TWO, answered=(BOB, ALICE)), "hello", (BOB,), (), None),
        (replace(TWO, answered=(BOB,)), "/compact", (BOB,), (), "/compact"),
        (replace(TWO, answered=(CAROL, ALICE)), "hello", (ALICE,), (), None),
        (replace(TWO, answered=(BOB, ALICE), agents=(ALICE,)), "hello", (ALICE,), (), None),
        (replace(TWO, answered=(BOB,)), "`@alice` me@alice.example", (BOB,), (), None),
        # else the member, when there is only one
        (ONE, "hello", (ALICE,), (), None),
        (ONE, "  /compact", (ALICE,), (), "/compact"),
        (replace(ONE, answered=(CAROL,)), "hello", (ALICE,), (), None),
        # nobody answered yet, several members or none: nobody
        (TWO, "hello", (), (), None),
        (TWO, "@dan hello", (), (), None),
        (TWO, "/compact", (), (), None),
        (EMPTY, "hello", (), (), None),
        (replace(EMPTY, answered=(ALICE,)), "hello", (), (), None),
        (replace(TWO, answered=(CAROL,)), "hello", (), (), None),
    ],
)
def test_the_table_row_by_row(
    room: Room,
    text: str,
    who: tuple[AgentName, ...],
    joins: tuple[AgentName, ...],
    command: str | None,
) -> None:
    made = route(text, room)
    assert (made.recipients, made.joins, made.command) == (who, joins, command)
    assert (made.problem is None) == bool(who)


@pytest.mark.parametrize(
    ("room", "id_", "params"),
    [
        (TWO, "no-recipient", {"members": "@alice, @bob"}),
        (replace(TWO, agents=(BOB,)), "no-recipient", {"members": "@bob"}),
        (replace(TWO, agents=(CAROL,)), "no-members", {"agents": "@carol"}),
        (EMPTY, "no-members", {"agents": "@alice, @bob, @carol"}),
        (replace(EMPTY, agents=()), "no-agents", {}),
    ],
)
def test_nobody_is_said_with_whom_to_mention(room: Room, id_: str, params: object) -> None:
    problem = route("hello", room).problem
    assert problem is not None
    assert (problem.id, problem.params) == (id_, params)


def test_names_that_nobody_has_are_told_beside_those_who_answer() -> None:
    assert route("@alice @dan-2 `@eve`", TWO).unknown == ("dan-2",)
    assert route("@dan", DIRECT) == Route((ALICE,))


# --- what Preview says is what happens ------------------------------------------------------

PIECES = (
    *("@alice", "@bob", "@carol", "@bob-2", "@ALICE", "@nobody", "@田中", "＠bob"),
    *("/review", "/bob:review", "/carol:x", "/nobody:x", "/", "://", "https://x.example/"),
    *("`", "``", "```", "~~~", "\n", "\n\n", "    ", "\t", "> ", "- ", "# "),
    *(" ", " ", " ", ",", ".", ":", "-", "_", "/", "\\", "*", "(", ")", "'s", "@", "%", "+"),
    *("hello", "a", "é", "さん", "привет", "7", "\u0301", "\u200d", "👍", "x" * 50),
)
WEIGHTS = [3 if piece[0] in "@/＠" else 1 for piece in PIECES]


def texts(count: int) -> list[str]:
    """The same ones each time, so that a failure can be looked at again."""
    chance = random.Random(4)
    made = []
    for _ in range(count):
        between = chance.choice(("", " "))
        pieces = chance.choices(PIECES, weights=WEIGHTS, k=chance.randint(1, 10))
        made.append(between.join(pieces))
    return [text if text.strip() else "hello" for text in made]


def rooms() -> list[tuple[State, ChannelId]]:
    """Channels in which other rules hold: direct, empty, one member, several, answered, gone."""
    names = ("alice", "bob", "carol", "bob-2", "田中")
    found = []
    for members, answers, gone in (
        (None, (), ""),
        ((), (), ""),
        (("bob",), (), ""),
        (("alice", "bob"), (), ""),
        (("alice", "bob", "carol"), ("carol",), ""),
        (("alice", "bob"), ("alice", "bob"), ""),
        (("alice", "bob"), ("bob",), "bob"),
    ):
        p = Playbook(*names, maxRunningAgents=9)
        channel = p.direct("alice") if members is None else p.channel("ops", *members)
        for number, agent in enumerate(answers):
            p.send(channel, f"@{agent} go")
            p.opened(agent, f"s{number}")
            p.replies(agent, "done", f"s{number}")
            p.passes(5_000)
        if gone:
            p.command(Stop, agent=AgentName(gone))
        found.append((p.state, channel))
    return found


def copied(state: State) -> State:
    """Records are values, so new dictionaries of them are a new state."""
    made = State()
    for field in fields(State):
        setattr(made, field.name, dict(getattr(state, field.name)))
    return made


def actual(state: State, channel: ChannelId, text: str) -> tuple[AgentName, ...]:
    """Who answers a message that is sent now, as the router decides it."""
    command = Send(id=CommandId("c"), channel=channel, text=text)
    decision = decide(state, [Input(10**6, 0, 10**9, command)])
    turn = decision.talk(channel).turn
    if turn is None:
        codes = [e.message.code for e in decision.events if isinstance(e, MessageUpdated)]
        assert codes[-1] == "no-recipient", codes
        return ()
    round_ = state.rounds.get(channel)
    return (turn.agent, *(round_.then if round_ is not None else ()))


def test_ten_thousand_texts_are_answered_by_whom_preview_named() -> None:
    channels = rooms()
    differing = []
    several = none = 0
    for number, text in enumerate(texts(10_000)):
        state, channel = channels[number % len(channels)]
        view = preview(state, state.channels[channel], text)
        named = tuple(one.agent for one in view.answering)
        if named != actual(copied(state), channel, text):
            differing.append((text, named))
        several += len(named) > 1
        none += not named
    assert differing == []
    assert several > 1_000, "the texts hardly mention anybody"
    assert none > 500, "somebody nearly always answers"


@pytest.mark.parametrize("end", ["@bob", "@bob /review"])
def test_a_long_text_is_routed_by_all_of_it(end: str) -> None:
    p = Playbook("alice", "bob")
    channel = p.channel("ops", "alice")
    text = f"{end} and " + "long " * 5_000 if "/" in end else "long " * 5_000 + end
    blob = reference(text)
    command = Send(id=CommandId("c"), channel=channel, text=blob)
    decision = decide(p.state, [Input(10**6, 0, 10**9, command)], {blob.sha256: text}.get)
    turn = decision.talk(channel).turn
    assert turn is not None
    assert turn.agent == "bob"
    if turn.command:
        assert decision.whole(turn.text).startswith("/review and long long")
    else:
        assert turn.text == blob


def test_a_long_text_without_a_word_is_refused() -> None:
    p = Playbook("alice")
    channel = p.channel("ops", "alice")
    text = "\n" * 20_000
    blob = reference(text)
    command = Send(id=CommandId("c"), channel=channel, text=blob)
    decision = decide(p.state, [Input(10**6, 0, 10**9, command)], {blob.sha256: text}.get)
    (result,) = [one for one in decision.events if isinstance(one, CommandResult)]
    assert result.problem is not None
    assert result.problem.id == "empty-text"
