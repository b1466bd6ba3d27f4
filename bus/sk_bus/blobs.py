"""Big parts: strings that are too long for an event, each a file named by its SHA-256.

Content never changes and is never overwritten, so that any process may write and read here
without asking another. Which blobs are still named by something is the history's business.
"""

import hashlib
import os
from pathlib import Path
from typing import Any

from sk_bus.codec import plain
from sk_bus.model import BlobRef, Text

LONGEST = 16 * 1024
# An agent that is told of a message needs 1,500 characters of it.
HEAD = 2_000


class BlobStore:
    """The blobs of one data directory, ``blobs/<2 hex>/<sha256>`` in it."""

    def __init__(self, directory: Path) -> None:
        self._root = directory / "blobs"

    def path(self, sha256: str) -> Path:
        """Where the blob lies.

        Raises:
            ValueError: ``sha256`` is not 64 hexadecimal digits.
        """
        if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
            raise ValueError(f"not the name of a blob: {sha256!r}")
        return self._root / sha256[:2] / sha256

    def put(self, text: str) -> BlobRef:
        """Keep ``text``; once this returns, it survives a power cut.

        Raises:
            OSError: there is no room for it.
        """
        # An agent can send half of a surrogate pair; it is kept and comes back as it was.
        data = text.encode("utf-8", "surrogatepass")
        sha256 = hashlib.sha256(data).hexdigest()
        path = self.path(sha256)
        try:
            # Young again: the history deletes old blobs that nothing names.
            os.utime(path)
        except FileNotFoundError:
            _write(path, data)
        head = text[:HEAD].encode("utf-8", "ignore").decode("utf-8")
        return BlobRef(sha256=sha256, length=len(data), head=head)

    def text(self, sha256: str) -> str:
        """The whole text.

        Raises:
            FileNotFoundError: no such blob is kept.
        """
        return self.path(sha256).read_bytes().decode("utf-8", "surrogatepass")

    def kept(self, text: str) -> Text:
        """``text`` itself when an event may hold it, else what stands for it."""
        return self.put(text) if too_long(text) else text


def too_long(text: str) -> bool:
    """Whether ``text`` has more than 16 KB in UTF-8."""
    if len(text) <= LONGEST // 4:
        return False
    return len(text) > LONGEST or len(text.encode("utf-8", "surrogatepass")) > LONGEST


def bounded(data: Any, store: BlobStore) -> Any:
    """``data`` (parsed JSON) with each long string replaced by ``{"$blob": {…}}``.

    What holds no long string is returned as it is, not copied.
    """
    match data:
        case str():
            return {"$blob": plain(store.put(data))} if too_long(data) else data
        case dict():
            made = {key: bounded(item, store) for key, item in data.items()}
            return made if any(made[key] is not data[key] for key in data) else data
        case list():
            items = [bounded(item, store) for item in data]
            return items if any(a is not b for a, b in zip(items, data, strict=True)) else data
        case _:
            return data


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Two processes may write the same blob at once; either rename is right.
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:  # noqa: PTH123  a descriptor with its mode set
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
