"""The agents as a person sees them: folded from the log, in the configuration's order. Pure."""

from dataclasses import replace
from typing import Any

from sk_bus.codec import plain, value_of
from sk_bus.events import AgentStateChanged, ConfigChanged
from sk_bus.model import AgentConfig, AgentView


class Agents:
    """The latest ``config:changed`` and, by agent, the latest ``agent:state``.

    ``saved`` is what :meth:`plain` gave: the log may no longer hold what it was folded from.
    """

    def __init__(self, saved: Any = None) -> None:
        known = saved if isinstance(saved, dict) else {}
        self._configured: tuple[AgentConfig, ...] = tuple(
            value_of(AgentConfig, data) for data in known.get("configured", [])
        )
        self._states: dict[str, AgentStateChanged] = {
            agent: value_of(AgentStateChanged, data)
            for agent, data in known.get("states", {}).items()
        }

    def plain(self) -> dict[str, Any]:
        return {"configured": plain(self._configured), "states": plain(self._states)}

    def fold(self, event: object) -> bool:
        """Take in one event; whether it changed anything."""
        match event:
            case ConfigChanged():
                self._configured = event.config.agents
            case AgentStateChanged():
                self._states[event.agent] = event
            case _:
                return False
        return True

    def knows(self, agent: str) -> bool:
        """Whether the agent is configured, or was when its state was last said."""
        return agent in self._states or any(one.name == agent for one in self._configured)

    def views(self, memory: dict[str, int]) -> tuple[AgentView, ...]:
        """Every configured agent; ``memory`` is in bytes, of those that have a process."""
        return tuple(self._view(agent, memory) for agent in self._configured)

    def _view(self, agent: AgentConfig, memory: dict[str, int]) -> AgentView:
        view = AgentView(
            name=agent.name,
            title=agent.title,
            icon=agent.icon,
            description=agent.description,
            memory=memory.get(agent.name),
        )
        said = self._states.get(agent.name)
        if said is None:
            return view
        return replace(
            view,
            state=said.state,
            error=said.error,
            outdated=said.outdated,
            stopping=said.stopping,
        )
