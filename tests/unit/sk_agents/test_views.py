from sk_agents.views import Agents
from sk_bus.events import AgentStateChanged, ConfigChanged
from sk_bus.model import AgentConfig, AgentName, AgentState, PublicConfig

ALICE, BOB = AgentName("alice"), AgentName("bob")
CONFIG = ConfigChanged(
    path="/x",
    valid=True,
    config=PublicConfig(
        agents=(
            AgentConfig(name=BOB, title="Bob", digest="1", cwd="/"),
            AgentConfig(name=ALICE, title="Alice", digest="2", cwd="/", icon="🦊"),
        )
    ),
)


def test_agents_stand_in_the_configurations_order() -> None:
    agents = Agents()
    agents.fold(CONFIG)
    assert [view.name for view in agents.views({})] == ["bob", "alice"]


def test_an_agent_is_stopped_until_something_is_said_of_it() -> None:
    agents = Agents()
    agents.fold(CONFIG)
    assert {view.state for view in agents.views({})} == {AgentState.STOPPED}


def test_the_latest_state_is_shown_with_the_memory() -> None:
    agents = Agents()
    agents.fold(CONFIG)
    agents.fold(AgentStateChanged(agent=ALICE, state=AgentState.STARTING))
    agents.fold(AgentStateChanged(agent=ALICE, state=AgentState.BUSY, outdated=True))
    alice = agents.views({"alice": 1024})[1]
    assert (alice.state, alice.outdated, alice.memory) == (AgentState.BUSY, True, 1024)


def test_an_agent_that_left_the_configuration_is_not_listed() -> None:
    agents = Agents()
    agents.fold(AgentStateChanged(agent=ALICE, state=AgentState.BUSY))
    assert agents.views({}) == ()


def test_what_is_saved_is_what_was_folded() -> None:
    agents = Agents()
    agents.fold(CONFIG)
    agents.fold(AgentStateChanged(agent=ALICE, state=AgentState.READY))
    assert Agents(agents.plain()).views({}) == agents.views({})
