"""Reading an export: lines in, channels and messages as they are stored out, or what is wrong.

Nothing is taken on trust: a line is what the specification says of a channel or a message, belongs
to a channel that was named before it, and holds its texts whole.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sk_bus.codec import plain, value_of
from sk_bus.model import Channel, Message
from sk_history import lines, records
from sk_history.closing import ended
from sk_history.texts import Plain

# Of the longest message that an agent can send, its JSON escapes included.
LONGEST_LINE = 256 * 2**20
_LONGEST_NAME = 64
# A clock that is wrong by less does no harm.
_AHEAD = 24 * 3600 * 1000


class NotAnExportError(Exception):
    """A line that can't be imported: its number, and why."""

    def __init__(self, line: int, why: str) -> None:
        self.line = line
        self.why = why
        super().__init__(f"line {line}: {why}")


@dataclass(frozen=True, slots=True)
class Stored:
    """A message as it is stored: its key, its row, and the blobs that it names."""

    channel: str
    key: bytes
    row: bytes
    blobs: tuple[str, ...]


class Reader:
    """Reads the lines of one export, in order."""

    def __init__(self, *, now: int, keep: Callable[[str], Any] | None) -> None:
        """``now`` in milliseconds. Without ``keep`` nothing is stored: lines are only checked."""
        self._now = now
        self._keep = keep
        self._channels: set[str] = set()
        self._readers: dict[type, Callable[[Any], Any]] = {}

    def read(self, data: Iterable[bytes]) -> Iterator[Channel | Stored]:
        """The channels and messages of an export.

        Raises:
            NotAnExportError: what is wrong with the first line that is.
        """
        number = 0
        for number, line in enumerate(data, 1):
            if len(line) > LONGEST_LINE:
                raise NotAnExportError(number, "it is too long")
            try:
                found = self._line(number, line)
            except (ValueError, RecursionError, records.NotAnIdError) as error:
                raise NotAnExportError(number, _worded(error)) from error
            if found is not None:
                yield found
        if not number:
            raise NotAnExportError(1, "the file is empty")

    def _line(self, number: int, line: bytes) -> Channel | Stored | None:
        value = json.loads(line)
        if not isinstance(value, dict):
            raise ValueError("it is no JSON object")  # noqa: TRY004  one kind for all of these
        if number == 1:
            _check_header(value)
            return None
        match value.pop("type", None):
            case "channel":
                return self._channel(self._validated(Channel, value))
            case "message":
                return self._message(self._validated(Message, value))
            case other:
                raise ValueError(f"{other!r} is neither a channel nor a message")

    def _channel(self, channel: Channel) -> Channel:
        _check_id("c", channel.id)
        if channel.id in self._channels:
            raise ValueError(f"the channel {channel.id} stands here twice")
        if bool(channel.name) is bool(channel.direct):
            raise ValueError("a channel has a name or an agent, and not both")
        if max(len(channel.name), len(channel.description)) > _LONGEST_NAME:
            raise ValueError(f"a name or description has more than {_LONGEST_NAME} characters")
        self._channels.add(channel.id)
        return channel

    def _message(self, message: Message) -> Stored | None:
        _check_id("m", message.id)
        if message.channel not in self._channels:
            raise ValueError(f"no line before it is the channel {message.channel}")
        if not 0 <= message.createdAt <= self._now + _AHEAD:
            raise ValueError("it is of the future")
        if message.queued or not message.done:
            message = ended(message)
        value = plain(message)
        if next(records.named_blobs(value), None) is not None:
            raise ValueError("a text in it is not whole")
        if self._keep is None:
            return None
        value = lines.kept(value, self._keep)
        return Stored(
            channel=message.channel,
            key=records.message_key(message.channel, message.id),
            row=records.sealed(value),
            blobs=tuple(records.named_blobs(value)),
        )

    def _validated(self, kind: type, value: Plain) -> Any:
        reader = self._readers.get(kind)
        if reader is None:
            # 8 MB and a quarter of a second, which only those pay who import.
            from pydantic import TypeAdapter  # noqa: PLC0415

            reader = self._readers[kind] = TypeAdapter(kind).validate_python
        whole = lines.without_halves(value)
        made = reader(whole)
        if whole == value:
            return made
        # Validation takes no half of a surrogate pair; a text that has one is kept as it came.
        if plain(made) != plain(value_of(kind, whole)):
            raise ValueError("a field is of another type than it should be")
        return value_of(kind, value)


def numbered(name: str, taken: set[str]) -> str:
    """``name``, with a number behind it when it is ``taken`` (casefolded names)."""
    made, number = name, 1
    while made.casefold() in taken:
        number += 1
        end = f" {number}"
        made = name[: _LONGEST_NAME - len(end)] + end
    return made


def _check_header(value: Plain) -> None:
    if value.get("type") != lines.HEADER["type"]:
        raise ValueError("it doesn't begin as an export of Sidekicks does")
    version = value.get("version")
    if version != lines.VERSION:
        raise ValueError(f"it is of version {version!r}; this Sidekicks reads {lines.VERSION}")


def _check_id(letter: str, id_: str) -> None:
    if id_ != records.id_text(letter, records.id_bytes(id_)):
        raise ValueError(f"{id_!r} is no id")


def _worded(error: Exception) -> str:
    """The first of what is wrong, in a line."""
    details = getattr(error, "errors", None)
    if callable(details):  # pydantic's
        first = details()[0]
        place = ".".join(str(one) for one in first["loc"])
        return f"{place}: {first['msg']}" if place else str(first["msg"])
    if isinstance(error, json.JSONDecodeError):
        return f"it is no JSON: {error.msg} (column {error.colno})"
    if isinstance(error, records.NotAnIdError):
        return f"{str(error)!r} is no id"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error)
