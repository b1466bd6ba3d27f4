"""The rows of messages: sealed, checked one by one or a page in one go; those of every schema."""

import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sk_bus import ids
from sk_bus.codec import plain, value_of
from sk_bus.model import Message, Role, TextPart
from sk_history import records
from sk_history.store import Put
from tests.unit.sk_history.logs import conversation
from tests.unit.sk_history.test_pages import HERE, history, said

PLAIN = st.dictionaries(
    st.text(max_size=8), st.integers(0, 2**40) | st.text(max_size=40), max_size=16
)


def sealed_2(value: dict[str, Any]) -> bytes:
    """A message's row as schema 2 had it."""
    body = records.row(value)
    return b"\xc1" + zlib.crc32(body).to_bytes(4, "big") + body


def a_message(n: int) -> dict[str, Any]:
    parts = (TextPart(text=f"word {n}"),)
    made = Message(id=ids.message_id(n), channel=HERE, createdAt=n, role=Role.USER, parts=parts)
    return dict(plain(made))


@given(values=st.lists(PLAIN, max_size=5))
def test_sound_rows_behind_each_other_are_known_as_such_in_one_go(
    values: list[dict[str, Any]],
) -> None:
    rows = [records.sealed(value) for value in values]
    assert records.page({}, rows) == records.unchecked({}, rows)


@given(
    values=st.lists(PLAIN, min_size=1, max_size=5),
    at=st.integers(0, 10_000),
    change=st.integers(1, 255),
)
def test_a_byte_that_changed_in_any_of_them_is_noticed(
    values: list[dict[str, Any]], at: int, change: int
) -> None:
    rows = [bytearray(records.sealed(value)) for value in values]
    row = rows[at % len(rows)]
    row[at % len(row)] ^= change
    assert records.page({}, [bytes(one) for one in rows]) is None


@given(at=st.integers(0, 10_000), change=st.integers(1, 255))
def test_a_byte_that_changed_in_a_row_is_noticed_also_in_its_seal(at: int, change: int) -> None:
    row = bytearray(records.sealed(a_message(1)))
    row[at % len(row)] ^= change
    with pytest.raises(records.CorruptRowError):
        records.message(bytes(row))


@pytest.mark.parametrize("missing", [1, 4, 5, 10, 10_000])
def test_a_row_that_was_cut_off_is_noticed(missing: int) -> None:
    row = records.sealed(a_message(1))[:-missing]
    assert records.page({}, [row]) is None
    with pytest.raises(records.CorruptRowError):
        records.message(row)


def test_the_seal_is_no_field_of_the_message() -> None:
    assert records.message(records.sealed(a_message(1))) == a_message(1)


def test_a_page_holds_rows_of_all_schemas_and_says_which_is_damaged() -> None:
    store, fold = history(said(10))
    forms = [records.row, sealed_2, records.sealed]
    messages = [a_message(n) for n in range(11, 20)]
    rows = [forms[n % 3](message) for n, message in enumerate(messages)]
    rows[4] = rows[4].replace(b"word", b"ward")
    store.write(
        Put(records.message_key(HERE, message["id"]), row)
        for message, row in zip(messages, rows, strict=True)
    )
    shown = [value_of(Message, one) for one in conversation(store, fold, HERE)["messages"]]
    assert shown[5].code == "unreadable"
    assert shown[5].id == messages[4]["id"]
    assert [one for n, one in enumerate(shown) if n != 5] == [
        said(10).message,
        *(value_of(Message, one) for n, one in enumerate(messages) if n != 4),
    ]


def test_a_view_has_as_many_fields_as_it_needs() -> None:
    view = {"more": True, "then": ["x"], "usage": {}}
    rows = [records.sealed(a_message(n)) for n in range(40)]
    made = records.value(records.unchecked(view, rows))
    assert [one.pop("seal") is not None for one in made["messages"]] == [True] * 40
    assert made == {**view, "messages": [a_message(n) for n in range(40)]}
