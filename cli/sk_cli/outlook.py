"""Who would answer, and who does: one line each. Pure."""

from sk_bus.events import TurnChanged
from sk_bus.model import ChannelId
from sk_bus.queries import Answering, PreviewView
from sk_cli.render import one_line
from sk_cli.words import problem_text, t

# The channels' names by their ids.
Names = dict[ChannelId, str]


def said(preview: PreviewView, names: Names) -> str:
    """``→ alice, then bob (busy in #ops)``; ``names`` are the channels'."""
    pieces = []
    if preview.problem is not None:
        pieces.append(problem_text(preview.problem))
    elif preview.answering:
        each = [_one(one, names) for one in preview.answering]
        pieces.append("→ " + t("outlook.then").join(each))
    if preview.unknown:
        unknown = ", ".join(f"@{one}" for one in preview.unknown)
        pieces.append(t("outlook.unknown", count=len(preview.unknown), names=unknown))
    return one_line(" · ".join(pieces))


def _one(one: Answering, names: dict[ChannelId, str]) -> str:
    marks = []
    if one.problem is not None:
        marks.append(problem_text(one.problem))
    if one.joins:
        marks.append(t("outlook.joins"))
    if one.starts:
        marks.append(t("outlook.starts"))
    if one.stops:
        marks.append(t("outlook.stops", agent=one.stops))
    if one.waitsFor is not None:
        channel = names.get(one.waitsFor.channel, one.waitsFor.channel)
        if one.waitsFor.agent == one.agent:
            marks.append(t("outlook.busy", channel=channel))
        else:
            marks.append(t("outlook.behind", agent=one.waitsFor.agent))
    return f"{one.agent} ({', '.join(marks)})" if marks else one.agent


def turn(event: TurnChanged, names: dict[ChannelId, str]) -> str:
    """Who is answering, who comes next, and what waits."""
    if event.waitingFor is not None:
        channel = names.get(event.waitingFor.channel, event.waitingFor.channel)
        text = t("outlook.waits", agent=event.waitingFor.agent, channel=channel)
    elif event.answering:
        text = t("event.answering", agent=event.answering)
    else:
        text = t("event.beginning")
    if event.then:
        text += t("event.then", agents=", ".join(event.then))
    return one_line(text + (t("event.queued", count=event.queued) if event.queued else ""))
