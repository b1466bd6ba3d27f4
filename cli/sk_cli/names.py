"""An agent that signs its answer: its name in front is hidden when shown, never in what is stored.

Pure. Exactly the name or the title, and a colon.
"""

from collections.abc import Sequence

from sk_bus.model import Message, Role, TextPart

# An agent's title by its name.
Titles = dict[str, str]


def signature(text: str, names: Sequence[str]) -> int:
    """How many characters at the beginning of ``text`` are one of ``names`` and a colon."""
    for name in names:
        sign = f"{name}:"
        if text.startswith(sign):
            rest = text[len(sign) :]
            return len(text) - len(rest.lstrip())
    return 0


def hidden(message: Message, titles: Titles) -> int:
    """How many characters of a message's first text are its author's name."""
    if message.role is not Role.AGENT:
        return 0
    first = next((part.text for part in message.parts if isinstance(part, TextPart)), "")
    return signature(first, signs(message.agent, titles)) if isinstance(first, str) else 0


def signs(agent: str, titles: Titles) -> list[str]:
    """What an agent may put in front of its answer."""
    return list({agent: None, titles.get(agent, agent): None})


class Unsigned:
    """Takes an answer as it grows, and lets through what comes after the name in front.

    While a text may still become the name nothing passes, so that it doesn't flash up and vanish.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._held: str | None = ""
        self._within = False

    def wrote(self, text: str) -> str:
        """What is to be shown now that ``text`` has come."""
        if self._within:  # the white space behind the name
            text = text.lstrip()
            self._within = not text
            return text
        if self._held is None:
            return text
        self._held += text
        if any(f"{name}:".startswith(self._held) for name in self._names) and not signature(
            self._held, self._names
        ):
            return ""
        return self.ended()

    def ended(self) -> str:
        """What was held back; nothing more comes, or it is no name."""
        held, self._held = self._held or "", None
        cut = signature(held, self._names)
        self._within = bool(cut) and cut == len(held)
        return held[cut:]
