"""Mentions as people write them, sentence by sentence of the specification."""

import time

import pytest

from sk_bus.model import AgentName
from sk_router.channels.mentions import MOST, mentioned, mentions, unknown

AGENTS = tuple(
    AgentName(name)
    for name in (
        *("alice", "bob", "bobby", "bob-2", "bob.x", "bob_y", "chief", "claude"),
        *("Straße", "René", "Ωmega", "боб", "田中", "ボブ", "밥", "7", "गीता"),
    )
)


def found(text: str) -> tuple[str, ...]:
    return mentioned(mentions(text, AGENTS))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        # @bob is not @bobby; the longest configured one first
        ("@bob", ("bob",)),
        ("@bobby", ("bobby",)),
        ("@bob-2", ("bob-2",)),
        ("@bob.x", ("bob.x",)),
        ("@bob_y", ("bob_y",)),
        ("@bob-2nd", ()),
        # by NFKC and casefold
        ("@BOB and @Bobby", ("bob", "bobby")),
        ("@STRASSE", ("Straße",)),
        ("@straſſe", ("Straße",)),
        ("@rene\u0301", ("René",)),
        ("@ｂｏｂ", ("bob",)),
        ("@\u2126mega", ("Ωmega",)),
        ("@ﾎﾞﾌﾞ", ("ボブ",)),
        ("@\u1107\u1161\u11b8", ("밥",)),
        ("＠bob", ("bob",)),
        # punctuation may follow
        ("@bob, @alice. @chief! (@claude) @7?", ("bob", "alice", "chief", "claude", "7")),
        ("@bob's and @alice’s", ("bob", "alice")),
        ("@bob: hi", ("bob",)),
        ("@bob... well", ("bob",)),
        ("@bob-- well", ("bob",)),
        ("«@bob»", ("bob",)),
        ("**@bob** *@alice* ~~@chief~~", ("bob", "alice", "chief")),
        ("[@bob](https://x.example)", ("bob",)),
        ("<@bob>", ("bob",)),
        ("@bob\n@alice", ("bob", "alice")),
        # an address is no mention
        ("me@bob.example", ()),
        ("joe@bob.com and joe@claude.com", ()),
        ("josé@bob.fr", ()),
        ("jose\u0301@bob", ()),
        ("7@bob", ()),
        ("a.@bob a%@bob a+@bob a-@bob a/@bob", ()),
        ("first_@bob", ()),
        ("@bob@example.org", ("bob",)),
        # a repeated mention counts once, in the order of first appearance
        ("@alice @bob @alice @BOB", ("alice", "bob")),
        # after it nothing goes on the word
        ("@bob2", ()),
        ("@bob²", ()),
        ("@bob\u0301", ()),
        ("@bobé", ()),
        ("@bob_", ("bob",)),
        ("@bob_x", ()),
        ("@bob-3", ()),
        ("@bob-", ("bob",)),
        ("@bob.", ("bob",)),
        ("@bob.example", ()),
        ("npm i @bob/pkg", ()),
        ("@bob/", ("bob",)),
        ("@chief-khaliq", ()),
        # anything in code, and a URL, is no mention
        ("`@bob` and ``@bob ` @bob``", ()),
        ("```\n@bob\n```\n@alice", ("alice",)),
        ("~~~~\n```\n@bob\n~~~\n@bob", ()),
        ("````\n``` `\n@bob\n````\n@alice", ("alice",)),
        ("https://x/@bob/1 and https://x.y/?u=@bob, @alice", ("alice",)),
        # before the @ stands no letter, no digit, no . % + - / \
        (".@bob %@bob +@bob -@bob /@bob", ()),
        (r"\@bob", ()),
        ("(@bob", ("bob",)),
        ("=@bob", ("bob",)),
        ("@@bob", ("bob",)),
        # _ may open emphasis, a / may part two mentions
        ("_@bob_", ("bob",)),
        ("__@bob__", ("bob",)),
        ("_@bob_ and x_@alice_", ("bob",)),
        ("._@bob_", ()),
        ("@bob/@alice", ("bob", "alice")),
        ("@bob/@alice/@chief", ("bob", "alice", "chief")),
        ("@nobody/@alice", ()),
        ("@bob/x/@alice", ()),
        ("@bob in src/@alice", ("bob",)),
        # another script may touch it on either side
        ("さん@bobさん", ("bob",)),
        ("привет@bobпривет", ("bob",)),
        ("你好@田中さん", ("田中",)),
        ("@田中様", ()),
        ("@田中ABC", ("田中",)),
        ("@ボブは", ("ボブ",)),
        ("@ボブー", ()),
        ("@боба", ()),
        ("@боб-а", ()),
        ("@боб-x", ("боб",)),
        ("@боб2", ()),
        ("@गीता", ("गीता",)),
        ("@गीताजी", ()),
        ("@밥은", ()),
        ("@7さん", ("7",)),
        ("@7x", ()),
    ],
)
def test_a_mention_is_found_as_people_write_it(text: str, names: tuple[str, ...]) -> None:
    assert found(text) == names


@pytest.mark.parametrize("before", ["", "x" * 5_000 + " ", "line\n" * 40, "pasted:\t", "“"])
def test_a_mention_counts_anywhere(before: str) -> None:
    assert found(before + "@bob please") == ("bob",)


def test_thirty_two_are_asked_at_most() -> None:
    agents = tuple(AgentName(f"agent{n}") for n in range(40))
    text = " ".join(f"@{agent}" for agent in agents)
    assert mentioned(mentions(text, agents)) == agents[:MOST]
    assert MOST == 32


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@bob-3 and @bob", ("bob-3",)),
        ("@Nobody, @nobody. @dan-", ("Nobody", "nobody", "dan")),
        ("@bob.example", ("bob.example",)),
        ("me@here.example @bob/pkg `@code` @", ()),
        ("@" + "x" * 33, ()),
        ("@" + "x" * 32, ("x" * 32,)),
        ("@_x @-x @.x", ()),
    ],
)
def test_names_that_nobody_has_are_told(text: str, words: tuple[str, ...]) -> None:
    assert unknown(mentions(text, AGENTS)) == words


def test_each_mention_says_where_it_stands() -> None:
    text = "hi @Bob-2, @nobody"
    assert [text[one.start : one.end] for one in mentions(text, AGENTS)] == ["@Bob-2", "@nobody"]


@pytest.mark.parametrize(
    "text",
    [
        "@" * 100_000,
        "@bob " * 20_000,
        "@e\u0301" * 33_000,
        "_@" * 50_000,
        "@bob/" * 20_000,
        "@" + "\u0301" * 100_000,
        "\u0301" * 100_000 + "@bob",
        "`@bob " * 17_000,
        "``@ ` " * 17_000,
        "https://@bob" * 8_000,
        "://@bob " * 12_000,
        "> " * 50_000 + "@bob",
        ("- " * 40 + "@bob\n") * 1_200,
        "    @bob\n\n" * 10_000,
        "```\n@bob\n" * 10_000,
        "1. @bob\n" * 12_000,
        "\\" * 100_000 + "@bob",
        "@bob-" * 20_000,
        "www.@bob " * 11_000,
    ],
)
def test_a_long_text_costs_what_it_is_long(text: str) -> None:
    def taken(part: str) -> float:
        before = time.process_time()
        mentions(part, AGENTS)
        return time.process_time() - before

    assert taken(text) < 3
