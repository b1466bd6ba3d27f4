"""What a person means: the channel behind a name, the events that an `events` call asks for."""

import fnmatch
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sk_bus.model import AgentView, Channel, PermissionOption

# Written by one component for another; a person sees them with --all only.
_INTERNAL = ("cmd:", "do:", "fact:", "timer:", "history:", "state:")


def found(named: str, channels: Sequence[Channel]) -> Channel | None:
    """The channel meant by an id, ``@agent`` for a direct one, or a name (``#`` may precede it)."""
    if named.startswith("@"):
        wanted = _same(named[1:])
        return next((one for one in channels if one.direct and _same(one.direct) == wanted), None)
    by_id = next((one for one in channels if one.id == named), None)
    wanted = _same(named.removeprefix("#"))
    return by_id or next((one for one in channels if one.name and _same(one.name) == wanted), None)


def agent_found(named: str, agents: Sequence[AgentView]) -> AgentView | None:
    """The agent meant by its name; case and an ``@`` in front don't matter."""
    wanted = _same(named.removeprefix("@"))
    return next((one for one in agents if _same(one.name) == wanted), None)


def option_found(named: str, options: Sequence[PermissionOption]) -> PermissionOption | None:
    """The option meant by its id, its number from 1, its name, or a kind that one alone has."""
    by_id = next((one for one in options if one.optionId == named), None)
    if by_id is not None:
        return by_id
    if named.isascii() and named.isdigit():
        return options[int(named) - 1] if 0 < int(named) <= len(options) else None
    for key in ("name", "kind"):
        fitting = [one for one in options if _same(getattr(one, key)) == _same(named)]
        if len(fitting) == 1:
            return fitting[0]
    return None


def _same(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which events a follower wants to see.

    ``topics`` and ``without`` are globs on the type, ``agents`` names, ``channels`` ids, ``text`` a
    regular expression on the event as JSON. ``everything`` lets internal events pass; a glob that
    names their class does too.
    """

    everything: bool = False
    topics: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    agents: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    text: re.Pattern[str] | None = None

    def holds(self, event: dict[str, Any], as_json: str) -> bool:
        """Whether ``event`` (a map with its type) is wanted; ``as_json`` is the event's text."""
        type_ = str(event.get("type", ""))
        if self.topics:
            if not any(fnmatch.fnmatchcase(type_, glob) for glob in self.topics):
                return False
        elif not self.everything and type_.startswith(_INTERNAL):
            return False
        if any(fnmatch.fnmatchcase(type_, glob) for glob in self.without):
            return False
        if self.agents and _agent(event) not in self.agents:
            return False
        if self.channels and _channel(event) not in self.channels:
            return False
        return self.text is None or self.text.search(as_json) is not None


def _agent(event: dict[str, Any]) -> str:
    message = event.get("message") or {}
    return _same(str(event.get("agent") or message.get("agent") or event.get("answering") or ""))


def _channel(event: dict[str, Any]) -> str:
    return str(event.get("channel") or "")


def agents(names: Sequence[str]) -> frozenset[str]:
    """Agent names as :class:`Wanted` compares them; an ``@`` in front is understood."""
    return frozenset(_same(name.removeprefix("@")) for name in names)
