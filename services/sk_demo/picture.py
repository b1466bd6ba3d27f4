"""A picture without a library: a PNG made of its parts. It knows nothing of agents."""

import struct
import zlib


def gradient(width: int, height: int) -> bytes:
    """A PNG of ``width`` × ``height`` points, without any library."""
    rows = b"".join(
        b"\0"
        + bytes(
            value
            for x in range(width)
            for value in (90 + 150 * y // height, 60 + 90 * x // width, 160 - 90 * y // height)
        )
        for y in range(height)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _png_chunk(b"IHDR", header)
        + _png_chunk(b"IDAT", zlib.compress(rows))
        + _png_chunk(b"IEND", b"")
    )


def _png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
