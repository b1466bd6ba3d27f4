"""What Preview says is what Send would do: one function routes and previews."""

from sk_bus.commands import Start
from sk_bus.internal import DoStart, DoStop
from sk_bus.model import AgentName, ChannelId, WaitingFor
from sk_bus.queries import Answering
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
