"""Long strings leave the events and come back whole."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sk_bus.blobs import LONGEST, BlobStore, bounded, too_long
from sk_bus.model import BlobRef

LONG = "é" * LONGEST


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path)


@pytest.mark.parametrize("text", ["", LONG, "\ud83d" + "x" * LONGEST, "a\r\n\0b"])
def test_a_text_comes_back_as_it_was(store: BlobStore, text: str) -> None:
    assert store.text(store.put(text).sha256) == text


def test_what_stands_for_a_text_has_its_length_and_beginning(store: BlobStore) -> None:
    ref = store.put("a" + LONG)
    assert (ref.length, ref.head) == (2 * LONGEST + 1, "a" + "é" * 1_999)


def test_the_same_text_is_kept_once_and_private(store: BlobStore, tmp_path: Path) -> None:
    assert store.put(LONG) == store.put(LONG)
    (file,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "\n"])
def test_a_name_that_is_none_never_becomes_a_path(store: BlobStore, name: str) -> None:
    with pytest.raises(ValueError, match="not the name of a blob"):
        store.text(name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x" * LONGEST, False), ("x" * (LONGEST + 1), True), ("é" * (LONGEST // 2 + 1), True)],
)
def test_bytes_are_what_counts(text: str, expected: bool, store: BlobStore) -> None:
    assert too_long(text) is expected
    assert isinstance(store.kept(text), BlobRef) is expected


def test_long_strings_anywhere_in_a_frame_become_references(store: BlobStore) -> None:
    frame = {"a": [1, LONG, {"b": LONG, "c": None}], "d": "short"}
    made = bounded(frame, store)
    ref = store.put(LONG)
    blob = {"$blob": {"sha256": ref.sha256, "length": ref.length, "head": ref.head}}
    assert made == {"a": [1, blob, {"b": blob, "c": None}], "d": "short"}
    assert frame["d"] == "short"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_what_holds_nothing_long_is_returned_itself(data: object) -> None:
    assert bounded(data, BlobStore(Path("/nowhere"))) is data
