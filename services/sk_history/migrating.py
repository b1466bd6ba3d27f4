"""From the rows of older code to those of today, one step a version. Newer rows are left alone.

A step is one write, however large the history is; what takes long is left to be done while
everything runs. Schema 1 had no index and no seals: its messages are read as they are, and marked
to be indexed, a stretch at a time. Schema 2 had its seals in another place, and its messages are
read as they are, too.
"""

from collections.abc import Callable, Iterator

from sk_history import index, records
from sk_history.store import Drop, DropRange, Put, Reading, Write

_SCHEMA = records.meta("schema")
_INDEX = records.meta("index")
# How far the marking has come: [channel, message], or nothing yet.
_MARKING = records.meta("marking")
_AT_ONCE = 2_000
_FIRST = "m0000000000000000.0"


class NewerSchemaError(Exception):
    """The rows were written by newer code: they are left alone."""


def begun() -> list[Write]:
    """What says in a new history which code wrote it."""
    return [
        Put(_SCHEMA, records.row(records.SCHEMA)),
        Put(_INDEX, records.row(index.VERSION)),
    ]


def migrated(store: Reading) -> list[Write]:
    """The writes that make the rows those of today.

    Raises:
        NewerSchemaError: they are of newer code.
    """
    version = _number(store, _SCHEMA)
    if version is None:
        return []  # there is nothing yet
    if version > records.SCHEMA:
        raise NewerSchemaError(
            f"the history was written by a newer version (schema {version}, this one knows "
            f"{records.SCHEMA}); install that version again"
        )
    writes: list[Write] = []
    for step in range(version, records.SCHEMA):
        writes += _STEPS[step](store)
    version_of_index = _number(store, _INDEX)
    if version_of_index not in (None, index.VERSION):
        writes += _without_index(store)
    if (version, version_of_index) == (records.SCHEMA, index.VERSION):
        return []
    return [*writes, *begun()]


def marking(store: Reading) -> bool:
    """Whether there are messages that nobody has marked to be indexed."""
    return store.get(_MARKING) is not None


def marked(store: Reading, channels: list[str]) -> list[Write]:
    """The writes that mark the next messages, in channels oldest first; none when all are."""
    data = store.get(_MARKING)
    if data is None:
        return []
    at, after = records.value(data) or ("", "")
    writes: list[Write] = []
    for channel in channels:
        if at and records.id_bytes(channel) < records.id_bytes(at):
            continue
        last = after if channel == at else _FIRST
        end = records.end_of(records.messages_of(channel))
        begin = records.after(records.message_key(channel, last))
        rows = store.first(begin, end, limit=_AT_ONCE)
        ids = [records.id_text("m", key[-records.ID_SIZE :]) for key, _ in rows]
        writes += [Put(records.fresh_key(channel, id_), b"") for id_ in ids]
        if len(writes) >= _AT_ONCE:
            return [*writes, Put(_MARKING, records.row([channel, ids[-1] if ids else last]))]
    return [*writes, Drop(_MARKING)]


def _to_2(_store: Reading) -> Iterator[Write]:
    yield Put(_MARKING, records.row(None))


def _to_3(_store: Reading) -> Iterator[Write]:
    yield from ()


def _without_index(store: Reading) -> Iterator[Write]:
    yield DropRange(records.BLOCKS, records.end_of(records.BLOCKS))
    for key, _ in store.first(records.CHANNELS, records.end_of(records.CHANNELS)):
        for begin, end in records.index_of(records.id_text("c", key[1:])):
            yield DropRange(begin, end)
    yield Put(_MARKING, records.row(None))


_STEPS: dict[int, Callable[[Reading], Iterator[Write]]] = {1: _to_2, 2: _to_3}


def _number(store: Reading, key: bytes) -> int | None:
    data = store.get(key)
    return None if data is None else int(records.value(data))
