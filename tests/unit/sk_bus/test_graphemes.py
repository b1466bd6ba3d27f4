"""Nothing that a reader takes for one character is cut in two."""

import pytest

from sk_bus.graphemes import boundary


@pytest.mark.parametrize(
    "character",
    [
        "\r\n",
        "e\u0301",
        "e\u0301\u0323",
        "👩\u200d👩\u200d👧",
        "🏴\u200d☠\ufe0f",
        "🏴\U000e0067\U000e0062\U000e007f",
        "👍🏽",
        "1\ufe0f\u20e3",
        "🇫🇷",
        "한",
        "\u1100\u1161\u11a8",
        "가\u11a8",
        "क\u093f",
        "क\u094dष",
        "क\u094d\u200dष",
        "ก\u0e33",
        "ｶ\uff9e",
        "\u0600١",
        "\u1cf5क",
    ],
)
def test_a_character_of_several_code_points_is_cut_before_or_not_at_all(character: str) -> None:
    text = "ab" + character + "cd"
    for inside in range(3, 2 + len(character)):
        assert boundary(text, inside) == 2
    assert boundary(text, 2 + len(character)) == 2 + len(character)


@pytest.mark.parametrize(
    "pair", ["ab", "a ", "안녕", "あい", "田中", "a\n", "\n\u0301", "👍👍", "🇫a"]
)
def test_two_characters_are_cut_between_them(pair: str) -> None:
    assert boundary(pair, 1) == 1


def test_flags_are_counted_from_the_first() -> None:
    assert [boundary("🇫🇷" * 3, at) for at in range(1, 7)] == [1, 2, 2, 4, 4, 6]


def test_a_single_character_without_end_is_cut_where_it_must_be() -> None:
    assert boundary("a" + "\u0301" * 2_000, 1_500) == 1_500
