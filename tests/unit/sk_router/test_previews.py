"""What Preview says is what Send would do: one function routes and previews."""

import pytest

from sk_bus.commands import Delete, Prepare, Shutdown, Start
from sk_bus.internal import DoStart, DoStop
from sk_bus.model import AgentName, ChannelId, WaitingFor
from sk_bus.queries import Answering, Mentioned
from sk_router.previews import preview
from tests.support.playbook import Playbook, configured


def seen(p: Playbook, channel: ChannelId) -> Answering:
    (answering,) = preview(p.state, p.state.channels[channel], "hello").answering
    return answering


def test_a_stopped_agent_will_start_and_does() -> None:
    p = Playbook("alice")
    channel = p.direct("alice")
    assert seen(p, channel).starts
    p.send(channel, "hello")
    assert len(p.of(DoStart)) == 1
    assert not seen(p, channel).starts


def test_a_full_house_names_the_agent_that_will_be_stopped() -> None:
    p = Playbook("alice", "bob", maxRunningAgents=1)
    p.command(Start, agent=AgentName("alice"))
    p.started("alice")
    channel = p.direct("bob")
    assert seen(p, channel).stops == "alice"
    p.send(channel, "hello")
    assert [one.agent for one in p.of(DoStop)] == ["alice"]


def test_a_full_house_without_an_idle_agent_is_a_problem() -> None:
    p = Playbook("alice", "bob", maxRunningAgents=1)
    p.prompted("alice")
    problem = seen(p, p.direct("bob")).problem
    assert problem is not None
    assert problem.id == "too-many-agents"


def test_an_agent_at_work_shows_whose_turn_it_is() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    assert seen(p, channel).waitsFor == WaitingFor(agent=AgentName("alice"), channel=channel)


def test_an_agent_that_left_the_configuration_is_a_problem() -> None:
    p = Playbook("alice")
    channel = p.direct("alice")
    p.give(configured("bob"))
    problem = seen(p, channel).problem
    assert problem is not None
    assert problem.id == "no-such-agent"


# --- in a channel ---------------------------------------------------------------------------


def shown(p: Playbook, channel: ChannelId, text: str) -> list[tuple[str, ...]]:
    """Each who would answer, with what that takes."""
    view = preview(p.state, p.state.channels[channel], text)
    return [
        (
            one.agent,
            *["joins"] * one.joins,
            *["starts"] * one.starts,
            *([f"stops {one.stops}"] if one.stops else []),
            *([f"waits for {one.waitsFor.agent}"] if one.waitsFor else []),
            *([one.problem.id] if one.problem else []),
        )
        for one in view.answering
    ]


def test_those_who_answer_stand_in_their_order_with_what_it_takes() -> None:
    p = Playbook("alice", "bob", "carol")
    channel = p.channel("ops", "alice")
    p.command(Start, agent=AgentName("bob"))
    p.started("bob")
    assert shown(p, channel, "@bob then @alice") == [("bob", "joins"), ("alice", "starts")]
    assert shown(p, channel, "hello") == [("alice", "starts")]


def test_one_who_answers_elsewhere_is_waited_for_there() -> None:
    p = Playbook("alice", "bob")
    elsewhere = p.prompted("alice")
    channel = p.channel("ops", "alice", "bob")
    view = preview(p.state, p.state.channels[channel], "@bob @alice")
    assert [one.waitsFor for one in view.answering] == [
        None,
        WaitingFor(agent=AgentName("alice"), channel=elsewhere),
    ]


def test_a_channel_that_answers_is_waited_for_by_the_first() -> None:
    p = Playbook("alice", "bob", "carol")
    channel = p.channel("ops", "alice", "bob", "carol")
    p.send(channel, "@alice go")
    view = preview(p.state, p.state.channels[channel], "@bob @carol")
    assert [one.waitsFor for one in view.answering] == [
        WaitingFor(agent=AgentName("alice"), channel=channel),
        None,
    ]


def test_a_room_for_one_is_passed_on_from_each_to_the_next() -> None:
    p = Playbook("alice", "bob", "carol", maxRunningAgents=1)
    p.command(Start, agent=AgentName("carol"))
    p.started("carol")
    channel = p.channel("ops", "alice", "bob")
    assert shown(p, channel, "@alice @bob") == [
        ("alice", "starts", "stops carol"),
        ("bob", "starts", "stops alice"),
    ]


