"""What a holder and its manager say to each other, as bytes on a stream socket.

A frame is one byte of kind, four of length, and the payload; numbers are big-endian. Pure, and
cheap to import: the holder runs it too. It knows no ACP, no files and no sockets.
"""

from __future__ import annotations

import struct

VERSION = 1

# From the holder.
HELLO = 1  # version, inc, pid, taken, pending, and floor and head of stdout and stderr
OUT = 2  # offset, bytes of stdout
ERR = 3  # offset, bytes of stderr
TOOK = 4  # n: the agent's stdin took that line whole
REFUSED = 5  # n, the one it waits for: that line is not the next one
NOTED = 7  # the kind of an order that was heard: TURN or STOP
EXIT = 6  # the exit record; everything of stdout and stderr came before it

# From the manager.
ATTACH = 16  # offsets to go on from, in stdout and stderr; the newest manager wins
WANT = 17  # offsets up to which stdout and stderr may be sent
ACK = 18  # offsets up to which nobody will ask again
IN = 19  # n, one line with its line end
TURN = 20  # whether a turn is open
STOP = 21  # run the ladder
DONE = 22  # the exit record has been published: the holder may end

_HEAD = struct.Struct(">BI")
_HELLO = struct.Struct(">BQQQQQQQQ")
_ONE = struct.Struct(">Q")
_TWO = struct.Struct(">QQ")

# The longest line we write is a prompt with attachments; the holder must be able to say no.
LONGEST = 128 * 1024 * 1024


class FrameError(Exception):
    """Bytes that are no frame of ours."""


class Hello:
    """Where a holder stands: ``pid`` 0 when no agent could be started."""

    __slots__ = ("err_floor", "err_head", "inc", "out_floor", "out_head", "pending", "pid", "taken")

    def __init__(
        self,
        *,
        inc: int,
        pid: int,
        taken: int,
        pending: int,
        out_floor: int,
        out_head: int,
        err_floor: int,
        err_head: int,
    ) -> None:
        self.inc = inc
        self.pid = pid
        self.taken = taken
        self.pending = pending
        self.out_floor = out_floor
        self.out_head = out_head
        self.err_floor = err_floor
        self.err_head = err_head


def frame(kind: int, payload: bytes = b"") -> bytes:
    return _HEAD.pack(kind, len(payload)) + payload


def hello(word: Hello) -> bytes:
    return frame(
        HELLO,
        _HELLO.pack(
            VERSION,
            word.inc,
            word.pid,
            word.taken,
            word.pending,
            word.out_floor,
            word.out_head,
            word.err_floor,
            word.err_head,
        ),
    )


def hello_from(payload: bytes) -> Hello:
    """What a HELLO says.

    Raises:
        FrameError: it is of another version.
    """
    if len(payload) < _HELLO.size or payload[0] != VERSION:
        raise FrameError("a holder of another version")
    _, inc, pid, taken, pending, out_floor, out_head, err_floor, err_head = _HELLO.unpack_from(
        payload
    )
    return Hello(
        inc=inc,
        pid=pid,
        taken=taken,
        pending=pending,
        out_floor=out_floor,
        out_head=out_head,
        err_floor=err_floor,
        err_head=err_head,
    )


def one(kind: int, number: int, data: bytes = b"") -> bytes:
    """A frame of one number, and bytes behind it."""
    return frame(kind, _ONE.pack(number) + data)


def one_from(payload: bytes) -> tuple[int, bytes]:
    try:
        (number,) = _ONE.unpack_from(payload)
    except struct.error as error:
        raise FrameError("a frame without its number") from error
    return number, payload[_ONE.size :]


def two(kind: int, first: int, second: int) -> bytes:
    return frame(kind, _TWO.pack(first, second))


def two_from(payload: bytes) -> tuple[int, int]:
    try:
        first, second = _TWO.unpack(payload)
    except struct.error as error:
        raise FrameError("a frame without its two numbers") from error
    return first, second


class Frames:
    """The frames in a stream of bytes. What is incomplete waits for the rest of it."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """The frames that are whole now, as (kind, payload).

        Raises:
            FrameError: a length that no frame of ours has.
        """
        rest = self._rest
        rest += data
        made = []
        at = 0
        while len(rest) - at >= _HEAD.size:
            kind, length = _HEAD.unpack_from(rest, at)
            if length > LONGEST:
                raise FrameError(f"a frame of {length} bytes")
            if len(rest) - at - _HEAD.size < length:
                break
            at += _HEAD.size
            made.append((kind, bytes(memoryview(rest)[at : at + length])))
            at += length
        if at:
            del rest[:at]
        return made


def packed(texts: list[bytes]) -> bytes:
    """Byte strings as one, to be taken apart by :func:`unpacked`."""
    return b"".join(struct.pack(">I", len(text)) + text for text in texts)


def unpacked(data: bytes) -> list[bytes]:
    made = []
    at = 0
    while at < len(data):
        try:
            (length,) = struct.unpack_from(">I", data, at)
        except struct.error as error:
            raise FrameError("texts that end too early") from error
        at += 4
        if at + length > len(data):
            raise FrameError("texts that end too early")
        made.append(data[at : at + length])
        at += length
    return made


def record(fields: dict[str, int | str]) -> bytes:
    """A small map as lines of ``key=value``."""
    return "".join(f"{key}={value}\n" for key, value in fields.items()).encode()


def record_from(data: bytes) -> dict[str, str]:
    return dict(
        line.split("=", 1) for line in data.decode(errors="replace").splitlines() if "=" in line
    )


def description(
    *, path: bytes, cwd: bytes, umask: int, arguments: list[bytes], environment: list[bytes]
) -> bytes:
    """What a holder reads from its stdin: the program to start."""
    counts = [b"%d" % (len(arguments) + len(environment)), path, cwd, b"%d" % umask]
    return packed([*counts, b"%d" % len(arguments), *arguments, *environment])
