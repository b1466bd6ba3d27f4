"""What each agent has been told in each channel, from what is published alone.

Messages of people, and most of agents, end with a number of their own, ``#7``, and are known by it.
An agent must be told those of others once, in the order in which they were said, the last 20
messages at most.
"""

import re
from collections import defaultdict

from sk_bus.internal import SessionChanged
from sk_bus.model import Message, Role, TextPart

_NUMBER = re.compile(r"#(\d+)$", re.MULTILINE)
_MARKED = re.compile(r"^\[[0-9a-f]{12}\] ", re.MULTILINE)
_MOST = 20
_EXCERPT = 1_500

Place = tuple[str, str]


class Told:
    """Follows the log, and holds each prompt against what its agent knows."""

    def __init__(self) -> None:
        self._said: dict[str, dict[str, tuple[int, str]]] = defaultdict(dict)  # number, author
        self._session: dict[Place, tuple[str | None, str | None]] = {}
        self._known: dict[Place, set[int]] = defaultdict(set)
        self._prompted: dict[Place, set[int]] = defaultdict(set)
        self._sent: dict[Place, set[int]] = defaultdict(set)

    def message(self, message: Message) -> None:
        """A message was told; it is said when it is whole, waits no longer, and wasn't dropped."""
        dropped = message.role is Role.USER and message.error is not None
        if message.role is Role.SYSTEM or message.queued or not message.done or dropped:
            return
        texts = [str(part.text) for part in message.parts if isinstance(part, TextPart)]
        text = "\n\n".join(texts)
        number = _NUMBER.search(text)
        said = self._said[message.channel]
        if number is None or len(text) > _EXCERPT:
            said.pop(message.id, None)  # amended, so that it can't be known any more
        else:
            said.setdefault(message.id, (int(number[1]), message.agent))

    def session(self, event: SessionChanged) -> None:
        """A new session knows nothing; a cursor that moved has all that was in the prompt."""
        place = (event.channel, event.agent)
        before = self._session.get(place, (None, None))
        self._session[place] = (event.sessionId, event.seen)
        if event.sessionId != before[0]:
            self._known[place] = set()
            self._prompted[place] = set()
            self._sent[place] = set()
        elif event.seen not in (None, before[1]):
            self._known[place] |= self._sent[place]

    def prompt(self, place: Place, texts: list[str]) -> None:
        """An agent is sent a prompt of these blocks."""
        channel, agent = place
        said = [one for one, author in self._said[channel].values() if author != agent]
        if not any(not author for _, author in self._said[channel].values()):
            return  # a direct conversation: nobody counts there
        own = {one for one, author in self._said[channel].values() if author == agent}
        command = len(texts) == 1
        message = texts[0] if command else texts[-2]
        (asked,) = [int(found) for found in _NUMBER.findall(message)]
        assert asked in said, "asked something that isn't said"
        assert asked not in self._known[place] | self._prompted[place], "asked twice"
        past = "".join(texts[:-2])
        told = [int(found) for found in _NUMBER.findall(past) if int(found) not in own]
        if not command:
            new = [
                one
                for one in said
                if one not in self._known[place] | self._prompted[place] | {asked}
            ]
            full = len(_MARKED.findall(past)) - 1 == _MOST  # the last mark is the message's own
            assert told == (new[len(new) - len(told) :] if full else new), "told otherwise"
        self._prompted[place].add(asked)
        self._sent[place] = set() if command else {*said}