def test_whoever_answers_here_makes_room_for_the_next_message() -> None:
    p = Playbook("alice", "bob", maxRunningAgents=1)
    channel = p.channel("ops", "alice", "bob")
    p.send(channel, "@alice go")
    assert shown(p, channel, "@bob go") == [("bob", "starts", "stops alice", "waits for alice")]


def test_one_that_cannot_start_leaves_the_others_theirs() -> None:
    p = Playbook("alice", "bob", "carol", maxRunningAgents=1)
    p.prompted("alice")
    channel = p.channel("ops", "alice", "bob")
    assert shown(p, channel, "@bob @alice") == [
        ("bob", "starts", "too-many-agents"),
        ("alice", "waits for alice"),
    ]


def test_unknown_names_are_marked_where_a_page_counts_them() -> None:
    p = Playbook("alice")
    channel = p.channel("ops", "alice")
    view = preview(p.state, p.state.channels[channel], "👍 @alice and @bobby")
    assert view.unknown == ("bobby",)
    assert view.mentions == (
        Mentioned(start=3, length=6, agent=AgentName("alice")),
        Mentioned(start=14, length=6),
    )


def test_a_command_is_shown_as_it_would_be_sent() -> None:
    p = Playbook("alice", "bob")
    channel = p.channel("ops", "alice")
    view = preview(p.state, p.state.channels[channel], "@bob /review the code")
    assert (view.command, view.answering[0].agent) == ("/review the code", "bob")


@pytest.mark.parametrize(
    ("agents", "members", "id_", "message"),
    [
        (("alice", "bob"), ("alice", "bob"), "no-recipient", "mention @alice, @bob"),
        (("alice", "bob"), (), "no-members", "mention @alice, @bob"),
        ((), (), "no-agents", "add one in the settings"),
    ],
)
def test_where_nobody_would_answer_it_says_whom_to_mention(
    agents: tuple[str, ...], members: tuple[str, ...], id_: str, message: str
) -> None:
    p = Playbook()
    p.give(configured(*agents))
    channel = p.channel("ops", *members)
    view = preview(p.state, p.state.channels[channel], "hello")
    assert (view.answering, view.problem is not None) == ((), True)
    assert view.problem is not None
    assert (view.problem.id, message in view.problem.message) == (id_, True)


def test_nobody_answers_where_a_message_would_be_refused() -> None:
    p = Playbook("alice", "bob")
    alices = p.prompted("alice")
    channel = p.channel("ops", "alice", "bob")
    p.send(channel, "@bob go")
    p.opened("bob", "b1")
    p.command(Delete, channel=channel)
    assert why_not(p, channel) == "being-deleted"
    assert why_not(p, alices) is None
    p.command(Shutdown)
    assert why_not(p, alices) == "closing"


def why_not(p: Playbook, channel: ChannelId) -> str | None:
    view = preview(p.state, p.state.channels[channel], "hello")
    assert (view.problem is None) == bool(view.answering)
    return view.problem.id if view.problem is not None else None


def test_one_that_is_being_prepared_here_is_not_waited_for() -> None:
    p = Playbook("alice", "bob")
    channel = p.channel("ops", "alice")
    elsewhere = p.channel("other", "alice")
    p.command(Prepare, channel=channel)
    assert shown(p, channel, "hello") == [("alice",)]
    assert shown(p, elsewhere, "hello") == [("alice", "waits for alice")]


def test_a_message_behind_others_is_for_whom_it_will_be_then() -> None:
    p = Playbook("alice", "bob", "carol")
    channel = p.channel("ops", "alice", "bob")
    p.send(channel, "@bob @alice go")
    assert shown(p, channel, "and?") == [("alice", "starts", "waits for bob")]
    p.send(channel, "@carol too")
    assert shown(p, channel, "and?") == [("carol", "starts", "waits for bob")]
    last = p.send(channel, "and?")
    for agent in ("bob", "alice", "carol"):
        p.opened(agent, f"of-{agent}")
        p.replies(agent, "done", f"of-{agent}")
        p.passes(300)
    p.replies("carol", "done again", "of-carol")
    assert p.answered(last) == [("carol", "end_turn")]
