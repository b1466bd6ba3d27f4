"""What a line that was typed in `chat` means. Pure.

``/quit``, ``/stop``, ``/usage`` and ``/help`` are ours; any other text is said as it is, so that
agents get their own commands. A second slash in front lets an agent have one that is called alike.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from sk_bus.events import PermissionRequested
from sk_bus.model import AgentName, Message, Role, SlashCommand, TextPart


class Own(Enum):
    """Commands of `chat` itself."""

    QUIT = "/quit"
    STOP = "/stop"
    USAGE = "/usage"
    HELP = "/help"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choose:
    """An option of the request that waits."""

    permission: PermissionRequested
    optionId: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    text: str


Meaning = Own | Choose | Say | None


def meaning(line: str, waiting: PermissionRequested | None) -> Meaning:
    """What ``line`` asks for; ``waiting`` is the request that would be answered."""
    text = line.strip()
    if not text:
        return None
    own = next((one for one in Own if one.value == text), None)
    if own is not None:
        return own
    if waiting is not None:
        offered = waiting.options
        if text.isascii() and text.isdigit() and 0 < int(text) <= len(offered):
            return Choose(permission=waiting, optionId=offered[int(text) - 1].optionId)
        if any(one.optionId == text for one in offered):
            return Choose(permission=waiting, optionId=text)
    if any(text == "/" + one.value for one in Own):
        return Say(text=text[1:])
    return Say(text=line)


def typed_before(messages: Iterable[Message]) -> list[str]:
    """What the person said here, as lines to be called back; not what is pages long."""
    return [
        part.text
        for message in messages
        if message.role is Role.USER
        for part in message.parts
        if isinstance(part, TextPart) and isinstance(part.text, str)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What may stand instead of the last ``replaced`` characters before the cursor."""

    text: str
    replaced: int
    about: str = ""


def candidates(
    before: str,
    *,
    titles: dict[str, str],
    commands: dict[AgentName, Sequence[SlashCommand]],
    direct: str,
) -> Iterable[Candidate]:
    """How the text ``before`` the cursor may go on: a mention, or a command at its beginning."""
    if before.startswith("/") and not any(one.isspace() for one in before):
        yield from _commands(before, commands, direct)
        return
    at = before.rfind("@")
    if at < 0 or (at and before[at - 1].isalnum()):
        return
    begun = before[at + 1 :].casefold()
    if any(one.isspace() for one in begun):
        return
    for name, title in titles.items():
        if name.casefold().startswith(begun):
            yield Candidate(text=f"@{name} ", replaced=len(before) - at, about=title)


def _commands(
    before: str, commands: dict[AgentName, Sequence[SlashCommand]], direct: str
) -> Iterable[Candidate]:
    begun = before.casefold()
    for agent, announced in commands.items():
        prefix = "/" if agent == direct else f"/{agent}:"
        for one in announced:
            text = f"{prefix}{one.name}"
            if text.casefold().startswith(begun):
                about = one.hint or one.description
                yield Candidate(text=f"{text} ", replaced=len(before), about=about)
    for own in Own:
        if own.value.startswith(begun):
            yield Candidate(text=own.value, replaced=len(before))
