"""What agents are told of a message that they haven't seen."""

import pytest

from sk_bus.excerpt import LONGEST, MARK, excerpt
from sk_bus.model import BlobRef


def test_a_short_message_is_told_whole() -> None:
    assert excerpt(["a" * LONGEST]) == "a" * LONGEST
    assert excerpt(["one", "", "two"]) == "one\n\ntwo"
    assert excerpt([]) == ""


def test_a_longer_one_is_cut_and_marked() -> None:
    assert excerpt(["a" * (LONGEST + 1)]) == "a" * LONGEST + MARK
    assert excerpt(["a" * 1_000, "b" * 1_000]) == "a" * 1_000 + "\n\n" + "b" * 498 + MARK


def test_what_lies_elsewhere_is_known_to_go_on() -> None:
    blob = BlobRef(sha256="ab" * 32, length=20_000, head="a" * 2_000)
    assert excerpt([blob, "more"]) == "a" * LONGEST + MARK
    short = BlobRef(sha256="ab" * 32, length=20_000, head="a" * 1_024)
    assert excerpt([short]) == "a" * 1_024 + MARK


@pytest.mark.parametrize(
    "character",
    ["e\u0301", "👩\u200d👩\u200d👧", "👍🏽", "🇫🇷", "\r\n", "한", "☝\ufe0f", "क\u093f"],
)
def test_no_character_is_cut_in_two(character: str) -> None:
    for space in range(1, len(character)):
        before = "a" * (LONGEST - space)
        assert excerpt([before + character + "b" * 100]) == before + MARK


def test_flags_are_counted_from_the_first() -> None:
    flags = "🇫🇷" * 40
    before = "a" * (LONGEST - 79)
    assert excerpt([before + flags]) == before + "🇫🇷" * 39 + MARK
