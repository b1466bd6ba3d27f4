"""Words in many scripts: what is compared, where it stands, what it is indexed under."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sk_history.words import folded, plainly, terms, words


def said(text: str) -> list[tuple[str, str]]:
    """(as it is compared, as it is written)"""
    return [(word.text, text[word.start : word.end]) for word in words(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's Done.", [("it", "It"), ("s", "s"), ("done", "Done")]),
        ("snake_case", [("snake", "snake"), ("case", "case")]),
        ("Straße ＡＢＣ", [("strasse", "Straße"), ("abc", "ＡＢＣ")]),
        ("cafe\u0301 café", [("café", "cafe\u0301"), ("café", "café")]),
        ("नमस्ते दुनिया", [("नमस्ते", "नमस्ते"), ("दुनिया", "दुनिया")]),
        ("한국어", [("한국어", "한국어")]),
        ("½", [("1", "½"), ("2", "½")]),
        ("東京へ", [("東", "東"), ("京", "京"), ("へ", "へ")]),
        ("ｶﾞ", [("ガ", "ｶﾞ")]),
        ("ที่", [("ที่", "ที่")]),
        ("iPhone手机", [("iphone", "iPhone"), ("手", "手"), ("机", "机")]),
        ("→ 🎉 !", []),
    ],
)
def test_words_are_runs_of_letters_digits_and_marks(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert said(text) == expected


def test_scripts_without_spaces_are_indexed_in_pairs_and_by_their_last_character() -> None:
    assert terms("日本語。") == {"日本", "本語", "語"}


def test_a_run_without_spaces_ends_at_another_script() -> None:
    assert terms("東a京") == {"東", "a", "京"}


TEXTS = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from(" _.-aZé9\u0301\u200d東京カﾞทีक्ا한½Ⅷßİ\n"),
    ),
    max_size=40,
)


def indexed(text: str) -> set[str]:
    """The terms, made the plain way from the words."""
    found = list(words(text))
    made = set()
    for word, later in pairwise([*found, None]):
        assert word is not None
        if not word.single:
            made.add(word.text[:64])
        elif later is not None and later.glued:
            made.add(word.text + later.text)
        else:
            made.add(word.text)
    return made


@given(TEXTS)
def test_a_text_is_indexed_under_the_words_that_a_search_compares(text: str) -> None:
    assert terms(text) == indexed(text)


@given(TEXTS)
def test_places_are_in_order_and_within_the_text(text: str) -> None:
    at = 0
    for word in words(text):
        assert at <= word.end <= len(text)
        assert word.start < word.end
        at = word.start


@given(TEXTS)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@given(TEXTS)
def test_what_is_folded_already_has_the_same_words(text: str) -> None:
    assert terms(folded(text)) >= {
        word.text[:64] for word in words(folded(text)) if not word.single
    }


@given(st.text(st.characters(max_codepoint=0x2FFF), max_size=40))
def test_where_words_are_plain_they_are_runs_of_letters_in_their_places(text: str) -> None:
    plain = plainly(text)
    if plain is not None:
        assert [(match[0], *match.span()) for match in re.finditer(r"[^\W_]+", plain)] == [
            (word.text, word.start, word.end) for word in words(text)
        ]


def test_what_people_write_in_english_and_french_is_plain() -> None:
    assert plainly("L’ŒUVRE « naïve » – 3 € → été… 🎉") == "l’œuvre « naïve » – 3 € → été… 🎉"
    assert plainly("Straße") is None
