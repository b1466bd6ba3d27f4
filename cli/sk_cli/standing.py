"""How things stand, for `status`: where agents are busy, how full they are. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sk_bus.model import Channel, Usage
from sk_bus.queries import ConversationView, CurrentConfig
from sk_cli.render import one_line, size
from sk_cli.words import number, t


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an agent answers now (``channel``), and how full its context is there or was last."""

    channel: Channel | None = None
    usage: Usage | None = None


def places(views: Iterable[ConversationView]) -> dict[str, Place]:
    """By agent; ``views`` are oldest first. Of several contexts the fullest is the one to know."""
    made: dict[str, Place] = {}
    for view in views:
        for agent, usage in view.usage.items():
            before = made.get(agent, Place())
            if before.channel is None and _full(usage) >= _full(before.usage):
                made[agent] = Place(usage=usage)
        if view.answering is not None and view.waitingFor is None:
            made[view.answering] = Place(channel=view.channel, usage=view.usage.get(view.answering))
    return made


def _full(usage: Usage | None) -> float:
    if usage is None:
        return -1.0
    return usage.used / usage.size if usage.size else 0.0


def context(place: Place) -> str:
    """How full a context window is: ``76k/200k 38 %``."""
    if place.usage is None:
        return "–"
    used, window = place.usage.used, place.usage.size
    if not window:
        return _tokens(used)
    return t(
        "status.context",
        used=_tokens(used),
        size=_tokens(window),
        percent=round(100 * used / window),
    )


def _tokens(count: int) -> str:
    return str(count) if count < 1000 else f"{number(count / 1000)}k"


def details(report: dict[str, Any]) -> str:
    """What a component reports of itself beside its state."""
    return ", ".join(filter(None, (_detail(key, value) for key, value in report.items())))


def _detail(key: str, value: Any) -> str:
    """One thing that a component reports; nothing, where it is as it should be."""
    match key, value:
        case "full", _:
            return t("status.full") if value else ""
        case "journal", int():
            return t("status.journal", size=size(value))
        case "holes", int():
            return t("status.holes", count=value) if value else ""
        case "browsers", int():
            return t("status.browsers", count=value) if value else ""
        case _:
            return one_line(f"{key} {value}")


def config_lines(current: CurrentConfig | None, chosen: str) -> list[str]:
    """The configuration in force, and whether it is as it should be."""
    head = f"{t('status.config'):<9} "
    if current is None:
        return [f"{head}{chosen}   ({t('status.no-config')})"]
    warnings = t("config.warnings", count=len(current.warnings)) if current.warnings else ""
    word = t("config.valid") if current.valid else t("config.problems", count=len(current.problems))
    lines = [head + current.path + "   " + ", ".join(filter(None, [word, warnings]))]
    if not current.valid:
        lines.append(t("failure.next", then="sk-cli config validate"))
    return lines
